"""Which selections of an agent wait for their reward, and which of them a reward belongs to.

Only the last selection is kept with its features. Of earlier ones the number is known: who brings their rewards brings the features too.
"""

from typing import NamedTuple

import numpy as np

from ..core.linalg import Vector
from ..errors import InvalidState
from ..protocol import NO_SLOT


class Pending(NamedTuple):
    """The last selection, and how many before it are open. It is replaced, never changed: an agent has the one before or the one after."""

    x: Vector  # the features of the last selection
    item: int = NO_SLOT  # and its item, where an agent has items
    chosen: bool = False  # is the last selection open?
    older: int = 0  # open selections before it
    behind: bool = False  # has the last selection's round still to pass?

    def opened(self, x: Vector, item: int) -> "Pending":
        """After a selection."""
        return Pending(np.array(x), item, True, self.older + self.chosen, True)

    def last(self, age: int | None) -> Vector:
        """The features of the last selection, if it is clear that the reward is its."""
        if not self.chosen:
            raise InvalidState(
                "update without select: there is no selection whose reward is open; give the features with x=…"
            )
        if age is None and self.older:
            raise InvalidState(
                f"{self.older + 1} selections are open: say age=0 for the last; an earlier one needs x=… and age=…"
            )
        if age:
            raise InvalidState(f"age = {age} needs x=…: the features that were played {age} decisions ago")
        return self.x

    def passed(self) -> "Pending":
        """After the round of the last selection has passed."""
        return self._replace(behind=False)

    def closed(self, x: Vector, age: int | None, item: int) -> "Pending":
        """After a reward that came with its features: whose reward is no longer open?"""
        if age == 0 or (age is None and self.chosen and item == self.item and bool((x == self.x).all())):
            return self._replace(chosen=False, behind=False)
        if age:
            return self._replace(older=max(self.older - 1, 0), behind=False)
        return self._replace(behind=False)
