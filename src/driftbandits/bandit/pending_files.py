"""Decisions that wait for their reward, and those that have had it, as JSON and two arrays, and back.

A service may have 100,000 of them, which make up most of its snapshot. They are therefore packed in parts, and other threads may run
between two parts (`pause`). Their JSON is an array of bytes of its own, which a follower does not read, because it reports only how many
decisions wait.
"""

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

import numpy as np

from ..core.linalg import Vector
from ..errors import InvalidValue, said
from ..io.saving import Arrays, finite
from ..util.collecting import uncollected
from .learner import Memo
from .ledger import Law
from .logged import LAST
from .offers import as_name
from .pending import DEFERRED, Closed, Open, Pending
from .rewards import HUGE
from .store import dumps

PART = 500  # decisions that are packed without a pause, which takes about 2 ms
CERTAIN = 1.0 + 1e-9  # a probability, up to rounding

FARTHEST = 1e150  # a forecast; its square is a float
USUAL = (None, True)  # `since` and `learn` of a decision in files of 0.2.0
NUMBERS, ROWS = "pending", "pending.rows"  # names of the arrays


def no_pause() -> None:
    """Go on at once."""


class Packer:
    """Turns decisions into rows that are JSON; `numbers` are those of all rows so far, one after the other."""

    def __init__(self, pending: Pending) -> None:
        self.pending = pending
        self._offers: dict[tuple[Any, ...], int] = {}
        self._parts: list[Vector] = []
        self._flat: list[Vector] = []  # of the rows after the last part

    def open_rows(self) -> Iterator[list[list[Any]]]:
        """Decisions that wait, in parts."""
        return self._in_parts(self._row(id_, waiting) for id_, waiting in self.pending.open.items())

    def closed_rows(self) -> Iterator[list[list[Any]]]:
        """Decisions that have had their reward, in parts."""
        return self._in_parts(self._answered(id_, done) for id_, done in self.pending.closed.items())

    def offers(self) -> list[list[Any]]:
        """The names of each offer once, in the order of the places that rows give."""
        return [[*names] for names in self._offers]

    def numbers(self) -> Vector:
        """The numbers of all rows."""
        return np.concatenate(self._parts) if self._parts else np.zeros(0)

    def _in_parts(self, rows: Iterator[list[Any]]) -> Iterator[list[list[Any]]]:
        while part := [*islice(rows, PART)]:
            if self._flat:
                self._parts.append(np.concatenate(self._flat))
                self._flat.clear()
            yield part

    def _answered(self, id_: str, done: Closed) -> list[Any]:
        asked = None if done.open is None else self._row(id_, done.open)
        return [id_, asked, [*map(finite, done.rewards)], done.weight]

    def _row(self, id_: str, waiting: Open) -> list[Any]:
        memos = []
        for memo in waiting.memos:
            self._flat += (memo.row, memo.context, memo.seen)
            rest = () if memo.named else (0,)
            memos.append([memo.item, len(memo.row), len(memo.context), len(memo.seen), *rest])
        since = "deferred" if waiting.since == DEFERRED else waiting.since
        return [id_, waiting.tick, waiting.at, memos, since, waiting.learn, self._law(waiting.law)]

    def _law(self, law: Law | None) -> list[Any] | None:
        if law is None:
            return None
        self._flat += (law.p, law.forecast, *(pi for _, pi in law.others))
        place = self._offers.setdefault(tuple(law.names), len(self._offers))
        return [place, law.chosen, law.first, [name for name, _ in law.others]]


def pack(pending: Pending, pause: Callable[[], None] = no_pause) -> tuple[dict[str, Any], dict[str, Any]]:
    """The JSON and the arrays of a file. A part is text before the next is made: Python would look for garbage among its lists."""
    packer = Packer(pending)

    def text_of(parts: Iterable[list[list[Any]]]) -> bytes:
        texts = []
        for part in parts:
            texts.append(dumps(part)[1:-1].encode("utf-8", "surrogatepass"))
            pause()
        return b"[" + b",".join(texts) + b"]"

    open_, closed = text_of(packer.open_rows()), text_of(packer.closed_rows())
    text = b'{"open":%b,"closed":%b,"offers":%b}' % (open_, closed, text_of([packer.offers()]))
    about = {"many": len(pending.open), "dropped": pending.dropped}
    return about, {NUMBERS: packer.numbers(), ROWS: np.frombuffer(text, np.uint8)}


