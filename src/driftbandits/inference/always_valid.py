r"""Bounds on the mean of what was observed so far that hold at all times at once, while the mean itself changes.

Observation i has a pseudo-outcome φ_i with E[φ_i | past] = ν_i, which may differ from round to round. What is covered is the running mean
ν̄_t = (1/t) Σ_{i≤t} ν_i, at every t simultaneously with probability 1 − α: one may look after every observation.

**Finite-sample.** Let g_i be any number that is known before φ_i, and λ > 0 a *stake* that was fixed before the first observation, with
1 + λ(φ_i − g_i) > 0. Then

    E[(1 + λ(φ_i − g_i)) exp(−λ(ν_i − g_i)) | past] = (1 + λ(ν_i − g_i)) exp(−λ(ν_i − g_i)) ≤ 1        because 1 + x ≤ e^x,

so that, with the *wealth* B_t = Σ log(1 + λ(φ_i − g_i)) + λ g_i, exp(B_t − λ Σ ν_i) is a supermartingale. Its exponent is linear in ν_i
and λ is constant: it therefore depends on the values of the rounds through their mean alone, and drift does no harm. A mixture over stakes
λ_j with weights π_j is one too, and by Ville's inequality

    Σ_j π_j exp(B_{j,t} − λ_j t ν̄_t) < 2/α   at all t, with probability at least 1 − α/2.

The least m with Σ_j π_j exp(B_j − λ_j t m) ≤ 2/α is the lower bound; that of the values 1 − ν_i gives the upper one. (Since
log(1 + λx) ≥ λx − ψ(λ)x² for x ≥ −1, ψ(λ) = −log(1−λ) − λ, this is never wider than the empirical-Bernstein bound with the same stakes,
Fan, Grama, Liu 2015; Howard et al. 2021; Waudby-Smith, Wu, Ramdas, Karampatziakis, Mineiro 2022, which needs V = Σ(φ−g)² alone.) Each
stake may have a pseudo-outcome of its own: large stakes have ones that are bounded below more tightly, small stakes ones of less variance.

**Stakes.** For a variance σ² and n observations λ = √(2 log(2/α)/(σ² n)) ≈ 3/(σ√n) is best. Seven stakes, each twice the one before it,
with weights that fall to a third with each step away from that of n = 10⁴, have a width of 1.48 times that of a fixed-sample interval there
if σ is known, at most 1.62 from 2,000 to 20,000 observations, and at most 1.77 from 1,000 to 100,000. A single stake would have 1.39 at one
n; a normal mixture has 1.55 at best.

σ² is about μ(1 − μ)(1 + m)/2 for rewards of mean μ and importance weights up to m; both must be known before the first observation. Rare
rewards make φ skew: a click of a rarely shown item adds about m to it, and nearly Poisson many come. Against Poisson numbers the best bets
multiply the wealth at each click by e^s or e^−s, s = m · 3/(σ√n), so that

    λ = (e^s − 1)/m    where a click is a gain (*long*: the lower bound of a value),
    λ = (1 − e^−s)/m   where it is a loss (*short*: the upper bound).

For a lift it is the other way round. Small s, which is to say many clicks, give 3/(σ√n) on both sides.

**Levels.** The bounds of both sides hold together if their levels sum to α. Few clicks tell little of how many more there might have been:
a Poisson number k is wider above than below, and an equal part of α is worth more there. The long side has the share ½/(1 + s) of α,
the short one the rest; this depends on the stakes alone, so it is fixed as early. Above, α/2 stands for the share of either side.

Outcomes without a known range have `asymptotic` bounds.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..core.linalg import Matrix

STEPS = 2.0 ** np.arange(-3.0, 4.0)  # stakes in units of the middle one
J = len(STEPS)
PRIOR = 3.0 ** -np.abs(np.log2(STEPS))
PRIOR /= PRIOR.sum()
LOG_PRIOR = [float(x) for x in np.log(PRIOR)]
USUAL = 1e4  # observations at which bounds are narrowest
RATE = 0.3  # mean of rewards in [0, 1] of which nothing is known
TOP = 0.9  # the largest loss that a stake may have: λ(1 + k)
LONG, SHORT = 0, 1  # sides: a reward is a gain, or a loss


class Bounds(NamedTuple):
    """A running mean with bounds that hold at all times; `finite` says whether they are exact for every sample size."""

    mean: float
    lower: float
    upper: float
    n: int
    finite: bool


def stakes(weight: float = 1.0, n: float = USUAL, rate: float = RATE) -> Matrix:
    """Stakes (2, J), long and short, for importance weights up to about `weight` and rewards of mean `rate`, narrowest after n of them.

    Any are valid that are fixed before the first observation. None is larger than TOP/2: a difference of two values loses up to 2.
    """
    deviation = math.sqrt(0.5 * (1.0 + weight) * rate * (1.0 - rate))
    s = np.minimum(3.0 * weight / (deviation * math.sqrt(n)) * STEPS, 50.0)
    long, short = np.minimum(np.expm1(s) / weight, 0.5 * TOP), np.minimum(-np.expm1(-s) / weight, TOP / (1.0 + weight))
    return np.stack([long, short])


def levels(lam: Sequence[Sequence[float]], alpha: float) -> tuple[float, float]:
    """The levels of the long and of the short side, whose sum is α: ½/(1 + s) of it, and the rest; e^s is the ratio of their stakes.

    Examples
    --------
    >>> levels(stakes().tolist(), 0.05)[0] > 0.01, levels(stakes(20.0, rate=0.01).tolist(), 0.05)[0] < 0.01
    (True, True)
    """
    s = math.log(lam[LONG][J // 2] / lam[SHORT][J // 2])
    long = 0.5 * alpha / (1.0 + max(s, 0.0))
    return long, alpha - long


def lower_bound(wealth: Sequence[float], lam: Sequence[float], n: float, alpha: float) -> float:
    """The least m with Σ_j π_j exp(B_j − λ_j n m) ≤ 1/α.

    The logarithm of the sum is convex and falls in m. Newton's method starts where a single term reaches the level, hence to the left of
    the solution, and stays there: stopped early it is valid, and wider.

    Examples
    --------
    >>> lam = stakes(rate=0.5)[LONG].tolist()
    >>> round(lower_bound([5000.0 * (math.log1p(0.5 * x) + math.log1p(-0.5 * x) + x) for x in lam], lam, 10_000, 0.025), 4)
    0.4854
    """
    goal = -math.log(alpha)
    terms = [(b + p, x * n) for b, p, x in zip(wealth, LOG_PRIOR, lam, strict=True)]
    m = max((b - goal) / x for b, x in terms)
    for _ in range(50):
        exponents = [b - x * m for b, x in terms]
        top = max(exponents)
        each = [math.exp(e - top) for e in exponents]
        total = sum(each)
        slope = sum(e * x for e, (_, x) in zip(each, terms, strict=True)) / total
        step = (top + math.log(total) - goal) / slope
        m += max(step, 0.0)
        if step <= 1e-12 * (1.0 + abs(m)):
            break
    return m


def finite(
    n: float, mean: float, low: Sequence[float], high: Sequence[float], lam: Sequence[Sequence[float]], alpha: float
) -> Bounds:
    """Bounds on a mean in [0, 1] from the wealth of either side: of the values, and of 1 minus them."""
    if n < 0.5:
        return Bounds(math.nan, 0.0, 1.0, 0, True)
    long, short = levels(lam, alpha)
    lower = min(max(lower_bound(low, lam[LONG], n, long), 0.0), 1.0)
    upper = min(max(1.0 - lower_bound(high, lam[SHORT], n, short), 0.0), 1.0)
    # Outside the bounds a mean says nothing but that weights are large.
    return Bounds(min(max(mean, lower), max(upper, lower)), lower, upper, round(n), True)
