"""`Bandit.fit`: past choices, by columns, with the state that row by row would have."""

import time as clock
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from ...adaptive.sums import COUNT, KNOWN, R0, SQUARES
from ...core.linalg import Matrix, Vector
from ...errors import DriftBanditsError, InvalidValue
from ...tables.kinds import Codes, Column, Numbers
from ..adaptive import Adaptive
from ..features import Table
from ..rewards import FAR, allowed_size, check_size
from .blocks import Block, check
from .copies import Copies
from .fingerprint import Fingerprint, note_fit
from .machine import machine
from .sources import Data
from .stretches import first_of, in_slots, new_to, pieces, walk

if TYPE_CHECKING:
    from ..bandit import Bandit

ELSEWHERE = np.array([-1.0, 1.0])  # the ticket of a choice made elsewhere: it speaks for no voice


def fit(bandit: "Bandit", data: Data, progress: Callable[[int], None] | None = None) -> None:
    """Learn all rows, or none; `progress` hears how many are done."""
    mark = Fingerprint()

    def watched() -> Iterator[Block]:
        for block in data.blocks():
            if progress is not None:
                progress(mark.rows)
            mark.add(block)
            yield block

    with bandit._whole():
        _learn_blocks(bandit, watched())
        if not mark.rows:
            raise InvalidValue("there are no rows to learn from")
        note_fit(bandit, mark, repeated=data.repeated, exact_from=0)


def _learn_blocks(bandit: "Bandit", blocks: Iterator[Block]) -> None:
    copies, last = Copies(), -np.inf
    for block in blocks:
        last = in_order(block, last)
        copies.add(block)
        check_block(bandit, block)
        learn_block(bandit, block)
    copies.refuse()


def in_order(block: Block, last: float) -> float:
    """Refuse rows that are out of order; returns the time of the last one."""
    if block.at is None:
        return last
    back = np.flatnonzero(block.at < np.r_[last, block.at[:-1]])
    if len(back):
        raise InvalidValue(
            f"{block.where(int(back[0]))} is earlier than the row before it; a file must be in order of time: sort it first, or give a "
            "frame, which is sorted here (no row was learned)"
        )
    return float(block.at[-1])


def check_block(bandit: "Bandit", block: Block) -> None:
    """Refuse what `observe` would refuse, in its words."""
    row = check(block, bandit._config["reward"])
    for table, columns in _sides(bandit, block):
        row = other_kind(table, columns) if row is None else row
    if row is not None:
        with _told_of(block, row):
            bandit._observation(**block.choice(row))
    if isinstance(bandit._learner, Adaptive):
        _check_sizes(bandit._learner, block)


def _check_sizes(learner: Adaptive, block: Block) -> None:
    """Refuse a reward beside which nothing would be left of those before it, as `observe` would row by row."""
    rows = np.arange(len(block)) if block.weight is None else np.flatnonzero(block.weight)
    r, numbers = block.reward[rows], learner.model.state.numbers
    if len(rows):
        r0, count = float(numbers[R0] if numbers[KNOWN] else r[0]), int(numbers[COUNT])
        squares = np.maximum(numbers[SQUARES] + np.r_[0.0, np.cumsum((r[:-1] - r0) ** 2)], 0.0)
        for t in np.flatnonzero(np.abs(r) > FAR * (abs(r0) + np.sqrt(squares))).tolist():
            with _told_of(block, int(rows[t])):
                check_size(float(r[t]), allowed_size(r0, float(squares[t]), count + t))


@contextmanager
def _told_of(block: Block, row: int) -> Iterator[None]:
    """Errors say which row they are of."""
    try:
        yield
    except DriftBanditsError as problem:
        raise type(problem)(f"{block.where(row)}: {problem} (no row was learned)") from None


def _sides(bandit: "Bandit", block: Block) -> list[tuple[Table, dict[str, Column]]]:
    learner: Any = bandit._learner
    if bandit._function is not None or not isinstance(learner, Adaptive):
        return []
    return [(learner.items, block.own), (learner.context, block.context)]


def other_kind(table: Table, columns: Mapping[str, Column]) -> int | None:
    """The first row with a feature of another kind than it was before."""
    rows = [
        int(column.present().argmax())
        for name, column in columns.items()
        if table.kind_of(name) not in (None, float if isinstance(column, Numbers) else str) and column.present().any()
    ]
    return min(rows, default=None)


def learn_block(bandit: "Bandit", block: Block) -> None:
    """Learn one block, which has been checked; the caller undoes what goes wrong."""
    start, n = 0, len(block)
    while start < n:
        start = _learn_from(bandit, block if start == 0 else block.take(slice(start, n)), start)


