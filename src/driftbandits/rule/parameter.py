r"""Optimism over the paper's confidence set: play argmax_x max_{θ∈C} xᵀθ (SCB-PW-WeightUCB, eq:SCB-PW-select-criteria; OFULog).

    C = {‖θ‖ ≤ S, P(θ) ≤ ρ²},   P(θ) = ‖u(θ)‖²_{H⁻¹(θ)},   u = g(θ) − g(θ̂)                not convex

The best arm is found, and proved to be the best, in three steps:

1. *Poles.* xᵀθ ≤ S‖x‖, attained at the pole Sx/‖x‖. If C contains the pole of an arm of largest norm, then the arms of largest norm whose
   poles are in C tie and win.
2. *Ascent* (`confidence`). Otherwise a local maximum of xᵀθ over C gives a value that is attained.
3. *Branch and bound* (`bounding`) proves that no point of C gives any arm more.

A choice is *certified* if no arm can have a value more than 1e-7 above it. For d = 2 the search always ends. In more dimensions there may
be too many cells; then the best arm found is played and counted as not certified, and the largest `gap` between its value and the bound of
the open cells is reported. If C is empty (`empty_set`, proved the same way), the rule is greedy at the maximum-likelihood θ of the ball.
"""

from typing import Any

import numpy as np

from ..core.kernel import solver
from ..core.linalg import Matrix, Vector, dot, norm
from ..core.parts import Rule
from ..core.ties import best_arm, tie_level
from ..errors import positive
from ..protocol import Setting, blank_work, choose, index, mean, report
from ..sums.likelihood import Atoms, newton_on_ball
from .bounding import search
from .confidence import DEPTH, NOT_CLIMBED, Found, ParameterWork, climb, enter, pole, take
from .relaxed import GAP, blank_tally, copy


class ParameterBased(Rule):
    """Optimism over the confidence set C itself."""

    S: float
    L: float

    def check(self) -> None:
        """The ball must not be empty."""
        positive("S", self.S, "it bounds the norm of θ")
        positive("L", self.L, "it bounds the norm of every arm")


@blank_work.register(ParameterBased)
def _(rule: ParameterBased, setting: Setting) -> ParameterWork:
    d = setting.dim
    found = Found(best=np.zeros(1), known=np.zeros(1), bound=np.zeros(1))
    numbers, vectors = [np.zeros(1), blank_tally(), np.zeros(1), np.zeros(1), found], [np.zeros(d) for _ in range(9)]
    cells = [np.zeros((DEPTH, d)), np.zeros((DEPTH, d)), np.zeros(DEPTH)]
    return ParameterWork._make([*numbers, *vectors, np.zeros((d, d)), np.zeros((2, d)), *cells])


@choose.register(ParameterBased)
def _(
    rule: Any,
    model: Any,
    sums: Any,
    est: Any,
    beta: float,
    work: Any,
    arms: Matrix,
    score: Vector,
    rng: np.random.Generator,
) -> int:
    optimistic_arm(rule, model, sums, est, beta, work, arms, score)
    k = best_arm(score, rng)
    gap = work.found.bound[0] - score[k]
    work.tally.choices[0] += 1.0
    work.tally.certified[0] += gap <= GAP
    work.tally.empty[0] += work.found.known[0] == 0.0
    if work.found.known[0] > 0.0:
        work.gap[0] = max(work.gap[0], gap)
    work.value[0] = mean(model, score[k])
    return k


@index.register(ParameterBased)
def _(
    rule: Any, model: Any, sums: Any, est: Any, beta: float, work: ParameterWork, arms: Matrix, score: Vector
) -> None:
    values_of_all(rule, model, sums, est, beta, work, arms, score)
    for a in range(score.shape[0]):
        score[a] = mean(model, score[a])


