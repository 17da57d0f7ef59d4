r"""Bounds that hold at all times, of outcomes without a known range: approximate, and better the more was observed.

The wealth of `always_valid` with Gaussian bets, B_j = λ_j Σφ − λ_j² V/2, V = Σ(φ − g)², and stakes in units of the estimated standard
deviation (Waudby-Smith, Arbour, Sinha, Kennedy, Ramdas 2024), gives mean ± z √V / n. The coverage is approached as n grows; wherever these
bounds are shown they must be called asymptotic. How fast it is approached depends on how well V is known, and amounts that are mostly 0
make that slow: while a rarely shown item has not been paid for, both its mean and V are too small. Hence four rules.

1. V is itself a sum of n terms with standard deviation about √Q, Q = Σ(φ − g)⁴. Its upper bound at the same level takes its place,

       V⁺ = V + z √Q .

   After k payments of the same size this is the z²/2 that the exact bound of a Poisson number has beyond k ± z√k.

2. *Payments* are rewards other than 0. With weights w, those that were observed are worth

       m = min( (Σ_paid w)²/Σ_paid w² ,   (Σw)²/Σw² · share of payments )

   payments of equal weight. The second number counts payments as if all items were paid for equally often: it stays small as long as items
   with large weights were hardly shown. There are no bounds before m ≥ 20, before n and (Σw)²/Σw² are 30, or while V = 0.

3. As long as m is not large, V leans on the variance that rewards have whatever was shown: V is at least

       V m/(m + 20) + V_pooled 20/(m + 20) ,     V_pooled = Σw² · Σ(r − g)²/n .

4. The payment of an item that has never been paid for is unknown: the price of stickers that are bought all day says nothing about a
   sofa. There are no bounds as long as such items are more than 5 % of what the policy shows.
"""

import math
from typing import NamedTuple

from ..core.linalg import Vector
from .always_valid import STEPS, USUAL, Bounds, lower_bound

LEAST = 30.0  # observations, as many as they are worth, before there are bounds
PAYMENTS = 20.0  # … and payments
UNKNOWN = 0.05  # share of items that were never paid for, up to which there are bounds


class Observed(NamedTuple):
    """Sums over n outcomes φ = g + w(r − f), as far as bounds need them."""

    n: float
    total: float  # Σφ
    squares: float  # V
    fourths: float  # Q
    pooled: float  # V_pooled
    effective: float  # (Σw)²/Σw²
    payments: float  # m
    unknown: float = 0.0  # share of items that were never paid for


def asymptotic(seen: Observed, alpha: float, tightest: float = USUAL) -> Bounds:
    """Asymptotic bounds on the mean of outcomes, infinite as long as nothing can be said; narrowest after `tightest` of them.

    Examples
    --------
    >>> b = asymptotic(Observed(400.0, 400.0, 1600.0, 19200.0, 1600.0, 400.0, 400.0), 0.05)
    >>> b.lower < 1.0 < b.upper, b.finite
    (True, False)
    """
    n = seen.n
    mean = seen.total / n if n >= 0.5 else math.nan
    few = min(n, seen.effective) < LEAST or seen.payments < PAYMENTS or seen.unknown > UNKNOWN
    if few or seen.squares <= 0.0:
        return Bounds(mean, -math.inf, math.inf, round(n), False)
    lam = (3.0 * math.sqrt(n / tightest) * STEPS).tolist()
    z = -lower_bound([-0.5 * x * x for x in lam], lam, 1.0, 0.5 * alpha)
    pooling = PAYMENTS / (seen.payments + PAYMENTS)
    v = max(seen.squares, (1.0 - pooling) * seen.squares + pooling * seen.pooled)
    half = z * math.sqrt(v + z * math.sqrt(max(seen.fourths, 0.0))) / n
    return Bounds(mean, mean - half, mean + half, round(n), False)


def worth(total: float, squares: float) -> float:
    """(Σw)²/Σw²: how many observations of equal weight say as much; 0 if there are none."""
    return total**2 / squares if squares > 0.0 else 0.0


def payments(weights: float, squares: float, paid: float, paid_squares: float, share: float) -> float:
    """m of rule 2, from Σw and Σw² over all rewards and over those other than 0, and the share of these."""
    return min(worth(paid, paid_squares), worth(weights, squares) * share)


def unknown_share(mass: Vector, paid: Vector, paid_squares: Vector, n: float) -> float:
    """The share of items that were never paid for, from how often a policy shows each (N,), and Σw and Σw² over its payments (N,).

    Examples
    --------
    >>> import numpy as np
    >>> round(unknown_share(np.array([90.0, 10.0]), np.array([40.0, 0.0]), np.array([40.0, 0.0]), 100.0), 3)
    0.1
    """
    # A payment that was taken back leaves rounding, whose square is far below it.
    known = (paid_squares > 0.0) & (paid**2 > 0.5 * paid_squares)
    return 1.0 - float(mass[known].sum()) / n if n > 0.0 else 1.0
