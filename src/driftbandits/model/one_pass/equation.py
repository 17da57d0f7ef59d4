"""The one-dimensional equation of a proximal step: the new xᵀθ, and the least curvature between it and any parameter in the ball."""

from typing import Any

import numpy as np

from ...core.kernel import kernel
from ...links import ddmu, dmu, log_partition, mu
from .parts import OnePass

NEAR = 0.25  # |y−z| below which the curvature is computed by quadrature: four nodes V and weights W are accurate to 1e-13 there
V0, V1, V2, V3 = 0.057104196114517725, 0.2768430136381238, 0.5835904323689168, 0.8602401356562195
W0, W1, W2, W3 = 0.27101382686297704, 0.4069291360205422, 0.25969509521646467, 0.06236194190001617
ROOT_STEPS = 200  # two or three are usual
ROOT_ERROR = 1e-9  # of z before the last step, whose error is the square of this


@kernel
def meeting_point(link: Any, z_bar: float, c: float, r: float) -> float:
    """The root of z + c(μ(z) − r) = z̄, c ≥ 0, by Newton's method, with bisection if a step leaves the bracket or is not halved."""
    # z + c(μ(z) − r) increases in z, so the root lies between z̄ and the point z̄ − f that the step would reach without curvature.
    f = c * (mu(link, z_bar) - r)
    low, high = min(z_bar, z_bar - f), max(z_bar, z_bar - f)
    z = z_bar - f / (1.0 + c * dmu(link, z_bar))
    last = high - low
    for _ in range(ROOT_STEPS):
        f = z + c * (mu(link, z) - r) - z_bar
        if f > 0.0:
            high = z
        else:
            low = z
        step = f / (1.0 + c * dmu(link, z))
        if abs(step) <= ROOT_ERROR * (1.0 + abs(z)):
            # The residual step is below √ε; Newton's convergence is quadratic, so taking it once more leaves an error of order ε.
            return z - step
        new = z - step
        # Bisection guarantees halving where Newton's step does not, for example on the flat ends of the logistic function.
        if new <= low or new >= high or 2.0 * abs(step) > last:
            new = 0.5 * (low + high)
        last = abs(new - z)
        z = new
    return z


@kernel
def curvature(link: Any, z: float, y: float) -> float:
    """2[b(y) − b(z) − μ(z)(y−z)]/(y−z)² = 2∫₀¹(1−v)μ′(z+v(y−z))dv.

    For y near z the difference suffers from cancellation, so the integral is computed by Gauss–Jacobi quadrature instead.
    """
    gap = y - z
    if abs(gap) < NEAR:
        return (
            W0 * dmu(link, z + V0 * gap)
            + W1 * dmu(link, z + V1 * gap)
            + W2 * dmu(link, z + V2 * gap)
            + W3 * dmu(link, z + V3 * gap)
        )
    return 2.0 * (log_partition(link, y) - log_partition(link, z) - mu(link, z) * gap) / (gap * gap)


@kernel
def slope(model: OnePass, size: float, z: float) -> float:
    """a: η times the least curvature between z and any y with |y| ≤ ‖x‖S. The minimum is at an end point, because μ′ is unimodal."""
    if model.damped == 0.0:
        return dmu(model.link, z)
    # |xᵀθ| ≤ ‖x‖S for every θ in the ball. μ′ is unimodal, so the least curvature is at one of the two ends.
    reach = size * model.S
    return model.eta * max(min(curvature(model.link, z, reach), curvature(model.link, z, -reach)), 0.0)


@kernel
def volume(model: OnePass, z: float, q: float, weight: float) -> float:
    """log(1 + k·μ′(z)q), the growth of Υ: k = 2αX(ρ√(φαq)), X(s) = (e^{s²/2}−1)/s², ρ = |μ″/μ′|(z)."""
    alpha = 1.5 * model.eta if model.explicit else model.eta
    h = dmu(model.link, z)
    rho = ddmu(model.link, z) / max(h, 1e-300)
    v = 0.5 * rho * rho * model.phi * alpha * q
    y = weight * alpha * h * q
    # (e^v − 1)/v → 1: below 1e-8 the quotient is 1 to the last digit, and 0/0 is avoided.
    if v < 1e-8:
        return float(np.log1p(y))
    if v > 30.0:  # work with logarithms: e^v would overflow for large v
        large = v + np.log(max(y, 1e-300) / v)
        return float(large if large > 30.0 else np.log1p(np.exp(large)))
    return float(np.log1p(y * np.expm1(v) / v))


@kernel
def error_at(model: OnePass, z: float, r: float, z0: float) -> float:
    """μ(z) − r, or its linearisation at z0."""
    if model.explicit:
        return mu(model.link, z0) - r + dmu(model.link, z0) * (z - z0)
    return mu(model.link, z) - r


@kernel
def place(model: OnePass, z_bar: float, c: float, r: float, z0: float) -> float:
    """xᵀθ after the step: z with z + c·(error at z) = z̄."""
    if model.explicit:
        h = dmu(model.link, z0)
        return (z_bar - c * (mu(model.link, z0) - r - h * z0)) / (1.0 + c * h)
    return meeting_point(model.link, z_bar, c, r)
