"""`Bandit.decide_batch`: one decision per row of a frame, by columns, each as `decide` would make it."""

import itertools
import time as clock
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...adaptive.choice import ROWS
from ...core.linalg import Matrix, Vector
from ...errors import DriftBanditsError, InvalidValue, said
from ...tables.frames import narwhals, read_frame
from ...tables.kinds import Codes, Column, Numbers, Objects
from ...tables.sources import open_sources
from ...util.collecting import uncollected
from ..adaptive import Adaptive
from ..chance import uniforms
from ..changes import Wanted
from ..clock import AHEAD
from ..decision import Decision
from ..learner import Memo
from ..ledger import Law
from ..model import Model
from ..offers import as_items, in_order, in_rows
from ..pending import Open, new_id
from ..values import HUGE
from . import naming
from .blocks import feature_of, times_of
from .fit import by_columns, other_kind, pass_time, ready
from .machine import machine
from .stretches import first_true, in_slots, new_to, pieces, walk

if TYPE_CHECKING:
    from ..bandit import Bandit


ALWAYS, LEARNED = itertools.repeat(None), itertools.repeat(True)  # of `Open`: since when, and whether it is learned


class Offered(NamedTuple):
    """Distinct offers, each from names to features, and which of them a row has."""

    distinct: list[dict[Any, Any]]
    which: Codes


class Asked(NamedTuple):
    """Some rows of the frame."""

    context: dict[str, Column]
    at: Vector | None
    offered: Offered
    array: Any = None  # what is on offer, where it is an array, whose rows have no names

    def __len__(self) -> int:
        return len(self.offered.which)

    @property
    def plain(self) -> bool:
        """Whether all features are numbers or strings."""
        return not any(isinstance(column, Objects) for column in self.context.values())

    def take(self, kept: slice) -> "Asked":
        """Some of them."""
        context = {name: column.take(kept) for name, column in self.context.items()}
        offered = self.offered._replace(which=self.offered.which[kept])
        return Asked(context, None if self.at is None else self.at[kept], offered, self.array)

    def single(self, t: int) -> tuple[Any, dict[str, Any] | None, float | None]:
        """Row t as `Bandit.decide` takes it: items, context, time."""
        one = self.take(slice(t, t + 1))
        row = {name: column.listed()[0] for name, column in one.context.items()}
        context = {name: value for name, value in row.items() if value is not None} or None
        items = self.offered.distinct[int(self.offered.which[t])] if self.array is None else self.array
        return items, context, None if one.at is None else float(one.at[0])


class Made(NamedTuple):
    """What was decided."""

    id: list[str]
    item: list[Any]
    propensity: list[float]

    def add(self, decision: Decision) -> None:
        """One more."""
        self.id.append(decision.id)
        self.item.append(decision.item)
        self.propensity.append(decision.propensity)


def decide_batch(bandit: "Bandit", frame: Any, *, offers: Any, time: str | None, context: Sequence[str] | None) -> Any:
    """One decision per row, as three more columns."""
    table, asked = asked_of(frame, offers=offers, time=time, context=context)
    made = Made([], [], [])
    first = 0
    for rows in asked:
        _check(bandit, rows, first)
        first += len(rows)
    with bandit._whole(), uncollected():
        for rows in asked:
            _decide(bandit, rows, made)
        return with_columns(table, made)  # or nothing was decided: who cannot be told the ids cannot reward them


def asked_of(frame: Any, *, offers: Any, time: str | None, context: Sequence[str] | None) -> tuple[Any, list[Asked]]:
    """The frame, and what is asked for: all rows are read, and checked, before the first decision."""
    column = offers if isinstance(offers, str) else None
    time, context = naming.column("time", time), naming.columns("context", context)
    roles = [name for name in (column, time) if name is not None]
    table = read_frame(frame, [*roles, *(context or ())])
    taken = [name for name in ("id", "item", "propensity") if name in table.columns]
    if taken:
        raise InvalidValue(
            f"the frame has a column {taken[0]!r} already, which the decision would overwrite; rename it"
        )
    who = naming.features([n for n in table.columns if n not in roles]) if context is None else list(context)
    return table, [*_read(frame, table, offers, column, time, who)]


def _read(frame: Any, table: Any, offers: Any, column: str | None, time: str | None, who: list[str]) -> Iterator[Asked]:
    (source,) = open_sources(frame)
    always = None if column is not None else as_items(offers)
    wanted = [*dict.fromkeys([*who, *([] if time is None else [time])])]
    start = 0
    if not wanted:
        yield Asked({}, None, _offered(table, column, always, 0, len(table)))
        return
    for batch in source.batches(wanted):
        n = len(batch.numbers)
        try:
            context = {name: feature_of(batch, name, source.name) for name in who}
            at = None if time is None else times_of(batch, time, source.name)
        except InvalidValue as problem:
            raise InvalidValue(str(problem).replace("no row was learned", "no decision was made")) from None
        yield Asked(context, at, _offered(table, column, always, start, n))
        start += n


