r"""Linear mixture transitions P(s'|s,a) = ψ(s'|s,a)ᵀw_h^k, learned by regression on values (paper, Section 5; Jia et al. 2020).

    ψ_V(s,a) = Σ_{s'} ψ(s'|s,a)V(s'),   so that   E[V(s')] = ψ_V(s,a)ᵀw                      eq:LMDP-linear-transition
    Σ_h = λ_wI + Σ_j α_j x_jx_jᵀ,   ŵ_h = Σ_h⁻¹ Σ_j α_j V_{h+1}^j(s'_j) x_j,   x_j = ψ_{V_{h+1}^j}(s_j,a_j)
    optimistic next value:  ψ_Vᵀŵ_h + c_w β_w‖ψ_V‖_{Σ_h⁻¹}                                    eq:LMDP-optimistic-Q
    β_w(n) = H√(½ log(1/δ) + (d/4) log(1 + H²L_ψ²n/(λ_wd))) + √λ_w S_w                          lemma:LMDP-v-ucb

`centred`, not the paper's, learns u of w = w₀ + Bu, in which probabilities sum to 1 (`mixture_coordinates`): the ridge pulls to w₀, the
even mixture, instead of 0; ψ_V becomes ψ̃_V, targets V(s') − p₀ᵀV, and d the number of free weights. Without it w₀ = 0, B = I and u is w.
V_{h+1}^j is the optimistic value that episode j was planned with. The radius holds for one (k, h), or with `uniform` for all at once.
"""

from typing import Any, NamedTuple

import numpy as np

from ..core.kernel import kernel, part, sqrt
from ..core.linalg import CHUNK, Matrix, Vector
from ..core.state import filled, view_state
from ..errors import InvalidValue, positive, probability, require
from ..protocol import NO_SLOT, History, Integers, Moments, blank_history
from .confidence import failure_now, log_failure
from .mixture_coordinates import Coordinates, plain, summing_to_one, transformed, weights_of
from .protocol import Cube, Task, add_next, estimate_transition, learn_transition, surprise, told, transition_state
from .reward import add_bonuses, add_predictions, blank_moments, fold, ridge

DOUBT = 0.01  # the least probability that a forecast gives to a successor


@part
class ValueTargeted(NamedTuple):
    """Linear mixture: ridge λ_w, bounds S_w and L_ψ, failure probability δ, scale c_w of the bonus."""

    lam: float
    S: float
    L: float
    delta: float
    scale: float = 1.0
    uniform: float = 0.0
    centred: float = 0.0  # 1: probabilities sum to 1, and the ridge pulls to the even mixture instead of 0

    def check(self) -> None:
        """Refuse what is not a radius."""
        check_transition(self)


def check_transition(transition: Any) -> None:
    """Refuse what no transition model can work with."""
    positive("lam_w", transition.lam, "Σ = λ_wI must be invertible in episode 1")
    positive("S_w", transition.S, "it bounds the norm of w")
    positive("L_psi", transition.L, "it bounds the norm of the transition features")
    probability("delta", transition.delta)
    why = "it multiplies the width of an interval; theory is 1"
    require(transition.scale >= 0.0, "transition_bonus_scale", transition.scale, "≥ 0", why)


class MixtureState(NamedTuple):
    """What is known of the transitions, for each group of stages."""

    psi: Cube  # (1 or H, U, d', S·A) ψ̃: the inner loop over pairs is contiguous
    base: Cube  # (1 or H, U, S·A) p₀, what is known of the probability of a successor
    successor: Integers  # (1 or H, U, S·A)
    coordinates: Coordinates
    history: History
    sums: Moments
    u: Matrix  # (groups, d') estimates
    factor: Matrix  # (d', d') of Σ
    radius: Vector  # (groups,) c_wβ_w
    failure: Vector  # (1,) log(1/δ), with the union bound if there is one that stays
    X: Matrix  # (d', S·A) ψ̃_V of the stage being planned
    known: Vector  # (S·A,) p₀ᵀV of the same
    values: Vector  # (S·A,) V of the successors at one place
    x: Vector  # (d',)
    Z: Matrix  # (d', CHUNK)
    square: Vector  # (CHUNK,)
    mean: Vector  # (S·A,)


@transition_state.register(ValueTargeted)
def _(transition: ValueTargeted, task: Task, memory: Any, groups: int) -> MixtureState:
    failure = log_failure(transition.delta, transition.uniform, task)
    return blank_mixture(task, memory, groups, bool(transition.centred), failure)


