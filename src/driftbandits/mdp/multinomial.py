r"""Multinomial-logit transitions, learned by weighted maximum likelihood (paper, Section 6; Hwang and Oh 2023).

    F(w) = (λ_wκ/2)‖w‖² − Σ_j α_j log p(s'_j|s_j,a_j; w),   g(w) = λ_wκw + Σ_j α_j Σ_{s'} p(s'; w)ψ(s')     eq:MNL-estimate-p
    ŵ = argmin F,   w̃ = argmin_{‖w‖≤S_w} ‖g(w) − g(ŵ)‖_{Σ̄⁻¹},   Σ̄ = λ_wI + Σ_j α_j Σ_{s'} ψ(s')ψ(s')ᵀ     eq:MNL-projection
    optimistic next value:  Σ_{s'} p(s'; w̃)V(s') + c_w (H/κ) β̄_w max_{s'}‖ψ(s'|s,a)‖_{Σ̄⁻¹}                  eq:MNL-action-selection
    β̄_w(n) = √(½ log(1/δ) + (d/4) log(1 + UL²n/(λ_wd))) + √λ_w κS_w                                       lemma:MNL-v-UCB

ψ is ψ less that of a reference successor (`softmax_table`), whose own is then 0: UL² is (U−1)L′², L′ = max‖ψ′‖. With raw features, as
printed, it is UL_ψ²; but then ∇g ⪰ κΣ̄, on which the radius rests, is false (resolution D5). The likelihood depends on the past only
through the weighted counts of (class, successor), so an episode costs the same whatever came before. ŵ is found by damped Newton from the
last ŵ; w̃ by
`ball.project_on_ball`.
`corrected`: the noise of one multinomial draw is 1/√2-sub-Gaussian, not ½: √(log(1/δ) + (d/2) log(1 + UL²n/(λ_wd))).
"""

from typing import Any, NamedTuple

import numpy as np

from ..core.ball import BallWork, blank_ball_work, distance_to, factor_of, project_on_ball
from ..core.kernel import kernel, part, solver, sqrt
from ..core.linalg import CHUNK, Matrix, Vector, norm
from ..core.state import filled, view_state
from ..errors import InvalidValue, positive, require
from ..protocol import History, Integers, blank_history
from .confidence import failure_now, log_failure
from .likelihood import Likelihood, TransitionCounts, likeliest
from .protocol import Cube, Task, add_next, estimate_transition, learn_transition, surprise, told, transition_state
from .reward import add_bonuses, fold
from .softmax_table import LOWEST, RAW, Choices, choices, softmax
from .successors import place_of
from .value_targeted import DOUBT, check_transition

