"""The learner behind `Bandit`, recomputed from the full history in plain NumPy."""

import math

import numpy as np


def weights(ticks, newest, rate):
    """w_s = exp(−rate·(newest − τ_s))."""
    return np.exp(-rate * (newest - np.asarray(ticks, float)))


def ridge(phi, r, w, lam):
    """θ, (V + Λ)⁻¹ and the mean reward around which θ shrinks; φ (n, p) with the intercept first."""
    phi, r, w = np.asarray(phi), np.asarray(r), np.asarray(w)
    Lam = np.diag([1.0] + [lam] * (phi.shape[1] - 1))
    mean = r.mean()
    P = np.linalg.inv(phi.T @ (w[:, None] * phi) + Lam)
    theta = P @ (phi.T @ (w * (r - mean)))
    left = w @ (r - mean - phi @ theta) ** 2 + theta @ Lam @ theta
    sigma2 = (left + 5.0 * r.var()) / (w.sum() + 5.0)
    return mean, theta, P, sigma2


def forecast(x, phi, r, w, lam):
    """Expected reward of φ = x, and the standard deviation of that estimate."""
    mean, theta, P, sigma2 = ridge(phi, r, w, lam)
    return mean + x @ theta, math.sqrt(sigma2 * (x @ P @ x))


def envelope(mean, sd, points=200_001):
    """P(k = argmax mean_k + ½(1+|ξ|)sd_k) by quadrature over ξ ≥ 0."""
    xi = np.linspace(0.0, 9.0, points)
    mass = np.exp(-0.5 * xi**2)
    mass /= mass.sum()
    mean, sd = np.asarray(mean)[:, None], np.asarray(sd)[:, None]
    winner = np.argmax(mean + 0.5 * (1.0 + xi) * sd, axis=0)
    return np.bincount(winner, weights=mass, minlength=len(mean))
