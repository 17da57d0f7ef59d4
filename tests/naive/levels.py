"""What levels without columns add to a forecast, from the whole history: the definition in `driftbandits.adaptive.cells`, cell by cell.

The oracle is told what the rest of the model forecast and how large its noise was; both have oracles of their own (`adaptive`).
"""

import math
from typing import NamedTuple

import numpy as np

B, RHO, KEPT = 20.0, 0.05, 0.999
LEAST_LEFT, EXTRA = 0.05, 20.0


class Seen(NamedTuple):
    """One observation of a cell."""

    tick: float
    w: float
    left: np.ndarray  # (M,)


class Levels:
    """Cells of M memories that forget at `rate` per decision."""

    def __init__(self, rate):
        M = len(rate)
        self.rate, self.seen = np.array(rate), {}
        self.product, self.pairs = np.zeros((2, M)), np.zeros((2, M))
        self.without, self.within = np.zeros(M), np.zeros(M)

    def sums(self, key):
        """n and t of a cell, as of its newest observation."""
        rows = self.seen.get(key, [])
        last = max((row.tick for row in rows), default=0.0)
        f = [row.w * np.exp(-self.rate * (last - row.tick)) for row in rows]
        n = sum(f, np.zeros(len(self.rate)))
        t = sum((weight * row.left for weight, row in zip(f, rows, strict=True)), np.zeros(len(self.rate)))
        return n, t, last

    def left(self, sigma2):
        """The share of the noise's variance that cells leave."""
        before = self.without + EXTRA * sigma2
        share = np.divide(self.within + EXTRA * sigma2, before, out=np.ones(len(before)), where=before > 0.0)
        return np.clip(share, LEAST_LEFT, 1.0)

    def kappa(self, side, sigma2):
        """κ = s²/τ²."""
        s2 = np.where(sigma2 > 0.0, self.left(sigma2) * sigma2, 1.0)
        tau2 = (self.product[side] + B * RHO * s2) / (self.pairs[side] + B)
        return 1.0 / np.clip(tau2 / s2, 1e-6, 1e3)

    def mean(self, key, sigma2):
        """v of a cell; key (side, level, item)."""
        n, t, _ = self.sums(key)
        return t / (n + self.kappa(key[0], sigma2)) if key in self.seen else np.zeros(len(self.rate))

    def width(self, key, sigma2, now):
        """The variance of v in units of s²."""
        n, _, last = self.sums(key)
        kappa = self.kappa(key[0], sigma2)
        if key not in self.seen:
            return 1.0 / kappa
        f = np.exp(-self.rate * max(now - last, 0.0))
        return np.minimum(1.0 / ((n + kappa) * f), 1.0 / kappa)

    def learn(self, keys, tick, y, w, base, sigma2, judged):
        """An observation of all these cells, of which the rest of the model forecast `base` (M,)."""
        v = {key: self.mean(key, sigma2) for key in keys}
        before = y - base
        after = before - sum(v.values(), np.zeros(len(base)))
        if judged and w > 0.0:
            self.without = KEPT * self.without + before**2
            self.within = KEPT * self.within + after**2
        for key in keys:
            left = after + v[key]
            if judged and w > 0.0 and key in self.seen:
                n, t, _ = self.sums(key)
                gain = n / (n + 1.0)
                self.product[key[0]] = KEPT * self.product[key[0]] + gain * left * t / n
                self.pairs[key[0]] = KEPT * self.pairs[key[0]] + gain
            self.seen.setdefault(key, []).append(Seen(tick, w, left))
        assert math.isfinite(float(np.sum(after)))
