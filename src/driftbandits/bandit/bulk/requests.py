"""Decisions of a stored bandit that are asked for together: read by columns, made by one compiled call, written by one statement.

Each is as `decide` would make it, in their order, to the last bit: its chance depends on its number, and the compiled walk (`stretch`)
takes the same steps. That holds while nothing new appears, so that no array changes its shape: every item has its place and every feature
its slot. `at_once` makes such decisions, and returns None, with nothing changed, where something is new or not ordinary (a ranking, a
deferred decision). `decide_many` then divides them: a batch with one new item is a few batches and two single decisions.
"""

import itertools
from collections.abc import Iterator, Sequence
from itertools import repeat
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...core.linalg import Matrix, Vector
from ...errors import DriftBanditsError
from ..adaptive import Adaptive
from ..changes import Request, Wanted, first_listed
from ..clock import moment
from ..decision import Decision, Features
from ..features import Table
from ..learner import Memo, Offer
from ..ledger import Law
from ..offers import as_items, in_order, in_rows
from ..pending import Open, new_id, own_id
from ..reading import NOTHING, Reading
from ..state import RECENT
from ..vectors import as_row
from .decide import walked
from .fit import pass_time, ready
from .machine import machine

if TYPE_CHECKING:
    from ..stored import StoredBandit

UNREAD = Offer((), NOTHING, NOTHING)  # of a request whose features were read together with those of others


class RefusedAt(Exception):
    """One of several decisions is refused, and so none is made; `problem` says why."""

    def __init__(self, place: int, problem: DriftBanditsError) -> None:
        super().__init__(place, problem)
        self.place, self.problem = place, problem


def decide_many(bandit: "StoredBandit", wanted: Sequence[Wanted]) -> list[Decision]:
    """Inside a transaction: decide all, each as `decide` would; `RefusedAt` names the first that cannot be.

    An id that the log has is answered from the log, and one that comes twice is decided once.
    """
    ids = [_own_id(one.id) for one in wanted]
    if not any(ids):
        return [*_decided(bandit, [*enumerate(wanted)])]
    made = bandit.made_of([id_ for id_ in ids if id_ is not None])
    first: dict[str, int] = {}  # the place of the first decision with each id
    for place, id_ in enumerate(ids):
        if id_ is not None:
            first.setdefault(id_, place)
    new = [p for p, id_ in enumerate(ids) if id_ is None or (id_ not in made and first[id_] == p)]
    found = dict(zip(new, _decided(bandit, [(place, wanted[place]) for place in new]), strict=True))
    for id_, place in first.items():
        made[id_] = found[place] if place in found else made[id_]
    return [found[place] if id_ is None else made[id_] for place, id_ in enumerate(ids)]


def _own_id(given: Any) -> str | None:
    """An id that a caller gave; None where there is none, or none that is allowed: its decision is then refused when it is made."""
    try:
        return None if given is None else own_id(given)
    except DriftBanditsError:
        return None


def _decided(bandit: "StoredBandit", wanted: Sequence[tuple[int, Wanted]]) -> Iterator[Decision]:
    """Decisions with new ids, and their places in the batch, in halves where they cannot be made at once."""
    if len(wanted) < 2 or not walks(bandit):
        for place, one in wanted:
            try:
                yield bandit.decide(**one._asdict())
            except DriftBanditsError as problem:
                raise RefusedAt(place, problem) from None
        return
    together = at_once(bandit, [one for _, one in wanted])
    if together is not None:
        yield from together
        return
    half = len(wanted) // 2
    yield from _decided(bandit, wanted[:half])
    yield from _decided(bandit, wanted[half:])


def walks(bandit: "StoredBandit") -> bool:
    """Whether there is compiled code for many decisions of this bandit; it is compiled in the background when it is first asked for."""
    alone = not bandit._challengers and bandit._function is None and type(bandit._learner) is Adaptive
    return alone and ready(bandit._learner) and machine().compiled("decide")  # type: ignore[arg-type]


def at_once(bandit: "StoredBandit", wanted: Sequence[Wanted]) -> list[Decision] | None:
    """Inside a transaction: make decisions whose ids are new by compiled calls; None, and nothing changed, where that is not possible."""
    learner = bandit._learner
    if not walks(bandit) or not isinstance(learner, Adaptive):
        return None
    if not all(one.ordinary for one in wanted) or len({one.at is None for one in wanted}) > 1:
        return None
    try:
        ids = [new_id() if one.id is None else own_id(one.id) for one in wanted]
        requests = _requests(wanted)
        read = in_slots(learner, requests)
    except DriftBanditsError:  # decided alone, it says which and why
        return None
    if read is None:
        return None
    bandit.will_change()
    made: list[Decision] = []
    for start, end in _equally_many(requests):
        made += _walk(bandit, learner, requests[start:end], read.part(start, end), ids[start:end])
    bandit._recent |= {decision.id: decision for decision in made[-RECENT:]}
    for id_ in [*bandit._recent][:-RECENT]:
        del bandit._recent[id_]
    bandit.note_decisions(requests, made)
    return made


