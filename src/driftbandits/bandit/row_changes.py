"""What each row of the log changes: checked first, as the call that wrote it was, then applied.

A row was written by another process or before the last snapshot, so nothing in it is trusted: `_change_of` reads and validates it without
changing the state, and returns the change. A row of the log therefore means the same as the call that wrote it.
"""

import json
import math
from collections.abc import Callable
from functools import partial
from typing import Any

from ..errors import InvalidValue
from .changes import Request
from .logged import Logged, read_logged
from .pending import DEFERRED, Closed, Open
from .rows import law_of
from .store import ASIDE, Row
from .stored import StoredBandit


class ReadsRows(StoredBandit):
    """A bandit that can repeat what the rows of its log say."""

    def _change_of(self, row: Row) -> Callable[[], Any]:
        """Check a row, as the call that wrote it is checked; returns what applies it."""
        if row.kind == ASIDE:
            return _nothing
        data = json.loads(row.data) if row.data else {}
        if row.kind == "decide" and row.id is not None:
            request, shown = self._request_of(row, data), data["shown"]
            if not shown or any(item not in request.names for item in shown):
                raise InvalidValue(f"it shows {shown!r}, which was not on offer")
            return partial(self._repeat, row.id, request, shown, data)
        if row.kind == "activate" and row.id is not None:
            return partial(self._activate, row.id, _number(row.at))
        if row.kind in ("reward", "replace") and row.id is not None:
            return self._read_reward(row.id, row, data)
        if row.kind == "observe":
            request, r, w = self._request_of(row, data), _number(row.reward), _number(row.weight)
            self._learner.accepts([None], [r], w)
            return partial(self._observe, request, r, w)
        if row.kind == "expire":
            return partial(self._expire, _number(row.at), row.reward)
        if row.kind == "drop":
            return partial(self._drop, json.loads(row.item or "null"))
        if row.kind == "forget":
            name = json.loads(row.item or "null")
            self._learner.can_forget(name)
            return partial(self._forget, name)
        raise InvalidValue(f"a row of kind {row.kind!r} is not known to this version")

    def _request_of(self, row: Row, data: Any) -> Request:
        names, rows, context = data["names"], data["rows"], data["context"]
        offer = self._learner.read(names, rows, context, named=data.get("named", True) is not False)
        return Request(
            names,
            rows,
            context,
            offer,
            _number(row.at),
            bool(data["given"]),
            len(data.get("shown", [0])),
            data.get("first"),
        )

    def _repeat(self, id_: str, request: Request, shown: list[Any], data: dict[str, Any]) -> None:
        """A decision that has been made: everything `_decide` changes, with its choice given."""
        agreed = data["would"] == shown if "would" in data else None
        self.__dict__.update(self._after(request, self._tick + 1, "decisions", agreed))
        placed = self._place(request.offer)
        self._learner.repeat(placed, len(shown))
        memos = [self._learner.memo(placed, request.names.index(item)) for item in shown]
        since = DEFERRED if "defer" in data else None
        opened = Open(self._tick, request.at, memos, since, data.get("learn", True), law_of(request, data))
        if self._challengers:
            opened = self._asked(request, id_, [request.names.index(item) for item in shown], opened)
        self._pending.put(id_, opened)
        self._arrivals.opened(self._tick, awaited=since is None)
        self._look_for_rewards(self._tick, self._newest)

    def _read_reward(self, id_: str, row: Row, data: Any) -> Callable[[], Any]:
        rewards, weight = [math.nan if r is None else float(r) for r in data["rewards"]], _number(row.weight)
        found: Open | Closed | Logged | None = self._pending.open.get(id_)
        if found is None and "decision" in data:
            found = read_logged(data["decision"], self._learner, clock=False)
        if found is None and row.kind == "replace":
            found = self._pending.closed.get(id_)
        if found is None or (isinstance(found, Closed) and found.open is None):
            return self._unmatched  # expired or dropped before it came
        self._check_reward(found, rewards, weight)
        return partial(self._answered, id_, found, rewards, weight)

    def _unmatched(self) -> None:
        self._counts["unmatched"] += 1


def _nothing() -> None:
    """The change of a row that was set aside: none."""


def _number(value: float | None) -> float:
    if value is None:
        raise InvalidValue("it has no number where one must be; was it changed?")
    return value
