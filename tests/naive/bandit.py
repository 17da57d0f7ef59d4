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


def coordinates(scale):
    """Origin μ and unit 1/s that the statistics suggest, and α, β of z′ = αz + β·present; a number has kind 1."""
    number = scale.kind == 1
    variance = scale.M2 / np.maximum(scale.seen, 1.0)
    live = number & (variance > 1e-18 * scale.mean**2) & (scale.seen > 1.0)
    mu = np.where(live, scale.mean, scale.mu)
    inv = np.where(live, 1.0 / np.sqrt(np.where(live, variance, 1.0)), np.where(number, 0.0, 1.0))
    alpha = np.where(number, np.divide(inv, scale.inv, out=np.zeros_like(inv), where=scale.inv > 0.0), 1.0)
    return mu, inv, alpha, np.where(number, (scale.mu - mu) * inv, 0.0)


def transformation(pairs, items, context):
    """T with φ′ = Tφ over columns z_i z_c: (i,c) ↦ (α_i z_i + β_i z_ī)(α_c z_c + β_c z_c̄); a side is (α, β, {i: ī})."""
    place = {pair: column for column, pair in enumerate(pairs)}
    T = np.zeros((len(pairs), len(pairs)))
    for row, (i, c) in enumerate(pairs):
        for slot_i, weight_i in ((i, items[0][i]), (items[2].get(i, 0), items[1][i])):
            for slot_c, weight_c in ((c, context[0][c]), (context[2].get(c, 0), context[1][c])):
                if weight_i != 0.0 and weight_c != 0.0:
                    T[row, place[slot_i, slot_c]] += weight_i * weight_c
    return T
