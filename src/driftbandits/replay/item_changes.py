"""Which item's reward changed, and when: a test for a change in the mean of every item of a log.

The rows of a log are cut into equal blocks. For an item with n rewards of mean r̄ and standard deviation s, let S_k be the sum of
its rewards in the first k blocks and n_k their number. If its mean never changes, the path

    D_k = (S_k − n_k r̄) / (s √n)

is a Brownian bridge for large n, so P(max_k |D_k| > x) → Q(x), Kolmogorov's distribution. The change is dated at the largest |D_k|,
and both sides are searched again at half the error. The error is shared by all items (Bonferroni), so with probability ≥ 1 − ALPHA no item
is named in a world that stands still.

The reward of an item is the mean over the decisions in which the log chose it. It therefore also changes if the log begins to choose the
item for other users.
"""

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy.special import kolmogorov

from .chunks import Floats
from .log import Log

ALPHA = 0.05
BLOCKS = 512  # changes are dated to a block
FEWEST = 50  # rewards on each side of a change
MOST_ITEMS = 100  # those chosen most often are searched


class ItemChange(NamedTuple):
    """The mean reward of an item before and after a change.

    `at` is the time of the first row after it, in seconds since 1970, or the number of that row in a log without times.
    """

    item: Any
    at: float
    before: float
    after: float
    p_value: float


class ItemSums(NamedTuple):
    """Rewards by block and item: how many, their sum, their sum of squares; each has shape (blocks, items)."""

    names: list[Any]
    number: Floats
    total: Floats
    squares: Floats
    start: Floats  # of each block: time, or row


def item_changes(log: Log) -> list[ItemChange]:
    """All changes that were found, the most certain first.

    Examples
    --------
    >>> import driftbandits as db, numpy as np, pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> item = rng.choice(["a", "b"], 4000)
    >>> mean = np.where((item == "b") & (np.arange(4000) >= 2400), 0.5, 0.2)
    >>> log = db.Log.read(pd.DataFrame({"item": item, "r": (rng.random(4000) < mean) * 1.0}), item="item", reward="r")
    >>> [(c.item, 2300 < c.at < 2500) for c in item_changes(log)]
    [('b', True)]
    """
    sums = _sums(log)
    often = [int(k) for k in np.argsort(-sums.number.sum(axis=0), kind="stable")[:MOST_ITEMS]]
    often = [k for k in often if sums.number[:, k].sum() >= 2 * FEWEST]
    found: list[ItemChange] = []
    for k in often:
        item = _Item(sums.names[k], sums.number[:, k], sums.total[:, k], sums.squares[:, k], sums.start)
        found += item.changes(0, len(sums.start), ALPHA / len(often))
    return sorted(found, key=lambda change: change.p_value)


class _Item(NamedTuple):
    name: Any
    number: Floats
    total: Floats
    squares: Floats
    start: Floats

    def changes(self, first: int, last: int, alpha: float) -> Iterator[ItemChange]:
        """Those within blocks first … last − 1, in order of time."""
        n, total, squares = (column[first:last] for column in (self.number, self.total, self.squares))
        n_k, S_k = np.cumsum(n), np.cumsum(total)
        whole = float(n_k[-1])
        inside = np.flatnonzero((n_k >= FEWEST) & (whole - n_k >= FEWEST))
        if inside.size == 0:
            return
        mean = float(S_k[-1]) / whole
        variance = float(squares.sum()) / whole - mean * mean
        if variance <= 1e-12 * (1.0 + mean * mean):
            return
        D_k = np.abs(S_k - n_k * mean) / math.sqrt(variance * whole)
        k = int(inside[np.argmax(D_k[inside])])
        p_value = float(kolmogorov(D_k[k]))
        if p_value > alpha:
            return
        yield from self.changes(first, first + k + 1, 0.5 * alpha)
        before, after = float(S_k[k]) / float(n_k[k]), float(S_k[-1] - S_k[k]) / float(whole - n_k[k])
        yield ItemChange(self.name, float(self.start[first + k + 1]), before, after, p_value)
        yield from self.changes(first + k + 1, last, 0.5 * alpha)


def _sums(log: Log) -> ItemSums:
    """One pass over the log, in memory of blocks × items."""
    size = max(1, math.ceil(len(log) / BLOCKS))
    names: list[Any] = list(log.items)
    place = {name: k for k, name in enumerate(names)}
    blocks = max(1, math.ceil(len(log) / size))
    count, total, squares = (np.zeros((blocks, len(names))) for _ in range(3))
    start = np.arange(blocks, dtype=np.float64) * size
    row = 0
    for chunk in log.chunks():
        block = np.arange(row, row + len(chunk)) // size
        item = np.array([place[name] for name in chunk.names], dtype=np.int64)[chunk.item]
        np.add.at(count, (block, item), 1.0)
        np.add.at(total, (block, item), chunk.reward)
        np.add.at(squares, (block, item), chunk.reward**2)
        if chunk.at is not None:
            first = np.flatnonzero((np.arange(row, row + len(chunk)) % size) == 0)
            start[block[first]] = chunk.at[first]
        row += len(chunk)
    return ItemSums(names, count, total, squares, start)
