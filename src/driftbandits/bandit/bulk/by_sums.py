"""`Bandit.fit(exact=False)`: statistics of the whole log, then sums of all but its end, then the end row by row.

The sums of the parts of a log add up (`adaptive.shards`), so parts can be read by many processes, and the memory that is needed does not
grow with the log. What is no sum is left to the tail, which is learned exactly: the evidence between memories, refutations, the tuning
of the prior, calibration. It differs from one serial pass in two things: extreme values are cut at six standard deviations of the whole log
rather than of the rows before, and memories that a change before the tail would have refuted still hold what was before it.
"""

import functools
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...adaptive import sums
from ...adaptive.by_memory import Sums, set_sums, sums_of
from ...adaptive.columns import MARK, NUMBER, Layout
from ...adaptive.shards import Shard, add_rows, added, finished, new_shard
from ...adaptive.steps import following
from ...core.background_compile import compile_mode, prepared
from ...core.linalg import Matrix, Vector
from ...errors import InvalidState, InvalidValue
from ...tables.kinds import Column, Numbers
from ...util.tasks import Map, in_turn
from ..adaptive import Adaptive
from .blocks import Block, roles_of
from .fingerprint import note_fit
from .fit import by_columns, learn_block
from .sources import Data, Repeats
from .stretches import in_slots
from .survey import Spread, Survey, bounds, joined, meet, survey

if TYPE_CHECKING:
    from ..bandit import Bandit


class Plan(NamedTuple):
    """What a worker needs to sum a part: the slots and places of the whole log, and where values are cut."""

    learner: tuple[dict[str, Any], dict[str, Any]]  # packed
    own: dict[str, tuple[float, float]]
    context: dict[str, tuple[float, float]]
    first: float  # r₀
    rates: Vector  # distinct ones
    same: bool  # are shared and own columns the same?
    clocked: bool
    born: tuple[list[int], list[int]]  # the row in which each slot of the items and of the context appeared

    def unpacked(self) -> Adaptive:
        """The learner that has met everything, and learned nothing."""
        return Adaptive.unpack(*self.learner)


class Part(NamedTuple):
    """The sums of a part, and the scales of its features (one `Spread` for each slot)."""

    shard: Shard
    items: list[Spread]
    context: list[Spread]


def fit_by_sums(bandit: "Bandit", parts: "list[Data | Partition]", tail: int, run: Map = in_turn) -> None:
    """Learn all parts, which follow one another in time, or none."""
    if bandit._tick or bandit._pending.open or not by_columns(bandit):
        raise InvalidState(
            "exact=False needs a bandit in memory that has seen nothing, without strategy=… or a function of features; fit a new one, and "
            "merge them"
        )
    fresh = functools.partial(_fresh, bandit.__reduce__()[1][0])
    surveys = run(functools.partial(_survey, fresh), parts)
    found = joined(surveys)
    found.copies.refuse()
    end = max(found.rows - tail, 0)
    plan = _plan(fresh(), found, end)
    firsts = np.cumsum([0, *(s.rows for s in surveys)]).tolist()
    tasks = [
        (data, first, min(max(end - first, 0), s.rows)) for data, s, first in zip(parts, surveys, firsts, strict=False)
    ]
    every = run(functools.partial(_sum, plan), [task for task in tasks if task[2]])
    with bandit._whole():
        if every:
            _install(bandit, plan, functools.reduce(_joined, every), end, found)
        for data, first, done in tasks:
            if first + done >= end:
                for block in _after(data, done):
                    learn_block(bandit, block)
        repeated = sum(data.repeated for data in parts)
        note_fit(bandit, found.print, repeated=repeated, exact_from=end)


def _fresh(saved: bytes) -> "Bandit":
    from ..saving import copied

    return copied(saved, None, None, None)


def _survey(fresh: Callable[[], "Bandit"], data: "Data | Partition") -> Survey:
    return survey(fresh(), data.blocks())


def _after(data: "Data | Partition", rows: int) -> Iterator[Block]:
    """The rows of a part after its first ones."""
    for block in data.blocks():
        if rows < len(block):
            yield block.take(slice(rows, len(block))) if rows else block
        rows = max(rows - len(block), 0)


# -------------------------------------------------------------------------------------------------------------- what there is


