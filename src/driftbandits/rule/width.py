"""Scoring for rules with index = merit + β·‖x‖: of all arms, or only of those that can win.

Scoring every arm costs O(n·d²) per round. For a fixed arm set the same choice can be found in O(n·d): keep an upper bound q̂_a of each
squared width ‖x_a‖²_{V⁻¹}, and compute exact indices only for arms whose bound can still win or tie. When x is observed with weight c (1
except for one-pass models) and the memory discounts by g,

    V_new ⪰ g·V + c·xxᵀ + εI,  ε = (1−g)λ,   so by Sherman–Morrison, then by Jensen on the spectrum of V,
    q̂ ← (q̂ − c(x_aᵀV⁻¹x)²/(g + c·xᵀV⁻¹x))/g,      q̂ ← q̂/(1 + ε·q̂/‖x_a‖²).

Each bound is inflated by a multiple of the rounding error, so it stays an upper bound. The choice equals that of scoring every arm, while
only two or three arms per round are computed exactly.
"""

from typing import Any, NamedTuple

import numpy as np

from ..core.kernel import generic, kernel, sqrt
from ..core.linalg import CHUNK, Matrix, Vector, dot, inner_products, largest, position, solve, solve_lower
from ..core.state import scratch
from ..core.ties import best_arm, tie_level
from ..protocol import Setting, merit

LAZY_FROM = 10  # below this dimension scoring every arm is cheaper
MANY = 8  # if more than one arm in this many needs an exact index, scoring all arms at once is cheaper
ROUNDING = 4e-16
TINY = 1e-300  # keeps 0/0 out of the bounds of arms of norm 0


@scratch
class WidthWork(NamedTuple):
    """Workspace of an index of the form merit + β·‖x‖; `prepare` with g = 0 initialises all of it."""

    value: Vector  # (1,)      index of the last choice
    metric: Matrix  # (d, d)    V⁻¹ṼV⁻¹, or (0, 0)
    root: Matrix  # (d, d)    a square root of the metric, or (0, 0)
    noise: Vector  # (1,)      factor of the bonus in this decision: 1, or random
    Z: Matrix  # (d, CHUNK)
    q: Vector  # (CHUNK,)
    u: Vector  # (d,)      V⁻¹x of the observation being learned
    xu: Vector  # (1,)      xᵀV⁻¹x
    arms: Matrix  # (d, n)    fixed arms, or (d, 0): score all arms
    rows: Matrix  # (n, d)    the same
    square: Vector  # (n,)      ‖x_a‖²
    bound: Vector  # (n,)      q̂_a
    cross: Vector  # (n,)      x_aᵀV⁻¹x
    waiting: Vector  # (n,)    bound of the score, −∞ once this decision has evaluated the arm


def blank_width_work(setting: Setting, metric: bool) -> WidthWork:
    """The workspace before round 1; arms are kept only where lazy scoring pays."""
    d = setting.dim
    m = d if metric else 0
    arms = setting.arms if d >= LAZY_FROM else np.zeros((d, 0))
    n = arms.shape[1]
    return WidthWork(
        value=np.zeros(1),
        metric=np.zeros((m, m)),
        root=np.zeros((m, m)),
        noise=np.ones(1),
        Z=np.zeros((d, CHUNK)),
        q=np.zeros(CHUNK),
        u=np.zeros(d),
        xu=np.zeros(1),
        arms=arms,
        rows=np.ascontiguousarray(arms.T),
        square=(arms * arms).sum(axis=0),
        bound=np.zeros(n),
        cross=np.zeros(n),
        waiting=np.zeros(n),
    )


@generic
def squared_widths(rule: Any, est: Any, work: WidthWork, arms: Matrix, first: int, m: int) -> None:
    """Squared widths of m ≤ CHUNK arms from `first`, into work.q."""


@generic
def squared_width(rule: Any, est: Any, work: WidthWork, x: Vector, inverse: float) -> float:
    """Squared width of one arm, given inverse = ‖x‖²_{V⁻¹}; never larger than that."""


