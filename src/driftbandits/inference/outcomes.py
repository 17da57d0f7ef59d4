r"""Pseudo-outcomes of policies from decisions whose rewards are known, and the wealth of the bets on them.

Decision t offered items a with probabilities p(a), forecasts f(a) made before the reward, and gave the reward r of the item A. A policy π
that was fixed before the choice was drawn has weights w(a) = π(a)/p(a), g = Σ π f, and the doubly robust pseudo-outcome

    φ = w(A)(r − f(A)) + g ;     D = (1 − w(A))(r − f(A)) + d ,  d = Σ (p − π) f , is that of the lift, with no variance where w = 1.

For rewards in [0, 1] each stake λ_j of `always_valid` has k_j = TOP/λ_j − 1, and forecasts that are cut so that no outcome is below −k_j;
bets on φ⁻ and −D⁺ have the long stakes, on −φ⁺ and D⁻ the short ones:

    φ⁻ = w(A)(r − c(A)) + Σ π c ,     c(a) = min(f(a), k/w(a))                       ≥ −k
    φ⁺ = w(A)(r − e(A)) + Σ π e ,     e(a) = 1 − min(1 − f(a), k/w(a))               ≤ 1 + k
    D⁻ = (1 − w(A))(r − e(A)) + Σ (p − π) e ,     D⁺ = (1 − w(A))(r − c(A)) + Σ (p − π) c ,       D⁻ − d, d − D⁺ ≥ −max(2, 1 + k)

All have the mean of φ or D whatever f is. Small stakes bound large k, and nothing is cut; large stakes, which matter after few decisions,
are cut where an item is much rarer than π wants it. All terms are plain sums over decisions: rewards may come in any order, and a
replaced one is taken back with sign −1.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core.kernel import entry, kernel, solver
from ..core.linalg import Matrix, Vector
from .always_valid import LONG, SHORT, TOP, J

Integers = NDArray[np.int64]
Cube = NDArray[np.float64]
# Sums over decisions: their number; r; φ; D; weights and their squares; V of r, φ and D, which are Σ(r − g)², Σ(φ − g)², Σ(D − d)². Then
# for rewards in [0, 1] the wealth of J stakes on r and 1 − r, φ⁻ and 1 − φ⁺, D⁻ and −D⁺; for others what `asymptotic` asks for: fourth
# powers beside V, the number of rewards other than 0 with Σw and Σw² over them, and Σ|1 − w| over all and over them.
N, OWN, PHI, D, W, W2, V_OWN, V_PHI, V_D = range(9)
COMMON = 9
OWN_LOW, OWN_HIGH, LOW, HIGH, D_LOW, D_HIGH = (COMMON + J * i for i in range(6))
Q_OWN, Q_PHI, Q_D, PAID, W_PAID, W2_PAID, AWAY, AWAY_PAID = range(COMMON, COMMON + 8)
BOUNDED = COMMON + 6 * J  # columns, with a known range of rewards …
UNBOUNDED = COMMON + 8  # … and without
MOST_SQUARED = 1e150  # beyond, fourth powers would be infinite


class Batch(NamedTuple):
    """Decisions whose rewards are known, their offers one after the other: B decisions, F items in all."""

    p: Vector  # (F,)
    forecast: Vector  # (F,)
    start: Integers  # (B,)  where each offer starts
    size: Integers  # (B,)
    chosen: Integers  # (B,)  in 0 … F − 1
    r: Vector  # (B,)
    sign: Vector  # (B,)  −1 takes a reward back
    place: Integers  # (F,)  the row of each item in the sums of items; −1: it has none


class Stakes(NamedTuple):
    """The stakes of each policy, of single items, and on the rewards themselves, long and short."""

    policies: Cube  # (K, 2, J)
    items: Matrix  # (2, J)
    own: Matrix  # (2, J)


@kernel
def bet(out: Vector, j: int, lam: float, surprise: float, centre: float) -> None:
    """Wealth of one stake: log(1 + λ(φ − g)) + λ g."""
    out[j] = math.log1p(lam * surprise) + lam * centre


@kernel
def spread(out: Vector, w: float) -> None:
    """What asymptotic bounds ask for beside V; a decision whose reward is 0 has PAID = 0."""
    out[Q_OWN], out[Q_PHI] = min(out[V_OWN], MOST_SQUARED) ** 2, min(out[V_PHI], MOST_SQUARED) ** 2
    out[Q_D] = min(out[V_D], MOST_SQUARED) ** 2
    out[PAID] = 1.0 if out[OWN] != 0.0 else 0.0
    out[W_PAID], out[W2_PAID], out[AWAY] = w * out[PAID], w * w * out[PAID], abs(1.0 - w)
    out[AWAY_PAID] = out[AWAY] * out[PAID]


@solver
def own_terms(batch: Batch, t: int, lam: Matrix, out: Vector) -> float:
    """Terms of the policy that acts, which are the same beside every other; returns Σ p f."""
    g = 0.0
    for a in range(batch.start[t], batch.start[t] + batch.size[t]):
        g += batch.p[a] * batch.forecast[a]
    r = batch.r[t]
    out[N], out[OWN], out[V_OWN] = 1.0, r, (r - g) ** 2
    if out.shape[0] == BOUNDED:
        g = min(g, 1.0)
        for j in range(J):
            bet(out, OWN_LOW + j, lam[LONG, j], r - g, g)
            bet(out, OWN_HIGH + j, lam[SHORT, j], g - r, 1.0 - g)
    return g


@solver
def policy_terms(batch: Batch, t: int, pi: Vector, lam: Matrix, own: float, out: Vector) -> None:
    """Terms of a policy that would have chosen item a with probability pi[a]."""
    p, f, r, chosen = batch.p, batch.forecast, batch.r[t], batch.chosen[t]
    first, last = batch.start[t], batch.start[t] + batch.size[t]
    g, most = 0.0, 0.0
    for a in range(first, last):
        g += pi[a] * f[a]
        most = max(most, pi[a] / p[a])
    w = pi[chosen] / p[chosen]
    phi = w * (r - f[chosen]) + g
    d = own - g
    difference = (1.0 - w) * (r - f[chosen]) + d
    out[PHI], out[D], out[W], out[W2] = phi, difference, w, w * w
    out[V_PHI], out[V_D] = (phi - g) ** 2, (difference - d) ** 2
    if out.shape[0] == UNBOUNDED:
        spread(out, w)
        return
    g = min(g, 1.0)
    for j in range(J):
        low, d_high, long = phi, difference, lam[LONG, j]
        if most > TOP / long - 1.0:
            low, d_high = cut(batch, t, pi, LONG, TOP / long - 1.0)
        bet(out, LOW + j, long, low - g, g)
        bet(out, D_HIGH + j, long, d - d_high, -d)
        high, d_low, short = phi, difference, lam[SHORT, j]
        if most > TOP / short - 1.0:
            high, d_low = cut(batch, t, pi, SHORT, TOP / short - 1.0)
        bet(out, HIGH + j, short, g - high, 1.0 - g)
        bet(out, D_LOW + j, short, d_low - d, d)


@kernel
def cut_forecast(side: int, f: float, most: float) -> float:
    """A forecast cut for one side: c = min(f, k/w) for the long one, e = 1 − min(1 − f, k/w) for the short one; `most` is k/w."""
    if side == LONG:
        return min(f, most)
    return 1.0 - most if most < 1.0 - f else f


@solver
def cut(batch: Batch, t: int, pi: Vector, side: int, k: float) -> tuple[float, float]:
    """φ⁻ and D⁺ of the long side, φ⁺ and D⁻ of the short one: the outcome and the difference with forecasts that are cut."""
    of_chosen = of_pi = of_p = 0.0
    for a in range(batch.start[t], batch.start[t] + batch.size[t]):
        p = batch.p[a]
        f = cut_forecast(side, batch.forecast[a], k * p / pi[a]) if pi[a] > 0.0 else batch.forecast[a]
        of_pi += pi[a] * f
        of_p += p * f
        if a == batch.chosen[t]:
            of_chosen = f
    w, r = pi[batch.chosen[t]] / batch.p[batch.chosen[t]], batch.r[t]
    return w * (r - of_chosen) + of_pi, (1.0 - w) * (r - of_chosen) + of_p - of_pi


@solver
def item_terms(batch: Batch, t: int, a: int, lam: Matrix, own: float, missed: Matrix, out: Vector) -> None:
    """Terms of the policy that always shows item a; `missed` are the bets of a lift where another one was shown and nothing is cut."""
    p, f, r, shown = batch.p[a], batch.forecast[a], batch.r[t], batch.forecast[batch.chosen[t]]
    hit = batch.chosen[t] == a
    w = 1.0 / p if hit else 0.0
    phi, d = w * (r - f) + f, own - f
    rest = (1.0 - w) * (r - f) if hit else r - shown
    out[PHI], out[D], out[W], out[W2] = phi, rest + d, w, w * w
    out[V_PHI], out[V_D] = (phi - f) ** 2, rest**2
    if out.shape[0] == UNBOUNDED:
        spread(out, w)
        return
    for j in range(J):
        long, short = lam[LONG, j], lam[SHORT, j]
        c = cut_forecast(LONG, f, (TOP / long - 1.0) * p)
        e = cut_forecast(SHORT, f, (TOP / short - 1.0) * p)
        if hit or c < f:
            d_high = ((1.0 - w) * (r - c) if hit else r - shown) + own + p * (c - f) - c
            bet(out, LOW + j, long, w * (r - c) + c - f, f)
            bet(out, D_HIGH + j, long, d - d_high, -d)
        else:
            out[LOW + j], out[D_HIGH + j] = long * f, missed[LONG, j] - long * d
        if hit or e > f:
            d_low = ((1.0 - w) * (r - e) if hit else r - shown) + own + p * (e - f) - e
            bet(out, HIGH + j, short, f - w * (r - e) - e, 1.0 - f)
            bet(out, D_LOW + j, short, d_low - d, d)
        else:
            out[HIGH + j], out[D_LOW + j] = short * (1.0 - f), missed[SHORT, j] + short * d


@kernel
def fits(
    batch: Batch, pi: Matrix, known: Matrix, stakes: Stakes, terms: Cube, items: Matrix, row: Vector, missed: Matrix
) -> bool:
    """Whether all shapes and places fit each other: compiled code checks no bounds."""
    B, F, K, width = batch.r.shape[0], batch.p.shape[0], pi.shape[0], row.shape[0]
    same = batch.forecast.shape[0] == F and batch.place.shape[0] == F and pi.shape[1] == F
    same = same and batch.start.shape[0] == B and batch.size.shape[0] == B and batch.chosen.shape[0] == B
    same = same and batch.sign.shape[0] == B and known.shape == (K, B) and terms.shape == (K, B, width)
    same = same and stakes.policies.shape == (K, 2, J) and stakes.items.shape == (2, J) and stakes.own.shape == (2, J)
    same = same and items.shape[1] == width and missed.shape == (2, J) and (width in (BOUNDED, UNBOUNDED))
    if not same:
        return False
    for t in range(B):
        first, last = batch.start[t], batch.start[t] + batch.size[t]
        if not 0 <= first <= batch.chosen[t] < last <= F:
            return False
    for a in range(F):  # noqa: SIM110 (generators do not compile)
        if not -1 <= batch.place[a] < items.shape[0]:
            return False
    return True


@entry(brief=True)
def count(
    batch: Batch, pi: Matrix, known: Matrix, stakes: Stakes, terms: Cube, items: Matrix, row: Vector, missed: Matrix
) -> int:
    """Decisions in their order: terms (K, B, columns) of K policies, and sums of single items; −1 if shapes do not fit.

    pi (K, F) are the probabilities of the policies, known (K, B) whether there are any. `row` and `missed` are scratch space.
    """
    if not fits(batch, pi, known, stakes, terms, items, row, missed):
        return -1
    for t in range(batch.r.shape[0]):
        for i in range(row.shape[0]):
            row[i] = 0.0
        own = own_terms(batch, t, stakes.own, row)
        for k in range(pi.shape[0]):
            out, there = terms[k, t], known[k, t] > 0.0
            for i in range(row.shape[0]):
                out[i] = row[i] if there else 0.0
            if there:
                policy_terms(batch, t, pi[k], stakes.policies[k], own, out)
                for i in range(row.shape[0]):
                    out[i] *= batch.sign[t]
        surprise = batch.r[t] - batch.forecast[batch.chosen[t]]
        for j in range(J if row.shape[0] == BOUNDED else 0):
            missed[LONG, j] = math.log1p(-stakes.items[LONG, j] * surprise)
            missed[SHORT, j] = math.log1p(stakes.items[SHORT, j] * surprise)
        for a in range(batch.start[t], batch.start[t] + batch.size[t]):
            if batch.place[a] >= 0:
                item_terms(batch, t, a, stakes.items, own, missed, row)
                for i in range(row.shape[0]):
                    items[batch.place[a], i] += batch.sign[t] * row[i]
    return int(batch.r.shape[0])