@report.register(ParameterBased)
def _(rule: ParameterBased, work: ParameterWork) -> dict[str, Any]:
    choices = max(float(work.tally.choices[0]), 1.0)
    return {
        "certified": float(work.tally.certified[0]) / choices,
        "empty_set": float(work.tally.empty[0]) / choices,
        "gap": float(work.gap[0]),
    }


# ----------------------------------------------------------------------------------------------------------- the three steps


@solver
def optimistic_arm(
    rule: Any,
    model: Any,
    sums: Atoms,
    est: Any,
    beta: float,
    work: ParameterWork,
    arms: Matrix,
    score: Vector,
) -> None:
    """Write the value of every arm that can win into `score`, and −∞ for those that cannot."""
    n = score.shape[0]
    enter(rule, model, sums, est, beta, work)
    top = 0.0
    for a in range(n):
        take(arms, a, work.x)
        score[a] = rule.S * norm(work.x)
        top = max(top, score[a])
    # Poles: those of the longest arms first. If no pole decides, the ascent starts with the arm whose pole is nearest to C.
    level = tie_level(top)
    first, nearest = 0, np.inf
    for longest in (True, False):
        if not longest and work.found.best[0] >= level:
            break
        for a in range(n):
            if (score[a] >= level) != longest or score[a] == NOT_CLIMBED:
                continue
            take(arms, a, work.x)
            far = pole(rule, model, sums, est, work)
            if far > work.rho[0] * work.rho[0]:
                score[a] = NOT_CLIMBED
            else:
                work.found.best[0] = max(work.found.best[0], score[a])
                work.found.known[0] = 1.0
                copy(work.theta, work.inner)
            if far < nearest:
                first, nearest = a, far
    if work.found.best[0] >= level:
        for a in range(n):
            if score[a] < level:
                score[a] = NOT_CLIMBED
        work.found.bound[0] = work.found.best[0]
        return
    if work.found.known[0] > 0.0:
        score[first] = max(score[first], climb(rule, model, sums, est, work, arms, first, work.inner))
    search(rule, model, sums, est, work, arms, score, 0, n, True)
    if work.found.known[0] == 0.0:
        greedy(rule, model, sums, est, work, arms, score)


@solver
def values_of_all(
    rule: Any,
    model: Any,
    sums: Atoms,
    est: Any,
    beta: float,
    work: ParameterWork,
    arms: Matrix,
    score: Vector,
) -> None:
    """Write max xᵀθ over C for every arm, with one search per arm."""
    for a in range(score.shape[0]):
        enter(rule, model, sums, est, beta, work)
        take(arms, a, work.x)
        if pole(rule, model, sums, est, work) <= work.rho[0] * work.rho[0]:
            score[a] = rule.S * norm(work.x)
            continue
        score[a] = NOT_CLIMBED
        if work.found.known[0] > 0.0:
            score[a] = climb(rule, model, sums, est, work, arms, a, work.inner)
        search(rule, model, sums, est, work, arms, score, a, a + 1, False)
        if work.found.known[0] == 0.0:
            greedy(rule, model, sums, est, work, arms, score)
            return


@solver
def greedy(rule: Any, model: Any, sums: Atoms, est: Any, work: ParameterWork, arms: Matrix, score: Vector) -> None:
    """The scores if C is empty: xᵀθ at the maximum-likelihood θ of the ball."""
    size = norm(est.hat)
    for i in range(est.hat.shape[0]):
        work.theta[i] = est.hat[i] * min(1.0, rule.S / size)
    newton_on_ball(model.link, sums, model.lam * model.c_mu, sums.b, rule.L, rule.S, work.theta, est.newton)
    # Emptiness is proved only if the search left no cell open; otherwise the choice must not count as certified.
    proved = work.found.bound[0] == -np.inf
    work.found.bound[0] = -np.inf
    for a in range(score.shape[0]):
        take(arms, a, work.x)
        score[a] = dot(work.x, work.theta)
        work.found.bound[0] = max(work.found.bound[0], score[a] if proved else np.inf)
