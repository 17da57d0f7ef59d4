r"""Multinomial-logit transitions, learned by weighted maximum likelihood (paper, Section 6; Hwang and Oh 2023).

    F(w) = (λ_wκ/2)‖w‖² − Σ_j α_j log p(s'_j|s_j,a_j; w),   g(w) = λ_wκw + Σ_j α_j Σ_{s'} p(s'; w)ψ(s')     eq:MNL-estimate-p
    ŵ = argmin F,   w̃ = argmin_{‖w‖≤S_w} ‖g(w) − g(ŵ)‖_{Σ̄⁻¹},   Σ̄ = λ_wI + Σ_j α_j Σ_{s'} ψ(s')ψ(s')ᵀ     eq:MNL-projection
    optimistic next value:  Σ_{s'} p(s'; w̃)V(s') + c_w (H/κ) β̄_w max_{s'}‖ψ(s'|s,a)‖_{Σ̄⁻¹}                  eq:MNL-action-selection
    β̄_w(n) = √(½ log(1/δ) + (d/4) log(1 + UL_ψ²n/(λ_wd))) + √λ_w κS_w                                     lemma:MNL-v-UCB

ψ is ψ less that of a reference successor (`choices`). The likelihood depends on the past only through the weighted counts of (class,
successor), so an episode costs the same whatever came before. ŵ is found by damped Newton from the last ŵ; w̃ by `ball.project_on_ball`.
`corrected`: the noise of one multinomial draw is 1/√2-sub-Gaussian, not ½: √(log(1/δ) + (d/2) log(1 + (U−1)L′²n/(λ_wd))), L′ = max‖ψ′‖.
"""

from typing import Any, NamedTuple

import numpy as np

from ..ball import BallWork, ball_work, distance_to, factor_of, project_on_ball
from ..errors import InvalidValue, positive, require
from ..kernel import kernel, part, solver, sqrt, view_state
from ..linalg import CHUNK, Matrix, Vector, norm
from ..meta.stored import filled
from ..protocol import History, keep
from .choices import Choices, choices, softmax
from .likelihood import Counts, Likelihood, likeliest
from .protocol import Cube, Task, add_next, learn_transition, transition_state
from .reward import add_bonuses, fold
from .value_targeted import check_transition, log_failure


@part
class Multinomial(NamedTuple):
    """Multinomial-logit mixture: ridge λ_w, bounds S_w and L_ψ, κ over the ball of radius S_w, δ, scale c_w."""

    lam: float
    S: float
    L: float
    kappa: float
    delta: float
    scale: float = 1.0
    uniform: float = 0.0
    corrected: float = 0.0

    def check(self) -> None:
        """Refuse what is not a radius."""
        check_transition(self)
        positive("kappa", self.kappa, "it is a smallest product of two probabilities")
        require(self.kappa <= 0.25, "kappa", self.kappa, "≤ 1/4", "two probabilities sum to at most 1")


class MultinomialState(NamedTuple):
    """What is known of the transitions, for each group of stages."""

    choices: Choices
    gram: Cube  # (classes, d, d) Σ_{s'} ψψᵀ
    columns: Matrix  # (d, classes·U) all ψ
    history: History
    sums: Counts
    mle: Matrix  # (groups, d) ŵ
    w: Matrix  # (groups, d) w̃
    certificate: Vector  # (groups,) ‖ŵ − its exact value‖ is below this before the last Newton step
    constants: Vector  # (4,) log(1/δ), concordance, U, L′
    total: Vector  # (classes,)
    target: Vector  # (d,)
    factor: Matrix  # (d, d) of Σ̄
    Sigma: Matrix  # (d, d) Σ̄ − λ_wI
    P: Matrix  # (classes, U)
    width: Vector  # (classes·U,)
    Z: Matrix  # (d, CHUNK)
    square: Vector  # (CHUNK,)
    p: Vector  # (U,)
    mean: Vector  # (d,)
    trial: Vector  # (d,)
    nothing: Vector  # (0,)
    ball: BallWork


@transition_state.register(Multinomial)
def _(transition: Multinomial, task: Task, memory: Any, groups: int) -> MultinomialState:
    if task.reachable is None:
        raise InvalidValue("a multinomial-logit learner needs reachable=… (S, A, S): which successors are possible")
    table = choices(task.psi, task.reachable)
    C, U, d = table.psi.shape
    span = table.psi[:, :, None] - table.psi[:, None]
    inside = np.arange(U) < table.used[:, None]
    diameter = float(np.linalg.norm(span[inside[:, :, None] & inside[:, None]], axis=-1).max())
    length = float(np.linalg.norm(table.psi, axis=-1).max())
    return MultinomialState(
        choices=table,
        gram=np.ascontiguousarray(np.einsum("cui,cuj->cij", table.psi, table.psi)),
        columns=np.ascontiguousarray(table.psi.reshape(C * U, d).T),
        history=filled(keep(memory, 0), groups),
        sums=Counts(np.zeros((groups, 2)), np.zeros((groups, C * U))),
        mle=np.zeros((groups, d)),
        w=np.zeros((groups, d)),
        certificate=np.zeros(groups),
        constants=np.array([log_failure(transition, task), diameter, float(U), length]),
        total=np.zeros(C),
        target=np.zeros(d),
        factor=np.zeros((d, d)),
        Sigma=np.zeros((d, d)),
        P=np.zeros((C, U)),
        width=np.zeros(C * U),
        Z=np.zeros((d, CHUNK)),
        square=np.zeros(CHUNK),
        p=np.zeros(U),
        mean=np.zeros(d),
        trial=np.zeros(d),
        nothing=np.zeros(0),
        ball=ball_work(d),
    )


