r"""Multinomial-logit transitions in one pass: one proximal step per transition, no counts of classes (successors §D; after Li et al. 2024).

    Ā = γH + (1−γ)ρI,   Āw̄ = γHw,   ρ = λ_wκ,   ℓ(w) = −log p(s'|s,a; w)
    w⁺ = argmin ℓ(w) + ½‖w − w̄‖²_Ā,   H⁺ = Ā + ∇²ℓ(w⁺),   ∇²ℓ = Σ pψψᵀ − (Σ pψ)(Σ pψ)ᵀ
    as sums:  A ← γA + ∇²ℓ(w⁺),   b ← γb + ∇²ℓ(w⁺)w⁺ − ∇ℓ(w⁺),   w = (A + ρI)⁻¹b

An episode costs O(H(d³ + Ud²)) beside planning, whatever was visited before, where the likelihood of `Multinomial` goes through every
class that ever was. Bonus and radius are those of `Multinomial`: Σ̄ = λ_wI + Σ α Σψψᵀ is kept beside H. w is brought back into ‖w‖ ≤ S_w in
the norm H. No theorem is claimed for this pair of estimate and radius.
"""

from typing import Any, NamedTuple

import numpy as np

from ..core.ball import factor_of, quadratic_on_ball, residual
from ..core.kernel import part, solver
from ..core.linalg import Matrix, Vector, scale, scale_vector
from ..core.state import view_state
from ..errors import positive, require
from ..protocol import absorb, fade
from .likelihood import likeliest
from .multinomial import Multinomial, MultinomialState, add_optimistic, count_transition, lay_out, surprise_of
from .protocol import Task, add_next, estimate_transition, learn_transition, surprise, told, transition_state
from .softmax_table import LOWEST, softmax
from .value_targeted import check_transition

NOTHING = -1.0  # no transition waits


@part
class OnePassMultinomial(NamedTuple):
    """Multinomial-logit mixture in one pass; the fields of `Multinomial`."""

    lam: float
    S: float
    L: float
    kappa: float
    delta: float
    scale: float = 1.0
    uniform: float = 0.0
    corrected: float = 0.0
    reference: float = LOWEST

    def check(self) -> None:
        """Refuse what is not a radius."""
        check_transition(self)
        positive("kappa", self.kappa, "it is a smallest product of two probabilities")
        require(self.kappa <= 0.25, "kappa", self.kappa, "≤ 1/4", "two probabilities sum to at most 1")


class Steps(NamedTuple):
    """The weighted past of a one-pass learner, and the transition that is not in it yet."""

    n: Vector  # (2,) Σ w and Σ w²
    A: Matrix  # (d, d) H − ρI
    b: Vector  # (d,) Hw
    Sigma: Matrix  # (d, d) Σ̄ − λ_wI
    waiting: Vector  # (1,) class·U + place of the transition that waits, or `NOTHING`
    weight: Vector  # (1,) its weight


@fade.register(Steps)
def _(sums: Steps, g: float) -> None:
    scale(sums.A, g)
    scale_vector(sums.b, g)
    scale(sums.Sigma, g)
    sums.n[0] *= g
    sums.n[1] *= g * g
    sums.weight[0] *= g
    # A restart forgets the transition that waits, too.
    if g == 0.0:
        sums.waiting[0] = NOTHING


@absorb.register(Steps)
def _(sums: Steps, x: Vector, r: float, slot: int, weight: float) -> None:
    if weight < 0.0 or sums.waiting[0] != NOTHING:  # there is no place for it: NaN is noticed, a wrong estimate is not
        sums.b[0] = np.nan
    sums.waiting[0] = float(slot) if slot >= 0 else NOTHING
    sums.weight[0] = weight
    sums.n[0] += weight
    sums.n[1] += weight * weight


class Proximal(NamedTuple):
    """αℓ(w) + ½wᵀĀw − bᵀw of one transition, α its weight."""

    psi: Matrix  # (U, d)
    used: int
    place: int
    weight: float
    A: Matrix  # (d, d) Ā − ρI
    target: Vector  # (d,) b = Āw̄
    ridge: float  # ρ
    p: Vector  # (U,) workspace
    mean: Vector  # (d,) workspace


@residual.register(Proximal)
def _(loss: Proximal, w: Vector, u: Vector, H: Matrix) -> None:
    # u = α(Σ pψ − ψ(s')) + Āw − b,   H = α(Σ pψψᵀ − (Σ pψ)(Σ pψ)ᵀ) + Ā
    curvature(loss.psi, loss.used, w, loss.p, loss.mean, H)
    for i in range(w.shape[0]):
        u[i] = loss.weight * (loss.mean[i] - loss.psi[loss.place, i]) + loss.ridge * w[i] - loss.target[i]
        for j in range(w.shape[0]):
            H[i, j] = loss.weight * H[i, j] + loss.A[i, j]
            u[i] += loss.A[i, j] * w[j]
        H[i, i] += loss.ridge


