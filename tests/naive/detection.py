"""The change test of `mdp.detection`, from the whole list of visits of a pair."""

import numpy as np
from scipy.special import gammaln


def kl(p, q):
    """Σ p log(p/q)."""
    return sum(a * np.log(a / b) for a, b in zip(p, q, strict=True) if a > 0)


def log_choose(m, U):
    """log C(m+U-1, U-1)."""
    return gammaln(m + U) - gammaln(U) - gammaln(m + 1)


def first_alarm(outcomes, U, delta):
    """Number of the visit at which the counts of `outcomes` (integers below U) refute a constant law, every split tried; or None."""
    rows = np.eye(U)[np.asarray(outcomes)]
    return _first(rows, U, delta)


def first_reward_alarm(rewards, delta):
    """The same for rewards in [0, 1]."""
    r = np.asarray(rewards, float)
    return _first(np.stack([r, 1 - r], axis=1), 2, delta)


def _first(rows, U, delta):
    for n in range(2, len(rows) + 1):
        p = rows[:n].mean(axis=0)
        for m in range(1, n):
            ratio = m * kl(rows[:m].mean(axis=0), p) + (n - m) * kl(rows[m:n].mean(axis=0), p)
            level = log_choose(m, U) + log_choose(n - m, U) + np.log(2 / delta) + np.log(2 * m * (m + 1) / delta)
            if ratio >= level:
                return n
    return None
