"""A bandit whose every call is a transaction.

`Durable` learns: alone, from the log that it and its followers (`follower`) write. It applies rows in their order, so a process that is
killed at any moment finds, when it is opened again, the state it would have had. Whatever interrupts a call (an error, Ctrl-C, a full
disk), the state in memory is afterwards that of the log: `_ahead` says that it may not be, and then it is read again from the file.
"""

import contextlib
import json
import logging
import math
import os
import pathlib
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from ..errors import CannotRead, DriftBanditsError, InvalidState, InvalidValue, said
from ..io.files import as_path, take_lock
from .bandit import Bandit
from .challengers import functions
from .core import ORDINARY, Answer, Request, Way
from .decision import Decision
from .logged import Logged, read_logged
from .pending import DEFERRED, Closed, Open
from .rows import decide_row, decided, decision_of, last_decided, law_of, request_data, reward_row
from .saving import STATE, EarlierLearner, from_bytes, to_bytes
from .sqlite_store import SQLiteStore
from .store import ASIDE, Damaged, Row, Store

LOG = logging.getLogger("driftbandits")
ROWS, SECONDS = 1000, 5.0  # a snapshot is taken after so many rows, or so long …
SHARE = 20.0  # … but for at most 1/20 of the time
CHUNK = 2000  # rows applied in one transaction, so that followers wait no longer than that
FEW = 64  # rows that are applied inside a transaction without a thought
DAMAGED = ("refuse", "set aside")


class HasLearner(InvalidState):
    """Another process learns already."""


