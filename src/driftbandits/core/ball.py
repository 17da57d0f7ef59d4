r"""Minimise over the ball ‖θ‖ ≤ S: the projection of an estimator in a fixed metric.

Two problems, the second built on the first:

`quadratic_on_ball`   min ½yᵀAy − qᵀy over ‖y‖ ≤ S.   y = (A+νI)⁻¹q, with ν = 0 or the root of ‖y‖ = S.
`project_on_ball`     min ½‖g(θ) − ĝ‖²_{M⁻¹} over ‖θ‖ ≤ S (eq:GLB-projection, eq:MNL-projection; algorithms §2.4a):
                      damped Newton. Every step solves a quadratic on the ball, so the constraint is never approximated.

The estimator enters through two open functions, `residual` and `bend`, with a method for each kind of likelihood. The projection is not
convex, but it has no spurious stationary point inside the ball: its gradient is HM⁻¹(g−ĝ) with H ≻ 0, which vanishes only at θ̂. If θ̂
is outside, the minimiser lies on the sphere. The Hessian is HM⁻¹H + ∇H·M⁻¹(g−ĝ); where that is not positive definite, the second term is
left out (Levenberg–Marquardt).
"""

from typing import Any, NamedTuple

import numpy as np

from .kernel import generic, kernel, solver
from .linalg import Matrix, Vector, cholesky, dot, norm, solve, solve_lower, solve_upper

STEPS = 100
SMALL_STEP = 1e-12  # relative to S: a projection that moves less has converged
ROUNDING = 1e-15  # relative rounding error of an objective


class BallWork(NamedTuple):
    """Workspace of both problems."""

    y: Vector  # (d,) the proposed point
    z: Vector  # (d,)
    u: Vector  # (d,) g(θ) − ĝ
    q: Vector  # (d,)
    H: Matrix  # (d, d) ∇g(θ)
    J: Matrix  # (d, d) the transpose of U⁻ᵀ∇g(θ), M = UᵀU
    A: Matrix  # (d, d) Hessian of the projection, or its first term
    T: Matrix  # (d, d) the second term
    factor: Matrix  # (d, d)


def blank_ball_work(d: int) -> BallWork:
    """A new workspace for dimension d."""
    return BallWork(*(np.zeros(d) for _ in range(4)), *(np.zeros((d, d)) for _ in range(5)))


@generic
def residual(likelihood: Any, theta: Vector, u: Vector, H: Matrix) -> None:
    """Write u = g(θ) − ĝ, the gradient of the weighted loss F, and H = ∇g(θ), its Hessian, in full."""


@solver
def residual_at(likelihood: Any, theta: Vector, u: Vector, H: Matrix) -> None:
    """`residual`, not inlined."""
    residual(likelihood, theta, u, H)


@generic
def bend(likelihood: Any, theta: Vector, v: Vector, T: Matrix) -> None:
    """Write T = Σ_i v_i ∂H(θ)/∂θ_i, the derivative of the Hessian of F in direction v, in full."""


@solver
def factor_of(A: Matrix, shift: float, factor: Matrix) -> None:
    """`cholesky`, not inlined: one copy serves all functions below, which compiles faster."""
    cholesky(A, shift, factor)


@solver
def divide_by(factor: Matrix, y: Vector, out: Vector) -> None:
    """`solve`, not inlined."""
    solve(factor, y, out)


@solver
def _lower(factor: Matrix, y: Vector, out: Vector) -> None:
    """`solve_lower`, not inlined."""
    solve_lower(factor, y, out)


@solver
def quadratic_on_ball(A: Matrix, q: Vector, S: float, factor: Matrix, y: Vector, z: Vector) -> float:
    """Write y = argmin ½yᵀAy − qᵀy over ‖y‖ ≤ S for A ≻ 0; return the multiplier ν ≥ 0 of the ball.

    Newton on 1/‖y(ν)‖ − 1/S, which is concave in ν: from ν = 0 the iterates increase to the root and cannot overshoot.
    """
    nu = 0.0
    for _ in range(STEPS):
        factor_of(A, nu, factor)
        divide_by(factor, q, y)
        size = norm(y)
        # "not >" also ends on NaN; the caller then sees it in y instead of an endless loop.
        if not size > S * (1.0 + 1e-14):
            return nu
        _lower(factor, y, z)
        # d‖y‖/dν = −‖U⁻ᵀy‖²/‖y‖, so Newton's step on 1/‖y‖ − 1/S is (‖y‖−S)/S · ‖y‖²/‖z‖² with z = U⁻ᵀy.
        step = (size - S) / S * size * size / dot(z, z)
        nu += step
        if step <= 1e-15 * nu:
            break
    # Rounding leaves ‖y‖ slightly off S: put y on the sphere.
    shrink = S / norm(y)
    for i in range(y.shape[0]):
        y[i] *= shrink
    return nu