def _offered(table: Any, column: str | None, always: Any, start: int, n: int) -> Offered:
    if column is None:
        return Offered([always], np.zeros(n, np.int64))
    known: dict[Any, int] = {}
    distinct: list[dict[Any, Any]] = []
    which = np.empty(n, np.int64)
    for t, given in enumerate(table[column][start : start + n].to_list()):
        try:
            key = _names(given)
            if key not in known:
                distinct.append(as_items([*key]))
                known[key] = len(distinct) - 1
        except DriftBanditsError as problem:
            where = f"row {start + t} of the frame, column {column!r}"
            raise type(problem)(f"{where}: {problem} (no decision was made)") from None
        which[t] = known[key]
    return Offered(distinct, which)


def _names(given: Any) -> tuple[Any, ...]:
    """A list of names, as one row has it."""
    if given is None or isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
        raise InvalidValue(f"{said(given)} is not allowed; it must be a list of names")
    names = tuple(given)
    try:
        hash(names)
    except TypeError:
        as_items([*names])  # which says what is no name
        raise
    return names


def _check(bandit: "Bandit", rows: Asked, first: int) -> None:
    """Refuse what `decide` would refuse, before anything is decided; `first` is the number of the first row."""
    bad = np.zeros(len(rows), np.bool_)
    if rows.at is not None:
        bad |= ~(np.isfinite(rows.at) & (rows.at <= clock.time() + AHEAD))
    for column in rows.context.values():
        if isinstance(column, Numbers) and column.values.dtype.kind == "f":
            bad |= column.present() & ~(np.abs(column.values.astype(np.float64)) < HUGE)
    suspects = first_true(bad)
    if by_columns(bandit) and rows.plain and rows.array is None:
        learner: Any = bandit._learner
        kind = other_kind(learner.context, rows.context)
        suspects += [] if kind is None else [kind]
        suspects += np.unique(rows.offered.which, return_index=True)[1].tolist()  # each offer once
    else:
        suspects = [*range(len(rows))]
    for t in suspects:
        items, context, at = rows.single(t)
        try:
            bandit._request(items, context, at, None, 1)
        except DriftBanditsError as problem:
            raise type(problem)(f"row {first + t} of the frame: {problem} (no decision was made)") from None


# --------------------------------------------------------------------------------------------------------------- deciding


def _decide(bandit: "Bandit", rows: Asked, made: Made) -> None:
    start, n = 0, len(rows)
    if bandit._writes_rows:
        wanted = [Wanted(*rows.single(t)) for t in range(n)]
        for decision in bandit._decide_wanted(wanted):
            made.add(decision)
        return
    while start < n:
        start += _decide_from(bandit, rows if start == 0 else rows.take(slice(start, n)), made)


def _decide_from(bandit: "Bandit", rows: Asked, made: Made) -> int:
    """Decide until the end, or until an item lost its place; returns the rows done."""
    learner = bandit._learner
    if not by_columns(bandit) or not rows.plain or rows.array is not None:
        for t in range(len(rows)):
            _single(bandit, rows, t, made)
        return len(rows)
    assert isinstance(learner, Adaptive)
    evicted, n = learner.places.evicted, len(rows)
    new = new_to(learner.context, rows.context, n) + new_offers(learner, rows.offered)
    for start, end, alone in pieces(new if ready(learner) else [0, *new], n, machine().longest("decide", n)):
        if alone:
            _single(bandit, rows, start, made)
            if bandit._learner is not learner or learner.places.evicted != evicted:
                return end
            continue
        for part, _ in equally_many(rows.take(slice(start, end))):
            _stretch(bandit, learner, part, made)
    return n


def _single(bandit: "Bandit", rows: Asked, t: int, made: Made) -> None:
    items, context, at = rows.single(t)
    made.add(bandit.decide(items, context, at=at))


def new_offers(learner: Adaptive, offered: Offered) -> list[int]:
    """The first row with each offer, unless its items are names alone, all of which have their places."""
    used, first = np.unique(offered.which, return_index=True)
    return [
        int(t) for k, t in zip(used.tolist(), first.tolist(), strict=True) if not _known(learner, offered.distinct[k])
    ]


def _known(learner: Adaptive, offer: dict[Any, Any]) -> bool:
    bare = not learner.items.described and all(features is None for features in offer.values())
    return bare and bool((learner.places.known([*offer]) >= 0).all())


def equally_many(rows: Asked, first: int = 0) -> Iterator[tuple[Asked, int]]:
    """Rows next to each other with equally many items on offer, as compiled code needs them, and the number of the first of them."""
    sizes = np.array([len(offer) for offer in rows.offered.distinct])[rows.offered.which]
    cuts = [0, *(np.flatnonzero(np.diff(sizes)) + 1).tolist(), len(rows)]
    for start, end in itertools.pairwise(cuts):
        yield rows.take(slice(start, end)), first + start


