"""Parameter-based optimism on C_t and on its convex relaxation E_t (paper, appendix D; algorithms §2.7, §2.8).

`model` is the `Likelihood` of the round. Values are max_θ xᵀθ (μ is increasing, so the choice is that of eq. SCB-PW).
"""

import numpy as np
from naive.generalized import (
    likelihood,
    local_distance_squared,
    local_gradient,
    project_local,
    qmle,
    qmle_on_ball,
)
from naive.glm_scores import growth
from naive.links import LINKS
from scipy.optimize import minimize

SLACK = 1e-9  # relative slack that a numerical optimum may use of its constraints


def h(D):
    """h(D) = (e^{-D} + D - 1)/D², h(0) = 1/2 (theory §1); the series near 0, where the formula cancels."""
    if D < 1e-3:
        return 0.5 - D / 6 + D**2 / 24 - D**3 / 120
    return (np.exp(-D) + D - 1) / D**2


def budget(model, S, L, rho):
    """B² = ρ²/(4h(D̂)), D̂ = min{D̄(Lρ/√(λc_μ)), L(S + ‖θ̂‖)}."""
    D_hat = min(growth(L * rho / np.sqrt(model.lam * model.c_mu)), L * (S + np.linalg.norm(qmle(model))))
    return rho**2 / (4 * h(D_hat))


def excess(model, theta):
    """F(θ) - F(θ̂)."""
    return model.F(theta) - model.F(qmle(model))


def in_C(model, theta, S, rho):
    """θ ∈ C_t: ‖θ‖ ≤ S and ‖g(θ) - g(θ̂)‖_{H⁻¹(θ)} ≤ ρ (eq:SCB-PW-confidence-set)."""
    return bool(np.linalg.norm(theta) <= S and local_distance_squared(model, theta) <= rho**2)


def in_E(model, theta, S, B2):
    """θ ∈ E_t: ‖θ‖ ≤ S and F(θ) - F(θ̂) ≤ B²."""
    return bool(np.linalg.norm(theta) <= S and excess(model, theta) <= B2)


def _maximise(x, constraints, start):
    """SLSQP for max xᵀθ, started again a little off the given point: from some points it does not leave."""
    size = max(np.linalg.norm(x), 1e-300)

    def solve(begin):
        return minimize(
            lambda y: -(x @ y) / size,
            begin,
            jac=lambda y: -x / size,
            constraints=constraints,
            method="SLSQP",
            options={"ftol": 1e-14, "maxiter": 1000},
        ).x

    found = [solve(start), solve(0.9 * start), solve(0.9 * start + 1e-3 * x / size)]
    feasible = [y for y in found if all(np.min(c["fun"](y)) >= -1e-9 for c in constraints)]
    return max(feasible, key=lambda y: x @ y) if feasible else found[0]


def _ball(S):
    return {"type": "ineq", "fun": lambda y: 1 - y @ y / S**2, "jac": lambda y: -2 * y / S**2}


def max_over_E(model, x, S, B2):
    """(value, θ) of max xᵀθ over E_t; None if E_t is empty. Convex, so any local solution is the answer."""
    theta_hat, centre = qmle(model), qmle_on_ball(model, S)
    if model.F(centre) - model.F(theta_hat) > B2:
        return None
    edge = S * x / np.linalg.norm(x)
    if in_E(model, edge, S, B2):
        return S * np.linalg.norm(x), edge
    loss = {
        "type": "ineq",
        "fun": lambda y: 1 - (model.F(y) - model.F(theta_hat)) / B2,
        "jac": lambda y: -model.u(y) / B2,
    }
    starts = [centre, 0.5 * centre + 0.5 * edge, edge]
    found = [_maximise(x, [loss, _ball(S)], start) for start in starts]
    slack = 1 + SLACK
    feasible = [y for y in found if np.linalg.norm(y) <= S * slack and excess(model, y) <= B2 * slack]
    best = max([*feasible, centre], key=lambda y: x @ y)
    return x @ best, best


def disc(S, radii=120, angles=360):
    """A polar grid of the disc ‖θ‖ ≤ S (d=2)."""
    phi = np.linspace(0, 2 * np.pi, angles, endpoint=False)
    circle = np.column_stack([np.cos(phi), np.sin(phi)])
    return np.concatenate([radius * circle for radius in np.linspace(0, S, radii)])


