"""Minimise a smooth function over the ball ‖θ‖ ≤ S by looking everywhere: the oracle behind every projection.

d=1 and d=2 are searched on dense grids (the whole circle, and the disc), larger d by SLSQP from many starts. The best
point found is then polished on the stationarity conditions, so that θ itself, not only f(θ), is accurate.
"""

import warnings

import numpy as np
from scipy.optimize import brentq, minimize, minimize_scalar, root


def finite_difference(f, theta, step=1e-6):
    """∇f by central differences."""
    out = np.zeros(len(theta))
    for i in range(len(theta)):
        e = np.zeros(len(theta))
        e[i] = step
        out[i] = (f(theta + e) - f(theta - e)) / (2 * step)
    return out


def minimise_on_circle(f, grad, S, angles=720):
    """d=2, ‖θ‖ = S: sweep the angle, golden section in the best cells, then the root of the tangential slope."""

    def point(phi):
        return S * np.array([np.cos(phi), np.sin(phi)])

    def slope(phi):
        return grad(point(phi)) @ np.array([-np.sin(phi), np.cos(phi)])

    grid = np.linspace(0, 2 * np.pi, angles, endpoint=False)
    values = np.array([f(point(phi)) for phi in grid])
    cell = 2 * np.pi / angles
    candidates = []
    for i in range(angles):
        if values[i] <= values[i - 1] and values[i] <= values[(i + 1) % angles]:
            low, high = grid[i] - cell, grid[i] + cell
            phi = minimize_scalar(lambda a: f(point(a)), bracket=(low, grid[i], high), method="golden").x
            if slope(low) < 0 < slope(high):
                phi = brentq(slope, low, high, xtol=1e-15)
            candidates.append(point(phi))
    return min(candidates, key=f)


def _slsqp(f, grad, S, start):
    """One local solve, f scaled to 1 at the start because SLSQP's tolerance is absolute."""
    scale = max(abs(f(start)), 1e-300)
    ball = {"type": "ineq", "fun": lambda x: S**2 - x @ x, "jac": lambda x: -2 * x}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # iterates clipped to the box around the ball
        found = minimize(
            lambda x: f(x) / scale,
            start,
            jac=lambda x: grad(x) / scale,
            bounds=[(-S, S)] * len(start),
            constraints=[ball],
            method="SLSQP",
            options={"ftol": 1e-15, "maxiter": 500},
        ).x
    size = np.linalg.norm(found)
    return found * min(1.0, S / size) if size > 0 else found


def _polish(f, grad, S, theta):
    """Solve ∇f(θ) + νθ = 0, ‖θ‖ = S on the sphere, or ∇f(θ) = 0 inside, starting at θ; keep what is not worse."""
    slope = grad(theta)
    scale = max(np.linalg.norm(slope), 1e-300)
    if np.linalg.norm(theta) >= S * (1 - 1e-7):
        start = np.append(theta * S / np.linalg.norm(theta), -(slope @ theta) / (S**2 * scale))
        better = root(lambda y: np.append(grad(y[:-1]) / scale + y[-1] * y[:-1], (y[:-1] @ y[:-1] - S**2) / S), start)
        found = better.x[:-1] * S / np.linalg.norm(better.x[:-1])
    else:
        found = root(lambda y: grad(y) / scale, theta, tol=1e-14).x
    if np.linalg.norm(found) <= S * (1 + 1e-12) and f(found) <= f(theta) + 1e-12 * abs(f(theta)) + 1e-14:
        return found
    return theta


def minimise_on_ball(f, grad, S, d, starts=(), sphere_only=False, random_starts=20, seed=0):
    """argmin of f over ‖θ‖ ≤ S (over ‖θ‖ = S if `sphere_only`)."""
    rng = np.random.default_rng(seed)
    if d == 1:
        grid = np.array([[-S], [S]]) if sphere_only else np.linspace(-S, S, 4001)[:, None]
        best = min(grid, key=f)
        return best if sphere_only else _polish(f, grad, S, min([best, _slsqp(f, grad, S, best)], key=f))
    if d == 2:
        candidates = [minimise_on_circle(f, grad, S)]
        inside = [
            radius * np.array([np.cos(phi), np.sin(phi)])
            for radius in np.linspace(0, S, 15, endpoint=False)
            for phi in np.linspace(0, 2 * np.pi, 48, endpoint=False)
        ]
        seeds = [] if sphere_only else sorted(inside, key=f)[:3]
    else:
        directions = rng.normal(size=(random_starts, d))
        directions *= S / np.linalg.norm(directions, axis=1, keepdims=True)
        radii = np.where(np.arange(random_starts) % 2 == 0, 1.0, rng.uniform(size=random_starts))
        candidates = []
        seeds = list(directions * radii[:, None])
    candidates += [_slsqp(f, grad, S, start) for start in [*seeds, *starts]]
    if sphere_only:
        candidates = [theta * S / np.linalg.norm(theta) for theta in candidates]
    return _polish(f, grad, S, min(candidates, key=f))
