"""The places of named items in the learner's arrays. Their number is bounded.

When no place is free for a new item, the item that was on offer longest ago loses its place. Two kinds of items never lose theirs: items on
offer in the same decision (two items would share a model), and items with a decision that awaits its reward (the reward would be learned
for another item). If every item awaits a reward, the number of places exceeds the limit for a while.
"""

import functools
import heapq
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..adaptive.sums import UNNAMED, Integers
from ..core.linalg import Vector
from ..errors import InvalidValue

NONE: Integers = np.zeros(0, np.int64)
FEW = 256  # items on offer whose places are remembered for the next decision


@functools.lru_cache(maxsize=64)
def nobody(n: int) -> Integers:
    """Places of n items without names; nothing writes to it."""
    return np.full(n, UNNAMED, np.int64)


class Mark(NamedTuple):
    """Where `Places.undo` goes back to."""

    evicted: int
    room: int


class Places:
    """Which item is where.

    Examples
    --------
    >>> places = Places(2)
    >>> places.admit(["a", "b"], {}, np.zeros(0))[0].tolist()
    [0, 1]
    >>> places.admit(["c"], {"a": 1}, np.zeros(4))  # b loses its place: a awaits a reward
    (array([1]), array([1]))
    """

    __slots__ = ("_changes", "_free", "_last", "_place", "evicted", "limit", "room")

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.evicted = 0
        self.room = 0  # places that there are, taken or free
        self._place: dict[Any, int] = {}
        self._free: list[int] | None = None  # places that are not taken, a heap; None: to be found out
        self._changes: list[tuple[Any, int, bool]] = []  # since the last mark: name, place, whether it was added
        self._last: tuple[Any, Integers] = None, NONE  # the names asked for last, and where they are

    def __len__(self) -> int:
        return len(self._place)

    def get(self, name: Any) -> int:
        """Where an item is, −1 if nowhere."""
        return self._place.get(name, -1)

    def taken(self) -> Iterable[tuple[Any, int]]:
        """Every item that has a place, with it."""
        return self._place.items()

    def known(self, names: Sequence[Any]) -> Integers:
        """Where items are, −1 for those that are nowhere."""
        return np.array([self._place.get(name, -1) for name in names], np.int64)

    def all_known(self, names: Sequence[Any]) -> Integers | None:
        """Where items are, if every one of them has a place; nothing writes to `names` or to the answer."""
        same, who = self._last
        if same is names:
            return who
        try:
            who = np.array([*map(self._place.__getitem__, names)], np.int64)
        except KeyError:
            return None
        if len(names) <= FEW:
            self._last = names, who
        return who

    def admit(self, names: Sequence[Any], awaited: Mapping[Any, int], when: Vector) -> tuple[Integers, Integers]:
        """Where the items on offer are, and the places of items that lose theirs to new ones; `when` each place was last on offer."""
        found = [*map(self._place.get, names)]
        if None not in found:
            return np.array(found, np.int64), NONE
        kept, retired, new = {*names}, [], found.count(None)
        for a, name in enumerate(names):
            if found[a] is None:
                if len(self._place) >= self.limit and (old := self._oldest(kept, awaited, when)) is not None:
                    retired.append(self.remove(old))
                    self.evicted += 1
                found[a] = self._add(name, new)
                new -= 1
        return np.array(found, np.int64), np.array(retired, np.int64)

    def _add(self, name: Any, new: int) -> int:
        """A place for an item, the first of so many new ones."""
        if self._free is None:
            self._free = sorted(set(range(self.room)).difference(self._place.values()))
        if not self._free:
            more = max(new, self.room // 4)  # each place has matrices: not many more than items
            room = max(min(self.room + more, self.limit), self.room + 1)
            self._free = [*range(self.room, room)]
            self.room = room
        place = heapq.heappop(self._free)
        self._changes.append((name, place, True))
        self._last = None, NONE
        self._place[name] = place
        return place

    def _oldest(self, kept: set[Any], awaited: Mapping[Any, int], when: Vector) -> Any | None:
        """The item on offer longest ago that may lose its place."""
        known = len(when)  # an item of the same offer may have a place that is newer than the array
        may = [
            (when[k], k, name)
            for name, k in self._place.items()
            if name not in kept and name not in awaited and k < known
        ]
        return min(may)[2] if may else None

    def remove(self, name: Any) -> int:
        """Free an item's place; returns it."""
        place = self._place[name]
        self._changes.append((name, place, False))
        self._last, self._free = (None, NONE), None
        del self._place[name]
        return place

    def mark(self) -> Mark:
        """The state to which `undo` returns."""
        if self._changes:
            self._changes = []
        return Mark(self.evicted, self.room)

    def undo(self, mark: Mark) -> None:
        """Take back every change since the mark."""
        for name, place, added in reversed(self._changes):
            if added:
                self._place.pop(name, None)
            else:
                self._place[name] = place
        self.evicted, self.room, self._changes, self._free, self._last = mark.evicted, mark.room, [], None, (None, NONE)

    def to_json(self) -> dict[str, Any]:
        """Everything but when items were on offer."""
        at = sorted(self._place.items(), key=lambda pair: pair[1])
        return {"limit": self.limit, "evicted": self.evicted, "at": [[name, k] for name, k in at]}

    @classmethod
    def from_json(cls, saved: Mapping[str, Any], room: int) -> "Places":
        """The places that were saved."""
        places = cls(int(saved["limit"]))
        places.evicted, places.room = int(saved["evicted"]), room
        places._place = {name: int(k) for name, k in saved["at"]}
        taken = [*places._place.values()]
        if len({*taken}) < len(taken) or not all(0 <= k < room for k in taken):
            raise InvalidValue("an item's place does not exist, or is taken twice")
        return places