def _plan(bandit: Any, found: Survey, end: int) -> Plan:
    """Slots, places and columns as one serial pass over the first `end` rows makes them, in the order in which things appear."""
    learner = bandit._learner
    born: tuple[list[int], list[int]] = [0], [0]
    for new in found.new:
        t = new.row
        if t >= end:
            break
        bandit._tick = t  # rows between showed nothing new
        _seen_before(learner, t)
        meet(bandit, new)
        for rows, table in zip(born, (learner.items, learner.context), strict=True):
            rows.extend([t] * (table.width - len(rows)))
    _seen_before(learner, end)
    columns = learner.model.columns
    same = columns.pairs == tuple((0, c) for c in columns.own)
    limits = bounds(found.own), bounds(found.context)
    return Plan(learner.pack(), *limits, found.first, np.unique(learner.rates), same, bandit._clocked, born)


def _seen_before(learner: Adaptive, rows: int) -> None:
    learner.items.rows_seen = learner.context.rows_seen = min(rows, 1)


# ------------------------------------------------------------------------------------------------------------------- sums


@functools.cache
def _adder() -> list[Any]:
    one, row, ints, pairs = np.zeros(1), np.zeros((1, 1)), np.zeros(1, np.int64), np.zeros((1, 1), np.int64)
    layout = Layout(ints, ints, pairs, ints, ints, pairs)
    held: list[Any] = [None]
    args = (new_shard(one, 1, 1, 1), layout, row, row, ints, one, one, one, one, one, True)
    held[0] = prepared(add_rows, args, compile_mode("now"), functools.partial(held.__setitem__, 0))
    return held


def _sum(plan: Plan, task: "tuple[Data | Partition, int, int]") -> Part:
    """The sums of the first rows of a part, the first of which is row `first` of the log."""
    data, first, rows = task
    learner = plan.unpacked()
    m = learner.model
    p, k = len(m.columns.pairs), len(m.columns.own)
    part = Part(
        new_shard(plan.rates, len(m.when), p, k),
        [Spread(0.0, 0.0, 0.0)] * learner.items.width,
        [Spread(0.0, 0.0, 0.0)] * learner.context.width,
    )
    room = np.zeros(p), np.zeros(k)
    for block in data.blocks():
        if not rows:
            break
        block = block if len(block) <= rows else block.take(slice(0, rows))
        n = len(block)
        x = in_slots(learner.items, _cut(block.own, plan.own), n)
        c = in_slots(learner.context, _cut(block.context, plan.context), n)
        items, context = (_spreads(old, z) for old, z in ((part.items, x), (part.context, c)))
        part = Part(part.shard, items, context)
        who = learner.places.known(block.names)[block.item]
        tick = block.at if plan.clocked and block.at is not None else first + 1.0 + np.arange(n, dtype=np.float64)
        w = np.ones(n) if block.weight is None else block.weight
        zi, zc = _relative(x, m.items.kind, m.items.anchor), _relative(c, m.context.kind, m.context.anchor)
        add = _adder()[0]
        add(
            part.shard, m.engine.layout, zi, zc, who, np.ascontiguousarray(tick), block.reward - plan.first,
            np.ascontiguousarray(w), *room, plan.same,
        )  # fmt: skip
        first, rows = first + n, rows - n
    return part


def _cut(columns: dict[str, Column], limits: dict[str, tuple[float, float]]) -> dict[str, Column]:
    return {
        name: column._replace(values=np.clip(column.values, *limits[name]))
        if isinstance(column, Numbers) and name in limits
        else column
        for name, column in columns.items()
    }


def _relative(rows: Matrix, kind: Any, anchor: Vector) -> Matrix:
    """Slots relative to their anchors, 0 where a number is missing, and where a slot holds no number but the mark of a level."""
    z = rows - np.where(kind == NUMBER, anchor, 0.0)
    return np.ascontiguousarray(np.where(np.isnan(z) | (kind == MARK), 0.0, z))


def _spreads(old: list[Spread], rows: Matrix) -> list[Spread]:
    """The scales of the slots with some more rows; NaN is missing."""
    gaps = np.isnan(rows)
    n = (len(rows) - gaps.sum(axis=0)).astype(np.float64)
    filled = np.where(gaps, 0.0, rows) if gaps.any() else rows
    mean = filled.sum(axis=0) / np.maximum(n, 1.0)
    away = np.where(gaps, 0.0, filled - mean)
    M2 = np.einsum("tj,tj->j", away, away)
    new = map(Spread._make, zip(n.tolist(), mean.tolist(), M2.tolist(), strict=True))
    return [a.join(b) for a, b in zip(old, new, strict=True)]


