"""What is kept of a replay: sums over blocks of consecutive rows, window by window.

An estimate is a ratio of sums, and its bootstrap resamples blocks, so that neighbours may depend on each other. A window has at most
`MOST` blocks: when there are more, neighbours are joined and later blocks are twice as long. So memory does not grow with the rows.
"""

from dataclasses import dataclass, field

import numpy as np

from ..core.linalg import Matrix, Vector

MOST = 256


@dataclass
class Window:
    """One stretch of the log."""

    place: int
    rows: int = 0
    length: int = 1  # rows of a block
    filled: int = 0  # rows in the last block
    blocks: list[Vector] = field(default_factory=list)

    def add(self, values: Vector) -> None:
        """Add a row's values to the last block, or begin a new one."""
        if self.filled == 0 or self.filled == self.length:
            if len(self.blocks) == MOST:
                pairs = zip(self.blocks[::2], self.blocks[1::2], strict=True)
                self.blocks = [a + b for a, b in pairs]
                self.length *= 2
            self.blocks.append(values.copy())
            self.filled = 1
        else:
            self.blocks[-1] += values
            self.filled += 1
        self.rows += 1


class Sums:
    """All windows of a replay, in their order."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.windows: list[Window] = []

    def add(self, place: int, values: Vector) -> None:
        """Add a row's values to the window it belongs to."""
        if not self.windows or self.windows[-1].place != place:
            self.windows.append(Window(place))
        self.windows[-1].add(values)

    def blocks(self, first: int = 0, last: int | None = None) -> Matrix:
        """The blocks (B, width) of a range of windows, joined until there are at most 4 · `MOST`."""
        found = np.array([block for window in self.windows[first:last] for block in window.blocks])
        while len(found) > 4 * MOST:
            if len(found) % 2:
                found = np.concatenate([found[:-2], found[-2:].sum(axis=0, keepdims=True)])
            found = found[::2] + found[1::2]
        return found
