r"""Multinomial-logit transitions whose bonus has no scale to be set, and which need no κ.

    ŵ = argmin ‖w‖²/(2τ²) − Σ_j α_j log p(s'_j|s_j,a_j; w),   G = I/τ² + Σ_j α_j Cov_{p(·|s_j,a_j; ŵ)}(ψ)
    optimistic next value:  v + c‖∇v‖_{G⁻¹},   v = Σ_{s'} p(s'; ŵ)V(s'),   ∇v = Σ_{s'} p(s'; ŵ)(V(s') − v)ψ(s')

If w ~ N(0, τ²I) at first, ŵ is the likeliest w and G⁻¹ its covariance, both by Laplace's method; ‖∇v‖_{G⁻¹} is then the standard deviation
of E[V(s')], to first order. The paper's bonus (`multinomial`) bounds the same by (H/κ)β̄_w max‖ψ‖_{Σ̄⁻¹}, which holds for every V and w
and is thousands of times larger. τ = 2/L_ψ, logits of about 2, and c = 0.3 are practical choices. No theorem is claimed.
"""

from typing import Any, NamedTuple

import numpy as np

from ..core.ball import factor_of, residual_at
from ..core.kernel import part, solver
from ..core.linalg import Matrix, Vector
from ..errors import positive, require
from .likelihood import likeliest
from .multinomial import Multinomial, MultinomialState, count_transition, gather, row_of, surprise_of
from .protocol import Task, add_next, estimate_transition, learn_transition, surprise, told, transition_state
from .reward import add_bonuses
from .softmax_table import LOWEST, softmax


@part
class MeasuredMultinomial(NamedTuple):
    """Multinomial-logit mixture: standard deviation τ of each weight before anything was seen, scale c of the bonus."""

    spread: float
    scale: float = 0.3
    reference: float = LOWEST

    def check(self) -> None:
        """Refuse what is not a prior."""
        positive("spread", self.spread, "it is the standard deviation of w")
        require(self.scale >= 0.0, "transition_bonus_scale", self.scale, "≥ 0", "it multiplies a standard deviation")


class LaplaceState(NamedTuple):
    """What is known of the transitions, and workspace of a plan."""

    base: MultinomialState  # whose `factor` is that of G
    X: Matrix  # (d, S·A) ∇v of the stage being planned


@transition_state.register(MeasuredMultinomial)
def _(transition: MeasuredMultinomial, task: Task, memory: Any, groups: int) -> LaplaceState:
    kept = Multinomial(
        lam=1.0, S=1.0, L=1.0, kappa=0.25, delta=0.5, reference=transition.reference
    )  # makes the same counts
    base = transition_state(kept, task, memory, groups)
    return LaplaceState(base, np.zeros((base.target.shape[0], task.states * task.actions)))


@solver
def _estimate(state: MultinomialState, g: int, ridge: float) -> None:
    """ŵ, the factor of G, and p(·; ŵ) of every class."""
    likelihood, w = gather(state, g, ridge, ridge), state.w[g]
    state.certificate[g] = likeliest(likelihood, state.concordance[0], w, state.ball)
    residual_at(likelihood, w, state.ball.u, state.ball.H)
    factor_of(state.ball.H, 0.0, state.factor)  # G = ∇²F(ŵ), with its ridge
    for c in range(state.choices.used.shape[0]):
        softmax(state.choices.psi[c], state.choices.used[c], w, state.P[c])


@estimate_transition.register(MeasuredMultinomial)
def _(transition: MeasuredMultinomial, state: LaplaceState, h: int) -> None:
    _estimate(state.base, h % state.base.w.shape[0], 1.0 / (transition.spread * transition.spread))


@add_next.register(MeasuredMultinomial)
def _(
    transition: MeasuredMultinomial, state: LaplaceState, h: int, fresh: bool, V: Vector, H: int, out: Vector
) -> float:
    if fresh:
        estimate_transition(transition, state, h)
    base, table, first = state.base, state.base.choices, row_of(state.base, h, 0)
    for n in range(out.shape[0]):
        c, v = table.kind[first + n], 0.0
        for u in range(table.used[c]):
            v += base.P[c, u] * V[table.successor[first + n, u]]
        out[n] += v
        for i in range(state.X.shape[0]):
            state.X[i, n] = 0.0
        for u in range(table.used[c]):
            # ∇v = Σ p(V − v)ψ: the gradient of the expected next value, whose G⁻¹-norm is its standard deviation to first order.
            share = base.P[c, u] * (V[table.successor[first + n, u]] - v)
            for i in range(state.X.shape[0]):
                state.X[i, n] += share * table.psi[c, u, i]
    base.radius[h % base.w.shape[0]] = transition.scale
    return add_bonuses(state.X, base.factor, transition.scale, base.Z, base.square, out)


@learn_transition.register(MeasuredMultinomial)
def _(
    transition: MeasuredMultinomial, memory: Any, state: LaplaceState, h: int, pair: int, successor: int, V: Vector
) -> None:
    count_transition(memory, state.base, h, pair, successor)


@surprise.register(MeasuredMultinomial)
def _(transition: MeasuredMultinomial, state: LaplaceState, h: int, pair: int, successor: int) -> float:
    return surprise_of(state.base, h, pair, successor)


@told.register(MeasuredMultinomial)
def _(transition: MeasuredMultinomial, state: LaplaceState) -> dict[str, Any]:
    base = state.base
    certificate = float(base.certificate.max())
    return {"w": base.w.copy(), "transition_radius": float(base.radius.max()), "certificate": certificate}
