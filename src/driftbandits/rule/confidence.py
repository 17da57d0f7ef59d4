r"""The confidence set of SCB-PW-WeightUCB, and a local ascent in it that `parameter` uses.

C = {‖θ‖ ≤ S, P(θ) ≤ ρ²},   P(θ) = ‖u(θ)‖²_{H⁻¹(θ)},   u = g(θ) − g(θ̂)
"""

from typing import Any, NamedTuple

import numpy as np

from ..core.ball import divide_by, factor_of
from ..core.kernel import kernel, solver, sqrt
from ..core.linalg import Matrix, Vector, dot, norm, scale
from ..sums.likelihood import Atoms, evaluate, local_distance
from .relaxed import ChoiceTally, budget, copy, expansion, push

DEPTH = 400  # the largest number of cells on the stack
NOT_CLIMBED = -np.inf  # the score of an arm that cannot win, or whose value is not known yet


class Found(NamedTuple):
    """The results of the search in C in this round."""

    best: Vector  # (1,) the best value found
    known: Vector  # (1,) 1 if a point of C is known
    bound: Vector  # (1,) an upper bound of all values in C


class ParameterWork(NamedTuple):
    """Workspace, and the count of certified choices."""

    value: Vector  # (1,)    index of the last choice
    tally: ChoiceTally
    gap: Vector  # (1,)    the largest difference of bound and value among all choices
    rho: Vector  # (1,)    ρ
    found: Found
    inner: Vector  # (d,)    a point of C
    theta: Vector  # (d,)
    x: Vector  # (d,)
    y: Vector  # (d,)
    q: Vector  # (d,)
    t: Vector  # (d,)
    gradient: Vector  # (d,)
    spot: Vector  # (d,)    the point a cell is expanded about
    shift: Vector  # (d,)    H⁻¹u there
    factor: Matrix  # (d, d)  of H there
    root: Matrix  # (2, d)  centre and half-widths of the box that C lies in
    centre: Matrix  # (DEPTH, d)  centres of the cells on the stack
    half: Matrix  # (DEPTH, d)  their half-widths
    most: Vector  # (DEPTH,)    upper bounds of the values in them


@kernel
def take(arms: Matrix, a: int, x: Vector) -> None:
    """x ← arm a."""
    for i in range(x.shape[0]):
        x[i] = arms[i, a]


@solver
def square_distance(model: Any, sums: Atoms, est: Any, work: ParameterWork, theta: Vector) -> float:
    """P(θ); leaves the factor of H(θ) in work.factor and H⁻¹u in work.shift."""
    u, H = est.newton.u, est.newton.H
    evaluate(model.link, sums, model.lam * model.c_mu, sums.b, theta, u, H)
    factor_of(H, 0.0, work.factor)
    divide_by(work.factor, u, work.shift)
    return dot(u, work.shift)


@solver
def slope_at(model: Any, sums: Atoms, est: Any, work: ParameterWork, theta: Vector) -> float:
    """P(θ) and its gradient; leaves H in est.newton.H, its factor in work.factor and H⁻¹u in work.shift."""
    u, H, ridge = est.newton.u, est.newton.H, model.lam * model.c_mu
    return local_distance(model.link, sums, ridge, theta, u, H, work.factor, work.shift, work.gradient)


@kernel
def inverse_diagonal(work: ParameterWork, i: int) -> float:
    """(H⁻¹)_ii, from work.factor."""
    for j in range(work.t.shape[0]):
        work.t[j] = 1.0 if i == j else 0.0
    divide_by(work.factor, work.t, work.q)
    return work.q[i]  # type: ignore[no-any-return]


