"""Minimise a smooth, not necessarily convex function over the ball ‖θ‖ ≤ S, for the projections of `projection`.

Each iteration minimises a quadratic model of the function exactly over the ball (`quadratic_on_ball`), then searches along the line to that
point. The model's matrix starts as the Gauss–Newton matrix and is updated by BFGS.
"""

from typing import Any, NamedTuple

import numpy as np

from ..core.ball import quadratic_on_ball
from ..core.kernel import generic, kernel, solver
from ..core.linalg import Matrix, Vector, dot, norm, symmetric_product
from ..sums.likelihood import Atoms


class DescentWork(NamedTuple):
    """Workspace of the descent on the ball."""

    B: Matrix  # (d, d)  quasi-Newton matrix
    factor: Matrix  # (d, d)
    W: Matrix  # (d, d)
    gradient: Vector  # (d,)
    other: Vector  # (d,)    gradient at the trial point
    y: Vector  # (d,)
    s: Vector  # (d,)
    q: Vector  # (d,)
    t: Vector  # (d,)
    v: Vector  # (d,)
    best: Vector  # (d,)
    start: Vector  # (d,)


def blank_descent_work(d: int) -> DescentWork:
    """A new workspace for dimension d."""
    return DescentWork(*(np.zeros((d, d)) for _ in range(3)), *(np.zeros(d) for _ in range(9)))


@generic
def objective(kind: Any, model: Any, sums: Atoms, est: Any, theta: Vector, gradient: Vector) -> float:
    """The function to minimise over the ball, and its gradient; leaves u and H at θ in est.newton."""


@generic
def gauss_newton(kind: Any, est: Any, B: Matrix) -> None:
    """A positive definite model of the objective's Hessian at the point of the last evaluation."""


@solver
def value_at(kind: Any, model: Any, sums: Atoms, est: Any, theta: Vector, gradient: Vector) -> float:
    """The objective, not inlined: one copy serves all callers, which compiles faster."""
    return objective(kind, model, sums, est, theta, gradient)


@solver
def descend(kind: Any, model: Any, sums: Atoms, est: Any, theta: Vector) -> float:
    """Minimise the objective over ‖θ‖ ≤ S from θ, in place; returns its value."""
    d = theta.shape[0]
    w = est.descent
    value = value_at(kind, model, sums, est, theta, w.gradient)
    # B starts positive definite whatever θ is, unlike the Hessian of this non-convex objective, so every step is a descent direction.
    gauss_newton(kind, est, w.B)
    for _ in range(200):
        # min_y ½(y−θ)ᵀB(y−θ) + gᵀ(y−θ) over the ball, written as min ½yᵀBy − qᵀy with q = Bθ − g.
        symmetric_product(w.B, theta, w.q)
        for i in range(d):
            w.q[i] -= w.gradient[i]
        quadratic_on_ball(w.B, w.q, kind.S, w.factor, w.y, w.t)
        for i in range(d):
            w.s[i] = w.y[i] - theta[i]
        slope = dot(w.gradient, w.s)
        # Written as "not <" so that a NaN also ends the descent; θ is then the last point that was accepted.
        if not slope < -1e-15 * value:
            break
        tau = 1.0
        while True:
            for i in range(d):
                w.y[i] = theta[i] + tau * w.s[i]
            new = value_at(kind, model, sums, est, w.y, w.other)
            if new <= value + 1e-4 * tau * slope or tau < 1e-6:  # Armijo's condition
                break
            tau *= 0.5
        # The step was halved to 1e-6 without a decrease: rounding, not the model, is the limit.
        if not new < value:
            break
        decrease = value - new
        for i in range(d):
            theta[i] = w.y[i]
            w.s[i] *= tau
            # From here on y is the change of the gradient, as in the BFGS formula; the trial point is no longer needed.
            w.y[i] = w.other[i] - w.gradient[i]
            w.gradient[i] = w.other[i]
        value = new
        if norm(w.s) <= 1e-11 * kind.S or decrease <= 1e-15 * value:
            break
        quasi_newton(w.B, w.s, w.y, w.q)
    return value


@kernel
def quasi_newton(B: Matrix, s: Vector, y: Vector, Bs: Vector) -> None:
    """BFGS: B ← B − Bs sᵀB/(sᵀBs) + yyᵀ/(yᵀs), with Powell's damping of y, so that B stays positive definite."""
    d = s.shape[0]
    symmetric_product(B, s, Bs)
    sBs, sy = dot(s, Bs), dot(s, y)
    if (
        sy < 0.2 * sBs
    ):  # too little curvature along s: replace y by a convex combination of y and Bs with sᵀy = 0.2·sᵀBs
        mix = 0.8 * sBs / (sBs - sy)
        for i in range(d):
            y[i] = mix * y[i] + (1.0 - mix) * Bs[i]
        sy = 0.2 * sBs
    for i in range(d):
        for j in range(d):
            B[i, j] += y[i] * y[j] / sy - Bs[i] * Bs[j] / sBs