def counted(about: Mapping[str, Any], limit: int) -> Pending:
    """Empty tables that know how many decisions wait."""
    pending = Pending(limit)
    pending.unread = int(about["many"]) if "many" in about else len(about["open"])
    pending.dropped = int(about["dropped"])
    return pending


def unpack(about: Mapping[str, Any], arrays: Arrays, limit: int) -> Pending:
    """The tables that were packed, or what is wrong with them; files before format 2 have the rows in their own JSON."""
    pending = Pending(limit)
    with uncollected():
        rows = json.loads(bytes(arrays[ROWS]).decode("utf-8", "surrogatepass")) if "many" in about else about
        read = _Rows(rows.get("offers", []), np.array(arrays[NUMBERS], np.float64))
        open_ = [(_id(row[0]), read.waiting(row)) for row in rows["open"]]
        closed = [(_id(id_), read.answered(*row)) for id_, *row in rows["closed"]]
        pending.restore(open_, closed, int(about["dropped"]))
    return pending


class _Rows:
    """Reads rows in the order in which they were packed."""

    def __init__(self, offers: Any, numbers: Vector) -> None:
        self.offers = [[*map(as_name, names)] for names in offers]
        self.numbers, self.place = numbers, 0

    def take(self, n: int) -> Vector:
        """The next n numbers; a copy, because a view would keep all of them for as long as one decision waits."""
        self.place += n
        if n < 0 or self.place > len(self.numbers):
            raise InvalidValue("decisions that wait for a reward are cut short")
        return self.numbers[self.place - n : self.place].copy()

    def law(self, row: Any) -> Law | None:
        """Probabilities and forecasts of an offer."""
        if row is None:
            return None
        place, chosen, first, challengers = row
        names = self.offers[place]
        if not (0 <= chosen < len(names) and 0 <= first < len(names)):
            raise InvalidValue("a decision that waits for its reward chose an item that was not on offer")
        p, forecast = self.take(len(names)), self.take(len(names))
        others = tuple((str(c), self.take(len(names))) for c in challengers)
        if not all(((one >= 0.0) & (one <= CERTAIN)).all() for one in (p, *(pi for _, pi in others))):
            raise InvalidValue("the probabilities of a decision that waits for its reward are not in [0, 1]")
        if not (np.abs(forecast) < FARTHEST).all():
            raise InvalidValue(f"a forecast of a decision that waits for its reward is not within ± {FARTHEST:g}")
        return Law(names, p, forecast, int(chosen), int(first), others)

    def waiting(self, row: Any) -> Open:
        """A decision that waits."""
        _, tick, at, memos, *extra = row
        since, learn, *law = extra or USUAL  # files of 0.2.0 have no probabilities
        since = DEFERRED if since == "deferred" else None if since is None else float(since)
        known = [
            Memo(as_name(item), self.take(a), self.take(b), self.take(c), not rest) for item, a, b, c, *rest in memos
        ]
        if not all(np.isfinite(memo.seen).all() for memo in known):
            raise InvalidValue("what was noted of a decision that waits for its reward is not finite")
        return Open(as_tick(tick), float(at), known, since, bool(learn), self.law(law[0]) if law else None)

    def answered(self, row: Any, rewards: Iterable[Any], weight: Any) -> Closed:
        """A decision that has had its reward."""
        done = Closed(None if row is None else self.waiting(row), [*map(_reward, rewards)], float(weight))
        if done.open is not None and len(done.rewards) != len(done.open.memos):
            raise InvalidValue(f"a decision that showed {len(done.open.memos)} items has {len(done.rewards)} rewards")
        return done


def as_tick(saved: Any) -> int:
    """The number of a decision that was saved; what ages are computed from."""
    if type(saved) is not int or not 0 <= saved <= LAST:
        raise InvalidValue(f"the number of a decision is {said(saved)}; it must be one of 0..{LAST:,}")
    return saved


def _id(saved: Any) -> str:
    if not isinstance(saved, str):
        raise InvalidValue(f"the id of a decision is a {type(saved).__name__}, not text")
    return saved


def _reward(saved: Any) -> float:
    """A reward that was saved; None is that of an item of a ranking which had none."""
    r = math.nan if saved is None else float(saved)
    if abs(r) >= HUGE:
        raise InvalidValue(f"a reward of {r:g} is not within ± {HUGE:g}")
    return r
