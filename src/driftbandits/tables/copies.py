"""Detects columns that are the reward in other units: a + b · reward in all rows, b ≠ 0. No policy could have known such a column."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


ENOUGH = 10  # rows of the rarer reward, where there are two, before a column is called a copy


class Line(NamedTuple):
    """Rewards and values of a column: two points with different rewards, if there are any; are all others on the line through them?"""

    points: Sequence[tuple[float, float]] = ()
    holds: bool = True
    rows: tuple[int, int, int] = (0, 0, 0)  # with the reward of the first point, of the second, and with others

    def through(self, r: Floats, x: Floats) -> "Line":
        """With further rows."""
        if not self.holds or not len(r):
            return self
        points = [*self.points] or [(float(r[0]), float(x[0]))]
        other = np.flatnonzero(r != points[0][0])
        if len(points) == 1 and len(other):
            points.append((float(r[other[0]]), float(x[other[0]])))
        (r0, x0), (r1, x1) = points[0], points[-1]
        along = (r - r0) / (r1 - r0) if len(points) == 2 else np.zeros(len(r))
        away = np.abs(x - x0 - along * (x1 - x0))
        rounding = 4e-16 * np.maximum(np.abs(x), max(abs(x0), abs(x1))) * (1.0 + np.abs(along))
        first, second = int((r == r0).sum()), int((r == r1).sum()) if len(points) == 2 else 0
        new = first, second, len(r) - first - second
        return Line(points, bool((away <= 1e-9 * abs(x1 - x0) + rounding).all()), _added(self.rows, new))

    def joined(self, other: "Line") -> "Line":
        """Of two parts in a row."""
        r, x = np.array(other.points, np.float64).reshape(-1, 2).T
        both = self.through(r, x)
        return Line(both.points, both.holds and other.holds, _added(self.rows, other.rows))

    @property
    def is_copy(self) -> bool:
        """Whether the column says what the reward was; a few rows may do so by chance."""
        told = self.holds and len(self.points) == 2 and self.points[0][1] != self.points[1][1]
        return told and max(min(self.rows[:2]), self.rows[2]) >= ENOUGH


def _added(a: tuple[int, int, int], b: tuple[int, int, int]) -> tuple[int, int, int]:
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]
