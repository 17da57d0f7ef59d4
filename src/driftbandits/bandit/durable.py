"""A bandit whose every call is a transaction.

`Durable` learns: alone, from the log that it and its followers (`follower`) write. It applies rows in their order, so a process that is
killed at any moment finds, when it is opened again, the state it would have had.
"""

import json
import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..errors import InvalidState, InvalidValue
from ..files import take_lock
from .bandit import Bandit
from .core import Answer, Request
from .decision import Decision
from .logged import Logged, read_logged
from .pending import Closed, Open
from .rows import decide_row, request_data, reward_row
from .saving import from_bytes, to_bytes
from .store import Row, Store

ROWS, SECONDS = 1000, 5.0  # a snapshot is taken after so many rows, or so long …
SHARE = 20.0  # … but for at most 1/20 of the time


class Durable(Bandit):
    """`Bandit.open`: learns from the log in its file."""

    _store: Store
    _held: Any  # the lock between processes
    _seq = 0  # the last row applied
    _depth = 0
    _noted = False
    _since = 0  # rows since the last snapshot
    _last = 0.0  # when that was
    _cost = 0.0  # how long it took
    _code: dict[str, Any]

    @contextmanager
    def _turn(self) -> Iterator[None]:
        with self._lock:
            if self._depth:  # a call inside a call: the same transaction
                yield
                return
            if self._held is None:
                raise InvalidState(f"{self._store.path} is closed; open it again with Bandit.open")
            self._depth, self._noted = 1, False
            try:
                with self._store.transaction():
                    self._absorb()
                    yield
                    self._snapshot_if_due()
            except BaseException:
                if self._noted:  # the row is gone, so what it taught must go
                    self._reload()
                raise
            finally:
                self._depth = 0

    def absorb(self) -> int:
        """Learn what followers have written since the last call of any method; returns the number of rows."""
        with self._lock:
            before = self._seq
            with self._turn():
                return self._seq - before

    def close(self) -> None:
        """Take a snapshot and let the file go."""
        with self._lock:
            if self._held is None:
                return
            with self._turn():
                self._snapshot()
            self._store.close()
            self._held.close()
            self._held = None

    def __enter__(self) -> "Durable":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    # ---------------------------------------------------------------------------------------------------------- snapshots

    def _snapshot_if_due(self) -> None:
        waited = time.monotonic() - self._last
        if self._since and (self._since >= ROWS or waited > SECONDS) and waited > SHARE * self._cost:
            self._snapshot()

    def _snapshot(self) -> None:
        start = time.monotonic()
        self._store.snapshot(self._seq, to_bytes(self))
        self._since, self._last = 0, time.monotonic()
        self._cost = self._last - start

    def _reload(self) -> None:
        """The state of the file, in place of one that is ahead of it."""
        found = self._store.state(lambda data: from_bytes(data, self._store.path, kind=Durable, **self._code))
        assert found is not None
        self._seq, fresh = found
        for name in ("_pending", "_tick", "_counts", "_newest", "_given", "_events", "_learner"):
            setattr(self, name, getattr(fresh, name))
        self._absorb()

    # ----------------------------------------------------------------------------------------------------------- the log

    def _append(self, kind: str, **row: Any) -> None:
        self._noted = True
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
        elif kind == "expire":
            row = {"at": row["before"], "reward": row["reward"]}
        else:
            row = {"item": json.dumps(row["item"])}
        self._append(kind, **row)

    def _absorb(self) -> None:
        """Apply the rows that others wrote, or that came after the snapshot."""
        for row in self._store.rows(self._seq):
            self._apply(row)
            self._seq = row.seq
            self._since += 1

    def _apply(self, row: Row) -> None:
        data = json.loads(row.data) if row.data else {}
        if row.kind == "decide":
            assert row.id is not None
            self._repeat(row.id, self._request_of(row, data), data["shown"])
        elif row.kind in ("reward", "replace"):
            assert row.id is not None
            self._apply_reward(row.id, row, data)
        elif row.kind == "observe":
            self._observe(self._request_of(row, data), _number(row.reward), _number(row.weight))
        elif row.kind == "expire":
            self._expire(_number(row.at), row.reward)
        elif row.kind == "drop":
            self._drop(json.loads(row.item or "null"))
        else:
            raise InvalidValue(
                f"row {row.seq} of {self._store.path} is of kind {row.kind!r}, which this version does not know"
            )

    def _request_of(self, row: Row, data: Any) -> Request:
        names, rows, context = data["names"], data["rows"], data["context"]
        offer = self._learner.read(names, rows, context)
        return Request(names, rows, context, offer, _number(row.at), data["given"], len(data.get("shown", [0])))

    def _repeat(self, id_: str, request: Request, shown: list[Any]) -> None:
        """A decision that has been made: everything `_decide` changes, with its choice given."""
        self._clock(request)
        self._tick += 1
        self._counts["decisions"] += 1
        placed = self._place(request.offer)
        self._learner.repeat(placed, len(shown))
        memos = [self._learner.memo(placed, request.names.index(item)) for item in shown]
        self._pending.put(id_, Open(self._tick, request.at, memos))

    def _apply_reward(self, id_: str, row: Row, data: Any) -> None:
        rewards = [math.nan if r is None else float(r) for r in data["rewards"]]
        found: Open | Closed | Logged | None = self._pending.open.get(id_)
        if found is None and "decision" in data:
            found = read_logged(data["decision"], self._learner)
        if found is None and row.kind == "replace":
            found = self._pending.closed.get(id_)
        if found is None or (isinstance(found, Closed) and found.open is None):
            self._counts["unmatched"] += 1  # expired or dropped before it came
            return
        self._reward(id_, self._admit(found), rewards, _number(row.weight))


def _number(value: float | None) -> float:
    if value is None:
        raise InvalidValue("a row of the log has no number where one must be; was it changed?")
    return value


# ---------------------------------------------------------------------------------------------------------------- opening


def open_durable(path: Any, settings: dict[str, Any]) -> Durable:
    """The bandit in a file, made if it is not there."""
    sync = settings.pop("sync", "normal")
    if sync not in ("normal", "full"):
        raise InvalidValue(f"sync = {sync!r} is not allowed; it must be 'normal' or 'full'")
    held = take_lock(f"{path}.lock")
    if held is None:
        raise InvalidState(f"{path} is open for writing already; one process learns, others use Bandit.follow")
    try:
        asked = Durable(**settings)
        store = Store(path, sync=sync, create=True)
        code = _code(settings)
        with store.transaction():
            found = store.state(lambda data: from_bytes(data, store.path, kind=Durable, **code))
            bandit = asked if found is None else found[1]
            _same_settings(asked, bandit, settings, store.path)
            bandit._store, bandit._held, bandit._code = store, held, code
            bandit._seq = 0 if found is None else found[0]
            bandit._last = time.monotonic()
            if found is None:
                bandit._snapshot()
            bandit._absorb()
    except BaseException:
        held.close()
        raise
    return bandit


def _code(settings: dict[str, Any]) -> dict[str, Any]:
    """What a file cannot hold."""
    features = settings.get("features")
    return {
        "features": features if callable(features) else None,
        "strategy": settings.get("strategy"),
        "on_drift": settings.get("on_drift"),
    }


def _same_settings(asked: Bandit, found: Bandit, settings: dict[str, Any], path: str) -> None:
    for name in settings:
        if name in asked._config and asked._config[name] != found._config[name]:
            raise InvalidValue(
                f"{path} was made with {name}={found._config[name]!r}, not {asked._config[name]!r}; leave it out, or use another file"
            )
