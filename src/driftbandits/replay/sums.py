"""Sums over blocks of consecutive rows, for each window.

An estimate is a ratio of sums. Its bootstrap resamples blocks of rows, because neighbouring rows may be dependent. A window has at most
`MOST` blocks: when there are more, neighbouring blocks are merged and later blocks are twice as long, so memory does not grow with the log.
"""

import itertools
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..core.linalg import Matrix, Vector

MOST = 256


@dataclass
class Window:
    """One stretch of the log."""

    place: int
    width: int
    rows: int = 0
    length: int = 1  # rows of a block
    filled: int = 0  # rows in the last block
    blocks: list[Vector] = field(default_factory=list)

    def add(self, values: Matrix) -> None:
        """Add rows (n, width), each to the last block, or to a new one where that is full."""
        done = 0
        while done < len(values):
            if self.filled == self.length or not self.blocks:
                self._begin()
            part = values[done : done + self.length - self.filled]
            # Rows are added one after the other, beginning with the block: the same sum however they were cut into chunks.
            self.blocks[-1] = np.add.reduce(np.concatenate([self.blocks[-1][None], part]), axis=0)
            self.filled += len(part)
            done += len(part)
        self.rows += len(values)

    def _begin(self) -> None:
        if len(self.blocks) == MOST:
            pairs = zip(self.blocks[::2], self.blocks[1::2], strict=True)
            self.blocks = [a + b for a, b in pairs]
            self.length *= 2
        self.blocks.append(np.zeros(self.width))
        self.filled = 0


class Sums:
    """All windows of a replay, in their order."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.windows: list[Window] = []

    def add(self, places: NDArray[np.int64], values: Matrix) -> None:
        """Add rows (n, width) to the windows they belong to, in their order."""
        cuts = [0, *(np.flatnonzero(np.diff(places)) + 1).tolist(), len(places)]
        for first, last in itertools.pairwise(cuts):
            if not self.windows or self.windows[-1].place != places[first]:
                self.windows.append(Window(int(places[first]), self.width))
            self.windows[-1].add(values[first:last])

    def blocks(self, first: int = 0, last: int | None = None) -> Matrix:
        """The blocks (B, width) of a range of windows, joined until there are at most 4 · `MOST`."""
        found = np.array([block for window in self.windows[first:last] for block in window.blocks])
        while len(found) > 4 * MOST:
            if len(found) % 2:
                found = np.concatenate([found[:-2], found[-2:].sum(axis=0, keepdims=True)])
            found = found[::2] + found[1::2]
        return found
