"""What a policy earns, and what another one would have earned on the same decisions: sums of `outcomes` as intervals.

For rewards in [0, 1] the bounds are finite-sample; for others they are asymptotic. Both hold at all times (`always_valid`).
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..core.linalg import Vector
from . import outcomes as oc
from .always_valid import LONG, SHORT, Bounds, J, finite, levels, lower_bound
from .asymptotic import Observed, asymptotic, payments, worth
from .outcomes import D_HIGH, D_LOW, HIGH, LOW, OWN, OWN_HIGH, OWN_LOW, PHI, W2, D, N, W

Sides = Sequence[Sequence[float]]  # stakes, long and short
LARGEST = 400.0  # the largest weight that stakes are made for
EARLY = 50  # observations that say how rare rewards in [0, 1] are, and do not count


class Interval(NamedTuple):
    """A mean with bounds; `finite`: they hold for every sample size. Otherwise they are asymptotic, and approximate.

    `effective_n` is (Σw)²/Σw²: so many decisions of the policy itself would say as much.
    """

    mean: float
    lower: float
    upper: float
    n: int
    effective_n: float
    finite: bool


def usual_weight(most: float, explore: float) -> float:
    """The largest weight of a policy whose largest probability is `most` times that of uniform play, where p ≥ explore/n."""
    return max(1.0, min(most / explore, LARGEST)) if explore > 0.0 else LARGEST


def rate_of(many: float, total: float) -> float:
    """How rare rewards in [0, 1] are, by so many with this sum; never 0 or 1."""
    return (min(max(total, 0.0), many) + 0.5) / (many + 1.0)


def in_turn(total: Vector, terms: Vector) -> Vector:
    """total + Σ terms, added one after the other: the same number whatever the batches are."""
    return np.asarray(np.add.reduce(np.concatenate([total[None], terms]), axis=0))  # along the first axis, in order


def own_interval(sums: Sequence[float], *, bounded: bool, alpha: float, lam: Sides, unknown: float = 0.0) -> Interval:
    """What the policy that acts earns; lam are the stakes on the rewards themselves.

    `unknown` is the share of items of which it is not known what they pay (`asymptotic`); it does not matter where rewards are bounded.
    """
    n = sums[N]
    if not bounded:
        return _interval(asymptotic(_own_observed(sums)._replace(unknown=unknown), alpha), n)
    mean = sums[OWN] / n if n else 0.0
    return _interval(finite(n, mean, _bets(sums, OWN_LOW), _bets(sums, OWN_HIGH), lam, alpha), n)


def other_interval(sums: Sequence[float], *, bounded: bool, alpha: float, lam: Sides, unknown: float = 0.0) -> Interval:
    """What the other policy would have earned; lam are its stakes, `unknown` is its share."""
    n = sums[N]
    if not bounded:
        return _interval(asymptotic(_other_observed(sums)._replace(unknown=unknown), alpha), _effective(sums))
    mean = sums[PHI] / n if n else 0.0
    return _interval(finite(n, mean, _bets(sums, LOW), _bets(sums, HIGH), lam, alpha), _effective(sums))


def lift_interval(sums: Sequence[float], *, bounded: bool, alpha: float, lam: Sides, unknown: float = 0.0) -> Interval:
    """What the policy that acts earns more than the other; `unknown` is the larger share of both."""
    n = sums[N]
    if not bounded:
        seen = _lift_observed(sums)._replace(unknown=unknown)
        found = _interval(asymptotic(seen, alpha), _effective(sums))
        return found if math.isfinite(found.lower) else _from_both(sums, found, alpha, unknown)
    if n < 0.5:
        return Interval(math.nan, -1.0, 1.0, 0, 0.0, True)
    long, short = levels(lam, alpha)
    lower = min(max(lower_bound(_bets(sums, D_LOW), lam[SHORT], n, short), -1.0), 1.0)
    upper = min(max(-lower_bound(_bets(sums, D_HIGH), lam[LONG], n, long), -1.0), 1.0)
    mean = min(max(sums[D] / n, lower), max(upper, lower))
    return Interval(mean, lower, upper, round(n), _effective(sums), True)


def _from_both(sums: Sequence[float], found: Interval, alpha: float, unknown: float) -> Interval:
    """The lift by the bounds of both policies: two that hardly ever differ leave few differences to bound it by, but much about each."""
    own, other = (
        asymptotic(seen(sums)._replace(unknown=unknown), 0.5 * alpha) for seen in (_own_observed, _other_observed)
    )
    if not (math.isfinite(own.lower) and math.isfinite(other.lower)):
        return found
    return found._replace(lower=own.lower - other.upper, upper=own.upper - other.lower)


def _own_observed(sums: Sequence[float]) -> Observed:
    n, v = sums[N], sums[oc.V_OWN]
    return Observed(n, sums[OWN], v, sums[oc.Q_OWN], v, n, sums[oc.PAID])


def _other_observed(sums: Sequence[float]) -> Observed:
    n = sums[N]
    share, pooled = (sums[oc.PAID] / n, sums[W2] * sums[oc.V_OWN] / n) if n else (0.0, 0.0)
    m = payments(sums[W], sums[W2], sums[oc.W_PAID], sums[oc.W2_PAID], share)
    return Observed(n, sums[PHI], sums[oc.V_PHI], sums[oc.Q_PHI], pooled, _effective(sums), m)


def _lift_observed(sums: Sequence[float]) -> Observed:
    """A lift has the weights 1 − w; to be known it needs what either policy needs."""
    n, other = sums[N], _other_observed(sums)
    squares, paid = n - 2.0 * sums[W] + sums[W2], sums[oc.PAID] - 2.0 * sums[oc.W_PAID] + sums[oc.W2_PAID]
    share, pooled = (sums[oc.PAID] / n, squares * sums[oc.V_OWN] / n) if n else (0.0, 0.0)
    effective = min(other.effective, worth(sums[oc.AWAY], squares))
    m = min(other.payments, payments(sums[oc.AWAY], squares, sums[oc.AWAY_PAID], paid, share))
    return Observed(n, sums[D], sums[oc.V_D], sums[oc.Q_D], pooled, effective, m)


def _bets(sums: Sequence[float], first: int) -> Sequence[float]:
    return sums[first : first + J]


def _interval(found: Bounds, effective: float) -> Interval:
    return Interval(found.mean, found.lower, found.upper, found.n, effective, found.finite)


def _effective(sums: Sequence[float]) -> float:
    return worth(sums[W], sums[W2])