@kernel
def score_all(rule: Any, model: Any, est: Any, beta: float, work: WidthWork, arms: Matrix, score: Vector) -> None:
    """score_a = merit(x_aᵀθ) + β‖x_a‖ for all arms (d, n)."""
    n = arms.shape[1]
    inner_products(arms, est.theta, score)
    for first in range(0, n, CHUNK):
        m = min(CHUNK, n - first)
        squared_widths(rule, est, work, arms, first, m)
        chunk = score[first : first + m]
        for a in range(m):
            chunk[a] = merit(model, chunk[a]) + beta * sqrt(work.q[a])


@kernel
def score_contenders(
    rule: Any, model: Any, est: Any, beta: float, work: WidthWork, arms: Matrix, score: Vector
) -> bool:
    """Write exact scores of all arms that can win or tie, and upper bounds of the others; requires β ≥ 0.

    Returns False if so many arms can win that scoring every arm is cheaper, as in round 1, where all may tie; the scores are then unusable.
    """
    inner_products(arms, est.theta, score)
    for a in range(arms.shape[1]):
        score[a] = merit(model, score[a]) + beta * sqrt(work.bound[a])
        work.waiting[a] = score[a]
    best = -np.inf
    for _ in range(arms.shape[1] // MANY + 1):
        high = largest(work.waiting)
        if high == -np.inf or high < tie_level(best):
            return True
        top = position(work.waiting, high)
        x, z = work.rows[top], work.u
        solve_lower(est.factor, x, z)
        inverse = dot(z, z)
        work.bound[top] = inverse * (1.0 + 64.0 * ROUNDING)
        work.waiting[top] = -np.inf
        score[top] = merit(model, dot(x, est.theta)) + beta * sqrt(squared_width(rule, est, work, x, inverse))
        best = max(best, score[top])
    return False


@kernel
def choose_widest(
    rule: Any,
    model: Any,
    est: Any,
    beta: float,
    work: WidthWork,
    arms: Matrix,
    score: Vector,
    rng: np.random.Generator,
) -> int:
    """The arm of largest index, by lazy scoring if the arms are fixed and the bonus is not negative."""
    lazy = work.bound.shape[0] > 0 and beta >= 0.0
    if not (lazy and score_contenders(rule, model, est, beta, work, arms, score)):
        score_all(rule, model, est, beta, work, arms, score)
    k = best_arm(score, rng)
    work.value[0] = score[k]
    return k


@kernel
def cross_widths(est: Any, work: WidthWork, x: Vector) -> None:
    """x_aᵀV⁻¹x for all fixed arms, with V as it is before x is added."""
    if work.bound.shape[0] > 0:
        solve(est.factor, x, work.u)
        work.xu[0] = dot(x, work.u)
        inner_products(work.arms, work.u, work.cross)


@kernel
def carry_bounds(lam: float, gain: float, est: Any, work: WidthWork, g: float) -> None:
    """Update q̂ after an observation of weight `gain`, by the two inequalities in the module's docstring; g = 0 resets it to ‖x‖²/λ."""
    n = work.bound.shape[0]
    if n == 0:
        return
    if g == 0.0:
        for a in range(n):
            work.bound[a] = work.square[a] / lam
        return
    slack = 1.0 + ROUNDING * (16.0 + condition(est.factor))
    shift, weight, most = (1.0 - g) * lam, gain / (g + gain * work.xu[0]), 1.0 / lam
    for a in range(n):
        # Both steps in one quotient: q̂ = p/g, then q̂‖x‖²/(‖x‖² + ε·q̂). Always q ≤ ‖x‖²/λ. An arm of norm 0 keeps q̂ = 0.
        p = max(work.bound[a] * slack - work.cross[a] * work.cross[a] * weight, 0.0)
        square = work.square[a]
        q = p * square / (g * square + shift * p + TINY)
        work.bound[a] = min(q, square * most)


@kernel
def condition(factor: Matrix) -> float:
    """Cheap estimate of the condition number of the factored matrix: the squared ratio of extreme (reciprocal) pivots."""
    low = high = factor[0, 0]
    for i in range(1, factor.shape[0]):
        low = min(low, factor[i, i])
        high = max(high, factor[i, i])
    return float((high / low) ** 2)