class Durable(Bandit):
    """`Bandit.open`: learns from the log in its file."""

    _writes_rows = True
    _store: Store
    _held: Any  # the lock between processes
    _seq = 0  # the last row applied
    _inside = False  # a transaction: calls inside a call belong to it
    _ahead = False  # the state in memory may not be that of the log
    _since = 0  # rows since the last snapshot
    _last = 0.0  # when that was
    _cost = 0.0  # how long it took
    _seconds = SECONDS  # a snapshot is taken at least so often, while there is something new
    _code: dict[str, Any]

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
            try:
                self._inside = True
                settled = caught_up = False
                while not caught_up:  # rows of others are applied in transactions of their own, some in each, so that …
                    with self._store.transaction(learner=True):  # … followers can write in between
                        caught_up = self._absorb() == 0
                        if caught_up:
                            yield
                        settled |= self._snapshot_if_due()
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

    def _whole(self) -> Any:
        """Many calls as one transaction: what went wrong in one undoes all."""
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

    def backup(self, path: Any) -> None:
        """Write a consistent copy to another file, whole or not at all, while this one is in use."""
        with self._lock:
            self._store.backup(path)

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

    def _decided(self, id_: str) -> Any:
        """A decision by its id, from the log."""
        return self._recent.get(id_) or decided(self._store, id_)

    def _recent_decisions(self) -> Sequence[Any]:
        """The last decisions, whoever made them."""
        return last_decided(self._store)

    def info(self) -> dict[str, Any]:
        """What there is to watch, with the number of rows that could not be applied."""
        with self._turn():
            return {**super().info(), "refused": self._store.refused()}

    def __reduce__(self) -> Any:
        """A file is opened once."""
        raise InvalidState(
            f"{self._store.name} is a durable bandit, which cannot be copied or pickled; use Bandit.follow"
        )

    def __enter__(self) -> "Durable":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    # ---------------------------------------------------------------------------------------------------------- snapshots

    def take_snapshot(self) -> None:
        """Keep the state of now, so that opening reads no older rows."""
        with self._turn():
            self._snapshot()

    def _snapshot_if_due(self) -> bool:
        waited = time.monotonic() - self._last
        due = self._since > 0 and (self._since >= ROWS or waited > self._seconds) and waited > SHARE * self._cost
        if due:
            self._snapshot()
        return due

    def _snapshot(self) -> None:
        start = time.monotonic()
        self._store.snapshot(self._seq, to_bytes(self))
        self._since, self._last = 0, time.monotonic()
        self._cost = self._last - start

    def _keep(self) -> None:
        self._ahead = True
        self._code = self._code | {"strategy": getattr(self._learner, "strategy", None)}
        self._snapshot()

    def _reload(self, upto: float = math.inf) -> None:
        """The state of the file, in place of one that may be ahead of it; the log is applied up to a row, or to its end."""
        found = _newest_state(self._store, self._code)
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

    def _made(self, id_: str) -> Decision | None:
        found = self._store.decision(id_)
        return None if found is None else decision_of(found)

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

    def _absorb(self) -> int:
        """Apply the next rows that others wrote, or that came after the snapshot; returns how many."""
        if self._store.last() <= self._seq:
            return 0
        rows = self._store.rows(self._seq, CHUNK)
        for row in rows:
            self._apply(row)
            self._since += 1
        return len(rows)

    def _apply(self, row: Row) -> None:
        """Apply a row; one that cannot be applied is set aside."""
        try:
            change = self._read(row)
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
        self._store.set_aside(row.seq, reason)
        self._seq = row.seq

    def _read(self, row: Row) -> Callable[[], Any]:
        """Check a row, as the call that wrote it is checked; returns what applies it."""
        if row.kind == ASIDE:
            return _nothing
        data = json.loads(row.data) if row.data else {}
        if row.kind == "decide" and row.id is not None:
            request, shown = self._request_of(row, data), data["shown"]
            if not shown or any(item not in request.names for item in shown):
                raise InvalidValue(f"it shows {shown!r}, which was not on offer")
            return partial(self._repeat, row.id, request, shown, data)
        if row.kind == "activate" and row.id is not None:
            return partial(self._activate, row.id, _number(row.at))
        if row.kind in ("reward", "replace") and row.id is not None:
            return self._read_reward(row.id, row, data)
        if row.kind == "observe":
            request, r, w = self._request_of(row, data), _number(row.reward), _number(row.weight)
            self._learner.accepts([None], [r], w)
            return partial(self._observe, request, r, w)
        if row.kind == "expire":
            return partial(self._expire, _number(row.at), row.reward)
        if row.kind == "drop":
            return partial(self._drop, json.loads(row.item or "null"))
        if row.kind == "forget":
            name = json.loads(row.item or "null")
            self._learner.can_forget(name)
            return partial(self._forget, name)
        raise InvalidValue(f"a row of kind {row.kind!r} is not known to this version")

    def _request_of(self, row: Row, data: Any) -> Request:
        names, rows, context = data["names"], data["rows"], data["context"]
        offer = self._learner.read(names, rows, context, named=data.get("named", True) is not False)
        return Request(
            names,
            rows,
            context,
            offer,
            _number(row.at),
            bool(data["given"]),
            len(data.get("shown", [0])),
            data.get("first"),
        )

    def _repeat(self, id_: str, request: Request, shown: list[Any], data: dict[str, Any]) -> None:
        """A decision that has been made: everything `_decide` changes, with its choice given."""
        agreed = data["would"] == shown if "would" in data else None
        self.__dict__.update(self._after(request, self._tick + 1, "decisions", agreed))
        placed = self._place(request.offer)
        self._learner.repeat(placed, len(shown))
        memos = [self._learner.memo(placed, request.names.index(item)) for item in shown]
        since = DEFERRED if "defer" in data else None
        opened = Open(self._tick, request.at, memos, since, data.get("learn", True), law_of(request, data))
        if self._challengers:
            opened = self._asked(request, id_, [request.names.index(item) for item in shown], opened)
        self._pending.put(id_, opened)

    def _read_reward(self, id_: str, row: Row, data: Any) -> Callable[[], Any]:
        rewards, weight = [math.nan if r is None else float(r) for r in data["rewards"]], _number(row.weight)
        found: Open | Closed | Logged | None = self._pending.open.get(id_)
        if found is None and "decision" in data:
            found = read_logged(data["decision"], self._learner, clock=False)
        if found is None and row.kind == "replace":
            found = self._pending.closed.get(id_)
        if found is None or (isinstance(found, Closed) and found.open is None):
            return self._unmatched  # expired or dropped before it came
        self._check_reward(found, rewards, weight)
        return partial(self._answered, id_, found, rewards, weight)

    def _unmatched(self) -> None:
        self._counts["unmatched"] += 1


def _nothing() -> None:
    """What a row that was set aside does."""


def _number(value: float | None) -> float:
    if value is None:
        raise InvalidValue("it has no number where one must be; was it changed?")
    return value


# ---------------------------------------------------------------------------------------------------------------- opening


