"""Tests of logged propensities. True ones fail one of these tests with probability at most 2 · `LEVEL`, however many rows there are.

Item a, on offer in row t with true probability p_t(a), has X_t = 1{a_t = a}/p_t with E[X_t | past] ≤ 1, and = 1 if a could be chosen. So

    (1/8) Σ_λ Π_t (1 − λ + λ X_t)    over eight fixed λ in (0, 1)

has a mean of at most 1, and exceeds K/LEVEL for any of K items with probability at most LEVEL (Markov). Propensities too small, of
all rows or for one, make it grow.

Too large ones are caught by the rows in which one item has more than half of the probability, M_t > 1/2. It is chosen with probability M_t,
and something with p_t < 1/2 otherwise, hence for

    R_t = 1{1/2 < p_t < 1} (1/p_t − 1) − 1{p_t < 1/2},    E[R_t | past] ≤ 0

and Π_t (1 + λ R_t) is such a product too. Third, what is alone on offer has probability 1. Rounding is allowed for: X_t is divided by 1.02,
and p_t + 0.02 takes the place of p_t in 1/p_t − 1.

Wrong propensities pass if a logger could have had them which excludes some items from some rows, such as 1/2 for each of three.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from .chunks import Chunk

LEVEL = 1e-4  # true propensities are refused so rarely by each of the first two tests
ROUNDED = 0.02  # by which propensities may be off
BETS = 4.0 ** -np.arange(1.0, 9.0)  # λ


class PropensityCheck:
    """Counts rows chunk by chunk; `problem` says what cannot be true."""

    def __init__(self) -> None:
        self._offered = np.zeros(0)
        self._chosen = np.zeros(0)
        self._inverse = np.zeros(0)  # Σ 1/p
        self._grown = np.zeros((len(BETS), 0))  # Σ log(1 − λ + λ X) of rows in which the item was chosen
        self._large = np.zeros(len(BETS))  # Σ log(1 + λ R)
        self._often = self._rare = 0  # rows with p in (1/2, 1), and below 1/2
        self._expected = 0.0  # Σ (1/p − 1) of the former
        self._alone: str | None = None
        self._names: list[Any] = []

    def add(self, chunk: Chunk) -> None:
        """Count the rows of a chunk with propensities; a propensity of 0 is refused elsewhere."""
        assert chunk.propensity is not None
        self._names, size = chunk.names, len(chunk.names)
        offers = chunk.offers
        times = np.bincount(offers.which, minlength=len(offers.distinct)).astype(float)
        offered = np.bincount(offers.indices, np.repeat(times, np.diff(offers.offsets)), minlength=size)
        self._offered = _wider(self._offered, size) + offered
        known = chunk.propensity > 0.0
        item, p = chunk.item[known], chunk.propensity[known]
        self._chosen = _wider(self._chosen, size) + np.bincount(item, minlength=size)
        self._inverse = _wider(self._inverse, size) + np.bincount(item, 1.0 / p, minlength=size)
        x = 1.0 / ((1.0 + ROUNDED) * p)
        grown = [np.bincount(item, np.log1p(bet * (x - 1.0)), minlength=size) for bet in BETS]
        self._grown = _wider(self._grown, size) + np.array(grown)
        self._add_large(p)
        lonely = (offers.sizes() == 1) & (chunk.propensity < 1.0 - ROUNDED)
        if self._alone is None and lonely.any():
            t = int(np.argmax(lonely))
            self._alone = (
                f"row {chunk.number[t]} of {chunk.source} has only {self._names[int(chunk.item[t])]!r} on offer, "
                f"and its propensity is {chunk.propensity[t]:g}; it must be 1"
            )

    def _add_large(self, p: NDArray[np.float64]) -> None:
        often, rare = (p > 0.5) & (p < 1.0), p < 0.5
        r = np.where(often, np.maximum(1.0 / np.minimum(p + ROUNDED, 1.0) - 1.0, 0.0), 0.0) - rare
        self._large += np.log1p(BETS[:, None] * r[None, :]).sum(axis=1)
        self._often += int(often.sum())
        self._rare += int(rare.sum())
        self._expected += float((1.0 / p[often] - 1.0).sum())

    def evidence(self) -> NDArray[np.float64]:
        """log of the product of each item, mixed over λ."""
        missed = np.maximum(self._offered - self._chosen, 0.0)
        every = self._grown + missed * np.log1p(-BETS)[:, None]
        return np.asarray(logsumexp(every, axis=0) - math.log(len(BETS)))

    def problem(self) -> str | None:
        """What cannot be true, with the item and the numbers; None if everything can."""
        if self._alone is not None:
            return self._alone
        evidence = self.evidence()
        items = max(1, int((self._offered > 0.0).sum()))
        k = int(np.argmax(evidence))
        if evidence[k] > math.log(items / LEVEL):
            return (
                f"item {self._names[k]!r} was on offer {self._offered[k]:.0f} times and chosen {self._chosen[k]:.0f} times with "
                f"propensities whose inverses sum to {self._inverse[k]:.4g}; if they were true it would be near "
                f"{self._offered[k]:.0f}, or less: they are too small"
            )
        if float(logsumexp(self._large)) - math.log(len(BETS)) > math.log(1.0 / LEVEL):
            return (
                f"{self._often} choices have a propensity between 1/2 and 1; if they were true something less likely would have been "
                f"chosen about {self._expected:.0f} times, and it was {self._rare} times: they are too large"
            )
        return None


def _wider(sums: NDArray[np.float64], size: int) -> NDArray[np.float64]:
    """Sums by item, with room for the items that are new."""
    return np.concatenate([sums, np.zeros((*sums.shape[:-1], size - sums.shape[-1]))], axis=-1)