def _learn_from(bandit: "Bandit", block: Block, before: int) -> int:
    """Learn a block until its end, or until an item lost its place: then places are to be looked up anew. Returns the rows done."""
    learner = bandit._learner
    if not by_columns(bandit) or not block.plain:
        for t in range(len(block)):
            _single(bandit, block, t)
        return before + len(block)
    assert isinstance(learner, Adaptive)
    evicted = learner.places.evicted
    for start, end, new in pieces(new_rows(learner, block), len(block), machine().longest("observe", len(block))):
        for a, b, alone in [(start, end, True)] if new else watched(learner, start, end):
            if not alone:
                _stretch(bandit, learner, block.take(slice(a, b)))
                continue
            _single(bandit, block, a)
            if bandit._learner is not learner or learner.places.evicted != evicted:
                return before + b
    return before + len(block)


def watched(learner: Adaptive, start: int, end: int) -> Iterator[tuple[int, int, bool]]:
    """Rows as (start, end, alone?): after some rewards the learner looks for columns that are missing, and the row before is single."""
    while start < end:
        room = learner.misfit.room
        stop = min(start + room, end) if room > 0 else start + 1
        yield start, stop, room <= 0
        start = stop


def by_columns(bandit: "Bandit") -> bool:
    """Whether stretches can be walked by compiled code: the default learner, in memory, alone, with features that need no function."""
    alone = not bandit._writes_rows and not bandit._challengers
    return alone and bandit._function is None and type(bandit._learner) is Adaptive


def _single(bandit: "Bandit", block: Block, t: int) -> None:
    with _told_of(block, t):
        bandit.observe(**block.choice(t))


def new_rows(learner: Adaptive, block: Block) -> list[int]:
    """Rows that may show something new."""
    new = new_to(learner.items, block.own, len(block)) + new_to(learner.context, block.context, len(block))
    unknown = np.array([learner.places.get(name) < 0 for name in block.names], np.bool_)
    new += first_of(block.item, unknown)
    return new if ready(learner) else [0, *new]


def ready(learner: Adaptive) -> bool:
    """Whether the model has its columns: the first named item decides which there are."""
    return learner._started and learner.model.columns.own_effects


def _stretch(bandit: "Bandit", learner: Adaptive, block: Block) -> None:
    """Rows that show nothing new, by one compiled call."""
    n = len(block)
    learner.make_room_for_levels(n)
    model = learner.model
    at = np.full(n, clock.time()) if block.at is None else block.at
    weight = np.ones(n) if block.weight is None else np.ascontiguousarray(block.weight)
    rows, crows = in_slots(learner.items, block.own, n), in_slots(learner.context, block.context, n)
    places = learner.places.known(block.names)
    who = places[block.item]
    walk(
        machine().observe, model, rows[:, None], crows[:, None], who, model.when, bandit._tick,
        np.ascontiguousarray(at), bandit._clocked, np.ascontiguousarray(block.reward), weight, ELSEWHERE,
    )  # fmt: skip
    bandit._arrivals.elsewhere(bandit._tick + 1, n)
    ticks = np.arange(bandit._tick + 1, bandit._tick + n + 1)
    bandit._tick += n
    learned = weight > 0.0
    names = [block.names[k] for k in block.item[learned].tolist()]
    rows, crows, r = rows[learned], crows[learned], block.reward[learned]
    learner.misfit.add_many(names, rows, crows, r)
    bandit._counts["observed"] += n
    newest = pass_time(bandit, at, given=block.at is not None)
    alarm_rewards(bandit, block.names, block.item[learned], rows, crows, r, ticks[learned], newest[learned])


def pass_time(bandit: "Bandit", at: Vector, *, given: bool) -> Vector:
    """Times of decisions in a row, as `Deciding._after` notes them; returns the newest one at each."""
    newest = np.maximum.accumulate(np.r_[bandit._newest, at])
    bandit._given = given
    bandit._counts["backwards"] += int((at < newest[:-1]).sum())
    bandit._newest = float(newest[-1])
    bandit._oldest = min(bandit._oldest, float(at.min()))
    return newest[1:]


def alarm_rewards(
    bandit: "Bandit",
    names: Sequence[Any],
    who: Codes,
    rows: Matrix,
    crows: Matrix,
    r: Vector,
    ticks: Any,
    newest: Vector,
) -> None:
    """Hand rewards that were learned to the change detector, as `Drifting._tested` does one by one.

    The item of row t is names[who[t]]; `ticks` are the decisions that had been made, and `newest` the latest time known, when each came.
    """
    if not len(r) or not bandit._watched:
        return
    alarms, learner = bandit._alarms, bandit._learner
    found = alarms.stretch(names, who, rows, crows, r, ticks, learner)
    new = [alarms.event(alarm, float(newest[alarm.row]), learner) for alarm in found]
    bandit.__dict__.update(bandit._with_events(new, bandit._before()))