@solver
def curvature(psi: Matrix, used: int, w: Vector, p: Vector, mean: Vector, H: Matrix) -> None:
    """p(·; w), Σ pψ and the covariance Σ pψψᵀ − (Σ pψ)(Σ pψ)ᵀ of one class."""
    d = w.shape[0]
    softmax(psi, used, w, p)
    for i in range(d):
        mean[i] = 0.0
        for k in range(used):
            mean[i] += p[k] * psi[k, i]
    for i in range(d):
        for j in range(d):
            H[i, j] = 0.0
            for k in range(used):
                H[i, j] += p[k] * (psi[k, i] - mean[i]) * (psi[k, j] - mean[j])


@transition_state.register(OnePassMultinomial)
def _(transition: OnePassMultinomial, task: Task, memory: Any, groups: int) -> MultinomialState:
    state = transition_state(Multinomial(**transition._asdict()), task, memory, groups)
    d = state.choices.psi.shape[2]
    sums = Steps(
        n=np.zeros((groups, 2)),
        A=np.zeros((groups, d, d)),
        b=np.zeros((groups, d)),
        Sigma=np.zeros((groups, d, d)),
        waiting=np.full((groups, 1), NOTHING),
        weight=np.zeros((groups, 1)),
    )
    return state._replace(sums=sums)  # type: ignore[no-any-return]


@solver
def take_in(transition: OnePassMultinomial, state: MultinomialState, g: int) -> None:
    """The step of the transition that waits in group g."""
    sums = view_state(state.sums, g)
    if sums.waiting[0] == NOTHING:
        return
    U, d = state.P.shape[1], state.target.shape[0]
    slot, weight = int(sums.waiting[0]), sums.weight[0]
    sums.waiting[0] = NOTHING
    c, place = slot // U, slot % U
    psi, used, w, H = state.choices.psi[c], state.choices.used[c], state.mle[g], state.ball.H
    ridge = transition.lam * transition.kappa
    loss = Proximal(psi, used, place, weight, sums.A, sums.b, ridge, state.p, state.mean)
    state.certificate[g] = likeliest(loss, state.concordance[0], w, state.ball)
    curvature(psi, used, w, state.p, state.mean, H)
    for i in range(d):
        # b ← b − ∇ℓ(w⁺) + ∇²ℓ(w⁺)w⁺, so that (A + ρI)⁻¹b is w⁺ again.
        sums.b[i] -= weight * (state.mean[i] - psi[place, i])
        for j in range(d):
            sums.A[i, j] += weight * H[i, j]
            sums.b[i] += weight * H[i, j] * w[j]
            sums.Sigma[i, j] += weight * state.gram[c, i, j]


@estimate_transition.register(OnePassMultinomial)
def _(transition: OnePassMultinomial, state: MultinomialState, h: int) -> None:
    g = h % state.w.shape[0]
    sums, work, w = view_state(state.sums, g), state.ball, state.w[g]
    ridge = transition.lam * transition.kappa
    for i in range(w.shape[0]):
        for j in range(w.shape[0]):
            work.A[i, j] = sums.A[i, j]
            state.Sigma[i, j] = sums.Sigma[i, j]
        work.A[i, i] += ridge
    # argmin ½wᵀHw − bᵀw over ‖w‖ ≤ S: the projection in the norm H, exactly.
    quadratic_on_ball(work.A, sums.b, transition.S, work.factor, w, work.z)
    factor_of(state.Sigma, transition.lam, state.factor)
    lay_out(state, g)


@add_next.register(OnePassMultinomial)
def _(
    transition: OnePassMultinomial, state: MultinomialState, h: int, fresh: bool, V: Vector, H: int, out: Vector
) -> float:
    if fresh:
        estimate_transition(transition, state, h)
    return add_optimistic(transition, state, h, V, H, out)


@learn_transition.register(OnePassMultinomial)
def _(
    transition: OnePassMultinomial, memory: Any, state: MultinomialState, h: int, pair: int, successor: int, V: Vector
) -> None:
    count_transition(memory, state, h, pair, successor)
    take_in(transition, state, h % state.w.shape[0])


@surprise.register(OnePassMultinomial)
def _(transition: OnePassMultinomial, state: MultinomialState, h: int, pair: int, successor: int) -> float:
    return surprise_of(state, h, pair, successor)


@told.register(OnePassMultinomial)
def _(transition: OnePassMultinomial, state: MultinomialState) -> dict[str, Any]:
    return {
        "w": state.w.copy(),
        "transition_radius": float(state.radius.max()),
        "certificate": float(state.certificate.max()),
        "projected": int((np.linalg.norm(state.w, axis=1) >= transition.S * (1.0 - 1e-12)).sum()),
    }
