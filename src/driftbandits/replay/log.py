"""`Log`: decisions that were made elsewhere, read in chunks of columns from a file or a frame."""

import datetime
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ..bandit.offers import as_items, in_order
from ..errors import InvalidValue, said
from ..tables.batches import Batch, Source
from ..tables.frames import missing
from ..tables.repeats import refuse_repeats, repeated_rows
from ..tables.sources import is_sqlite, open_sources
from ..util.words import counted
from .chunks import Chunk, Floats
from .decode import Decoder, chosen_names
from .rounded import exactly
from .rows import Columns, Row, as_time, check_context, parse
from .scan import scan


class Log:
    """Logged decisions with their rewards; iterating yields one `Row` per decision, in order of time.

    `Log.read` creates it and reads everything once to validate it. Files are not kept in memory.

    Attributes
    ----------
    items
        Names of all items on offer anywhere in it.
    start, end
        Times of its first and last decision, in seconds since 1970; None without a time.
    facts
        Facts found by the first pass.

    Examples
    --------
    >>> import driftbandits as db, pandas as pd
    >>> frame = pd.DataFrame({"shown": ["a", "b", "b"], "clicked": [0, 1, 0], "p": [0.5, 0.5, 0.5]})
    >>> log = db.Log.read(frame, item="shown", reward="clicked", propensity="p")
    >>> len(log), log.items
    (3, ['a', 'b'])
    """

    def __init__(self, name: str, chunks: Callable[[], Iterator[Chunk]], *, timed: bool, known: bool) -> None:
        self.name = name
        self.timed = timed
        self.known = known  # does it have propensities?
        self.facts = scan(chunks(), name, known)
        self._chunks = (lambda: map(exactly, chunks())) if self.facts.rounded else chunks

    @classmethod
    def read(
        cls,
        source: Any,
        *,
        item: str | None = None,
        reward: str | None = None,
        propensity: str | None = None,
        time: str | None = None,
        offered: Any = None,
        context: Sequence[str] = (),
        reward_time: str | None = None,
        without_reward: float | str | None = None,
        id: str | None = None,  # noqa: A002
        repeats: str = "error",
    ) -> "Log":
        """Read a log: one row per decision, in order of time.

        Parameters
        ----------
        source
            A file (Parquet, CSV, TSV, JSON lines, Arrow; the text formats also as .gz), a folder or a pattern of such, a list of paths, a
            pandas, polars or Arrow frame, or the file of a durable bandit, which needs no columns named. Files are read in pieces.
        item, reward
            Columns with the item chosen and its reward.
        propensity
            Column with the probability with which that item was chosen. Without it the log must be uniform, which is tested.
        time
            Column with the time: datetimes, dates, ISO 8601 or seconds since 1970, in UTC unless it says otherwise. Files must be in
            its order.
        offered
            Column with what was on offer: a list of names, a dict from names to features, a list of dicts with a key "item"; as JSON in
            formats without lists. Or, if it was always the same, that list or dict itself. By default all items of the log, always.
        context
            Columns with context features; a column of dicts gives all of them. Policies see no other columns.
        reward_time
            Column with the time at which the reward arrived; empty if it arrived at once.
        without_reward
            The value of an empty reward: a number, or "drop" to omit the row. By default an empty reward is an error.
        id
            Column with an id that no two decisions share.
        repeats
            What a second row with the same id is: "error", or "drop" to keep the first; `facts.repeated` says how many were dropped.
        """
        if is_sqlite(source):
            from .durable_log import read_durable

            return cls(*read_durable(source), timed=True, known=True)
        if item is None or reward is None:
            raise InvalidValue("item=… and reward=… are needed: the columns with the item chosen and with its reward")
        given = {
            "item": item,
            "reward": reward,
            "propensity": propensity,
            "time": time,
            "reward_time": reward_time,
            "id": id,
        }
        _check_names(given)
        context = _listed(context)
        if without_reward not in (None, "drop") and not (
            isinstance(without_reward, int | float) and math.isfinite(without_reward)
        ):
            raise InvalidValue(f"without_reward = {said(without_reward)} is not allowed; it must be a number or 'drop'")
        sources = open_sources(source)
        column = offered if isinstance(offered, str) else None
        columns = Columns(item, reward, propensity, time, reward_time, column, tuple(context), without_reward)
        check_context(columns, id)
        if repeats not in ("error", "drop"):
            raise InvalidValue(f"repeats = {repeats!r} is not allowed; it must be 'error' or 'drop'")
        if reward_time is not None and time is None:
            raise InvalidValue("reward_time=… needs time=…: a reward is late by the time between them")
        for each in sources:
            each.require([*columns.wanted(), *([] if id is None else [id])])
        sources = [_in_order(each, columns) for each in sources]
        again = None if id is None else repeated_rows(sources, id)
        if again is not None and id is not None and repeats == "error":
            refuse_repeats(sources, again, id)
        items = _always(sources, columns) if column is None and offered is None else {}
        if column is None and offered is not None:
            items = as_items(offered)

        def chunks() -> Iterator[Chunk]:
            decoder = Decoder(columns, items)
            for k, each in enumerate(sources):
                for batch in each.batches(columns.wanted(), (columns.item,)):
                    chunk = decoder.chunk(batch, each.name)
                    yield chunk if again is None else chunk.without(again[k])

        name = sources[0].name if len(sources) == 1 else f"{sources[0].name} and {len(sources) - 1} more"
        return cls(name, chunks, timed=time is not None, known=propensity is not None)

    def __iter__(self) -> Iterator[Row]:
        return (row for chunk in self._chunks() for row in chunk.rows())

    def chunks(self) -> Iterator[Chunk]:
        """The same decisions as columns, some thousand rows at a time."""
        return self._chunks()

    def __len__(self) -> int:
        return self.facts.rows

    @property
    def items(self) -> list[Any]:
        """Names of all items on offer anywhere in it."""
        return self.facts.items

    @property
    def start(self) -> float | None:
        """Time of the first decision."""
        return self.facts.start

    @property
    def end(self) -> float | None:
        """Time of the last decision."""
        return self.facts.end

    def __repr__(self) -> str:
        f = self.facts
        when = "" if f.start is None or f.end is None else f", {_day(f.start)} to {_day(f.end)}"
        chance = ("rounded propensities of 1/n" if f.rounded else "propensities") if self.known else "no propensities"
        return (
            f"Log({self.name}: {counted(f.rows, 'decision')} between {counted(len(f.items), 'item')}{when}, {chance})"
        )


