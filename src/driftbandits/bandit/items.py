"""Places of named items in the learner's arrays, bounded in number.

When a new item finds no place, the item that was on offer longest ago loses its own. Items on offer in the same decision, and items of
which a decision awaits its reward, never do: two items would share a model, or a reward would be learned for the wrong one. If all are
awaited, there are more places than the limit for a while.
"""

import heapq
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..adaptive.sums import Integers
from ..core.linalg import Vector
from ..errors import InvalidValue


class Places:
    """Which item is where.

    Examples
    --------
    >>> places = Places(2)
    >>> places.offered(["a", "b"], 1, {}, lambda room: None, lambda place: None).tolist()
    [0, 1]
    >>> places.offered(["c"], 2, {"a": 1}, lambda room: None, lambda place: print("retired", place)).tolist()
    retired 1
    [1]
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.evicted = 0
        self.when: Vector = np.zeros(0)  # when each place's item was last on offer; ∞ where there is none
        self._place: dict[Any, int] = {}
        self._free: list[int] = []

    def __len__(self) -> int:
        return len(self._place)

    def get(self, name: Any) -> int:
        """Where an item is, −1 if nowhere."""
        return self._place.get(name, -1)

    def known(self, names: Sequence[Any]) -> Integers:
        """Where items are, −1 for those that are nowhere."""
        return np.array([self._place.get(name, -1) for name in names], np.int64)

    def offered(
        self,
        names: Sequence[Any],
        tick: float,
        awaited: Mapping[Any, int],
        make_room: Callable[[int], None],
        retire: Callable[[int], None],
    ) -> Integers:
        """Where the items on offer are; new ones get a place. `retire` forgets what an item that loses its place had learned."""
        found = [*map(self._place.get, names)]
        if None in found:
            kept = {*names}
            found = [
                self._add(name, kept, awaited, make_room, retire) if k is None else k
                for name, k in zip(names, found, strict=True)
            ]
        who = np.array(found, np.int64)
        self.when[who] = tick
        return who

    def _add(
        self,
        name: Any,
        kept: set[Any],
        awaited: Mapping[Any, int],
        make_room: Callable[[int], None],
        retire: Callable[[int], None],
    ) -> int:
        if len(self._place) >= self.limit and (old := self._oldest(kept, awaited)) is not None:
            self.drop(old, retire)
            self.evicted += 1
        if not self._free:
            room = max(4, 2 * len(self.when))
            room = max(min(room, self.limit), len(self.when) + 1)
            make_room(room)
            fresh = [*range(len(self.when), room)]
            self.when = np.r_[self.when, np.full(len(fresh), math.inf)]
            self._free = fresh
        place = heapq.heappop(self._free)
        self._place[name] = place
        return place

    def _oldest(self, kept: set[Any], awaited: Mapping[Any, int]) -> Any | None:
        """The item on offer longest ago that may lose its place."""
        may = [(self.when[k], k, name) for name, k in self._place.items() if name not in kept and name not in awaited]
        return min(may)[2] if may else None

    def drop(self, name: Any, retire: Callable[[int], None]) -> None:
        """Free an item's place, if it has one."""
        place = self._place.get(name)
        if place is None:
            return
        retire(place)
        del self._place[name]
        self.when[place] = math.inf
        heapq.heappush(self._free, place)

    def to_json(self) -> dict[str, Any]:
        """All but `when`."""
        return {"limit": self.limit, "evicted": self.evicted, "at": [[name, k] for name, k in self._place.items()]}

    @classmethod
    def from_json(cls, saved: Mapping[str, Any], when: Vector) -> "Places":
        """The places that were saved."""
        places = cls(int(saved["limit"]))
        places.evicted, places.when = int(saved["evicted"]), when
        places._place = {name: int(k) for name, k in saved["at"]}
        taken = [*places._place.values()]
        if len({*taken}) < len(taken) or not all(0 <= k < len(when) for k in taken):
            raise InvalidValue("an item's place does not exist, or is taken twice")
        places._free = sorted(set(range(len(when))).difference(taken))
        return places
