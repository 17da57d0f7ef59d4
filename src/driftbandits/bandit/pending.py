"""Decisions that wait for their reward, and those that have had it.

Both tables are bounded by `limit` (`max_pending`). When more decisions wait, the oldest is dropped without being learned. Of the answered
decisions the newest `limit` are remembered; within this window a second reward is recognised even if it comes with its decision
(`Decision.to_dict`). A reward that comes with an id alone is never learned twice. A durable bandit recognises a second reward for as long
as its log reaches.
"""

import math
import os
import time
from collections import Counter, OrderedDict
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from ..errors import InvalidState, InvalidValue, said
from .learner import Memo
from .ledger import Law

LIMIT = 100_000
LONGEST_ID = 256
RANDOM = 10  # bytes of an id that are random
DEFERRED = math.inf  # no reward is expected yet
REPEATS = ("error", "ignore", "replace")


class UnknownDecision(InvalidValue, KeyError):
    """A reward for an id that is not waiting for one."""

    __str__ = Exception.__str__  # KeyError's would quote the sentence


class AlreadyRewarded(InvalidState):
    """A second reward for one decision."""


class NotActive(InvalidState):
    """A reward for a deferred decision that has not been activated."""


class Open(NamedTuple):
    """A decision that waits."""

    tick: int  # its number
    at: float  # its time
    memos: list[Memo]  # one for each item shown
    since: float | None = None  # from when its reward is expected, if not from `at`; `DEFERRED` before `activate`
    learn: bool = True  # False: its reward is kept in the log, but not learned
    law: Law | None = None  # probabilities and forecasts of the offer; None if they are not known

    def overdue(self, before: float) -> bool:
        """Whether it waits since before this moment; one that was never activated, since it was made."""
        return (self.at if self.since is None or self.since == DEFERRED else self.since) < before


class Closed(NamedTuple):
    """A decision that has been answered."""

    open: Open | None  # None: it cannot be learned again
    rewards: list[float]
    weight: float


DONE = Closed(None, [], 0.0)  # that it was answered is all there is to know