def points_of_C(model, S, rho, grid=None):
    """The points of a grid of the disc that lie in C_t."""
    grid = disc(S) if grid is None else grid
    return np.array([theta for theta in grid if in_C(model, theta, S * (1 + 1e-12), rho)]).reshape(-1, model.d)


def dense_values_over_C(model, arms, S, rho, radii=400, angles=1440):
    """d=2: max xᵀθ over C_t for every arm on a dense polar grid, nothing else; -inf where no grid point lies in C_t.

    Every value is attained by a point of C_t, so it is below the true one; on a convex stretch of the boundary by less than
    the spacing S/radii + S·2π/angles times ‖x‖.
    """
    grid = disc(S, radii, angles)
    z = grid @ model.X.T
    u = model.lam * model.c_mu * grid + (model.w * LINKS[model.link].mu(z)) @ model.X - model.g_hat()
    slope = model.w * LINKS[model.link].dmu(z)
    a = model.lam * model.c_mu + slope @ model.X[:, 0] ** 2
    b = slope @ (model.X[:, 0] * model.X[:, 1])
    c = model.lam * model.c_mu + slope @ model.X[:, 1] ** 2
    P = (c * u[:, 0] ** 2 - 2 * b * u[:, 0] * u[:, 1] + a * u[:, 1] ** 2) / (a * c - b**2)  # uᵀH⁻¹u of a 2×2 matrix
    inside = grid[rho**2 >= P]
    return (inside @ arms.T).max(axis=0, initial=-np.inf)


def max_over_C(model, arms, S, rho, points=None):
    """d=2: max xᵀθ over C_t for every arm, by enumeration and a local polish; None if C_t is empty.

    `points` are known members (see `points_of_C`). C_t is not convex; the grid finds the right piece of it.
    """
    points = points_of_C(model, S, rho) if points is None else points
    closest = project_local(model, S)
    if in_C(model, closest, S * (1 + 1e-12), rho):
        points = np.vstack([points, closest])
    if len(points) == 0:
        return None
    near = {
        "type": "ineq",
        "fun": lambda y: 1 - local_distance_squared(model, y) / rho**2,
        "jac": lambda y: -local_gradient(model, y) / rho**2,
    }
    values = []
    for x in arms:
        best = points[np.argmax(points @ x)]
        better = _maximise(x, [near, _ball(S)], best)
        if in_C(model, better, S * (1 + SLACK), rho * (1 + SLACK)) and x @ better > x @ best:
            best = better
        values.append(x @ best)
    return np.array(values)


def optimistic_values(model, arms, S, L, rho, relaxed=True):
    """max xᵀθ per arm over E_t (default) or C_t (d=2); greedy on the ball-constrained QMLE if the set is empty."""
    if relaxed:
        B2 = budget(model, S, L, rho)
        found = [max_over_E(model, x, S, B2) for x in arms]
        values = None if any(pair is None for pair in found) else np.array([pair[0] for pair in found])
    else:
        values = max_over_C(model, arms, S, rho)
    return arms @ qmle_on_ball(model, S) if values is None else values


def scb_pw_weight_ucb(X, r, arms, *, gamma, link, lam, c_mu, S, L, rho, radius_scale=1.0, relaxed=True):
    """SCB-PW-WeightUCB: the optimistic values; ρ is ρ_t of `naive.rho`, `radius_scale` multiplies it."""
    model = likelihood(X, r, memory=("discounted", gamma), link=link, lam=lam, c_mu=c_mu)
    return optimistic_values(model, arms, S, L, radius_scale * rho, relaxed)


def ofulog(X, r, arms, *, link, lam, c_mu, S, L, radius, relaxed=True):
    """OFULog-r (relaxed) and OFULog: the static versions, with γ_t for ρ (2.7)."""
    model = likelihood(X, r, memory=("everything",), link=link, lam=lam, c_mu=c_mu)
    return optimistic_values(model, arms, S, L, radius, relaxed)


def ofulog_radius(t, *, d, S, delta):
    """γ_t = (S + 3/2)√λ_t with λ_t = max(1, d log(4(1+t)/δ)), Abeille et al.'s own (2.7)."""
    return (S + 1.5) * np.sqrt(max(1.0, d * np.log(4 * (1 + t) / delta)))
