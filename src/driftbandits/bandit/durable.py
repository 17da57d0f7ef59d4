"""A bandit whose every call is a transaction, and others that decide with its snapshots.

`Durable` learns: alone, from the log that it and its followers write. It applies rows in their order, so a process that is killed at
any moment finds, when it is opened again, the state it
would have had. `Follower` decides with the newest snapshot and appends to the log; that a decision has one reward is a unique index of
the table.
"""

import json
import math
import secrets
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..errors import InvalidState, InvalidValue, positive
from ..files import take_lock
from .bandit import Bandit
from .clock import moment
from .core import Answer, Request
from .decision import Decision
from .logged import Logged, read_logged
from .pending import AlreadyRewarded, Closed, Open, UnknownDecision
from .rewards import as_weight
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


class Follower(Bandit):
    """`Bandit.follow`: decides with the newest snapshot; what it does the learner absorbs."""

    _store: Store
    _refresh = 5.0
    _looked = 0.0
    _seq = -1
    _code: dict[str, Any]

    def decide(self, items: Any, context: Any = None, *, at: Any = None, mask: Any = None, k: int = 1) -> Decision:
        """Choose with the newest snapshot; the learner counts it when it next does anything."""
        with self._lock:
            self._renew()
            return super().decide(items, context, at=at, mask=mask, k=k)

    def _note_decision(self, request: Request, decision: Decision) -> None:
        self._pending.open.clear()  # rewards are matched by the learner
        with self._store.transaction():
            self._store.append("decide", **decide_row(request, decision))

    def reward(self, decision: Any, reward: Any, *, at: Any = None, weight: float = 1.0) -> None:
        """Hand a reward to the learner: whichever process made the decision, it is counted once."""
        with self._lock:
            given = self._answer(decision, reward, at, weight)
            row = reward_row(given)
            with self._store.transaction():
                try:
                    self._store.append("reward", **row)
                except sqlite3.IntegrityError:
                    self._repeated(given.id, row)

    def _answer(self, decision: Any, reward: Any, at: Any, weight: Any) -> Answer:
        id_: Any = decision.get("id") if isinstance(decision, dict) else getattr(decision, "id", decision)
        w = as_weight(weight)
        shown = self._store.decision(id_)
        if shown is None:
            raise UnknownDecision(f"no decision {id_!r} is in {self._store.path}; give the id that decide returned")
        return Answer(id_, None, self._rewards(reward, shown), w, None if at is None else moment(at))

    def _repeated(self, id_: str, row: dict[str, Any]) -> None:
        if self._config["on_repeat"] == "error":
            raise AlreadyRewarded(f"decision {id_!r} has had its reward; a decision is learned once") from None
        if self._config["on_repeat"] == "replace":
            self._store.append("replace", **row)

    def _renew(self) -> None:
        """Look for a newer snapshot, if it is time."""
        now = time.monotonic()
        if now - self._looked < self._refresh:
            return
        self._looked = now
        if self._store.newest() == self._seq:
            return
        found = self._store.state(lambda data: from_bytes(data, self._store.path, kind=Follower, **self._code))
        if found is not None:
            self._seq, fresh = found
            self._learner, self._tick, self._newest, self._counts = (
                fresh._learner,
                fresh._tick,
                fresh._newest,
                fresh._counts,
            )

    def _note(self, kind: str, **_: Any) -> None:
        raise InvalidState(f"a follower cannot {kind}: the process that opened {self._store.path} does")

    def close(self) -> None:
        """Let the file go."""
        self._store.close()

    def __enter__(self) -> "Follower":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()


# ------------------------------------------------------------------------------------------------------------------- rows


def request_data(request: Request) -> dict[str, Any]:
    """What was on offer."""
    return {"names": request.names, "rows": [*request.rows], "context": request.context, "given": request.given}


def decide_row(request: Request, decision: Decision) -> dict[str, Any]:
    """A decision as a row of the log."""
    data = request_data(request)
    data["shown"] = decision.items
    data["propensities"] = decision._p.tolist()
    return {
        "id": decision.id,
        "at": decision.at,
        "item": json.dumps(decision.item),
        "propensity": decision.propensity,
        "data": data,
    }


def reward_row(given: Answer) -> dict[str, Any]:
    """A reward as a row of the log, at the time the user gave or now; a time that was given is in the data too."""
    known = [r for r in given.rewards if not math.isnan(r)]
    data: dict[str, Any] = {"rewards": [None if math.isnan(r) else r for r in given.rewards]}
    if isinstance(given.found, Logged):
        data["decision"] = given.found.to_dict()
    if given.came is not None:
        data["at"] = given.came
    return {
        "id": given.id,
        "at": time.time() if given.came is None else given.came,
        "reward": sum(known) / len(known) if known else None,
        "weight": given.weight,
        "data": data,
    }


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


def open_follower(path: Any, refresh: Any, code: dict[str, Any]) -> Follower:
    """A decider with the snapshots of a file."""
    store = Store(path, sync="normal", create=False)
    found = store.state(lambda data: from_bytes(data, store.path, kind=Follower, **code))
    if found is None:
        raise InvalidState(f"{path} has no snapshot yet; is it being opened?")
    seq, bandit = found
    bandit._store, bandit._code, bandit._seq = store, code, seq
    bandit._refresh = positive("refresh", refresh, "it is the number of seconds between looks at the snapshot")
    bandit._looked = time.monotonic()
    bandit._chance = secrets.randbits(64)  # else it would draw what the learner draws
    bandit._pending.closed.clear()
    return bandit  # type: ignore[no-any-return]


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