class Pending:
    """The two tables.

    Examples
    --------
    >>> table = Pending(limit=1)
    >>> table.put("a", Open(1, 0.0, [])), table.put("b", Open(2, 0.0, []))  # one is given up
    (0, 1)
    >>> table.find("b", "error", answered=False).tick
    2
    """

    __slots__ = ("awaited", "closed", "dropped", "limit", "open", "unread")

    def __init__(self, limit: int = LIMIT) -> None:
        self.limit = limit
        self.open: OrderedDict[str, Open] = OrderedDict()
        self.closed: OrderedDict[str, Closed] = OrderedDict()
        self.dropped = 0
        self.unread = 0  # decisions that wait in a file, and were not read from it
        self.awaited: dict[Any, int] = {}  # items shown by decisions that may still be learned, and by how many

    def _count(self, decision: Open | None, step: int) -> None:
        for memo in () if decision is None else decision.memos:
            if memo.named:
                many = self.awaited.get(memo.item, 0) + step
                if many > 0:
                    self.awaited[memo.item] = many
                else:
                    self.awaited.pop(memo.item, None)

    def put(self, id_: str, decision: Open) -> int:
        """Let a decision wait; returns how many were given up for it. Once it has begun, an interrupt does not stop it."""
        full = len(self.open) >= self.limit
        dropped = self.dropped + full
        try:
            self.open[id_] = decision
            self._count(decision, 1)
            if full:
                self._count(self.open.popitem(last=False)[1], -1)
                self.dropped = dropped
        except BaseException:
            self.open[id_] = decision
            while len(self.open) > self.limit:
                self.open.popitem(last=False)
            self.dropped = dropped
            self._recount()
            raise
        return int(full)

    def put_all(self, ids: Sequence[str], decisions: Sequence[Open]) -> None:
        """`put` for many decisions, whose ids are new and differ."""
        new = [*zip(ids, decisions, strict=True)]
        given_up = max(0, len(self.open) + len(new) - self.limit)
        dropped = self.dropped + given_up
        try:
            self.open.update(new)
            self._count_all(decisions, 1)
            popped = [self.open.popitem(last=False)[1] for _ in range(given_up)]
            self._count_all(popped, -1)
            self.dropped = dropped
        except BaseException:
            self.open.update(new)
            while len(self.open) > self.limit:
                self.open.popitem(last=False)
            self.dropped = dropped
            self._recount()
            raise

    def _count_all(self, decisions: Sequence[Open], step: int) -> None:
        """`_count` for many decisions, most of which show the same items."""
        counted = Counter([memo.item for waiting in decisions for memo in waiting.memos if memo.named])
        for item, many in counted.items():
            left = self.awaited.get(item, 0) + step * many
            if left > 0:
                self.awaited[item] = left
            else:
                self.awaited.pop(item, None)

    def find(self, id_: Any, on_repeat: str, *, answered: bool) -> Open | Closed | None:
        """The decision to learn; None if its reward is to be ignored.

        `answered`: another source, such as a log, knows that it was. Changes nothing.
        """
        found = self.open.get(id_) if isinstance(id_, str) else None
        if found is not None:
            return found
        before = self.closed.get(id_, DONE if answered else None) if isinstance(id_, str) else None
        if before is None:
            raise UnknownDecision(
                f"no decision {said(id_)} waits for a reward: the id is wrong, or it was expired, or the oldest of {self.limit}, or it is "
                "older than a challenger that was promoted; in the last two cases give its to_dict() in place of the id"
            )
        if on_repeat == "error":
            raise AlreadyRewarded(
                f"decision {said(id_)} has had its reward, or was expired; a decision is learned once "
                "(Bandit(on_repeat='ignore') or 'replace' accepts a second)"
            )
        return before if on_repeat == "replace" and before.open is not None else None

    def close(self, answers: Sequence[tuple[str, Closed]]) -> None:
        """Note that decisions have been answered. Once it has begun, an interrupt does not stop it."""
        try:
            for id_, answered in answers:
                self._close(id_, answered)
        except BaseException:
            for id_, answered in answers:
                self._close(id_, answered)
            self._recount()
            raise

    def close_all(self, ids: Sequence[str]) -> None:
        """Note that decisions have been answered, each once; what goes wrong is undone by the caller (`Bandit._whole`)."""
        names = Counter(memo.item for id_ in ids for memo in self.open.pop(id_).memos if memo.named)
        for name, many in names.items():
            left = self.awaited.get(name, 0) - many
            if left > 0:
                self.awaited[name] = left
            else:
                self.awaited.pop(name, None)
        self.closed.update(dict.fromkeys(ids, DONE))
        while len(self.closed) > self.limit:
            self._count(self.closed.popitem(last=False)[1].open, -1)

    def _close(self, id_: str, answered: Closed) -> None:
        self._count(self.open.pop(id_, None), -1)
        before = self.closed.get(id_)
        if before is not None:
            self._count(before.open, -1)
        self.closed[id_] = answered
        self._count(answered.open, 1)
        if len(self.closed) > self.limit:
            self._count(self.closed.popitem(last=False)[1].open, -1)

    def copy(self) -> "Pending":
        """The same tables, which can be changed apart; decisions themselves never change."""
        new = Pending(self.limit)
        new.open, new.closed, new.dropped = self.open.copy(), self.closed.copy(), self.dropped
        new.awaited = self.awaited.copy()
        return new

    def give_up(self, id_: str) -> None:
        """Remove a decision without learning or remembering it."""
        self._count(self.open.pop(id_, None), -1)

    def restore(self, open_: Iterable[tuple[str, Open]], closed: Iterable[tuple[str, Closed]], dropped: int) -> None:
        """The tables that were saved."""
        self.open, self.closed, self.dropped = OrderedDict(open_), OrderedDict(closed), dropped
        self._recount()

    def _recount(self) -> None:
        self.awaited = {}
        for waiting in self.open.values():
            self._count(waiting, 1)
        for answered in self.closed.values():
            self._count(answered.open, 1)


def own_id(given: Any, what: str = "id") -> str:
    """An id, or a name, that a user gives: text that every database keeps, at most 256 characters of it."""
    if not isinstance(given, str) or not 0 < len(given) <= LONGEST_ID:
        raise InvalidValue(
            f"{what} = {said(given)} is not allowed; it must be a string of 1 to {LONGEST_ID} characters"
        )
    if "\0" in given or (not given.isascii() and any("\ud800" <= c <= "\udfff" for c in given)):
        raise InvalidValue(f"{what} = {said(given)} is not allowed; databases cannot keep its characters")
    return given


_spare: list[str] = []  # random parts of ids, not yet given; a child process draws its own
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_spare.clear)


def new_id() -> str:
    """The time in milliseconds (48 bits), then 80 random bits from the system: unguessable, and never drawn twice.

    Ids of decisions made one after the other are close to each other, so that the index of a log with millions of rows is written to at
    its end. With ids that are random from their first bit each decision changes another page of it, which is half of what a log costs.
    """
    try:
        chance = _spare.pop()
    except IndexError:  # the system is asked for many at once: asking lets another thread in
        drawn = os.urandom(RANDOM * 64).hex()
        _spare.extend(drawn[i : i + 2 * RANDOM] for i in range(2 * RANDOM, len(drawn), 2 * RANDOM))
        chance = drawn[: 2 * RANDOM]
    return _milliseconds() + chance


def _milliseconds() -> str:
    """The time as 48 bits."""
    return f"{time.time_ns() // 1_000_000:012x}"
