r"""MDPs made from what a user gives: features, paths of the parameters (arrays or functions of the episode), first states.

    linear_mixture    P(s'|s,a) = ψ(s'|s,a)ᵀw, from dense features
    mnl_mixture       P(s'|s,a) ∝ exp(ψ(s'|s,a)ᵀw) over the reachable successors, from dense features
    sparse_mixture    either, stored by successor: thousands of states of which few can follow a pair

Everything is checked here, once: shapes, that rewards lie in [0, 1], and that ψᵀw is a distribution in every episode.
"""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..core.linalg import Matrix
from ..errors import InvalidShape, InvalidValue, integer, real, require
from ..protocol import Integers
from .checks import ROUNDING, Path, check_bound, check_distributions, check_features, check_path, staged
from .environment import MDP, stages_of
from .features import Features, check_known
from .function_path import blocks
from .linear_dynamics import SparseDynamics, linear_dynamics
from .protocol import Cube
from .softmax_table import SoftmaxDynamics, check_reachable, choices
from .successors import Moves, moves_of


def linear_mixture(
    phi: ArrayLike,
    psi: ArrayLike,
    theta: Path,
    w: Path,
    *,
    horizon: int,
    episodes: int | None = None,
    start: int | ArrayLike = 0,
    noise: float = 0.0,
    S_theta: float | None = None,
    S_w: float | None = None,
) -> MDP:
    """A drifting linear mixture MDP: P(s'|s,a) = ψ(s'|s,a)ᵀw.

    Parameters
    ----------
    phi, psi
        (S, A, d_θ) and (S, A, S, d_w); or (H, S, A, d_θ) and (H, S, A, S, d_w), either or both, where the stages differ.
    theta, w
        (K, d), or (K, H, d) when the stages differ; or a function of the episode k = 0..K−1 that returns (d,) or (H, d), the same
        whenever it is asked: its rows are made when they are needed, and not kept.
    horizon
        Number of stages H.
    episodes
        Number of episodes K; needed if theta or w is a function.
    start
        First state of every episode, or (K,) of them.
    noise
        Standard deviation of Gaussian noise on the rewards the learner sees (none in the paper; resolution D7).
    S_theta, S_w
        Bounds to announce; by default the largest norms on the path.

    Examples
    --------
    >>> stay, move = np.eye(2), np.eye(2)[::-1]
    >>> psi = np.stack([np.stack([stay, stay], 1), np.stack([stay, move], 1)], -1)  # action 1: either, as w says
    >>> world = linear_mixture(np.eye(2)[:, None].repeat(2, 1), psi, [[0.0, 1.0]] * 5, [[0.2, 0.8]] * 5, horizon=3)
    >>> world.kernel(0)[0, 0].round(3)
    array([[1. , 0. ],
           [0.2, 0.8]])
    >>> world.Delta, round(float(world.optimal[0]), 4)
    (0.0, 1.76)
    """
    rewards, features = check_features(phi, psi)
    dynamics = linear_dynamics(_for_all(features, stages_of(horizon, rewards, features, None)))
    mdp = _make(rewards, features, None, theta, w, horizon, episodes, start, noise, S_theta, S_w, dynamics)
    for _, part in blocks(mdp.w):
        check_distributions(mdp.psi, part)
    return mdp


def mnl_mixture(
    phi: ArrayLike,
    psi: ArrayLike,
    reachable: ArrayLike,
    theta: Path,
    w: Path,
    *,
    horizon: int,
    episodes: int | None = None,
    start: int | ArrayLike = 0,
    noise: float = 0.0,
    S_theta: float | None = None,
    S_w: float | None = None,
) -> MDP:
    """A drifting multinomial-logit mixture MDP: P(s'|s,a) ∝ exp(ψ(s'|s,a)ᵀw) over the reachable successors.

    Parameters are those of `linear_mixture`, and `reachable` (S, A, S) or (H, S, A, S) of bool. The reference successor of a pair, whose
    features learners subtract, is its reachable one of lowest index.
    """
    rewards, features = check_features(phi, psi)
    mask = check_reachable(reachable, features)
    rows = moves_of(_for_all(features, stages_of(horizon, rewards, features, mask)), mask)
    table = choices(rows, rewards.shape[-2])
    dynamics = SoftmaxDynamics(table, np.zeros(table.psi.shape[1]))
    return _make(rewards, features, mask, theta, w, horizon, episodes, start, noise, S_theta, S_w, dynamics)


