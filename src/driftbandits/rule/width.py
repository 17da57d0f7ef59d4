"""Index = mean + β·‖x‖, for any rule of that form, over all arms or only over those that can win.

Scoring every arm costs O(n·d²) a round. For a fixed arm set a learner can do with O(n·d), exactly: keep an upper bound q̂_a of each squared
width ‖x_a‖²_{V⁻¹}, and evaluate exactly only arms whose bound can still win or tie. When x is observed and the memory fades by g,

    V_new ⪰ g·V + xxᵀ + εI,  ε = (1−g)λ,   so by Sherman–Morrison, then by Jensen on the spectrum of V,
    q̂ ← (q̂ − (x_aᵀV⁻¹x)²/(g + xᵀV⁻¹x))/g,      q̂ ← q̂/(1 + ε·q̂/‖x_a‖²).

Each step is inflated by a multiple of the rounding error. The choice is that of scoring every arm; two or three arms a round are evaluated.
"""

from typing import Any, NamedTuple

import numpy as np

from ..kernel import generic, kernel, sqrt
from ..linalg import CHUNK, Matrix, Vector, dot, inner_products, solve, solve_lower
from ..protocol import Setting, mean
from .ties import best_arm, largest, tie_level

LAZY_FROM = 10  # below this dimension scoring every arm is cheaper
ROUNDING = 4e-16
TINY = 1e-300  # keeps 0/0 out of the bounds of arms of norm 0


class WidthWork(NamedTuple):
    """Workspace of an index of the form mean + β·‖x‖."""

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
    exact: Vector  # (n,)      1 where this decision evaluated the arm


def width_workspace(setting: Setting, metric: bool) -> WidthWork:
    """Allocate; arms are kept only where lazy scoring pays."""
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
        exact=np.zeros(n),
    )


@generic
def squared_widths(rule: Any, est: Any, work: WidthWork, arms: Matrix, first: int, m: int) -> None:
    """Squared widths of m ≤ CHUNK arms from `first`, into work.q."""


@generic
def squared_width(rule: Any, est: Any, work: WidthWork, x: Vector, inverse: float) -> float:
    """Squared width of one arm, given inverse = ‖x‖²_{V⁻¹}; never larger than that."""


@kernel
def score_all(rule: Any, model: Any, est: Any, width: float, work: WidthWork, arms: Matrix, score: Vector) -> None:
    """score_a = mean(x_aᵀθ) + width·‖x_a‖ for all arms (d, n)."""
    n = arms.shape[1]
    inner_products(arms, est.theta, score)
    for first in range(0, n, CHUNK):
        m = min(CHUNK, n - first)
        squared_widths(rule, est, work, arms, first, m)
        chunk = score[first : first + m]
        for a in range(m):
            chunk[a] = mean(model, chunk[a]) + width * sqrt(work.q[a])


@kernel
def score_contenders(
    rule: Any, model: Any, est: Any, width: float, work: WidthWork, arms: Matrix, score: Vector
) -> None:
    """Exact scores of all arms that can win or tie, upper bounds of the others; needs width ≥ 0."""
    n = arms.shape[1]
    inner_products(arms, est.theta, score)
    for a in range(n):
        work.exact[a] = 0.0
        score[a] = mean(model, score[a]) + width * sqrt(work.bound[a])
    while True:
        top = next_contender(score, work.exact)
        if top < 0:
            return
        x, z = work.rows[top], work.u
        solve_lower(est.factor, x, z)
        inverse = dot(z, z)
        work.bound[top] = inverse * (1.0 + 64.0 * ROUNDING)
        work.exact[top] = 1.0
        score[top] = mean(model, dot(x, est.theta)) + width * sqrt(squared_width(rule, est, work, x, inverse))


@kernel
def next_contender(score: Vector, exact: Vector) -> int:
    """The arm with the largest bound if it can still beat, or tie with, the best exact score; else −1."""
    n = score.shape[0]
    level = tie_level(largest(score))  # the largest is a bound, or nothing but ties is left to evaluate
    waiting = 0
    for a in range(n):
        waiting += (score[a] >= level) & (exact[a] == 0.0)
    if waiting == 0:
        return -1
    top, high = -1, -np.inf
    for a in range(n):
        if score[a] > high and exact[a] == 0.0:
            top, high = a, score[a]
    return top


@kernel
def choose_widest(
    rule: Any,
    model: Any,
    est: Any,
    width: float,
    work: WidthWork,
    arms: Matrix,
    score: Vector,
    rng: np.random.Generator,
) -> int:
    """The arm of largest index; lazily where the arms are fixed and the bonus is one."""
    if work.bound.shape[0] > 0 and width >= 0.0:
        score_contenders(rule, model, est, width, work, arms, score)
    else:
        score_all(rule, model, est, width, work, arms, score)
    k = best_arm(score, rng)
    work.value[0] = score[k]
    return k


@kernel
def cross_widths(est: Any, work: WidthWork, x: Vector) -> None:
    """x_aᵀV⁻¹x for all fixed arms, with the V that does not know x yet."""
    if work.bound.shape[0] > 0:
        solve(est.factor, x, work.u)
        work.xu[0] = dot(x, work.u)
        inner_products(work.arms, work.u, work.cross)


@kernel
def carry_bounds(lam: float, est: Any, work: WidthWork, g: float) -> None:
    """q̂ of the new V from q̂ of the old one; see the module's docstring."""
    n = work.bound.shape[0]
    if n == 0:
        return
    if g == 0.0:
        for a in range(n):
            work.bound[a] = work.square[a] / lam
        return
    slack = 1.0 + ROUNDING * (16.0 + condition(est.factor))
    shift, weight, most = (1.0 - g) * lam, 1.0 / (g + work.xu[0]), 1.0 / lam
    for a in range(n):
        # both steps in one quotient: q̂ = p/g, then q̂‖x‖²/(‖x‖² + ε·q̂); and q ≤ ‖x‖²/λ always. An arm of norm 0 keeps q̂ = 0.
        p = max(work.bound[a] * slack - work.cross[a] * work.cross[a] * weight, 0.0)
        square = work.square[a]
        q = p * square / (g * square + shift * p + TINY)
        work.bound[a] = min(q, square * most)


@kernel
def condition(factor: Matrix) -> float:
    """Cheap estimate of the condition number of the factored matrix: the squared ratio of extreme pivots."""
    low = high = factor[0, 0]
    for i in range(1, factor.shape[0]):
        low = min(low, factor[i, i])
        high = max(high, factor[i, i])
    return float((high / low) ** 2)