@solver
def project_on_ball(likelihood: Any, metric: Matrix, S: float, theta: Vector, work: BallWork) -> float:
    """θ ← a minimiser of Q(θ) = ½‖g(θ) − ĝ‖²_{M⁻¹} over ‖θ‖ ≤ S, from any θ in the ball; returns Q(θ).

    `metric` is the factor U of M = UᵀU, as `cholesky` makes it.
    """
    d = theta.shape[0]
    residual_at(likelihood, theta, work.u, work.H)
    loss = _distance(metric, work.u, work.z)
    _hessian(likelihood, metric, theta, work)
    # The damping κ starts at a small fraction of the mean curvature. It falls after a step that lowers Q, and rises otherwise.
    kappa = 0.0
    for i in range(d):
        kappa += 1e-4 * work.A[i, i] / d
    for _ in range(STEPS):
        # min_y qᵀ(y−θ) + ½(y−θ)ᵀA(y−θ) + ½κ‖y−θ‖², with κ large enough for A + κI to be definite in spite of rounding
        kappa = max(kappa, definite_shift(work.A, work.factor))
        for i in range(d):
            work.A[i, i] += kappa
        _shifted(work.A, theta, work.q, work.u)
        quadratic_on_ball(work.A, work.u, S, work.factor, work.y, work.z)
        for i in range(d):
            work.A[i, i] -= kappa
            work.z[i] = work.y[i] - theta[i]
        length = norm(work.z)
        residual_at(likelihood, work.y, work.u, work.H)
        new = _distance(metric, work.u, work.z)
        if new <= loss * (1.0 + ROUNDING):
            loss = new
            # Accepted steps lower the damping quickly, because near the minimiser only an undamped step converges quadratically.
            kappa *= 0.01
            for i in range(d):
                theta[i] = work.y[i]
            if length <= SMALL_STEP * S:
                break
            _hessian(likelihood, metric, theta, work)
        else:
            if length <= SMALL_STEP * S:
                break
            kappa = max(10.0 * kappa, 1e-6 * work.A[0, 0])
    return loss


@solver
def distance_to(likelihood: Any, metric: Matrix, theta: Vector, work: BallWork) -> float:
    """½‖g(θ) − ĝ‖²_{M⁻¹}, the objective of `project_on_ball`, for choosing between starting points."""
    residual_at(likelihood, theta, work.u, work.H)
    return _distance(metric, work.u, work.z)


@solver
def _hessian(likelihood: Any, metric: Matrix, theta: Vector, work: BallWork) -> None:
    """A ← HM⁻¹H + ∇H·M⁻¹u, or HM⁻¹H if that is not positive definite; q ← HM⁻¹u."""
    d = work.u.shape[0]
    _lower(metric, work.u, work.z)
    for i in range(d):
        _lower(metric, work.H[i], work.J[i])
    for i in range(d):
        work.q[i] = dot(work.J[i], work.z)
        for j in range(i + 1):
            work.A[i, j] = dot(work.J[i], work.J[j])
            work.A[j, i] = work.A[i, j]
    solve_upper(metric, work.z, work.z)
    bend(likelihood, theta, work.z, work.T)
    for i in range(d):
        for j in range(d):
            work.T[i, j] += work.A[i, j]
    if _definite(work.T, 0.0, work.factor):
        for i in range(d):
            for j in range(d):
                work.A[i, j] = work.T[i, j]


@solver
def definite_shift(A: Matrix, factor: Matrix) -> float:
    """The least c among 0, 1e-14·tr A, 1e-13·tr A, … for which A + cI is positive definite beyond rounding; `factor` is workspace.

    Where probabilities are nearly 0 or 1, the curvature of a likelihood is lost in rounding, and a plain factorisation would divide by 0.
    """
    if _definite(A, 0.0, factor):
        return 0.0
    shift = 0.0
    for i in range(A.shape[0]):
        shift += 1e-15 * abs(A[i, i])
    shift = max(shift, 1e-300)
    while not _definite(A, shift, factor) and shift < 1e300:
        shift *= 10.0
    return shift


@kernel
def _definite(A: Matrix, shift: float, U: Matrix) -> bool:
    """Whether A + shift·I is positive definite: Gaussian elimination in U must find every pivot positive, with a margin for rounding."""
    d = A.shape[0]
    for i in range(d):
        for j in range(i, d):
            U[i, j] = A[i, j]
        U[i, i] += shift
    for k in range(d):
        if not U[k, k] > 1e-12 * (A[k, k] + shift):
            return False
        for i in range(k + 1, d):
            c = U[k, i] / U[k, k]
            for j in range(i, d):
                U[i, j] -= c * U[k, j]
    return True


@kernel
def _distance(metric: Matrix, u: Vector, z: Vector) -> float:
    """½‖u‖²_{M⁻¹}."""
    _lower(metric, u, z)
    return 0.5 * dot(z, z)


@kernel
def _shifted(A: Matrix, theta: Vector, u: Vector, out: Vector) -> None:
    """Write Aθ − u into out."""
    for i in range(theta.shape[0]):
        out[i] = dot(A[i], theta) - u[i]