class Stacked(NamedTuple):
    """Distinct offers of n items, as compiled code reads them: names in their order, features (K, n, J), places (K, n), and whose row."""

    used: list[int]  # among all distinct offers
    names: list[list[Any]]
    rows: Matrix
    who: Codes
    which: Codes


def stacked(learner: Adaptive, offered: Offered) -> Stacked:
    """Offers whose items have their places, and their features their slots."""
    used, which = np.unique(offered.which, return_inverse=True)
    distinct = [offered.distinct[k] for k in used.tolist()]
    names = [in_order(offer) for offer in distinct]
    rows = np.stack([_rows(learner, offer, order) for offer, order in zip(distinct, names, strict=True)])
    who = np.stack([learner.places.known(order) for order in names])
    return Stacked(used.tolist(), names, rows, who, which.reshape(-1).astype(np.int64))


class Drawn(NamedTuple):
    """What T decisions between n items drew: places of the items, probabilities, forecasts, and what to keep of items chosen."""

    given: Codes  # (T,)
    told: Matrix  # (T, 2)
    law: Matrix  # (T, n)
    scores: Matrix  # (T, n)
    kept: Matrix  # (T, J)

    @property
    def propensity(self) -> Vector:
        """Of each choice."""
        return self.law[np.arange(len(self.given)), self.given]


def walked(bandit: "Bandit", m: Model, offers: Matrix, which: Codes, who: Codes, crows: Matrix) -> Drawn:
    """Decide T times, by one compiled call, and count the decisions; see `stretch.decide_rows`, which cuts extreme values in `crows`."""
    T, (n, J) = len(crows), offers.shape[1:]
    u = uniforms(bandit._chance, bandit._tick + 1, T)
    drawn = Drawn(np.empty(T, np.int64), np.empty((T, 2)), np.empty((T, n)), np.empty((T, n)), np.empty((T, J)))
    walk(
        machine().decide, m, offers, which, who, m.when, bandit._tick, crows,
        float(bandit._config["explore"]), u, drawn.given, np.empty((n, J)),
        np.empty((ROWS, n)), np.ones(n, np.int64), drawn.told, drawn.law, drawn.scores, drawn.kept,
    )  # fmt: skip
    bandit._tick += T
    bandit._counts["decisions"] += T
    return drawn


def _stretch(bandit: "Bandit", learner: Adaptive, rows: Asked, made: Made) -> None:
    """Decisions that meet nothing new, by one compiled call."""
    T, first = len(rows), bandit._tick + 1
    offer = stacked(learner, rows.offered)
    crows = in_slots(learner.context, rows.context, T)
    at = np.full(T, clock.time()) if rows.at is None else np.ascontiguousarray(rows.at)
    drawn = walked(bandit, learner.model, offer.rows, offer.which, offer.who, crows[:, None])
    newest = pass_time(bandit, at, given=rows.at is not None)
    chosen = [offer.names[k][a] for k, a in zip(offer.which.tolist(), drawn.given.tolist(), strict=True)]
    ids = [new_id() for _ in range(T)]
    memos = [[memo] for memo in map(Memo, chosen, drawn.kept, crows, drawn.told)]
    first_listed = [
        order.index(next(iter(rows.offered.distinct[k]))) for k, order in zip(offer.used, offer.names, strict=True)
    ]
    which = offer.which.tolist()
    firsts = [first_listed[k] for k in which]
    laws = map(Law, [offer.names[k] for k in which], drawn.law, drawn.scores, drawn.given.tolist(), firsts)
    bandit._pending.put_all(ids, [*map(Open, range(first, first + T), at.tolist(), memos, ALWAYS, LEARNED, laws)])
    bandit._opened_all(first, newest)
    made.id.extend(ids)
    made.item.extend(chosen)
    made.propensity.extend(drawn.propensity.tolist())


def _rows(learner: Adaptive, offer: dict[Any, Any], order: list[Any]) -> Matrix:
    """Raw features of the items of an offer, which have their slots."""
    return learner.items.write(learner.items.read(in_rows(order, offer)), learn=False)


def with_columns(table: Any, made: Made) -> Any:
    """The frame with what was decided, in the library it came in."""
    nw, native = narwhals(), table.implementation
    try:
        new = [nw.new_series(name, getattr(made, name), backend=native) for name in made._fields]
    except UnicodeEncodeError:
        raise InvalidValue("an item's name has characters that a frame cannot hold; nothing was decided") from None
    except (TypeError, ValueError):  # of polars and of Arrow
        raise InvalidValue(
            "items are named by strings and by numbers, which one column of this frame cannot hold; name all by strings (no decision "
            "was made)"
        ) from None
    if native.is_pandas_like():
        new = [nw.from_native(s.to_native().set_axis(table.to_native().index), series_only=True) for s in new]
    return table.with_columns(*new).to_native()
