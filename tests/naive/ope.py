"""Off-policy estimates from whole arrays, straight from the equations in docs/replay.md."""

import numpy as np


def ips(r, p, pi):
    """(1/n) Σ π/p · r, with p and π the probabilities of the logged item."""
    return float(np.mean(pi / p * r))


def snips(r, p, pi):
    """Σ π/p · r / Σ π/p"""
    w = pi / p
    return float(np.sum(w * r) / np.sum(w))


def dr(r, p, pi, pi_all, forecast, chosen):
    """(1/n) Σ_t [ Σ_a π_t(a) r̂_t(a) + π_t(a_t)/p_t (r_t − r̂_t(a_t)) ], arrays (n, items)."""
    terms = []
    for t in range(len(r)):
        direct = sum(pi_all[t, a] * forecast[t, a] for a in range(pi_all.shape[1]))
        terms.append(direct + pi[t] / p[t] * (r[t] - forecast[t, chosen[t]]))
    return float(np.mean(terms))


def replay(r, agrees):
    """The mean reward of the rows with which the policy agrees."""
    return float(np.mean(r[agrees]))


def effective_n(w):
    """(Σw)²/Σw²"""
    return float(np.sum(w) ** 2 / np.sum(w**2))