@solver
def enter(rule: Any, model: Any, sums: Atoms, est: Any, width: float, work: ParameterWork) -> None:
    """Start a round: find a point of C, and a box that contains C as the root cell.

    The point is θ̂ or, outside the ball, θ̃ (the minimiser of P on the ball, up to rounding) if it is in C. C is contained in E, and E in
    ‖θ−θ̂‖_{H(θ̂)} ≤ B/√h(L(S+‖θ̂‖)) (`relaxed`).
    """
    d = est.hat.shape[0]
    work.rho[0] = width
    work.found.best[0], work.found.known[0], work.found.bound[0] = -np.inf, 0.0, -np.inf
    size = norm(est.hat)
    if size <= rule.S:
        work.found.known[0] = 1.0
        copy(est.hat, work.inner)
    elif square_distance(model, sums, est, work, est.theta) <= width * width:
        work.found.known[0] = 1.0
        copy(est.theta, work.inner)
    square_distance(model, sums, est, work, est.hat)
    spread = sqrt(budget(rule, model.lam * model.c_mu, width, size) / expansion(rule.L * (rule.S + size)))
    for i in range(d):
        work.half[0, i] = spread * sqrt(inverse_diagonal(work, i))
        low = max(est.hat[i] - work.half[0, i], -rule.S)
        high = min(est.hat[i] + work.half[0, i], rule.S)
        work.centre[0, i] = 0.5 * (low + high)
        work.half[0, i] = max(0.5 * (high - low), 0.0)


@solver
def pole(rule: Any, model: Any, sums: Atoms, est: Any, work: ParameterWork) -> float:
    """Set θ to the pole S·x/‖x‖, or to a point of C if x = 0 and one is known; returns P(θ)."""
    size = norm(work.x)
    if size == 0.0:
        copy(work.inner, work.theta)
        return 0.0 if work.found.known[0] > 0.0 else np.inf
    for i in range(work.x.shape[0]):
        work.theta[i] = work.x[i] * rule.S / size
    return square_distance(model, sums, est, work, work.theta)


@solver
def climb(
    rule: Any, model: Any, sums: Atoms, est: Any, work: ParameterWork, arms: Matrix, a: int, start: Vector
) -> float:
    """A local maximum of x_aᵀθ over C from a point of C: first towards the arm's pole, then by a sequence of ellipsoids.

    The quadratic constraint κ‖y−θ‖²_H + ∇Pᵀ(y−θ) ≤ ρ² − P replaces P ≤ ρ². κ is increased until the maximiser under it lies in C, which it
    does for large κ.
    """
    take(arms, a, work.x)
    d = work.x.shape[0]
    new = est.newton
    limit = work.rho[0] * work.rho[0]
    size = norm(work.x)
    if size == 0.0:
        work.found.best[0] = max(work.found.best[0], 0.0)
        return 0.0
    copy(start, work.theta)
    for i in range(d):
        work.y[i] = work.x[i] * rule.S / size
    go_towards(model, sums, est, work, limit)
    # κ acts like the inverse radius of a trust region: it triples while the step leaves C, and halves after a step that stays inside.
    kappa = 1.0
    for _ in range(80):
        distance = slope_at(model, sums, est, work, work.theta)
        for i in range(d):
            new.u[i] = 0.5 * work.gradient[i]
        scale(new.H, kappa)
        slack = 0.5 * max(limit - distance, 0.0)
        push(work.x, new.H, new.u, slack, rule.S, work.theta, work.y, work.q, work.t, work.factor)
        if square_distance(model, sums, est, work, work.y) > limit:
            kappa *= 3.0
            if kappa > 1e12:
                break
            continue
        gain = dot(work.x, work.y) - dot(work.x, work.theta)
        if gain > 0.0:
            copy(work.y, work.theta)
        if gain <= 1e-10 * size * rule.S:
            break
        kappa = max(0.5 * kappa, 0.5)
    value = dot(work.x, work.theta)
    work.found.best[0] = max(work.found.best[0], value)
    return value


@solver
def go_towards(model: Any, sums: Atoms, est: Any, work: ParameterWork, limit: float) -> None:
    """Move θ to a point of C near its boundary on the segment from θ to y, by bisection."""
    d = work.x.shape[0]
    low, high = 0.0, 2.0  # with 2 as the upper end, the first point tried is y itself
    for _ in range(6):
        share = 0.5 * (low + high)
        for i in range(d):
            est.newton.trial[i] = work.theta[i] + share * (work.y[i] - work.theta[i])
        if square_distance(model, sums, est, work, est.newton.trial) <= limit:
            low = share
            if share == 1.0:
                break
        else:
            high = share
    for i in range(d):
        work.theta[i] += low * (work.y[i] - work.theta[i])
