"""The selections of an agent that wait for their reward, and the assignment of a reward to one of them.

Only the last selection is stored with its features. Of earlier ones only the number is stored; their rewards must be given with features.
"""

from typing import NamedTuple

import numpy as np

from ..core.linalg import Vector
from ..errors import InvalidState
from ..protocol import NO_SLOT


class Pending(NamedTuple):
    """The last selection, and the number of open ones before it. It is immutable: an interrupt leaves the old one or the new one."""

    x: Vector  # the features of the last selection
    item: int = NO_SLOT  # its item, if the agent has items
    chosen: bool = False  # whether the last selection is open, i.e. waits for its reward
    older: int = 0  # open selections before it
    behind: bool = False  # whether the round of the last selection has not passed yet

    def opened(self, x: Vector, item: int) -> "Pending":
        """The state after a selection."""
        return Pending(np.array(x), item, True, self.older + self.chosen, True)

    def last(self, age: int | None) -> Vector:
        """The features of the last selection; raises if a reward of this age cannot be assigned to it."""
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
        """The state after the round of the last selection has passed."""
        return self._replace(behind=False)

    def closed(self, x: Vector, age: int | None, item: int) -> "Pending":
        """The state after a reward given with features: the selection to which it belongs is no longer open."""
        if age == 0 or (age is None and self.chosen and item == self.item and bool((x == self.x).all())):
            return self._replace(chosen=False, behind=False)
        if age:
            return self._replace(older=max(self.older - 1, 0), behind=False)
        return self._replace(behind=False)