def open_durable(path: Any, settings: dict[str, Any]) -> Durable:
    """The bandit in a file, made if it is not there."""
    name, sync, damaged = as_path(path), settings.pop("sync", "normal"), settings.pop("damaged", "refuse")
    start = _start(settings.pop("start", None), settings)
    if sync not in ("normal", "full"):
        raise InvalidValue(f"sync = {said(sync)} is not allowed; it must be 'normal' or 'full'")
    if damaged not in DAMAGED:
        raise InvalidValue(f"damaged = {said(damaged)} is not allowed; it must be 'refuse' or 'set aside'")
    asked = Durable(**settings)
    held = take_lock(f"{os.path.realpath(name)}.lock")
    if held is None:
        raise HasLearner(f"{name} is open for writing already; one process learns, others use Bandit.follow")
    try:
        store = SQLiteStore(name, sync=sync, learner=True)
    except BaseException:
        held.close()
        raise
    return open_with(store, held, asked, settings, damaged, start)


def open_with(
    store: Store,
    held: Any,
    asked: Durable,
    settings: dict[str, Any],
    damaged: str = "refuse",
    start: Durable | None = None,
) -> Durable:
    """The bandit in a store, made if it is not there; `held` is the lock of its learner, which is let go with `close()`."""
    try:
        bandit = _opened(store, asked, settings, start)
        bandit._held = held
        _absorb_all(bandit, damaged)
        store.settle()
    except BaseException:
        with contextlib.closing(held):
            store.close()
        raise
    return bandit


def _start(given: Any, settings: dict[str, Any]) -> Durable | None:
    """What a file that is made now begins with: a saved bandit, or a copy of one in memory."""
    if given is None:
        return None
    if isinstance(given, Bandit):
        with given._turn():
            data, name = to_bytes(given), repr(given)
    else:
        path = pathlib.Path(as_path(given))
        try:
            data, name = path.read_bytes(), str(path)
        except OSError as problem:
            raise CannotRead(f"{path} cannot be read: {problem.strerror}") from None
    return from_bytes(data, name, kind=Durable, **_code(settings))


def _opened(store: Store, asked: Durable, settings: dict[str, Any], start: Durable | None = None) -> Durable:
    """One transaction: tables, first snapshot and claim are made together, or a process that is killed leaves nothing."""
    code = _code(settings)
    with store.transaction():
        store.migrate()
        store.claim()
        found = _newest_state(store, code)
        bandit = found[1] if found is not None else start or asked
        _same_settings(asked, bandit, settings, store.name)
        bandit._store, bandit._code = store, code
        bandit._seq = 0 if found is None else found[0]
        bandit._last = time.monotonic()
        if found is None:
            bandit._snapshot()
    return bandit


def _newest_state(store: Store, code: dict[str, Any]) -> "tuple[int, Durable] | None":
    """The newest snapshot that can be read, and its row; of an earlier learner's only the settings, so that the log is learned again."""
    try:
        return store.state(lambda data: from_bytes(data, store.name, kind=Durable, **code))
    except EarlierLearner:
        found = store.state(lambda data: from_bytes(data, store.name, kind=Durable, again=True, **code))
        return None if found is None else (0, found[1])


def _absorb_all(bandit: Durable, damaged: str) -> None:
    """Apply the log up to its end; nobody is told of drift that was seen before the file was closed."""
    done = False
    while not done:
        with bandit._store.transaction(learner=True):
            try:
                done = bandit._absorb() == 0
            except Damaged as problem:
                if damaged == "refuse":
                    raise
                LOG.warning("row %d of %s is set aside: %s", problem.seq, bandit._store.name, problem)
                bandit._store.set_aside(problem.seq, "damaged")
                continue
            bandit._snapshot_if_due()
    bandit._unreported.clear()
    bandit._ahead = False


def _code(settings: dict[str, Any]) -> dict[str, Any]:
    """What a file cannot hold."""
    features = settings.get("features")
    return {
        "features": None if isinstance(features, str) else features,
        "strategy": settings.get("strategy"),
        "on_drift": settings.get("on_drift"),
    }


def _same_settings(asked: Bandit, found: Bandit, settings: dict[str, Any], path: str) -> None:
    for name in settings:
        if name in asked._config and asked._config[name] != found._config[name]:
            raise InvalidValue(
                f"{path} was made with {name}={found._config[name]!r}, not {asked._config[name]!r}; leave it out, or use another file"
            )