def sparse_mixture(
    features: Features,
    w: Path,
    *,
    horizon: int,
    theta: Path | None = None,
    episodes: int | None = None,
    start: int | ArrayLike = 0,
    noise: float = 0.0,
    S_theta: float | None = None,
    S_w: float | None = None,
) -> MDP:
    """A drifting world of many states of which few can follow a pair: memory and time follow the number of (s, a, s').

    Parameters
    ----------
    features
        From `sparse_features`, `mixture_of` of sparse models, or `logit(…, successors=…)`; the same in all stages. Their rewards are
        `known_rewards`, or `phi`, whose parameters are theta.
    w, theta
        As in `linear_mixture`.

    Examples
    --------
    >>> import driftbandits as db
    >>> ring = np.stack([(np.arange(5000) + step) % 5000 for step in (-1, 1)], axis=-1)[:, None].repeat(2, axis=1)
    >>> pay = np.zeros((5000, 2))
    >>> pay[2500] = 1.0
    >>> pull = np.random.default_rng(0).normal(size=(5000, 2, 2, 3))
    >>> known = db.mdp.sparse_features(ring, pull, multinomial=True, known_rewards=pay)
    >>> db.mdp.sparse_mixture(known, lambda k: [0.1, 0.2, k / 10], horizon=6, episodes=10)
    MDP(multinomial logit, states=5000, actions=2, horizon=6, episodes=10)
    """
    moves = check_known(features).moves
    if moves is None or len(moves.used) != features.states * features.actions:
        raise InvalidValue(
            "sparse_mixture needs features of the moves, the same in all stages: sparse_features, mixture_of or logit"
        )
    if features.phi is None and features.rewards is None:
        raise InvalidValue("what does an action pay? Give the features known_rewards, or phi and theta=")
    known = features.rewards is not None
    rewards = features.rewards[..., None] if features.rewards is not None else features.phi
    if known == (theta is not None) or rewards is None or rewards.ndim != 3:
        raise InvalidValue("theta belongs to features of the rewards, phi (S, A, d); known_rewards (S, A) need none")
    K = episodes if callable(w) else len(np.asarray(w))
    path: Path = np.ones((K or 1, 1)) if theta is None else theta
    dynamics: Any = SparseDynamics(*moves)
    if features.multinomial:
        table = choices(moves, features.actions)
        dynamics = SoftmaxDynamics(table, np.zeros(table.psi.shape[1]))
    empty = np.zeros((0, 0, 0, moves.psi.shape[-1]))
    made = _make(rewards, empty, None, path, w, horizon, episodes, start, noise, S_theta, S_w, dynamics)
    if not features.multinomial:
        for _, part in blocks(made.w):
            _check_sparse(moves, part)
    return replace(made, features=features)


def _check_sparse(moves: Moves, w: Cube) -> None:
    """Every row of P must be a distribution, in every episode."""
    for part in np.array_split(w.reshape(-1, w.shape[-1]), max(1, w.size * moves.psi.size // (1 << 24))):
        P = np.einsum("nud,kd->knu", moves.psi, part)
        worst = float(np.abs(P.sum(axis=-1) - 1.0).max())
        if P.min() < -ROUNDING or worst > ROUNDING:
            raise InvalidValue(
                f"ψᵀw is not a distribution: smallest probability {P.min():.3g}, sums off by {worst:.3g}; "
                "ψ(·|s,a)ᵀw must be ≥ 0 and sum to 1 for every pair and episode"
            )


def _for_all(psi: Cube, stages: int) -> Cube:
    """psi (S, A, S, d), or (stages, S, A, S, d) if there are several."""
    return psi if stages == 1 else np.broadcast_to(psi, (stages, *psi.shape[-4:]))


def _pay(phi: Cube, theta: Cube) -> Matrix:
    """φᵀθ of every pair, episode and stage."""
    tables, d = phi.reshape(staged(phi, 3), -1, phi.shape[-1]), phi.shape[-1]
    if len(tables) == 1:
        return np.asarray(theta.reshape(-1, d) @ tables[0].T)
    return np.stack([theta[:, h % theta.shape[1]] @ table.T for h, table in enumerate(tables)])


def _make(
    rewards: Cube,
    psi: Cube,
    reachable: NDArray[np.bool_] | None,
    theta: Path,
    w: Path,
    horizon: int,
    episodes: int | None,
    start: int | ArrayLike,
    noise: float,
    S_theta: float | None,
    S_w: float | None,
    dynamics: Any,
) -> MDP:
    H = integer("horizon", horizon, least=1, why="it is the number of stages H")
    require(real("noise", noise) >= 0.0, "noise", noise, "≥ 0", "it is a standard deviation")
    given = (("theta", theta, rewards.shape[-1]), ("w", w, psi.shape[-1]))
    paths = [check_path(name, path, H, d, episodes) for name, path, d in given]
    K = len(paths[0])
    if len(paths[1]) != K:
        raise InvalidShape(f"theta has {K} episodes but w has {len(paths[1])}; both must cover episodes 1..K")
    bounds = [check_bound(n, v, p) for n, v, p in zip(("S_theta", "S_w"), (S_theta, S_w), paths, strict=True)]
    pays = [(float(pay.min()), float(pay.max())) for pay in (_pay(rewards, part) for _, part in blocks(paths[0]))]
    least, most = min(low for low, _ in pays), max(high for _, high in pays)
    if least < -ROUNDING or most > 1.0 + ROUNDING:
        raise InvalidValue(f"rewards φᵀθ span [{least:.6g}, {most:.6g}]; they must lie in [0, 1]: rescale them")
    return MDP(
        phi=rewards,
        psi=psi,
        reachable=reachable,
        theta=paths[0],
        w=paths[1],
        horizon=H,
        start=_first_states(start, K, rewards.shape[-3]),
        noise=float(noise),
        S_theta=bounds[0],
        S_w=bounds[1],
        dynamics=dynamics,
    )


def _first_states(start: int | ArrayLike, K: int, S: int) -> Integers:
    """The first state of every episode, (K,)."""
    given = np.asarray(start)
    if given.shape not in ((), (K,)):
        raise InvalidShape(f"start has shape {given.shape}; it must be one state, or ({K},): one for each episode")
    if not np.isin(given, range(S)).all():
        raise InvalidValue(f"start = {start!r:.60} is not allowed; it must be states in 0..{S - 1}")
    return np.ascontiguousarray(np.broadcast_to(given, (K,)), np.int64)
