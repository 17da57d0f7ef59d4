"""One-pass learners of generalized linear bandits, one step of their recursion at a time (onepass-proof §1 and §2).

Nothing is solved cleverly here: the proximal step is minimised by Newton's method in d dimensions, a constrained one along its
multiplier, and the damped slope is the smallest value on a fine grid.
"""

from typing import NamedTuple

import numpy as np
from naive.links import LINKS
from scipy.optimize import brentq, minimize_scalar


class Options(NamedTuple):
    """What a step depends on, beside the data."""

    link: str
    lam: float
    S: float
    gamma: float = 1.0
    eta: float = 1.0
    phi: float = 1.0
    anchor: str = "ridge"
    step: str = "implicit"
    projected: bool = False
    slope: str = "damped"  # or "own": ω = 1


class State(NamedTuple):
    """H_t, θ_t and Υ^k_t."""

    H: np.ndarray
    theta: np.ndarray
    upsilon: float


def begin(options, d):
    """H_1 = λI, θ_1 = 0, Υ_1 = 0."""
    return State(options.lam * np.eye(d), np.zeros(d), 0.0)


def base(options, state):
    """Ā_t = γH_t + (1−γ)λI and θ̄_t of the anchor."""
    A = options.gamma * state.H + (1 - options.gamma) * options.lam * np.eye(len(state.theta))
    if options.anchor == "prox":
        return A, state.theta
    return A, np.linalg.solve(A, options.gamma * state.H @ state.theta)


def _unconstrained(options, A, target, x, r, z0):
    """θ with Aθ + η s(xᵀθ) x = target; s = μ(z) − r, or its first-order model at z0."""
    link, theta = LINKS[options.link], np.linalg.solve(A, target)

    def residual(theta):
        z = x @ theta
        if options.step == "explicit":
            s = link.mu(z0) - r + link.dmu(z0) * (z - z0)
        else:
            s = link.mu(z) - r
        return A @ theta + options.eta * s * x - target

    y = np.linalg.solve(A, x)
    start, q = x @ theta, x @ y
    # θ = A⁻¹target − c·y for one number c: a scalar equation, monotone in c
    if q == 0.0:
        return theta

    def along(c):
        return x @ residual(theta - c * y) / q

    reach = 1.0
    while along(reach) * along(-reach) > 0:
        reach *= 2.0
    c = brentq(along, -reach, reach, xtol=1e-15 * (1 + abs(start)), rtol=1e-15, maxiter=1000)
    return theta - c * y


def minimiser(options, A, theta_bar, x, r, z0):
    """argmin_K ℓ_t(θ) + (1/2η)‖θ − θ̄‖²_A, K the ball of radius S if projected, else everything."""
    d = len(x)
    target = A @ theta_bar
    theta = _unconstrained(options, A, target, x, r, z0)
    if not options.projected or np.linalg.norm(theta) <= options.S:
        return theta

    def size(nu):
        return np.linalg.norm(_unconstrained(options, A + nu * np.eye(d), target, x, r, z0)) - options.S

    high = 1.0
    while size(high) > 0:
        high *= 2.0
    nu = brentq(size, 0.0, high, xtol=1e-14, rtol=1e-14, maxiter=1000)
    return _unconstrained(options, A + nu * np.eye(d), target, x, r, z0)


def slope(options, x, z, points=20_001):
    """ω_t h_t: 2η times the least [b(y)−b(z)−μ(z)(y−z)]/(y−z)² over |y| ≤ ‖x‖S, or h itself."""
    link = LINKS[options.link]
    if options.slope == "own":
        return float(link.dmu(z))
    y = np.linspace(-1.0, 1.0, points) * np.linalg.norm(x) * options.S
    gap = y - z
    near = np.abs(gap) < 1e-3
    with np.errstate(divide="ignore", invalid="ignore"):
        G = (link.log_partition(y) - link.log_partition(z) - link.mu(z) * gap) / gap**2
    G[near] = link.dmu(z) / 2 + gap[near] * link.ddmu(z) / 6
    return max(2 * options.eta * float(G.min()), 0.0)


def X_concave(s):
    """(e^{s²/2} − 1)/s², where μ′ is log-concave."""
    return 0.5 if s < 1e-6 else float(np.expm1(s * s / 2) / s**2)


def X_general(s):
    """(2e^{s²/2}Φ(s) − 1 − s√(2/π))/s², from |μ″| ≤ Mμ′ alone."""
    from scipy.special import ndtr

    return 0.5 if s < 1e-6 else float((2 * np.exp(s * s / 2) * ndtr(s) - 1 - s * np.sqrt(2 / np.pi)) / s**2)


def volume(options, A, x, z):
    """log(1 + k_t h_t q_t), k = 2αX(ρ√(φαq))."""
    link = LINKS[options.link]
    q = float(x @ np.linalg.solve(A, x))
    h = float(link.dmu(z))
    rho = abs(float(link.ddmu(z))) / h
    alpha = 1.5 * options.eta if options.step == "explicit" else options.eta
    return float(np.log1p(2 * alpha * X_concave(rho * np.sqrt(options.phi * alpha * q)) * h * q))


def advance(options, state, x, r):
    """The state after (x, r)."""
    A, theta_bar = base(options, state)
    theta = minimiser(options, A, theta_bar, x, r, float(x @ state.theta))
    z = float(x @ theta)
    H = A + slope(options, x, z) * np.outer(x, x)
    return State(H, theta, options.gamma * state.upsilon + volume(options, A, x, z))


def run(options, X, R):
    """The states of rounds 1, …, len(R) + 1."""
    states = [begin(options, X.shape[1])]
    for x, r in zip(X, R, strict=True):
        states.append(advance(options, states[-1], x, r))
    return states


def beta(options, state, delta):
    """β_t of the theorem: β² = aλS² + φη(2log(1/δ) + Υ^k)."""
    a = 4.0 if options.anchor == "prox" else 1.0
    inner = a * options.lam * options.S**2 + options.phi * options.eta * (2 * np.log(1 / delta) + state.upsilon)
    return float(np.sqrt(inner))


def mix_loss(options, A, theta_bar, x, r, points=8001, reach=12.0):
    """m = −φ log E exp(−ℓ(θ)/φ) over θ ∼ N(θ̄, φαA⁻¹), by quadrature in xᵀθ around the mode of the integrand."""
    link = LINKS[options.link]
    alpha = 1.5 * options.eta if options.step == "explicit" else options.eta
    q = float(x @ np.linalg.solve(A, x))
    middle, sd = float(x @ theta_bar), np.sqrt(options.phi * alpha * q)

    def log_integrand(z):
        return -(link.log_partition(z) - r * z) / options.phi - (z - middle) ** 2 / (2 * sd * sd)

    mode = minimize_scalar(lambda z: -log_integrand(z), bracket=(middle, middle + 0.1 * sd)).x
    z = mode + sd * np.linspace(-reach, reach, points)
    with np.errstate(over="ignore"):
        exponent = log_integrand(z)
    top = exponent.max()
    total = np.exp(exponent - top).sum() * (z[1] - z[0]) / (sd * np.sqrt(2 * np.pi))
    return -options.phi * (top + np.log(total))


def loss(options, x, r, theta):
    """ℓ(θ) = b(xᵀθ) − r xᵀθ."""
    z = float(x @ theta)
    return float(LINKS[options.link].log_partition(z)) - r * z
