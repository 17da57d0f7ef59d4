"""The last observations of a learner, as raw rows in three arrays: an object for each of hundreds would be most of a bandit's memory."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.linalg import Matrix, Vector

KEPT = 400  # observations
LEAST = 16  # room at first; it is doubled


class LastRows:
    """A ring: observation k, counted from 0, is in place k mod `KEPT`. Putting one there again changes nothing.

    Examples
    --------
    >>> rows = LastRows()
    >>> rows.put(0, "a", np.ones(1), np.array([1.0, 0.5]), 2.0)
    >>> rows.of(1)[0], rows.of(1)[3].tolist()
    (['a'], [2.0])
    """

    __slots__ = ("_contexts", "_names", "_rewards", "_rows", "_widths", "begin")

    def __init__(self) -> None:
        self.begin = 0  # the first observation that is here; those before are in no file
        self._names: list[Any] = []
        self._widths = np.zeros((0, 2), np.int64)  # slots that there were: rows made later have more
        self._rows, self._contexts, self._rewards = np.zeros((0, 1)), np.zeros((0, 1)), np.zeros(0)

    def put(self, k: int, name: Any, row: Vector, context: Vector, r: float) -> None:
        """Keep observation k; the one `KEPT` before it is forgotten."""
        place, J, C = k % KEPT, len(row), len(context)
        if place >= len(self._names) or self._rows.shape[1] < J or self._contexts.shape[1] < C:
            self._make_room(place + 1, J, C)
        self._names[place] = name
        self._widths[place] = J, C
        self._rows[place, :J] = row
        self._contexts[place, :C] = context
        self._rewards[place] = r

    def put_all(self, k: int, names: Sequence[Any], rows: Matrix, contexts: Matrix, rewards: Vector) -> None:
        """Keep observations k, k + 1, …"""
        n = len(rewards)
        last = slice(max(n - KEPT, 0), n)
        places, J, C = np.arange(k + last.start, k + n) % KEPT, rows.shape[1], contexts.shape[1]
        most = int(places.max()) + 1 if n else 0
        if most > len(self._names) or self._rows.shape[1] < J or self._contexts.shape[1] < C:
            self._make_room(most, J, C)
        for place, name in zip(places.tolist(), names[last], strict=True):
            self._names[place] = name
        self._widths[places] = J, C
        self._rows[places, :J], self._contexts[places, :C] = rows[last], contexts[last]
        self._rewards[places] = rewards[last]

    def _make_room(self, places: int, J: int, C: int) -> None:
        """Larger arrays, which are complete before they take the place of those that there are."""
        known = len(self._names)
        room = known if places <= known else min(max(places, 2 * known, LEAST), KEPT)
        J, C = max(J, self._rows.shape[1]), max(C, self._contexts.shape[1])
        rows, contexts = np.zeros((room, J)), np.zeros((room, C))
        widths, rewards = np.zeros((room, 2), np.int64), np.zeros(room)
        rows[:known, : self._rows.shape[1]] = self._rows[:known]
        contexts[:known, : self._contexts.shape[1]] = self._contexts[:known]
        widths[:known], rewards[:known] = self._widths[:known], self._rewards[:known]
        names = [*self._names, *[None] * (room - known)]
        self._rows, self._contexts, self._widths, self._rewards = rows, contexts, widths, rewards
        self._names = names  # last: `put` asks it whether there is room

    def of(self, count: int) -> tuple[list[Any], list[Vector], list[Vector], Vector]:
        """Names, rows of items, rows of contexts and rewards, of the last of `count` observations, in their order."""
        places = [k % KEPT for k in range(max(self.begin, count - KEPT), count)]
        rows = [self._rows[a, : self._widths[a, 0]] for a in places]
        contexts = [self._contexts[a, : self._widths[a, 1]] for a in places]
        return [self._names[a] for a in places], rows, contexts, self._rewards[places]
