"""Which selections of an agent wait for their reward, and which of them a reward belongs to.

Only the last selection is kept with its features. Of earlier ones the number is known: who brings their rewards brings the features too.
"""

import numpy as np

from .errors import InvalidState
from .linalg import Vector
from .protocol import NO_SLOT


class Pending:
    """The last selection, and how many before it are open."""

    def __init__(self, dim: int) -> None:
        self.x = np.zeros(dim)  # the features of the last selection
        self.item = NO_SLOT  # and its item, where an agent has items
        self.chosen = False  # is the last selection open?
        self.older = 0  # open selections before it
        self.behind = False  # has the last selection's round still to pass?

    def open(self, x: Vector, item: int) -> None:
        """A selection was made."""
        self.x[:] = x
        self.item = item
        self.older += self.chosen
        self.chosen = self.behind = True

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

    def close(self, x: Vector, age: int | None, item: int) -> None:
        """A reward came with its features: note whose reward is no longer open."""
        if age == 0 or (age is None and self.chosen and item == self.item and bool((x == self.x).all())):
            self.chosen = False
        elif age:
            self.older = max(self.older - 1, 0)
