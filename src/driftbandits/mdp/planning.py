r"""Planning in a known MDP, exactly: backward induction and policy evaluation.

    V*_h(s) = max_a r_h(s,a) + Σ_{s'} P_h(s'|s,a)V*_{h+1}(s'),      V^π_h(s) = r_h(s,π_h(s)) + Σ_{s'} P_h(s'|s,π_h(s))V^π_{h+1}(s')

No sampling: the regret of an episode, V*_1(s_1) − V^π_1(s_1), is a number, not an estimate (algorithms §3.4).
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..core.checks import as_numbers
from ..core.kernel import entry, kernel
from ..core.linalg import Matrix, Vector, dot
from ..errors import InvalidShape, InvalidValue, integer, require
from ..protocol import Integers
from .checks import ROUNDING
from .protocol import Cube, mean_next


def backward_induction(P: ArrayLike, rewards: ArrayLike) -> tuple[Matrix, Cube]:
    """V* (H+1, S) and Q* (H, S, A) from P (H, S, A, S) and rewards (H, S, A).

    Examples
    --------
    >>> V, Q = backward_induction(np.full((2, 2, 1, 2), 0.5), [[[0.0], [1.0]]] * 2)
    >>> V[0]
    array([0.5, 1.5])
    """
    kernel_, pay = _tables(P, rewards)
    H, S, A = pay.shape
    V, Q = np.zeros((H + 1, S)), np.zeros((H, S, A))
    for h in range(H - 1, -1, -1):
        Q[h] = pay[h] + kernel_[h] @ V[h + 1]
        V[h] = Q[h].max(axis=1)
    return V, Q


def policy_evaluation(P: ArrayLike, rewards: ArrayLike, policy: ArrayLike) -> Matrix:
    """V^π (H+1, S) of a policy: actions (H, S), or probabilities of actions (H, S, A).

    Examples
    --------
    >>> policy_evaluation(np.full((2, 2, 1, 2), 0.5), [[[0.0], [1.0]]] * 2, np.zeros((2, 2), int))[0]
    array([0.5, 1.5])
    """
    kernel_, pay = _tables(P, rewards)
    H, S, A = pay.shape
    chosen = as_numbers("policy", policy)
    if chosen.shape not in ((H, S), (H, S, A)):
        raise InvalidShape(f"policy has shape {chosen.shape}; it must be (H, S) = {(H, S)} of actions, or {(H, S, A)}")
    if chosen.ndim == 2 and not np.isin(chosen, range(A)).all():
        raise InvalidValue(f"policy must hold actions 0..{A - 1}, one for each stage and state")
    share = np.eye(A)[chosen.astype(np.int64)] if chosen.ndim == 2 else chosen
    if not _distributions(share):
        raise InvalidValue("policy must hold probabilities: those of the actions in a state are ≥ 0 and sum to 1")
    V = np.zeros((H + 1, S))
    for h in range(H - 1, -1, -1):
        V[h] = ((pay[h] + kernel_[h] @ V[h + 1]) * share[h]).sum(axis=1)
    return V


def uniform_regret(mdp: Any, episodes: int | None = None) -> Vector:
    """Cumulative regret (K,) of playing every action with equal probability: what "no better than random" means."""
    K = mdp.episodes if episodes is None else integer("episodes", episodes, least=1, why="it counts episodes")
    require(mdp.episodes >= K, "episodes", K, f"≤ {mdp.episodes}", "the parameters of the MDP end there")
    gap: Vector = mdp.optimal - mdp.first_values(uniform=True)
    return np.cumsum(gap[:K])


def _tables(P: ArrayLike, rewards: ArrayLike) -> tuple[Cube, Cube]:
    kernel_, pay = as_numbers("P", P), as_numbers("rewards", rewards)
    if pay.ndim != 3 or kernel_.shape != (*pay.shape, pay.shape[1]):
        raise InvalidShape(f"P has shape {kernel_.shape}; with rewards {pay.shape} it must be (H, S, A, S)")
    if not np.isfinite(pay).all():
        raise InvalidValue("rewards contain NaN or infinity; every reward must be finite")
    if not _distributions(kernel_):
        raise InvalidValue(
            "P must hold probabilities: those of the next state are ≥ 0 and sum to 1, for every stage and pair"
        )
    return kernel_, pay


def _distributions(p: Cube) -> bool:
    """Are the last axes distributions? (NaN is none.)"""
    return bool((p >= -ROUNDING).all() and (np.abs(p.sum(axis=-1) - 1.0) <= 1e-6).all())


def values_of_starts(
    dynamics: Any, phi: Cube, theta: Cube, w: Cube, states: int, horizon: int, start: Integers, uniform: bool
) -> Vector:
    """V*_1(s_1) of every episode, (K,), or the value of equally likely actions, without making tables.

    phi (1 or H, S·A, d), and as many rows of the dynamics: stage h has its own where there are H. An episode equal to the one before
    costs nothing.
    """
    out, V, row = np.zeros(len(start)), np.zeros((2, states)), np.zeros(states)
    _values_of_starts(dynamics, phi, theta, w, horizon, start, uniform, V, row, out)
    return out


@entry
def _values_of_starts(
    dynamics: Any,
    phi: Cube,
    theta: Cube,
    w: Cube,
    horizon: int,
    start: Integers,
    uniform: bool,
    V: Matrix,
    row: Vector,
    out: Vector,
) -> None:
    S, pairs = V.shape[1], phi.shape[1]
    A = pairs // S
    for k in range(start.shape[0]):
        # Worlds that change abruptly have long stretches of equal episodes, which are solved once.
        if k > 0 and start[k] == start[k - 1] and _same(theta[k], theta[k - 1]) and _same(w[k], w[k - 1]):
            out[k] = out[k - 1]
            continue
        for s in range(S):
            V[horizon % 2, s] = 0.0
        for h in range(horizon - 1, -1, -1):
            new, old, f = V[h % 2], V[(h + 1) % 2], h % phi.shape[0]
            for s in range(S):
                best, total = -np.inf, 0.0
                for a in range(A):
                    after = mean_next(dynamics, f * pairs + s * A + a, w[k, h % w.shape[1]], old, row)
                    q = dot(phi[f, s * A + a], theta[k, h % theta.shape[1]]) + after
                    best, total = max(best, q), total + q
                new[s] = total / A if uniform else best
        out[k] = V[0, start[k]]


@kernel
def _same(x: Matrix, y: Matrix) -> bool:
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            if x[i, j] != y[i, j]:
                return False
    return True


@kernel
def evaluate(dynamics: Any, phi: Cube, theta: Matrix, w: Matrix, policy: Integers, row: Vector, V: Matrix) -> None:
    """V^π (H+1, S) of a deterministic policy (H, S); phi (1 or H, S·A, d); `row` (S,) is workspace."""
    (H, S), pairs = policy.shape, phi.shape[1]
    A = pairs // S
    for s in range(S):
        V[H, s] = 0.0
    for h in range(H - 1, -1, -1):
        f = h % phi.shape[0]
        for s in range(S):
            pair = s * A + policy[h, s]
            after = mean_next(dynamics, f * pairs + pair, w[h % w.shape[0]], V[h + 1], row)
            V[h, s] = dot(phi[f, pair], theta[h % theta.shape[0]]) + after
