"""Whether a column is the reward in other units: a + b · reward in all rows, b ≠ 0. No policy could have known it."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class Line(NamedTuple):
    """Rewards and values of a column: two points with different rewards, if there are any; are all others on the line through them?"""

    points: Sequence[tuple[float, float]] = ()
    holds: bool = True

    def through(self, r: Floats, x: Floats) -> "Line":
        """With further rows."""
        if not self.holds or not len(r):
            return self
        points = [*self.points] or [(float(r[0]), float(x[0]))]
        other = np.flatnonzero(r != points[0][0])
        if len(points) == 1 and len(other):
            points.append((float(r[other[0]]), float(x[other[0]])))
        (r0, x0), (r1, x1) = points[0], points[-1]
        slope = (x1 - x0) / (r1 - r0) if len(points) == 2 else 0.0
        away = np.abs(x - x0 - slope * (r - r0))
        return Line(points, bool((away <= 1e-9 * np.maximum(np.abs(x), max(abs(x0), abs(x1)))).all()))

    @property
    def is_copy(self) -> bool:
        """Whether the column says what the reward was."""
        return self.holds and len(self.points) == 2 and self.points[0][1] != self.points[1][1]