def _joined(a: Part, b: Part) -> Part:
    items, context = (
        [x.join(y) for x, y in zip(one, other, strict=True)]
        for one, other in ((a.items, b.items), (a.context, b.context))
    )
    return Part(added(a.shard, b.shard), items, context)


# ------------------------------------------------------------------------------------------------------------- the learner


def _since(s: Spread, born: int, before: float) -> Spread:
    """Of a slot that is 0 or 1, counted from the row in which it appeared; before, it would have been `before`."""
    n = s.n - born
    mean = min(max((s.n * s.mean - born * before) / n, 0.0), 1.0) if n else 0.0
    return Spread(n, mean, n * mean * (1.0 - mean))


def _install(bandit: "Bandit", plan: Plan, part: Part, rows: int, found: Survey) -> None:
    """A bandit that has learned `rows` rows, from their sums."""
    learner = plan.unpacked()
    m, shard = learner.model, finished(part.shard, plan.same)
    where = np.searchsorted(plan.rates, learner.rates)
    state = m.state
    own = shard.M[:, where], shard.S[:, where], shard.t[:, where]
    if not len(m.columns.own):
        own = sums_of(state)[4:]
    set_sums(state, Sums(shard.V[where], shard.b[where], shard.Q[where], shard.n[where], *own))
    if len(m.columns.own):
        state.last[:] = shard.last
    numbers, (count, total_y, squares) = state.numbers, shard.totals.tolist()
    numbers[sums.R0], numbers[sums.KNOWN], numbers[sums.NEWEST] = plan.first, 1.0, shard.newest[0]
    numbers[sums.COUNT], numbers[sums.SUM], numbers[sums.SQUARES] = count, total_y, squares
    numbers[sums.LEARNED], numbers[sums.NEXT_TUNED] = count, count + 1.0
    numbers[sums.NEXT], numbers[sums.OFFERED] = following(float(rows)), 1.0
    sides = (m.items, learner.items, part.items, plan.born[0]), (m.context, learner.context, part.context, plan.born[1])
    for scale, table, spreads, born in sides:
        for j, s in enumerate(spreads[1:], 1):
            if table.kinds[j] == MARK:
                continue
            known = s if table.kinds[j] == NUMBER else _since(s, born[j], table.missing[j])
            scale.seen[j], scale.mean[j], scale.M2[j] = known
    learner.model = m.with_prior()
    _seen_before(learner, rows)
    there = m.when < np.inf
    m.when[there] = rows if plan.clocked else np.maximum(shard.last[there], 1.0)
    bandit._learner, bandit._tick = learner, rows
    bandit._counts["observed"] = rows
    bandit._given = found.start is not None
    if found.start is not None:
        bandit._oldest = bandit._newest = found.start


# ------------------------------------------------------------------------------------------------------------------ parts


class Partition:
    """One partition of a Dask collection, computed each time it is read."""

    def __init__(self, part: Any, number: int, repeats: Repeats, columns: dict[str, Any]) -> None:
        self._given = part, repeats, columns, f"partition {number} of the Dask collection"
        self.repeated = 0

    def data(self) -> Data | None:
        """Its rows; None if there are none."""
        part, repeats, columns, name = self._given
        frame = part.compute(scheduler="synchronous")
        return Data(frame, repeats, columns, name) if len(frame) else None

    def blocks(self) -> Iterator[Block]:
        """All rows, block by block."""
        found = self.data()
        if found is not None:
            yield from found.blocks()


def parts_of(data: Any, repeats: Repeats, columns: dict[str, Any]) -> "list[Data | Partition]":
    """A part for each file, or for each partition of a Dask collection."""
    if not hasattr(data, "to_delayed"):
        return [*Data(data, repeats, columns).each()]
    if columns.get("id") is not None:
        raise InvalidValue(
            "id=… looks at all rows, and a Dask collection is read in parts; drop_duplicates there first"
        )
    if columns.get("item") is None or columns.get("reward") is None:
        raise InvalidValue("item=… and reward=… are needed: the columns with the item chosen and with its reward")
    try:
        names = [*data.columns]
    except (AttributeError, TypeError):
        raise InvalidValue(f"a {type(data).__name__} of Dask cannot be learned; it must be a Dask data frame") from None
    every = data.to_delayed()
    if columns.get("context") is None:  # as the first partition has it: workers must not differ in what is a feature
        found = Partition(every[0], 0, repeats, columns).data() if len(every) else None
        roles = roles_of(names, **columns) if found is None else found.roles
        columns = columns | {"context": [*roles.context]}
    return [Partition(part, number, repeats, columns) for number, part in enumerate(every)]