@kernel
def _gather(transition: Multinomial, state: MultinomialState, g: int) -> Likelihood:
    """Make Σ̄ and its factor, ĝ and the visits of every class from the counts of group g."""
    C, U, d = state.choices.psi.shape
    N = state.sums.N[g]
    for i in range(d):
        state.target[i] = 0.0
        for j in range(d):
            state.Sigma[i, j] = 0.0
    for c in range(C):
        total = 0.0
        for u in range(state.choices.used[c]):
            v = N[c * U + u]
            total += v
            for i in range(d):
                state.target[i] += v * state.choices.psi[c, u, i]
        state.total[c] = total
        if total > 0.0:
            for i in range(d):
                for j in range(d):
                    state.Sigma[i, j] += total * state.gram[c, i, j]
    factor_of(state.Sigma, transition.lam, state.factor)
    ridge = transition.lam * transition.kappa
    return Likelihood(state.choices.psi, state.choices.used, state.total, state.target, ridge, state.p, state.mean)


@solver
def estimate_stage(transition: Multinomial, state: MultinomialState, g: int) -> None:
    """Refresh ŵ and w̃ of group g, and Σ̄."""
    likelihood = _gather(transition, state, g)
    mle, w, trial, S = state.mle[g], state.w[g], state.trial, transition.S
    state.certificate[g] = likeliest(likelihood, state.constants[1], mle, state.ball)
    size = norm(mle)
    if size <= S:
        for i in range(w.shape[0]):
            w[i] = mle[i]
        return
    for i in range(w.shape[0]):
        trial[i] = S * mle[i] / size
    # Two starts, of which the nearer is used: Sŵ/‖ŵ‖, and the projection of the last episode if there was one.
    known = norm(w) >= S * (1.0 - 1e-9)
    metric, work = state.factor, state.ball
    if not known or distance_to(likelihood, metric, trial, work) < distance_to(likelihood, metric, w, work):
        for i in range(w.shape[0]):
            w[i] = trial[i]
    project_on_ball(likelihood, metric, S, w, work)


@kernel
def _radius(transition: Multinomial, state: MultinomialState, n: float) -> float:
    """β̄_w at n effective episodes."""
    d = state.target.shape[0]
    failure, U, length = state.constants[0], state.constants[2], state.constants[3]
    if transition.corrected:
        noise = failure + 0.5 * d * np.log(1.0 + (U - 1.0) * length * length * n / (transition.lam * d))
    else:
        noise = 0.5 * failure + 0.25 * d * np.log(1.0 + U * transition.L * transition.L * n / (transition.lam * d))
    return sqrt(noise) + sqrt(transition.lam) * transition.kappa * transition.S


@kernel
def _widths(state: MultinomialState) -> None:
    """Write max_{s'}‖ψ(s')‖_{Σ̄⁻¹} of every class into state.width, and p(·; w̃) into state.P."""
    C, U, _ = state.choices.psi.shape
    for a in range(C * U):
        state.width[a] = 0.0
    add_bonuses(state.columns, state.factor, 1.0, state.Z, state.square, state.width)
    for c in range(C):
        widest = 0.0
        for u in range(U):
            widest = max(widest, state.width[c * U + u])
        state.width[c] = widest


@add_next.register(Multinomial)
def _(transition: Multinomial, state: MultinomialState, g: int, fresh: bool, V: Vector, H: int, out: Vector) -> None:
    table = state.choices
    if fresh:
        estimate_stage(transition, state, g)
        _widths(state)
        for c in range(table.used.shape[0]):
            softmax(table.psi[c], table.used[c], state.w[g], state.P[c])
    bonus = transition.scale * H / transition.kappa * _radius(transition, state, state.sums.n[g, 0])
    for n in range(out.shape[0]):
        c = table.kind[n]
        value = bonus * state.width[c]
        for u in range(table.used[c]):
            value += state.P[c, u] * V[table.successor[n, u]]
        out[n] += value


@learn_transition.register(Multinomial)
def _(
    transition: Multinomial, memory: Any, state: MultinomialState, g: int, pair: int, successor: int, V: Vector
) -> None:
    slot = -1
    if pair >= 0:
        slot = state.choices.kind[pair] * state.P.shape[1] + state.choices.place[pair, successor]
    fold(memory, view_state(state.history, g), view_state(state.sums, g), state.nothing, 0.0, slot)
