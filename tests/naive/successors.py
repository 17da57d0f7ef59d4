"""What came after the paper, from the whole history: weighted sequential Bayes, detection, observations not taken at face value.

Samples are the rows of X (t-1, d) and r (t-1,), oldest first, as in `naive.linear`. Sources: successors §B to §D.
"""

import math

import numpy as np
import scipy.linalg


# --- weighted sequential Bayes (section C) -------------------------------------------------------------------------
def wsb_posterior(X, r, *, gamma, mean, precision, sigma, keep=1.0):
    """Λ, Λ̃ and m by the recursion of section C, one observation after the other.

    Refreshed (keep = 1): Λ ← γΛ + (1-γ)Λ_0 + xxᵀ/σ²; fading (keep = 0): without the Λ_0 term. In between, (1-γ)·keep·Λ_0, and Λ̃ keeps the
    prior with the square of the weight it has in Λ.
    """
    first = np.asarray(precision, float)
    L, weight, u = first.copy(), 1.0, first @ mean
    data2 = np.zeros_like(first)
    for x, reward in zip(X, r, strict=True):
        L = gamma * L + (1 - gamma) * keep * first + np.outer(x, x) / sigma**2
        u = gamma * u + (1 - gamma) * keep * first @ mean + reward * x / sigma**2
        data2 = gamma**2 * data2 + np.outer(x, x) / sigma**2
        weight = gamma * weight + (1 - gamma) * keep
    return L, weight**2 * first + data2, np.linalg.solve(L, u)


def wsb_metric(L, L2):
    """Q = Λ⁻¹Λ̃Λ⁻¹."""
    inverse = np.linalg.inv(L)
    return inverse @ L2 @ inverse


def honest_bound(d, delta):
    """B_0 with P(‖m_0-θ‖_{Λ_0} > B_0) ≤ δ for θ ~ N(m_0, Λ_0⁻¹): the χ²_d tail of Laurent and Massart."""
    y = math.log(1 / delta)
    return math.sqrt(d + 2 * math.sqrt(d * y) + 2 * y)


def wsb_radius(L2, precision, *, B0, delta, tight=False):
    """β = B_0·√λ_max(Λ_0^{1/2}Λ̃⁻¹Λ_0^{1/2}) + √(2log(1/δ) + log det Λ̃ - log det Λ_0), refreshed; the first factor is 1 unless tight."""
    factor = math.sqrt(max(scipy.linalg.eigh(precision, L2, eigvals_only=True))) if tight else 1.0
    volume = np.linalg.slogdet(L2)[1] - np.linalg.slogdet(precision)[1]
    return B0 * factor + math.sqrt(2 * math.log(1 / delta) + volume)


# --- DAL (section B) -----------------------------------------------------------------------------------------------
def chi2_statistic(V1, b1, V0, b0, R, ridge):
    """(θ_1-θ_0)ᵀ(A_1⁻¹+A_0⁻¹)⁻¹(θ_1-θ_0)/R², with inverses taken explicitly."""
    V1, V0 = V1 + ridge * np.eye(len(b1)), V0 + ridge * np.eye(len(b1))
    gap = np.linalg.inv(V1) @ b1 - np.linalg.inv(V0) @ b0
    return float(gap @ np.linalg.inv(np.linalg.inv(V1) + np.linalg.inv(V0)) @ gap) / R**2


def chi2_threshold(d, n, m, *, delta, J=8):
    """d + 2√(dy) + 2y, y = log(J(n/m)²/δ)."""
    y = math.log(J * (n / m) ** 2 / delta)
    return d + 2 * math.sqrt(d * y) + 2 * y


