"""Decisions that other processes made, applied by the learner together: features are read by columns, each choice is counted by itself.

The state is the one that row by row would give, to the last bit: the same compiled steps are called with the same numbers. Rows that show
something new, and decisions that are not ordinary (rankings, deferred ones), are applied one by one.
"""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ..adaptive import Adaptive
from ..changes import Request
from ..items import NONE
from ..learner import Placed
from ..ledger import Law
from ..pending import Open
from ..rows import law_of
from ..store import Row
from .fit import ready
from .requests import UNREAD, InSlots, in_slots

if TYPE_CHECKING:
    from ..durable import Durable

LEAST = 4  # rows that are worth it
MOST = 256  # rows that are read together
WRONG = (
    ArithmeticError,
    AttributeError,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
)  # of a row that was changed


class Made(NamedTuple):
    """An ordinary decision in the log."""

    row: Row
    request: Request
    chosen: int
    law: Law | None


def repeat_all(bandit: "Durable", rows: Sequence[Row]) -> None:
    """Apply decisions next to each other in the log."""
    for start in range(0, len(rows), MOST):
        part = rows[start : start + MOST]
        if len(part) < LEAST or not _together(bandit):
            _one_by_one(bandit, part)
        else:
            _repeat(bandit, part, [*map(_made, part)])


def _together(bandit: "Durable") -> bool:
    learner, alone = bandit._learner, not bandit._challengers and bandit._function is None
    return alone and isinstance(learner, Adaptive) and ready(learner)


def _one_by_one(bandit: "Durable", rows: Sequence[Row]) -> None:
    for row in rows:
        bandit._apply(row)


def _made(row: Row) -> Made | None:
    """What a row says; None if it must be looked at by itself."""
    try:
        data: dict[str, Any] = json.loads(row.data or "null")
        names, shown, at = data["names"], data["shown"], row.at
        odd = "would" in data or "defer" in data or data.get("learn", True) is not True or "named" in data
        if row.kind != "decide" or row.id is None or at is None or odd or len(shown) != 1:
            return None
        request = Request(names, data["rows"], data["context"], UNREAD, at, bool(data["given"]), 1, data.get("first"))
        return Made(row, request, names.index(shown[0]), law_of(request, data))
    except WRONG:
        return None


def _repeat(bandit: "Durable", rows: Sequence[Row], made: Sequence[Made | None]) -> None:
    """Apply rows together, or in halves, or one by one."""
    known = [one for one in made if one is not None]
    learner = bandit._learner
    if len(rows) < LEAST or not isinstance(learner, Adaptive):
        _one_by_one(bandit, rows)
        return
    read = _read(learner, [one.request for one in known]) if len(known) == len(rows) else None
    if read is None:
        half = len(rows) // 2
        _repeat(bandit, rows[:half], made[:half])
        _repeat(bandit, rows[half:], made[half:])
        return
    bandit.will_change()
    try:
        for t, one in enumerate(known):
            _count(bandit, learner, one, read, t)
    except (MemoryError, OSError):
        raise
    except (
        Exception
    ):  # the state may be half changed: back to the log before these rows, and one by one to the one that is wrong
        bandit._reload(upto=rows[0].seq - 1)
        bandit.will_change()
        _one_by_one(bandit, rows)
        return
    bandit._seq = rows[-1].seq


def _read(learner: Adaptive, requests: Sequence[Request]) -> InSlots | None:
    """The requests in the learner's slots; None if something is new or wrong. Nothing is changed."""
    try:
        return in_slots(learner, requests)
    except WRONG:
        return None


def _count(bandit: "Durable", learner: Adaptive, one: Made, read: InSlots, t: int) -> None:
    """Everything that a decision changes, with its choice given: as `ReadsRows._repeat`."""
    request, (start, end) = one.request, read.starts[t : t + 2]
    bandit.__dict__.update(bandit._after(request, bandit._tick + 1, "decisions"))
    tick = bandit._tick
    placed = Placed(request.names, read.rows[start:end], read.context[t : t + 1].copy(), read.who[start:end])
    learner.count(placed, tick, NONE)
    memo = learner.memo(placed, one.chosen)
    bandit._pending.put(one.row.id or "", Open(tick, request.at, [memo], law=one.law))
    bandit._arrivals.opened(tick)
    bandit._look_for_rewards(tick, bandit._newest)
