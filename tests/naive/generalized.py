"""Generalised linear and self-concordant bandits from the whole history (paper, section 4, appendices B and C).

`Likelihood` is everything one round knows: X (t-1, d), r (t-1,), w (t-1,), the link, λ and c_μ. Its θ̂ comes from SciPy,
its projections from `ball`; algorithms §2.0–§2.6.
"""

from typing import NamedTuple

import numpy as np
from naive import linear
from naive.ball import minimise_on_ball
from naive.links import LINKS
from scipy.optimize import minimize


class Likelihood(NamedTuple):
    """The weighted, regularised quasi-likelihood of one round."""

    X: np.ndarray
    r: np.ndarray
    w: np.ndarray
    link: str
    lam: float
    c_mu: float

    @property
    def d(self):
        return self.X.shape[1]

    def g(self, theta):
        """eq:GLB-gt — g(θ) = λc_μθ + Σ_s w_s μ(X_sᵀθ) X_s."""
        return self.lam * self.c_mu * theta + self.X.T @ (self.w * LINKS[self.link].mu(self.X @ theta))

    def g_hat(self):
        """ĝ = Σ_s w_s r_s X_s, which is g(θ̂)."""
        return self.X.T @ (self.w * self.r)

    def u(self, theta):
        """g(θ) - ĝ, the gradient of F."""
        return self.g(theta) - self.g_hat()

    def H(self, theta):
        """eq:SCB-Ht — H(θ) = λc_μI + Σ_s w_s μ′(X_sᵀθ) X_sX_sᵀ = ∇g(θ)."""
        curvature = self.w * LINKS[self.link].dmu(self.X @ theta)
        return self.lam * self.c_mu * np.eye(len(theta)) + (self.X.T * curvature) @ self.X

    def F(self, theta):
        """(λc_μ/2)‖θ‖² + Σ_s w_s [b(X_sᵀθ) - r_s X_sᵀθ]."""
        z = self.X @ theta
        return self.lam * self.c_mu / 2 * theta @ theta + self.w @ (LINKS[self.link].log_partition(z) - self.r * z)

    def V(self):
        """λI + Σ_s w_s X_sX_sᵀ."""
        return linear.V(self.X, self.w, self.lam)

    def V_tilde(self):
        """λI + Σ_s w_s² X_sX_sᵀ (resolution B5)."""
        return linear.V_tilde(self.X, self.w, self.lam)


def likelihood(X, r, *, memory, link, lam, c_mu):
    """The likelihood of round t = len(r) + 1 under a memory."""
    return Likelihood(X, r, linear.weights(memory, len(r) + 1), link, lam, c_mu)


def qmle(model, shift=None, nu=0.0):
    """eq:GLB-estimator — θ̂ with g(θ̂) = ĝ; more generally the θ with g(θ) + νθ = ĝ + shift (algorithms §2.8)."""
    d = model.d
    shift = np.zeros(d) if shift is None else shift

    def gradient(theta):
        return model.u(theta) + nu * theta - shift

    def hessian(theta):
        return model.H(theta) + nu * np.eye(d)

    with np.errstate(over="ignore", invalid="ignore"):
        theta = minimize(
            lambda x: model.F(x) + nu / 2 * x @ x - shift @ x,
            np.zeros(d),
            jac=gradient,
            hess=hessian,
            method="trust-exact",
            options={"gtol": 1e-9},
        ).x
    for _ in range(50):  # Newton to the last digit
        better = theta - np.linalg.solve(hessian(theta), gradient(theta))
        if np.linalg.norm(gradient(better)) >= np.linalg.norm(gradient(theta)):
            break
        theta = better
    return theta


# --- projections: algorithms §2.4 --------------------------------------------------------------------------------
def distance(model, theta, M):
    """‖g(θ) - ĝ‖_{M⁻¹}."""
    u = model.u(theta)
    return np.sqrt(u @ np.linalg.solve(M, u))


def local_distance_squared(model, theta):
    """P(θ) = ‖g(θ) - ĝ‖²_{H⁻¹(θ)}."""
    return distance(model, theta, model.H(theta)) ** 2


def local_gradient(model, theta):
    """∇P = 2u - Σ_s w_s μ″(X_sᵀθ)(X_sᵀq)² X_s with q = H⁻¹u (algorithms §2.4b)."""
    u = model.u(theta)
    q = np.linalg.solve(model.H(theta), u)
    return 2 * u - model.X.T @ (model.w * LINKS[model.link].ddmu(model.X @ theta) * (model.X @ q) ** 2)


