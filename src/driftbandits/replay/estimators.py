"""Off-policy estimators of the value of a policy: four estimators, their intervals, and the conditions under which they are rejected.

Row t of the log has context x_t, item a_t chosen with probability p_t, and reward r_t. The policy would have chosen a with probability
π_t(a), which may depend on all rows before t. With w_t = π_t(a_t)/p_t and a forecast r̂_t(a) made from rows before t:

    replay   Σ m_t r_t / Σ m_t        m_t = 1 if the policy drew a_t too and the row is accepted, with probability c/p_t, c = min p
    ips      (1/n) Σ w_t r_t
    snips    Σ w_t r_t / Σ w_t
    dr       (1/n) Σ [Σ_a π_t(a) r̂_t(a) + w_t (r_t − r̂_t(a_t))]

Each is a ratio of two sums. (Li, Chu, Langford, Wang 2011; Horvitz, Thompson 1952; Swaminathan, Joachims 2015; Dudík, Erhan, Langford,
Li 2012, whose treatment of policies with a history is ours.)
"""

import math
from typing import NamedTuple

import numpy as np

from ..core.linalg import Matrix, Vector

ESTIMATORS = ("replay", "ips", "snips", "dr")
LEVEL = 0.95
RESAMPLES = 1000
LEAST = 30.0  # the smallest effective sample size of an estimate …
LEAST_WINDOW = 10.0  # … and of that of a window
OFF = 4.0  # standard errors by which the mean weight may differ from 1 …
ROUNDED = 0.02  # … in addition to this, for rounded propensities

# Sums that are kept: of the log …
ROWS, REWARDS = 0, 1
HEAD = 2
# … and of each policy
W, WW, WR, DR, M, MR = range(6)
EACH = 6


class Estimate(NamedTuple):
    """An estimate with its 95 % interval and effective sample size; NaN if it was rejected."""

    value: float
    low: float
    high: float
    effective_n: float


def ratio(sums: Matrix, policy: int, estimator: str) -> Vector:
    """The estimate from sums (…, width)."""
    own = HEAD + EACH * policy
    numerator, denominator = {
        "replay": (own + MR, own + M),
        "ips": (own + WR, ROWS),
        "snips": (own + WR, own + W),
        "dr": (own + DR, ROWS),
    }[estimator]
    with np.errstate(divide="ignore", invalid="ignore"):
        return sums[..., numerator] / sums[..., denominator]


def effective_n(sums: Vector, policy: int, estimator: str) -> float:
    """The effective sample size: the number of accepted rows or, for weights, (Σw)²/Σw² (Kish 1965)."""
    own = HEAD + EACH * policy
    if estimator == "replay":
        return float(sums[own + M])
    return float(sums[own + W] ** 2 / sums[own + WW]) if sums[own + WW] > 0.0 else 0.0


def resampled(blocks: Matrix, seed: int) -> Matrix:
    """Sums over resampled blocks (resamples, width), with the variance of a sample of B blocks.

    A bootstrap sample of B blocks has (B−1)/B of that variance, so the deviations are scaled up.
    """
    B = len(blocks)
    counts = np.random.default_rng(seed).multinomial(B, np.full(B, 1.0 / B), size=RESAMPLES)
    stretch = math.sqrt(B / (B - 1.0)) if B > 1 else 0.0
    total = blocks.sum(axis=0)
    return total + stretch * (counts.astype(np.float64) @ blocks - total)  # type: ignore[no-any-return]


def interval(draws: Vector) -> tuple[float, float]:
    """The central 95 % of the bootstrap's draws."""
    known = draws[np.isfinite(draws)]
    if len(known) < RESAMPLES // 2:
        return math.nan, math.nan
    low, high = np.quantile(known, ((1.0 - LEVEL) / 2.0, (1.0 + LEVEL) / 2.0))
    return float(low), float(high)


def estimate(blocks: Matrix, draws: Matrix, policy: int, estimator: str, least: float) -> Estimate:
    """An estimate from the blocks of a window; NaN if its effective sample size is below `least`."""
    total = blocks.sum(axis=0)
    n = effective_n(total, policy, estimator)
    if n < least or len(blocks) < 2:
        return Estimate(math.nan, math.nan, math.nan, n)
    low, high = interval(ratio(draws, policy, estimator))
    return Estimate(float(ratio(total, policy, estimator)), low, high, n)


def why_not(total: Vector, policy: int, estimator: str, least: float, digits: str = "") -> str | None:
    """The reason why a policy cannot be estimated from the whole log, in one line; None if it can.

    E w_t = 1 if the propensities are correct and the policy chooses only items that the log could have chosen. A mean far from 1 shows that
    one of these conditions is violated. By the same conditions "replay" keeps a row with the probability `least`, the smallest propensity,
    whatever the policy chooses. `digits` says what rounding makes of propensities.
    """
    own, n = HEAD + EACH * policy, float(total[ROWS])
    worth = effective_n(total, policy, estimator)
    if estimator == "replay":
        if worth < LEAST:
            return f"it agrees with {worth:.0f} rows of {n:.0f}; at least {LEAST:.0f} are needed"
        error = math.sqrt(least * (1.0 - least) / n)
        if abs(worth / n - least) > OFF * error + ROUNDED * least:
            return (
                f"replay keeps {worth / n:.3f} of the rows and must keep {least:.3g} ± {error:.2g}, the smallest propensity: it chooses "
                f"what the log never could (explore more), or the propensities are wrong{digits}"
            )
        return None
    mean = float(total[own + W]) / n
    error = math.sqrt(max(float(total[own + WW]) / n - mean**2, 0.0) / n)
    if worth < LEAST:
        return (
            f"the log's overlap with it is too small: its {n:.0f} rows are worth {worth:.1f} of this policy's; "
            f"at least {LEAST:.0f} are needed"
        )
    if abs(mean - 1.0) > OFF * error + ROUNDED:
        return (
            f"its weights average {mean:.3f} ± {error:.3f} and must average 1: it chooses what the log never could, or so rarely "
            f"that it never did (explore more), or the propensities are wrong{digits}"
        )
    return None