def _check_names(given: Mapping[str, Any]) -> None:
    """Each role has the name of a column, and a column of its own; a reward may come at the time of its decision."""
    names: dict[str, str] = {}
    for role, name in given.items():
        if name is None:
            continue
        if not isinstance(name, str):
            raise InvalidValue(f"{role} = {said(name)} is not allowed; it must be the name of a column, a string")
        other = names.setdefault(name, role)
        if other != role and {other, role} != {"time", "reward_time"}:
            raise InvalidValue(f"column {name!r} is given as {other} and as {role}; they are different columns")


def _listed(context: Any) -> list[str]:
    if isinstance(context, str):
        return [context]
    if not isinstance(context, Sequence) or not all(isinstance(name, str) for name in context):
        raise InvalidValue(f"context = {said(context)} is not allowed; it must be a list of names of columns, strings")
    return list(context)


def _day(at: float) -> str:
    return datetime.datetime.fromtimestamp(at, datetime.UTC).date().isoformat()


def _in_order(source: Source, columns: Columns) -> Source:
    """A frame sorted by time. A file is not sorted; reading raises if it is out of order."""
    if source.reordered is None or columns.time is None:
        return source
    times = [_times(batch, columns.time, source.name) for batch in source.batches([columns.time])]
    order = np.argsort(np.concatenate([np.zeros(0), *times]), kind="stable")
    return source if bool((np.diff(order) == 1).all()) else source.reordered(order)


def _times(batch: Batch, column: str, name: str) -> Floats:
    if not isinstance(batch.columns[column], list):
        from ..tables.arrow_types import seconds

        found = seconds(batch.columns[column])
        if found is not None and not np.isnan(found).any():
            return found
    answer = []
    for number, value in zip(batch.numbers, batch.listed(column), strict=True):
        try:
            answer.append(as_time(None if missing(value) else value, column))
        except InvalidValue as problem:
            raise InvalidValue(f"row {number} of {name}: {problem}") from None
    return np.array(answer, float)


def _always(sources: list[Source], columns: Columns) -> dict[Any, Any]:
    """All items of the log, on offer in every row."""
    found: dict[Any, None] = {}
    alone = columns._replace(propensity=None, time=None, reward_time=None, context=())
    for source in sources:
        for batch in source.batches([columns.item, columns.reward], (columns.item,)):
            names = chosen_names(batch, alone)
            if names is None:
                listed = batch._replace(columns={name: batch.listed(name) for name in batch.columns})
                names = [row.item for row in parse(listed, alone, source.name, _Any()) if row is not None]
            found |= dict.fromkeys(names)
    return dict.fromkeys(in_order(found))


class _Any(dict[Any, Any]):
    """An offer that contains every item."""

    def __contains__(self, name: object) -> bool:
        return True