AT_ONCE = 1 << 22  # numbers of differences between successors


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
    reference: float = LOWEST

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
    sums: Any  # TransitionCounts, or the sums of another estimator
    mle: Matrix  # (groups, d) ŵ
    w: Matrix  # (groups, d) w̃
    certificate: Vector  # (groups,) ‖ŵ − its exact value‖ is below this before the last Newton step; infinite if that was not reached
    radius: Vector  # (groups,) c_w(H/κ)β̄_w
    failure: Vector  # (1,) log(1/δ), with the union bound if there is one that stays
    pairs: Integers  # (1,) S·A
    concordance: Vector  # (1,) diameter of the features of a class
    size: Vector  # (1,) UL²: what one observation adds to tr Σ̄ at the most
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
    if not task.multinomial or task.moves is None:
        raise InvalidValue("a multinomial-logit learner needs reachable=… (S, A, S): which successors are possible")
    reference, pairs = int(transition.reference), task.states * task.actions
    table = choices(task.moves, task.actions, reference, len(task.moves.used) // pairs)
    C, U, d = table.psi.shape
    # After the reference is subtracted the features are other vectors, so their norm is computed instead of taken from the user.
    length = transition.L if reference == RAW else float(np.linalg.norm(table.psi, axis=-1).max())
    places = U if reference == RAW else U - 1
    return MultinomialState(
        choices=table,
        gram=np.ascontiguousarray(np.einsum("cui,cuj->cij", table.psi, table.psi)),
        columns=np.ascontiguousarray(table.psi.reshape(C * U, d).T),
        history=filled(blank_history(memory, 0), groups),
        sums=TransitionCounts(np.zeros((groups, 2)), np.zeros((groups, C * U))),
        mle=np.zeros((groups, d)),
        w=np.zeros((groups, d)),
        certificate=np.zeros(groups),
        radius=np.zeros(groups),
        failure=np.full(1, log_failure(transition.delta, transition.uniform, task)),
        pairs=np.full(1, pairs),
        concordance=np.full(1, _diameter(table)),
        size=np.full(1, places * length**2),
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
        ball=blank_ball_work(d),
    )


def _diameter(table: Choices) -> float:
    """The largest ‖ψ(s') − ψ(s″)‖ of two successors of a pair, a few classes at a time: with many successors all would be gigabytes."""
    C, U, d = table.psi.shape
    largest = 0.0
    for some in np.array_split(np.arange(C), min(C, -(-C * U * U * d // AT_ONCE))):
        psi, inside = table.psi[some], np.arange(U) < table.used[some, None]
        span = psi[:, :, None] - psi[:, None]
        largest = max(largest, float(np.linalg.norm(span[inside[:, :, None] & inside[:, None]], axis=-1).max()))
    return largest


@kernel
def gather(state: MultinomialState, g: int, lam: float, ridge: float) -> Likelihood:
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
                    # Σ_{s'} ψψᵀ of a class never changes, so Σ̄ is a weighted sum of precomputed matrices.
                    state.Sigma[i, j] += total * state.gram[c, i, j]
    factor_of(state.Sigma, lam, state.factor)
    return Likelihood(state.choices.psi, state.choices.used, state.total, state.target, ridge, state.p, state.mean)


@solver
def estimate_stage(transition: Multinomial, state: MultinomialState, g: int) -> None:
    """Refresh ŵ and w̃ of group g, and Σ̄."""
    likelihood = gather(state, g, transition.lam, transition.lam * transition.kappa)
    mle, w, trial, S = state.mle[g], state.w[g], state.trial, transition.S
    state.certificate[g] = likeliest(likelihood, state.concordance[0], mle, state.ball)
    size = norm(mle)
    # Inside the ball ŵ is its own projection.
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
def _radius(transition: Any, state: MultinomialState, g: int) -> float:
    """β̄_w of group g."""
    d = state.target.shape[0]
    n, failure = state.sums.n[g, 0], failure_now(transition.uniform, state.failure[0], state.history.clock[g])
    noise = 0.5 * failure + 0.25 * d * np.log(1.0 + state.size[0] * n / (transition.lam * d))
    # One multinomial draw is 1/√2-sub-Gaussian, not ½: the variance term doubles.
    if transition.corrected:
        noise *= 2.0
    return float(sqrt(noise) + sqrt(transition.lam) * transition.kappa * transition.S)


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


@kernel
def lay_out(state: MultinomialState, g: int) -> None:
    """What planning needs, from w̃ and the factor of Σ̄: the widths, and p(·; w̃), of every class."""
    _widths(state)
    for c in range(state.choices.used.shape[0]):
        softmax(state.choices.psi[c], state.choices.used[c], state.w[g], state.P[c])


@kernel
def row_of(state: MultinomialState, h: int, pair: int) -> int:
    """The row of a pair in stage h among all pairs, or among those of all stages where the stages differ."""
    return int((h * state.pairs[0] + pair) % state.choices.kind.shape[0])


@kernel
def add_optimistic(transition: Any, state: MultinomialState, h: int, V: Vector, H: int, out: Vector) -> float:
    """Add Σ p(s'; w̃)V(s') + c_w(H/κ)β̄_w max‖ψ(s')‖_{Σ̄⁻¹} of every pair to `out`; returns the sum of the bonuses."""
    table, g, first = state.choices, h % state.w.shape[0], row_of(state, h, 0)
    state.radius[g] = transition.scale * H / transition.kappa * _radius(transition, state, g)
    total = 0.0
    for n in range(out.shape[0]):
        c = table.kind[first + n]
        # Pairs of a class have the same features and so the same bonus and probabilities; only their successors differ.
        value = state.radius[g] * state.width[c]
        total += value
        for u in range(table.used[c]):
            value += state.P[c, u] * V[table.successor[first + n, u]]
        out[n] += value
    return total


@kernel
def slot_of(state: MultinomialState, h: int, pair: int, successor: int) -> int:
    """class·U + place of a transition; −1 if only time has passed, or the successor is none of the pair's."""
    if pair < 0:
        return -1
    row = row_of(state, h, pair)
    kind = state.choices.kind[row]
    place = place_of(state.choices.successor, state.choices.used[kind], row, successor)
    return kind * state.P.shape[1] + place if place >= 0 else -1


@kernel
def surprise_of(state: MultinomialState, h: int, pair: int, successor: int) -> float:
    """−log p(s'; w̃), as far as it can be believed."""
    table, row = state.choices, row_of(state, h, pair)
    kind = table.kind[row]
    softmax(table.psi[kind], table.used[kind], state.w[h % state.w.shape[0]], state.p)
    place = place_of(table.successor, table.used[kind], row, successor)
    return float(-np.log(max(state.p[place] if place >= 0 else 0.0, DOUBT)))


@estimate_transition.register(Multinomial)
def _(transition: Multinomial, state: MultinomialState, h: int) -> None:
    g = h % state.w.shape[0]
    estimate_stage(transition, state, g)
    lay_out(state, g)


@add_next.register(Multinomial)
def _(transition: Multinomial, state: MultinomialState, h: int, fresh: bool, V: Vector, H: int, out: Vector) -> float:
    if fresh:
        estimate_transition(transition, state, h)
    return add_optimistic(transition, state, h, V, H, out)


@learn_transition.register(Multinomial)
def _(
    transition: Multinomial, memory: Any, state: MultinomialState, h: int, pair: int, successor: int, V: Vector
) -> None:
    count_transition(memory, state, h, pair, successor)


@kernel
def count_transition(memory: Any, state: MultinomialState, h: int, pair: int, successor: int) -> None:
    """Remember a transition; pair = −1: only time has passed."""
    g, slot = h % state.w.shape[0], slot_of(state, h, pair, successor)
    fold(memory, view_state(state.history, g), view_state(state.sums, g), state.nothing, 0.0, slot)


@surprise.register(Multinomial)
def _(transition: Multinomial, state: MultinomialState, h: int, pair: int, successor: int) -> float:
    return surprise_of(state, h, pair, successor)


@told.register(Multinomial)
def _(transition: Multinomial, state: MultinomialState) -> dict[str, Any]:
    sizes = np.linalg.norm(state.mle, axis=1)
    return {
        "w": state.w.copy(),
        "transition_radius": float(state.radius.max()),
        "certificate": float(state.certificate.max()),
        "projected": int((sizes > transition.S).sum()),
    }