def blank_mixture(task: Task, memory: Any, groups: int, centred: bool, failure: float) -> MixtureState:
    """Nothing is known of the transitions yet, or, if `centred`, that probabilities sum to 1; `failure` is log(1/δ)."""
    if task.moves is None:
        raise InvalidValue("a linear-mixture learner needs features psi (S, A, S, d) of the transitions")
    pairs, (_, U, _) = task.states * task.actions, task.moves.psi.shape
    if task.multinomial:
        raise InvalidValue(
            "a linear-mixture learner was given a multinomial-logit problem (reachable is set); use mnl_weight_ucrl or its relatives"
        )
    rows = task.moves.psi.reshape(-1, pairs, U, task.moves.psi.shape[-1])
    coordinates = summing_to_one(task.moves, min(groups, len(rows))) if centred else plain()
    psi, base = transformed(rows, coordinates)
    d = psi.shape[-1]
    return MixtureState(
        psi=np.ascontiguousarray(psi.transpose(0, 2, 3, 1)),
        base=np.ascontiguousarray(base.transpose(0, 2, 1)),
        successor=np.ascontiguousarray(task.moves.successor.reshape(-1, pairs, U).transpose(0, 2, 1)),
        coordinates=coordinates,
        history=filled(blank_history(memory, d), groups),
        sums=blank_moments(d, groups),
        u=np.zeros((groups, d)),
        factor=np.zeros((d, d)),
        radius=np.zeros(groups),
        failure=np.full(1, failure),
        X=np.zeros((d, pairs)),
        known=np.zeros(pairs),
        values=np.zeros(pairs),
        x=np.zeros(d),
        Z=np.zeros((d, CHUNK)),
        square=np.zeros(CHUNK),
        mean=np.zeros(pairs),
    )


@estimate_transition.register(ValueTargeted)
def _(transition: ValueTargeted, state: MixtureState, h: int) -> None:
    estimate_mixture(state, h, transition.lam)


@kernel
def estimate_mixture(state: MixtureState, h: int, lam: float) -> None:
    """û of stage h by ridge regression, and the factor of its matrix."""
    g = h % state.u.shape[0]
    ridge(state.sums.A[g], lam, state.sums.b[g], state.factor, state.u[g])


@add_next.register(ValueTargeted)
def _(transition: ValueTargeted, state: MixtureState, h: int, fresh: bool, V: Vector, H: int, out: Vector) -> float:
    g, d = h % state.u.shape[0], state.u.shape[1]
    if fresh:
        estimate_transition(transition, state, g)
    # ‖ψ_V‖ ≤ HL_ψ, because V lies in [0, H].
    size = H * transition.L
    volume = 0.25 * d * np.log(1.0 + size * size * state.sums.n[g, 0] / (transition.lam * d))
    failure = failure_now(transition.uniform, state.failure[0], state.history.clock[g])
    beta = H * sqrt(0.5 * failure + volume) + sqrt(transition.lam) * transition.S
    return add_values(state, h, transition.scale * beta, V, out)


@kernel
def add_values(state: MixtureState, h: int, radius: float, V: Vector, out: Vector) -> float:
    """Add p₀ᵀV + ψ̃_Vᵀû and radius·‖ψ̃_V‖ of every pair to `out`; returns the sum of the latter."""
    g, f = h % state.u.shape[0], h % state.psi.shape[0]
    d, n = state.X.shape
    for i in range(d):
        for a in range(n):
            state.X[i, a] = 0.0
    for a in range(n):
        state.known[a] = 0.0
    for u in range(state.psi.shape[1]):
        psi, base, at = state.psi[f, u], state.base[f, u], state.successor[f, u]
        for a in range(n):
            state.values[a] = V[at[a]]
            state.known[a] += state.values[a] * base[a]
        for i in range(d):
            for a in range(n):
                # ψ_V(s,a) = Σ_{s'} ψ(s'|s,a)V(s') for all pairs at once: the inner loop runs over pairs, which are contiguous.
                state.X[i, a] += state.values[a] * psi[i, a]
    add_predictions(state.X, state.u[g], state.mean, out)
    for a in range(n):
        out[a] += state.known[a]
    state.radius[g] = radius
    return add_bonuses(state.X, state.factor, radius, state.Z, state.square, out)


@learn_transition.register(ValueTargeted)
def _(
    transition: ValueTargeted, memory: Any, state: MixtureState, h: int, pair: int, successor: int, V: Vector
) -> None:
    g, f = h % state.u.shape[0], h % state.psi.shape[0]
    target = 0.0
    for i in range(state.x.shape[0]):
        state.x[i] = 0.0
    if pair >= 0:
        target = V[successor]
        for u in range(state.psi.shape[1]):
            value = V[state.successor[f, u, pair]]
            # What p₀ already explains leaves the target, so the regression estimates u and not w.
            target -= value * state.base[f, u, pair]
            for i in range(state.x.shape[0]):
                state.x[i] += value * state.psi[f, u, i, pair]
    fold(memory, view_state(state.history, g), view_state(state.sums, g), state.x, target, NO_SLOT)


@surprise.register(ValueTargeted)
def _(transition: ValueTargeted, state: MixtureState, h: int, pair: int, successor: int) -> float:
    return surprise_of_mixture(state, h, pair, successor)


@kernel
def surprise_of_mixture(state: MixtureState, h: int, pair: int, successor: int) -> float:
    """−log P̂(s'|s,a), as far as it can be believed."""
    g, f, p = h % state.u.shape[0], h % state.psi.shape[0], 0.0
    for u in range(state.psi.shape[1]):
        if state.successor[f, u, pair] == successor:
            p += state.base[f, u, pair]
            for i in range(state.x.shape[0]):
                p += state.psi[f, u, i, pair] * state.u[g, i]
    # A ridge estimate need not be a distribution. The floor DOUBT keeps a single unexpected successor from refuting a memory for good.
    return float(-np.log(min(max(p, DOUBT), 1.0)))


@told.register(ValueTargeted)
def _(transition: ValueTargeted, state: MixtureState) -> dict[str, Any]:
    return {"w": weights_of(state.coordinates, state.u), "transition_radius": float(state.radius.max())}