def chi2_alarm(X, r, *, R, delta, h=None, J=8, first=16):
    """The block length that refutes the epoch whose samples are all of X and r after the last of them, or 0; shortest blocks first.

    Every block of m_j = 16·2^j rounds that ends now is compared with the rest of the epoch if that has at least as many rounds.
    """
    n, d = X.shape
    h = np.ones(n) if h is None else h
    ridge = 1e-6 * float(np.sum(h[:, None] * X**2)) / n
    for j in range(J):
        m = first * 2**j
        if n % m == 0 and n >= 2 * m:
            new, old = slice(n - m, n), slice(0, n - m)
            V1, V0 = ((X[s].T * h[s]) @ X[s] for s in (new, old))
            b1, b0 = (X[s].T @ r[s] for s in (new, old))
            if chi2_statistic(V1, b1, V0, b0, R, ridge) > chi2_threshold(d, n, m, delta=delta, J=J):
                return m
    return 0


def divergence(p, q, law):
    """KL divergence of two rewards of means p and q; for "gaussian" that of unit variance."""
    if law == "gaussian":
        return (p - q) ** 2 / 2
    if law == "poisson":
        return (p * math.log(p / q) if p > 0 else 0.0) - p + q
    return sum(a * math.log(a / b) for a, b in ((p, q), (1 - p, 1 - q)) if a > 0)


def ratio_statistics(rewards, law, sigma):
    """s·kl(m₁, m) + (n-s)·kl(m₂, m) for s = 1..n-1, divided by σ² for Gaussian rewards."""
    n, total = len(rewards), float(np.mean(rewards))
    out = []
    for s in range(1, n):
        one, two = float(np.mean(rewards[:s])), float(np.mean(rewards[s:]))
        value = s * divergence(one, total, law) + (n - s) * divergence(two, total, law)
        out.append(value / sigma**2 if law == "gaussian" else value)
    return np.array(out)


def ratio_alarm(rewards, *, law, sigma, delta, summed=False, theory=False):
    """Does the GLR (or, summed, the GSR) of one arm's rewards pass its threshold?"""
    n = len(rewards)
    if n < 2:
        return False
    power = 2.5 if summed else 1.5
    threshold = math.log(4 * n**power / delta)
    if theory:
        threshold = 6 * math.log(1 + math.log(n)) + 2.5 * threshold + 11
    stats = ratio_statistics(rewards, law, sigma)
    value = math.log(np.sum(np.exp(stats - stats.max()))) + stats.max() if summed else stats.max()
    return bool(value >= threshold)


def cover(arms):
    """Greedy volume: each next arm has the largest distance from the span of those before it."""
    left, chosen = np.array(arms, float), []
    while len(chosen) < arms.shape[1]:
        k = int(np.argmax(np.linalg.norm(left, axis=1)))
        if np.linalg.norm(left[k]) < 1e-9:
            break
        chosen.append(k)
        unit = left[k] / np.linalg.norm(left[k])
        left = left - np.outer(left @ unit, unit)
    return chosen


def forced_round(t, first, N, alpha, k):
    """Which covering arm round t of an epoch that began in round `first` must play (from 0), or None: α_k = √k·α."""
    place = (t - first) % math.ceil(N / min(math.sqrt(k) * alpha, 1.0))
    return place if place < N else None


# --- observations not taken at face value (section D, 5 to 7) ------------------------------------------------------
def wary_sums(X, r, *, gamma, lam, tau=math.inf, c=math.inf):
    """A = V - λI and b, one observation after the other, each judged by the estimate before it, after the past has faded.

    e = r - xᵀθ, q = ‖x‖²_{V⁻¹}: a residual |e| > τ√(1+q) is clipped and has weight 0 in V; every observation has weight min(1, c/√q).
    """
    d = X.shape[1]
    A, b = np.zeros((d, d)), np.zeros(d)
    for x, reward in zip(X, r, strict=True):
        A, b = gamma * A, gamma * b
        V = A + lam * np.eye(d)
        theta, q = np.linalg.solve(V, b), float(x @ np.linalg.solve(V, x))
        e, limit = reward - float(x @ theta), tau * math.sqrt(1 + q)
        w = min(1.0, c / math.sqrt(q)) if q > 0 else 1.0
        if abs(e) <= limit:
            A, b = A + w * np.outer(x, x), b + w * reward * x
        else:
            b = b + w * math.copysign(limit, e) * x
    return A, b
