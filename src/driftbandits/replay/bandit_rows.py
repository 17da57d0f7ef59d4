"""A `Bandit` on a chunk of a log by columns: the same decisions and the same learning as row by row (`walk._ask`)."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..adaptive.choice import ROWS
from ..bandit import Bandit
from ..bandit.adaptive import Adaptive
from ..bandit.bulk.decide import Asked, Offered, Stacked, equally_many, new_offers, stacked
from ..bandit.bulk.fit import alarm_rewards, by_columns, other_kind, pass_time, ready
from ..bandit.bulk.machine import machine
from ..bandit.bulk.stretches import in_slots, new_to, pieces, walk
from ..bandit.chance import uniforms
from ..bandit.values import HUGE
from ..errors import DriftBanditsError
from ..tables.kinds import Numbers
from .chunks import Chunk, Codes
from .policies import BanditPolicy
from .rows import Row

Look = Callable[[int, Row], None]


class Replayed:
    """Probabilities of the items of each row, in the order of their names; the own choice and the logged one."""

    def __init__(self, n: int) -> None:
        self.names: list[list[Any]] = [[]] * n
        self.law: list[Any] = [None] * n
        self.p = np.zeros(n)
        self.same = np.zeros(n, np.bool_)


def can_replay(policy: Any, chunk: Chunk, late: bool) -> bool:
    """Whether this chunk can be processed by columns.

    A chunk that may contain an error is left to the row-by-row walk, which names the row.
    """
    if not isinstance(policy, BanditPolicy) or not by_columns(policy.bandit) or chunk.contexts is not None:
        return False
    if late and chunk.rewarded is not None and not bool(np.isnan(chunk.rewarded).all()):
        return False
    learner: Any = policy.bandit._learner
    numbers = [c for c in chunk.context.values() if isinstance(c, Numbers) and c.values.dtype.kind == "f"]
    sound = all((np.abs(c.values[c.present()]) < HUGE).all() for c in numbers)
    return bool(sound and policy.accepts(chunk.reward) and other_kind(learner.context, chunk.context) is None)


def replay_chunk(
    policy: BanditPolicy,
    chunk: Chunk,
    rows: list[Row],
    start: int,
    own: bool,
    heads: NDArray[np.bool_],
    look: Look | None,
    looks: set[int],
    total: int,
) -> Replayed:
    """Decide and learn for all rows of a chunk of a log of `total` rows; `look` is called after the rows in `looks`."""
    n, found = len(rows), Replayed(len(rows))
    at = np.arange(start, start + n, dtype=np.float64) if chunk.at is None else chunk.at
    asked = Asked(
        dict(chunk.context), at, Offered([dict(offer) for offer in chunk.offers.distinct], chunk.offers.which)
    )
    stops = [t - start + 1 for t in sorted(looks)] if look is not None else []
    done = 0
    for stop in dict.fromkeys([*stops, n]):
        while done < stop:
            done = _until(policy, chunk, asked, rows, start, done, stop, own, heads, found, total)
        if look is not None and done - 1 + start in looks:
            look(done - 1 + start, rows[done - 1])
    return found


def _until(
    policy: BanditPolicy,
    chunk: Chunk,
    asked: Asked,
    rows: list[Row],
    start: int,
    done: int,
    stop: int,
    own: bool,
    heads: NDArray[np.bool_],
    found: Replayed,
    total: int,
) -> int:
    """Walk until `stop`, or until a row changed what is known; returns the rows done."""
    bandit = policy.bandit
    learner = bandit._learner
    part = asked.take(slice(done, stop))
    if not by_columns(bandit):
        _alone(policy, rows, start, done, own, heads, found, chunk.source)
        return done + 1
    assert isinstance(learner, Adaptive)
    new = new_to(learner.context, part.context, len(part)) + new_offers(learner, part.offered)
    first = min(min(new, default=len(part)), max(learner.misfit.room, 0)) if ready(learner) else 0
    if first == 0:
        _alone(policy, rows, start, done, own, heads, found, chunk.source)
        return done + 1
    for a, b, _ in pieces([], first, machine().longest("replay", total)):
        for piece, place in equally_many(part.take(slice(a, b)), done + a):
            _stretch(bandit, learner, piece, place, chunk, own, heads, found)
    return done + first


def _alone(
    policy: BanditPolicy,
    rows: list[Row],
    start: int,
    place: int,
    own: bool,
    heads: NDArray[np.bool_],
    found: Replayed,
    source: str,
) -> None:
    row, t = rows[place], start + place
    try:
        item, chances = policy.ask(t, row)
        same = item == row.item
        if own and not (same and heads[place]):
            policy.skip(t)
        else:
            policy.tell(t, row)
    except DriftBanditsError as problem:
        raise type(problem)(f"row {row.number} of {source}: {problem}") from None
    found.names[place], found.law[place] = [*chances], [*chances.values()]
    found.p[place], found.same[place] = chances.get(row.item, 0.0), same


def _stretch(
    bandit: Bandit,
    learner: Adaptive,
    part: Asked,
    place: int,
    chunk: Chunk,
    own: bool,
    heads: NDArray[np.bool_],
    found: Replayed,
) -> None:
    """Rows with equally many items that meet nothing new, by one compiled call."""
    T = len(part)
    learner.make_room_for_levels(T)
    m = learner.model
    offer = stacked(learner, part.offered)
    n, J = offer.rows.shape[1:]
    here = slice(place, place + T)
    crows, at = in_slots(learner.context, part.context, T), np.ascontiguousarray(part.at)
    logged = _logged(learner, offer, chunk, here)
    learns = np.where(heads[here], 1, 0).astype(np.int64) if own else np.full(T, 2, np.int64)
    chosen, law, kept = np.empty(T, np.int64), np.empty((T, n)), np.empty((T, J))
    walk(
        machine().replay, m, offer.rows, offer.which, offer.who, m.when, bandit._tick, crows[:, None],
        float(bandit._config["explore"]), uniforms(bandit._chance, bandit._tick + 1, T), logged, learns, at,
        bandit._clocked, np.ascontiguousarray(chunk.reward[here]), chosen, np.empty((n, J)), np.empty((ROWS, n)),
        np.ones(n, np.int64), np.empty(2), law, kept,
    )  # fmt: skip
    same = chosen == logged
    learned = (learns == 2) | ((learns == 1) & same)
    who, distinct = _items(chunk, here, learned)
    names = [distinct[k] for k in who.tolist()]
    rows, crows, r = kept[learned], crows[learned], chunk.reward[here][learned]
    learner.misfit.add_many(names, rows, crows, r)
    ticks = np.arange(bandit._tick + 1, bandit._tick + T + 1)[learned]
    bandit._arrivals.elsewhere(bandit._tick + 1, T)
    _count(bandit, T, int(learned.sum()))
    newest = pass_time(bandit, at, given=True)
    alarm_rewards(bandit, distinct, who, rows, crows, r, ticks, newest[learned])
    found.p[here], found.same[here] = law[np.arange(T), logged], same
    found.law[here] = law.tolist()
    found.names[here] = [offer.names[k] for k in offer.which.tolist()]


def _count(bandit: Bandit, rows: int, learned: int) -> None:
    bandit._tick += rows
    bandit._counts["decisions"] += rows
    bandit._counts["rewards"] += learned


def _logged(learner: Adaptive, offer: Stacked, chunk: Chunk, here: slice) -> Codes:
    """Where the logged item of each row is among the items on offer."""
    items, which = np.unique(chunk.item[here], return_inverse=True)
    places = learner.places.known([chunk.names[k] for k in items.tolist()])[which.reshape(-1)]
    return np.asarray((offer.who[offer.which] == places[:, None]).argmax(axis=1), np.int64)


def _items(chunk: Chunk, here: slice, learned: NDArray[np.bool_]) -> tuple[Codes, list[Any]]:
    """Items of the rows that were learned, as codes in the order in which they appear, and their names."""
    codes = chunk.item[here][learned]
    found, first, who = np.unique(codes, return_index=True, return_inverse=True)
    order = np.argsort(first)
    return np.argsort(order)[who.reshape(-1)], [chunk.names[k] for k in found[order].tolist()]