def _requests(wanted: Sequence[Wanted]) -> list[Request]:
    """What is asked for, but for its features, which are read together; requests that offer the same names share one list of them."""
    orders: dict[tuple[Any, ...], list[Any]] = {}
    now = moment(None)
    return [_request(one, orders, now) for one in wanted]


def _request(one: Wanted, orders: dict[tuple[Any, ...], list[Any]], now: float) -> Request:
    given, context = one.items, one.context
    row = context if context is None or type(context) is dict else as_row(context, "features of the context")
    named = type(given) is dict and tuple(given)
    names = orders.get(named) if named else None
    if names is None:
        given = as_items(given)
        names = in_order(given)
        if named and {*map(type, named)} == {str}:  # other names may be equal to these and yet not allowed: True is 1
            orders[named] = names
    at = now if one.at is None else moment(one.at)
    return Request(names, in_rows(names, given), row, UNREAD, at, one.at is not None, 1, next(iter(given)))


class InSlots(NamedTuple):
    """Requests in the learner's slots: rows of all items, one after the other, those of request t from starts[t] on."""

    rows: Matrix
    who: Any
    context: Matrix
    starts: list[int]

    def part(self, start: int, end: int) -> "InSlots":
        """Some requests."""
        a, b = self.starts[start], self.starts[end]
        return InSlots(self.rows[a:b], self.who[a:b], self.context[start:end], self.starts[start : end + 1])


def in_slots(learner: Adaptive, requests: Sequence[Request]) -> InSlots | None:
    """None if anything is new. Nothing is changed."""
    sizes = [len(request.names) for request in requests]
    if max(sizes) > learner.places.limit:
        return None
    who = learner.places.all_known([*itertools.chain.from_iterable(request.names for request in requests)])
    if who is None:
        return None
    items = learner.items.read([*itertools.chain.from_iterable(request.rows for request in requests)])
    context = learner.context.read([request.context for request in requests])
    rows, crows = _written(learner.items, items), _written(learner.context, context)
    if rows is None or crows is None:
        return None
    starts = [0, *itertools.accumulate(sizes)]
    _derive(learner.items, rows, starts)
    _derive(learner.context, crows, range(len(requests) + 1))
    return InSlots(rows, who, crows, starts)


def _written(table: Table, reading: Reading) -> Matrix | None:
    """Rows in their slots; None if anything is new."""
    rows = table.planned(reading)
    return table.write(reading) if rows is None and not table.lacks(reading) else rows


def _derive(table: Table, rows: Matrix, starts: Sequence[int]) -> None:
    """Columns for curvature, request by request: a product of other matrices would be rounded otherwise."""
    for start, end in itertools.pairwise(starts if table.derived else ()):
        table.derive(rows[start:end])


def _equally_many(requests: Sequence[Request]) -> Iterator[tuple[int, int]]:
    """Requests next to each other with equally many items on offer, as compiled code needs them: start and end."""
    start = 0
    for _, same in itertools.groupby(requests, key=lambda request: len(request.names)):
        end = start + len([*same])
        yield start, end
        start = end


def _walk(
    bandit: "StoredBandit", learner: Adaptive, requests: Sequence[Request], read: InSlots, ids: Sequence[str]
) -> list[Decision]:
    """Decide between equally many items each, and let the decisions wait for their rewards."""
    T, n = len(requests), len(requests[0].names)
    ticks = range(bandit._tick + 1, bandit._tick + 1 + T)
    crows = np.ascontiguousarray(read.context)[:, None]
    offers, who = np.ascontiguousarray(read.rows).reshape(T, n, -1), read.who.reshape(T, n)
    drawn = walked(bandit, learner.model, offers, np.arange(T), who, crows)
    newest = pass_time(bandit, np.array([request.at for request in requests]), given=requests[0].given)
    given = drawn.given.tolist()
    items = [request.names[a] for request, a in zip(requests, given, strict=True)]
    memos = map(Memo, items, _copies(drawn.kept), _copies(crows[:, 0]), _copies(drawn.told))
    names, times = [request.names for request in requests], [request.at for request in requests]
    firsts = map(first_listed, requests)
    laws = [*map(Law, names, _copies(drawn.law), _copies(drawn.scores), given, firsts)]
    waiting = [*map(Open, ticks, times, [[memo] for memo in memos], repeat(None), repeat(True), laws)]
    bandit._pending.put_all(ids, waiting)
    for tick, now in zip(ticks, newest.tolist(), strict=True):
        bandit._arrivals.opened(tick)
        bandit._look_for_rewards(tick, now)
    features = [Features(request.rows, (a,), request.context, True) for request, a in zip(requests, given, strict=True)]
    p, shown = drawn.propensity.tolist(), [[item] for item in items]
    law, scores = [one.p for one in laws], [one.forecast for one in laws]
    return [*map(Decision, ids, names, shown, p, law, scores, times, ticks, features)]


def _copies(rows: Matrix) -> list[Vector]:
    """Each row by itself: a view would keep the arrays of the whole batch for as long as one of its decisions waits."""
    return [*map(np.ndarray.copy, rows)]
