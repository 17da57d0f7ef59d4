"""A bandit whose every call is a transaction.

`Durable` learns: alone, from the log that it and its followers (`follower`) write. It applies rows in their order, so a process that is
killed at any moment finds, when it is opened again, the state it would have had. Whatever interrupts a call (an error, Ctrl-C, a full
disk), the state in memory is afterwards that of the log: `_ahead` says that it may not be, and then it is read again from the file.
"""

import contextlib
import itertools
import json
import logging
import math
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from ..errors import CannotRead, DriftBanditsError, InvalidState
from .bulk.absorb import repeat_all
from .challengers import functions
from .changes import ORDINARY, Answer, Request, Way
from .decision import Decision
from .logged import Logged
from .pending import Closed, Open
from .rows import decide_row, request_data, reward_row
from .saving import STATE, EarlierLearner, from_bytes
from .snapshots import TakesSnapshots
from .store import Damaged, Row, Store

LOG = logging.getLogger("driftbandits")
CHUNK = 2000  # rows applied in one transaction, so that followers wait no longer than that
FEW = 16  # rows of others that are applied inside a transaction: meanwhile they wait


class Durable(TakesSnapshots):
    """`Bandit.open`: learns from the log in its file."""

    _seq = 0
    _followed = False  # others write to the log, too
    _refused = 0  # rows that were set aside by this process

    @contextmanager
    def _turn(self) -> Iterator[None]:
        with self._lock:
            if self._inside:
                yield
                return
            if self._held is None:
                raise InvalidState(f"{self._store.name} is closed; open it again with Bandit.open")
            if self._ahead:  # the store could not be read when a call was undone
                self._reload()
            if self._followed:
                self._catch_up()
            try:
                self._inside = True
                settled = caught_up = False
                while (
                    not caught_up
                ):  # many rows of others are applied in transactions of their own, some in each, so that …
                    with self._store.transaction(learner=True):  # … followers can write in between
                        refused = self._refused
                        absorbed = self._absorb()
                        self._followed |= absorbed > 0
                        all_ = (
                            self._store.last() <= self._seq
                        )  # nobody else can write before the end of this transaction
                        caught_up = all_ and absorbed <= FEW and self._refused == refused
                        if caught_up:
                            self._ahead = False  # what was absorbed is in the log, whatever becomes of this call
                            yield
                        settled |= not self.tended and self._snapshot_if_due()
                    self._ahead = False
                self._inside = False
            except BaseException:
                self._inside = False
                if self._ahead:
                    self._reload()
                raise
            if settled:
                self._store.settle()
        self._report_drift()

    def transaction(self) -> AbstractContextManager[None]:
        """Many calls as one: what they write is kept together, or not at all, and an error in one undoes all."""
        return self._turn()

    def absorb(self) -> int:
        """Learn what followers have written since the last call of any method; returns the number of rows."""
        with self._lock:
            before = self._seq
            self._catch_up()
            with self._turn():
                return self._seq - before

    def _catch_up(self) -> None:
        """Apply most of what others wrote outside of a transaction, which would make them wait: committed rows do not change."""
        if self._inside or self._held is None:
            return
        try:
            if self._ahead:
                self._reload()
            while self._store.last() - self._seq > FEW:
                self._absorb()
                self._ahead = False
        except BaseException:
            if self._ahead:
                self._reload()
            raise

    def close(self) -> None:
        """Take a snapshot and let the file go."""
        with self._lock:
            if self._held is None:
                return
            try:
                with self._turn():
                    self._snapshot()
                self._store.settle()
            finally:
                held, self._held = self._held, None
                with contextlib.closing(held):  # the lock is let go even if the store cannot be closed
                    self._store.close()

    def enter_if_fast(self) -> bool:
        """Keep other threads out until `leave`, if calls are fast now.

        They are if no other process writes to the log, the database is on this machine, and no other thread uses the bandit: writing a
        snapshot of 100,000 pending decisions takes a second.
        """
        fast = self._store.local and not self._followed and not self._ahead
        return fast and self._lock.enter_if_free()

    def leave(self) -> None:
        """Let other threads in again."""
        self._lock.leave()

    @property
    def lock(self) -> Any:
        """The lock that makes this process the learner; None when closed."""
        return self._held

    def relock(self, held: Any) -> None:
        """Go on with another lock: the one in place was lost with its session, and no other learner took its place."""
        self._held = held

    def has_work(self) -> bool:
        """Whether `absorb` would do something: others wrote rows."""
        return self._store.last() > self._seq

    def has_overdue(self, before: float) -> bool:
        """Whether a decision made before a time still waits for its reward."""
        return any(waiting.overdue(before) for waiting in self._pending.open.values())

    def delete_log(self) -> int:
        """Delete the log up to now, but for decisions that wait for a reward; what was learned stays. Returns how many rows."""
        self.take_snapshot()
        return super().delete_log()

    def info(self) -> dict[str, Any]:
        """What there is to watch, with the number of rows that could not be applied."""
        with self._turn():
            return {**super().info(), "refused": self._store.refused()}

    def __reduce__(self) -> Any:
        """A file is opened once."""
        raise InvalidState(
            f"{self._store.name} is a durable bandit, which cannot be copied or pickled; use Bandit.follow"
        )

    def _become(self, after: dict[str, Any]) -> None:
        self._ahead, before = True, self._challengers
        try:
            super()._become(after)
            self._snapshot()
        except BaseException:
            self._challengers = before  # its functions are kept when the state is read again
            raise

    def _reload(self, upto: float = math.inf) -> None:
        """The state of the file, in place of one that may be ahead of it; the log is applied up to a row, or to its end."""
        # The strategy is in the file; `promote` may have changed it.
        found = newest_state(self._store, self._code | {"strategy": None})
        if found is None:
            raise InvalidState(f"{self._store.name} has lost its snapshots; restore a backup")
        given = functions(self._challengers)
        self.__dict__ |= {"_seq": found[0]} | {name: getattr(found[1], name) for name in STATE}
        self._challengers |= given
        self._unreported.clear()
        while rows := [row for row in self._store.rows(self._seq, CHUNK) if row.seq <= upto]:
            for row in rows:
                self._apply(row)
        self._ahead = False

    # ----------------------------------------------------------------------------------------------- changes, written down

    # Each change sets `_ahead` first: if it is interrupted, the state is read again from the file.

    def _decide(self, request: Request, id_: str, way: Way = ORDINARY) -> Decision:
        self._ahead = True
        return super()._decide(request, id_, way)

    def _activate(self, id_: str, at: float) -> None:
        self._ahead = True
        super()._activate(id_, at)

    def _answered(self, id_: str, found: Open | Closed | Logged, rewards: list[float], w: float) -> None:
        self._ahead = True
        super()._answered(id_, found, rewards, w)

    def _expire(self, before: float, r: float | None) -> int:
        self._ahead = True
        return super()._expire(before, r)

    def _observe(self, request: Request, r: float, w: float) -> None:
        self._ahead = True
        super()._observe(request, r, w)

    def _drop(self, name: Any) -> None:
        self._ahead = True
        super()._drop(name)

    def _forget(self, name: str) -> None:
        self._ahead = True
        super()._forget(name)

    def _append(self, kind: str, **row: Any) -> None:
        self._ahead = True
        self._seq = self._store.append(kind, **row)
        self._since += 1

    def will_change(self) -> None:
        """If it is interrupted from now on, the state is read again from the file."""
        self._ahead = True

    def note_decisions(self, requests: Sequence[Request], made: Sequence[Decision]) -> None:
        """Write decisions down, in one statement."""
        self._ahead = True
        self._seq = self._store.append_all("decide", [*map(decide_row, requests, made)])
        self._since += len(made)

    def _note_decision(self, request: Request, decision: Decision) -> None:
        self._append("decide", **decide_row(request, decision))

    def _note_reward(self, given: Answer) -> None:
        self._append("replace" if isinstance(given.found, Closed) else "reward", **reward_row(given))

    def _note(self, kind: str, **row: Any) -> None:
        request: Request | None = row.pop("request", None)
        if request is not None:
            row["data"] = request_data(request)
            row |= {"at": request.at, "item": json.dumps(request.names[0])}
        elif kind == "activate":
            pass
        elif kind == "expire":
            row = {"at": row["before"], "reward": row["reward"]}
        else:
            row = {"item": json.dumps(row["item"])}
        self._append(kind, **row)

    def _known_as_answered(self, id_: str) -> bool:
        """The log knows for as long as it reaches, whatever the table in memory has forgotten."""
        return super()._known_as_answered(id_) or self._store.answered(id_)

    # ------------------------------------------------------------------------------------------------------ rows of the log

    def attach(self, store: Store, code: dict[str, Any], seq: int | None) -> None:
        """Inside a transaction: belong to a store, whose row `seq` this state follows; None: a new one, whose first snapshot it is."""
        self._store, self._code, self._seq = store, code, seq or 0
        self._last = time.monotonic()
        if seq is None:
            self._snapshot()

    def begin(self, held: Any, *, skip_damaged: bool) -> None:
        """Apply the log up to its end; `on_drift` is not called for drift that was noticed before the store was closed."""
        self._held = held
        done = False
        while not done:
            with self._store.transaction(learner=True):
                try:
                    done = self._absorb() == 0
                except Damaged as problem:
                    if not skip_damaged:
                        raise
                    LOG.warning("row %d of %s is set aside: %s", problem.seq, self._store.name, problem)
                    self._store.set_aside(problem.seq, "damaged")
                    continue
                self._snapshot_if_due()
        self._unreported.clear()
        self._ahead = False
        self._store.settle()

    def _absorb(self) -> int:
        """Apply the next rows that others wrote, or that came after the snapshot; returns how many."""
        if self._store.last() <= self._seq:
            return 0
        rows = self._store.rows(self._seq, CHUNK)
        if not rows:  # a gap at the end, which no later row shows; without this, absorbing would never end
            raise CannotRead(
                f"the log of {self._store.name} ends with row {self._seq}, and {self._store.last()} were written; restore a backup"
            )
        for kind, run in itertools.groupby(rows, key=lambda row: row.kind):
            if kind == "decide":
                repeat_all(self, [*run])
                continue
            for row in run:
                self._apply(row)
        self._since += len(rows)
        return len(rows)

    def _apply(self, row: Row) -> None:
        """Apply a row; one that cannot be applied is set aside."""
        try:
            change = self._change_of(row)
        except DriftBanditsError as problem:
            self._set_aside(row, problem)
            return
        except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as problem:
            self._set_aside(row, problem)
            return
        self._ahead = True
        try:
            change()
        except (MemoryError, OSError):
            raise
        except Exception as problem:  # the state may be half changed: back to the snapshot, and on without this row
            self._set_aside(row, problem)
            self._reload(upto=row.seq)
        self._seq = row.seq

    def _set_aside(self, row: Row, problem: Exception) -> None:
        reason = str(problem) if isinstance(problem, DriftBanditsError) else f"{type(problem).__name__}: {problem}"
        LOG.warning(
            "row %d of %s (%s, by %s) is set aside: %s", row.seq, self._store.name, row.kind, row.writer, reason
        )
        self._refused += 1
        self._store.set_aside(row.seq, reason)
        self._seq = row.seq


def newest_state(store: Store, code: dict[str, Any]) -> tuple[int, Durable] | None:
    """The newest snapshot that can be read, and its row; of an earlier learner's only the settings, so that the log is learned again."""
    try:
        return store.state(lambda data: from_bytes(data, store.name, kind=Durable, **code))
    except EarlierLearner:
        found = store.state(lambda data: from_bytes(data, store.name, kind=Durable, again=True, **code))
        return None if found is None else (0, found[1])
