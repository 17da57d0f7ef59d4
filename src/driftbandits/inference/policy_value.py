r"""What a policy earns, and what another one would have earned on the same decisions, with bounds that hold at all times.

Decision t offered items a with probabilities p_t(a), forecasts r̂_t(a) made before the reward, and gave the reward r_t of the item A_t. For
a policy π that was fixed before the choice was drawn, w_t(a) = π_t(a)/p_t(a) and the doubly robust pseudo-outcomes

    φ⁻ = w(A)(r − c(A)) + Σ_a π(a) c(a) ,            c(a) = min(r̂(a), k/w(a))          ≥ −k
    φ⁺ = 1 − [w(A)(1 − r − c′(A)) + Σ_a π(a) c′(a)] ,   c′(a) = min(1 − r̂(a), k/w(a))     ≤ 1 + k

both have the mean ν_t that π would have earned at t, for rewards in [0, 1]; the policy that acts has φ = r. The lift is bounded directly,
with the same c in the pseudo-outcomes of both policies, so that it has no variance where both choose alike: with e = 1 − c′ and k ≥ 1

    D⁻ = (1 − w(A))(r − e(A)) + Σ_a (p(a) − π(a)) e(a) ≥ −(1 + k) ,    D⁺ = (1 − w(A))(r − c(A)) + Σ_a (p(a) − π(a)) c(a) ≤ 1 + k ;

(1 + D⁻)/2 ≥ −k/2 and (1 + D⁺)/2 ≤ 1 + k/2 have the mean (1 + lift)/2.

`always_valid` turns sums of pseudo-outcomes and V = Σ(φ − g)² into bounds for any g that is known before the reward. Here g_t is
Σ_a π(a) r̂(a): it follows drift, and V is a plain sum, so that rewards may come in any order and can be replaced. For rewards without a
known range c = c′ = r̂ and the bounds are asymptotic.

Any k that is fixed before is valid. The narrowest bounds have a k of about the largest weight (`limit`): a smaller one gives up some of the
forecast, a larger one widens the bounds of small samples.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .always_valid import LEAST, boundary

Vector = NDArray[np.float64]
Integers = NDArray[np.int64]
TIGHTEST = 100.0  # the V/(1+k)² at which finite-sample bounds are tightest, relative to their width …
TIGHTEST_N = 2000.0  # … and the number of decisions at which asymptotic ones are
LARGEST_K = 40.0
# Sums over decisions: their number; φ⁻, φ⁺ and their V; the same of the lift; weights and their squares; r and its V.
N, LOW, HIGH, V_LOW, V_HIGH, D_LOW, D_HIGH, VD_LOW, VD_HIGH, W, W2, OWN, V_OWN = range(13)
SUMS = 13


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


class Batch(NamedTuple):
    """Decisions whose rewards are known, their offers one after the other: B decisions, F items in all."""

    p: Vector  # (F,)
    forecast: Vector  # (F,)
    start: Integers  # (B,)  where each offer starts
    size: Integers  # (B,)
    chosen: Integers  # (B,)  in 0 … F − 1
    first: Integers  # (B,)  the item that the application listed first
    r: Vector  # (B,)
    sign: Vector  # (B,)  −1 takes a reward back


def limit(most: float, explore: float) -> float:
    """k for a policy whose largest probability is `most` times that of uniform play, where p ≥ explore/n."""
    return max(1.0, min(0.75 * most / explore, LARGEST_K)) if explore > 0.0 else LARGEST_K


def outcomes(batch: Batch, pi: Vector, *, bounded: bool, k: float) -> Vector:
    """The terms of all sums, (B, SUMS), for a policy with probabilities pi (F,)."""
    p, f, r, at = batch.p, batch.forecast, batch.r, batch.start
    f = np.clip(f, 0.0, 1.0) if bounded else f
    w = pi / p
    wa = w[batch.chosen]
    g, own = np.add.reduceat(pi * f, at), np.add.reduceat(p * f, at)
    if bounded:
        g, own = np.minimum(g, 1.0), np.minimum(own, 1.0)
        most = np.divide(k, w, out=np.full(len(w), math.inf), where=w > 0.0)
        c, c_up = np.minimum(f, most), np.minimum(1.0 - f, most)
        low = wa * (r - c[batch.chosen]) + np.add.reduceat(pi * c, at)
        high = 1.0 - (wa * (1.0 - r - c_up[batch.chosen]) + np.add.reduceat(pi * c_up, at))
        e, differ = 1.0 - c_up, p - pi
        d_low = 0.5 * (1.0 + (1.0 - wa) * (r - e[batch.chosen]) + np.add.reduceat(differ * e, at))
        d_high = 0.5 * (1.0 + (1.0 - wa) * (r - c[batch.chosen]) + np.add.reduceat(differ * c, at))
        d = 0.5 * (1.0 + own - g)
    else:
        low = high = wa * (r - f[batch.chosen]) + g
        d = own - g
        d_low = d_high = (1.0 - wa) * (r - f[batch.chosen]) + d
    return _columns(batch, low, high, g, d_low, d_high, d, wa, own)


def item_outcomes(batch: Batch, *, bounded: bool, k: float) -> Vector:
    """The same, (F, SUMS), for each policy that always shows one item of the offer: π(a) = 1 for the item of that entry."""
    p, f = batch.p, batch.forecast
    f = np.clip(f, 0.0, 1.0) if bounded else f
    whose = np.repeat(np.arange(len(batch.r)), batch.size)
    hit = np.zeros(len(p))
    hit[batch.chosen] = 1.0
    w, r = hit / p, batch.r[whose]
    own = np.add.reduceat(p * f, batch.start)[whose]
    shown = f[batch.chosen][whose]  # c and e of an item that the policy never shows are its forecast
    if bounded:
        own = np.minimum(own, 1.0)
        c, e = np.minimum(f, k * p), 1.0 - np.minimum(1.0 - f, k * p)
        low, high = w * (r - c) + c, w * (r - e) + e
        d_low, d_high = (
            0.5 * (1.0 + np.where(hit > 0.0, (1.0 - w) * (r - x), r - shown) + own + p * (x - f) - x) for x in (e, c)
        )
        d = 0.5 * (1.0 + own - f)
    else:
        low = high = w * (r - f) + f
        d = own - f
        d_low = d_high = np.where(hit > 0.0, (1.0 - w) * (r - f), r - shown) + d
    spread = batch._replace(r=r, sign=batch.sign[whose])
    return _columns(spread, low, high, f, d_low, d_high, d, w, own)


def _columns(
    batch: Batch, low: Vector, high: Vector, g: Vector, d_low: Vector, d_high: Vector, d: Vector, w: Vector, own: Vector
) -> Vector:
    terms = np.empty((len(w), SUMS))
    for column, values in (
        (N, 1.0),
        (LOW, low),
        (HIGH, high),
        (V_LOW, (low - g) ** 2),
        (V_HIGH, (high - g) ** 2),
        (D_LOW, d_low),
        (D_HIGH, d_high),
        (VD_LOW, (d_low - d) ** 2),
        (VD_HIGH, (d_high - d) ** 2),
        (W, w),
        (W2, w * w),
        (OWN, batch.r),
        (V_OWN, (batch.r - own) ** 2),
    ):
        terms[:, column] = values
    terms *= batch.sign[:, None]
    return terms


def uniform(batch: Batch) -> Vector:
    """π of a policy that draws each item on offer alike."""
    return np.repeat(1.0 / batch.size, batch.size)


def always_first(batch: Batch) -> Vector:
    """π of a policy that shows the first item of each offer."""
    pi = np.zeros(len(batch.p))
    pi[batch.first] = 1.0
    return pi


def in_turn(total: Vector, terms: Vector) -> Vector:
    """total + Σ terms, added one after the other: the same number whatever the batches are."""
    return np.asarray(np.add.reduce(np.concatenate([total[None], terms]), axis=0))  # along the first axis, in order


# --------------------------------------------------------------------------------------------------------------- bounds


def own_interval(sums: Sequence[float], *, bounded: bool, alpha: float) -> Interval:
    """What the policy that acts earns."""
    n = sums[N]
    v = max(sums[V_OWN], 0.0)
    if bounded:
        return _finite(n, (sums[OWN], v), (sums[OWN], v), 0.0, n, alpha)
    return _asymptotic(n, sums[OWN], v, n, alpha)


def other_interval(sums: Sequence[float], *, bounded: bool, alpha: float, k: float) -> Interval:
    """What the other policy would have earned."""
    n = sums[N]
    if bounded:
        return _finite(n, (sums[LOW], sums[V_LOW]), (sums[HIGH], sums[V_HIGH]), k, _effective(sums), alpha)
    return _asymptotic(n, sums[LOW], sums[V_LOW], _effective(sums), alpha)


def lift_interval(sums: Sequence[float], *, bounded: bool, alpha: float, k: float) -> Interval:
    """What the policy that acts earns more than the other."""
    n = sums[N]
    if not bounded:
        return _asymptotic(n, sums[D_LOW], sums[VD_LOW], _effective(sums), alpha)
    low, high = (sums[D_LOW], sums[VD_LOW]), (sums[D_HIGH], sums[VD_HIGH])
    half = _finite(n, low, high, 0.5 * k, _effective(sums), alpha)
    return half._replace(**{name: 2.0 * getattr(half, name) - 1.0 for name in ("mean", "lower", "upper")})


def _effective(sums: Sequence[float]) -> float:
    return float(sums[W] ** 2 / sums[W2]) if sums[W2] > 0.0 else 0.0


def _finite(
    n: float, low: tuple[float, float], high: tuple[float, float], k: float, effective: float, alpha: float
) -> Interval:
    """Bounds on a mean in [0, 1] from (Σφ, Σ(φ − g)²) of either side."""
    if n < 0.5:
        return Interval(math.nan, 0.0, 1.0, 0, 0.0, True)
    rho, unit = TIGHTEST / 8.0, 1.0 + k
    lower = (low[0] - unit * boundary(max(low[1], 0.0) / unit**2, 0.5 * alpha, rho)) / n
    upper = (high[0] + unit * boundary(max(high[1], 0.0) / unit**2, 0.5 * alpha, rho)) / n
    lower, upper = min(max(lower, 0.0), 1.0), min(max(upper, 0.0), 1.0)
    mean = 0.5 * (low[0] + high[0]) / n
    # Outside the bounds a mean says nothing but that weights are large.
    return Interval(min(max(mean, lower), max(upper, lower)), lower, upper, round(n), effective, True)


def _asymptotic(n: float, total: float, squares: float, effective: float, alpha: float) -> Interval:
    """mean ± sqrt(2(tσ̂²ρ² + 1)/(t²ρ²) · log(sqrt(tσ̂²ρ² + 1)/α)) with σ̂² = V/t (`always_valid.Asymptotic`)."""
    if n < LEAST:
        return Interval(total / n if n >= 0.5 else math.nan, -math.inf, math.inf, round(n), effective, False)
    x = 2.0 * math.log(1.0 / alpha) + math.log1p(2.0 * math.log(1.0 / alpha))
    grown = n / TIGHTEST_N * x + 1.0
    half = math.sqrt(2.0 * grown / (grown - 1.0) * max(squares, 0.0) / n / n * math.log(math.sqrt(grown) / alpha))
    return Interval(total / n, total / n - half, total / n + half, round(n), effective, False)