def project(model, S, M):
    """eq:GLB-projection — argmin_{‖θ‖≤S} ‖g(θ) - ĝ‖_{M⁻¹}; θ̂ itself when it is inside."""
    theta = qmle(model)
    size = np.linalg.norm(theta)
    if size <= S:
        return theta
    return minimise_on_ball(
        lambda x: distance(model, x, M) ** 2 / 2,
        lambda x: model.H(x) @ np.linalg.solve(M, model.u(x)),
        S,
        len(theta),
        starts=[S * theta / size],
    )


def project_local(model, S):
    """eq:SCB-projection — argmin_{‖θ‖≤S} ‖g(θ) - ĝ‖_{H⁻¹(θ)}; θ̂ itself when it is inside."""
    theta = qmle(model)
    size = np.linalg.norm(theta)
    if size <= S:
        return theta
    return minimise_on_ball(
        lambda x: local_distance_squared(model, x),
        lambda x: local_gradient(model, x),
        S,
        len(theta),
        starts=[S * theta / size, project(model, S, model.V())],
    )


def qmle_on_ball(model, S):
    """argmin_{‖θ‖≤S} F(θ), a convex problem."""
    theta = qmle(model)
    if np.linalg.norm(theta) <= S:
        return theta
    return minimise_on_ball(model.F, model.u, S, len(theta), starts=[S * theta / np.linalg.norm(theta)])


def bvd_two_step(model, S, beta_bar, grid=(40, 120, 240)):
    """d=2, algorithms §2.2 by enumeration: (θ̃, z, ‖V⁻¹z‖) minimising ‖V⁻¹z‖ over ‖θ'‖ ≤ S, ‖g(θ')-ĝ-z‖_{Ṽ⁻¹} ≤ β̄.

    z stands for g(θᵖ) - g(θ̂), which may be any vector because g is a bijection (eq Faury:projection).
    """
    V_inv, V_tilde = np.linalg.inv(model.V()), model.V_tilde()
    ring = np.linspace(0, 2 * np.pi, grid[2], endpoint=False)
    edge = beta_bar * np.linalg.cholesky(V_tilde) @ np.array([np.cos(ring), np.sin(ring)])  # ‖edge‖_{Ṽ⁻¹} = β̄
    best = (np.inf, np.zeros(2), np.zeros(2))
    for radius in np.linspace(0, S, grid[0]):
        for phi in np.linspace(0, 2 * np.pi, grid[1], endpoint=False):
            theta = radius * np.array([np.cos(phi), np.sin(phi)])
            if distance(model, theta, V_tilde) <= beta_bar:
                z = np.zeros(2)
            else:
                reach = model.u(theta)[:, None] + edge
                z = reach[:, np.argmin(np.sum((V_inv @ reach) ** 2, axis=0))]
            value = np.linalg.norm(V_inv @ z)
            if value < best[0]:
                best = (value, theta, z)
    if best[0] == 0.0:
        return best[1], best[2], 0.0

    def gap(y):  # polish (θ', z) jointly from the best grid point
        rest = model.u(y[:2]) - y[2:]
        return beta_bar**2 - rest @ np.linalg.solve(V_tilde, rest)

    scale = best[0] ** 2
    ball = {"type": "ineq", "fun": lambda y: S**2 - y[:2] @ y[:2]}
    near = {"type": "ineq", "fun": gap}
    start = np.concatenate([best[1], best[2]])
    options = {"ftol": 1e-14, "maxiter": 500}
    found = minimize(
        lambda y: np.sum((V_inv @ y[2:]) ** 2) / scale, start, constraints=[ball, near], method="SLSQP", options=options
    ).x
    value = np.linalg.norm(V_inv @ found[2:])
    feasible = np.linalg.norm(found[:2]) <= S * (1 + 1e-8) and gap(found) >= -1e-7 * beta_bar**2
    return (found[:2], found[2:], value) if feasible and value < best[0] else (best[1], best[2], best[0])


def bvd_theta(model, S, beta_bar):
    """θ̃ of BVD-GLM-UCB: θ̂ if inside; else the Ṽ-projection if within β̄; else the enumeration (d=2)."""
    theta = qmle(model)
    if np.linalg.norm(theta) <= S:
        return theta
    simple = project(model, S, model.V_tilde())
    return simple if distance(model, simple, model.V_tilde()) <= beta_bar else bvd_two_step(model, S, beta_bar)[0]
