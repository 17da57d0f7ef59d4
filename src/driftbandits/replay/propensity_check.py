"""Tests of logged propensities. True ones fail one of these tests with probability at most 3 · `LEVEL`, however many rows there are.

Item a, on offer in row t with true probability p_t(a), has X_t = 1{a_t = a}/p_t with E[X_t | past] ≤ 1, and = 1 if a could be chosen. So

    (1/8) Σ_λ Π_t (1 − λ + λ X_t)    over eight fixed λ in (0, 1)

has a mean of at most 1, and exceeds K/LEVEL for any of K items with probability at most LEVEL (Markov). Propensities too small, of
all rows or for one, make it grow.

The same holds of the rows of any group that is known before the choice: a value of the context, a stretch of the log, some hours of the day
(`context_levels`). Propensities that are right on average, but not for each of these, make the product of a group grow: a constant 1/n of
a logger that follows the context. There are at most K · G products for G columns of `SIZE` groups each, and the limit is K G SIZE/LEVEL.

Too large ones are caught by the rows in which one item has more than half of the probability, M_t > 1/2. It is chosen with probability M_t,
and something with p_t < 1/2 otherwise, hence for

    R_t = 1{1/2 < p_t < 1} (1/p_t − 1) − 1{p_t < 1/2},    E[R_t | past] ≤ 0

and Π_t (1 + λ R_t) is such a product too. Last, what is alone on offer has probability 1. Rounding is allowed for: X_t is divided by 1.02,
and p_t + 0.02 takes the place of p_t in 1/p_t − 1.

Wrong propensities pass if a logger could have had them which excludes some items from some rows, such as 1/2 for each of three, or if they
are right on average in each group: of a logger that follows only a product of two columns, or a column that is not in the log.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from .chunks import Chunk, Codes, Floats
from .context_levels import SIZE, ContextLevels, Way

LEVEL = 1e-4  # true propensities are refused so rarely by each of the first three tests
ROUNDED = 0.02  # by which propensities may be off
BETS = 4.0 ** -np.arange(1.0, 9.0)  # λ
GROUPED = 200  # items that are looked at in groups; further ones only as a whole


class Inverses:
    """Sums over the rows of each group (G,) and item (K,): how often it was on offer and chosen, Σ 1/p, and the products."""

    def __init__(self, groups: int) -> None:
        self.groups = groups
        self.offered = np.zeros((groups, 0))
        self.chosen = np.zeros((groups, 0))
        self.inverse = np.zeros((groups, 0))  # Σ 1/p
        self._grown = np.zeros((len(BETS), groups, 0))  # Σ log(1 − λ + λ X) of rows in which the item was chosen

    def add(self, group: Codes, chunk: Chunk, items: int, p: Floats, grown: Floats) -> None:
        """Count rows with a group and a propensity; `grown` (len(BETS), n) are the logarithms of the factors of what was chosen."""
        more, size = items - self.offered.shape[1], self.groups * items
        if more > 0:
            wider = [_wider(sums, more) for sums in (self.offered, self.chosen, self.inverse, self._grown)]
            self.offered, self.chosen, self.inverse, self._grown = wider
        self.offered += _offered(group, chunk, items, self.groups)
        there = (group >= 0) & (p > 0.0) & (chunk.item < items)
        cell = group[there] * items + chunk.item[there]
        shape = self.groups, items
        self.chosen += np.bincount(cell, minlength=size).reshape(shape)
        self.inverse += np.bincount(cell, 1.0 / np.maximum(p[there], 1e-300), minlength=size).reshape(shape)
        for j, of_bet in enumerate(grown):
            self._grown[j] += np.bincount(cell, of_bet[there], minlength=size).reshape(shape)

    def evidence(self) -> NDArray[np.float64]:
        """log of the product of each group and item, mixed over λ."""
        missed = np.maximum(self.offered - self.chosen, 0.0)
        every = self._grown + missed * np.log1p(-BETS)[:, None, None]
        return np.asarray(logsumexp(every, axis=0) - math.log(len(BETS)))

    def told(self, g: int, k: int) -> str:
        """The numbers of a group and an item."""
        return (
            f"was on offer {self.offered[g, k]:.0f} times and chosen {self.chosen[g, k]:.0f} times with propensities whose inverses "
            f"sum to {self.inverse[g, k]:.4g}; if they were true it would be near {self.offered[g, k]:.0f}, or less"
        )


class PropensityCheck:
    """Counts rows chunk by chunk; `problem` says what cannot be true."""

    def __init__(self) -> None:
        self._whole = Inverses(1)
        self._levels = ContextLevels()
        self._grouped: dict[Way, Inverses] = {}
        self._large = np.zeros(len(BETS))  # Σ log(1 + λ R)
        self._often = self._rare = 0  # rows with p in (1/2, 1), and below 1/2
        self._expected = 0.0  # Σ (1/p − 1) of the former
        self._alone: str | None = None
        self._names: list[Any] = []

    def add(self, chunk: Chunk) -> None:
        """Count the rows of a chunk with propensities; a propensity of 0 is refused elsewhere."""
        assert chunk.propensity is not None
        self._names, p = chunk.names, chunk.propensity
        x = 1.0 / ((1.0 + ROUNDED) * np.maximum(p, 1e-300))
        grown = np.log1p(BETS[:, None] * (x - 1.0))
        self._whole.add(np.zeros(len(chunk), np.int64), chunk, len(chunk.names), p, grown)
        for way, group in self._levels.of(chunk):
            grouped = self._grouped.setdefault(way, Inverses(SIZE))
            grouped.add(group, chunk, min(len(chunk.names), GROUPED), p, grown)
        self._add_large(p[p > 0.0])
        lonely = (chunk.offers.sizes() == 1) & (p < 1.0 - ROUNDED)
        if self._alone is None and lonely.any():
            t = int(np.argmax(lonely))
            self._alone = (
                f"row {chunk.number[t]} of {chunk.source} has only {self._names[int(chunk.item[t])]!r} on offer, "
                f"and its propensity is {p[t]:g}; it must be 1"
            )

    def _add_large(self, p: NDArray[np.float64]) -> None:
        often, rare = (p > 0.5) & (p < 1.0), p < 0.5
        r = np.where(often, np.maximum(1.0 / np.minimum(p + ROUNDED, 1.0) - 1.0, 0.0), 0.0) - rare
        self._large += np.log1p(BETS[:, None] * r[None, :]).sum(axis=1)
        self._often += int(often.sum())
        self._rare += int(rare.sum())
        self._expected += float((1.0 / p[often] - 1.0).sum())

    def evidence(self) -> NDArray[np.float64]:
        """log of the product of each item over all rows, mixed over λ."""
        return np.asarray(self._whole.evidence()[0])

    def problem(self) -> str | None:
        """What cannot be true, with the item and the numbers; None if everything can."""
        if self._alone is not None:
            return self._alone
        evidence = self.evidence()
        items = max(1, int((self._whole.offered > 0.0).sum()))
        k = int(np.argmax(evidence))
        if evidence[k] > math.log(items / LEVEL):
            return f"item {self._names[k]!r} {self._whole.told(0, k)}: they are too small"
        if float(logsumexp(self._large)) - math.log(len(BETS)) > math.log(1.0 / LEVEL):
            return (
                f"{self._often} choices have a propensity between 1/2 and 1; if they were true something less likely would have been "
                f"chosen about {self._expected:.0f} times, and it was {self._rare} times: they are too large"
            )
        return self._of_groups(items)

    def _of_groups(self, items: int) -> str | None:
        """A group in which they cannot be true."""
        limit = math.log(items * max(1, len(self._grouped)) * SIZE / LEVEL)
        worst = max(((*_largest(sums.evidence()), way) for way, sums in self._grouped.items()), default=None)
        if worst is None or worst[0] <= limit:
            return None
        _, g, k, way = worst
        where, why = self._levels.told(way, g)
        return f"{where}, item {self._names[k]!r} {self._grouped[way].told(g, k)}: they are too small there; {why}"


def _largest(evidence: NDArray[np.float64]) -> tuple[float, int, int]:
    g, k = np.unravel_index(int(np.argmax(evidence)), evidence.shape)
    return float(evidence[g, k]), int(g), int(k)


def _offered(group: Codes, chunk: Chunk, items: int, groups: int) -> NDArray[np.float64]:
    """How often each item was on offer in each group."""
    offers, there = chunk.offers, group >= 0
    many = len(offers.distinct)
    pairs, times = np.unique(group[there] * many + offers.which[there], return_counts=True)
    which, length = pairs % many, np.diff(offers.offsets)
    size = length[which]
    first = np.repeat(offers.offsets[which] - (np.cumsum(size) - size), size)
    item = offers.indices[first + np.arange(size.sum())]
    cell, weight = np.repeat(pairs // many, size) * items + item, np.repeat(times, size).astype(float)
    known = item < items
    counts = np.bincount(cell[known], weight[known], minlength=groups * items)
    return counts.reshape(groups, items).astype(np.float64)


def _wider(sums: NDArray[np.float64], more: int) -> NDArray[np.float64]:
    """Sums by item, with room for the items that are new."""
    return np.concatenate([sums, np.zeros((*sums.shape[:-1], more))], axis=-1)
