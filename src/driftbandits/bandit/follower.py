"""A bandit that decides with the snapshots of another process, which learns (`durable`).

Any process may report the reward of any decision; a unique index of the log ensures that a decision has one reward. A follower checks what
it writes against the newest snapshot before it acknowledges it, with the code that the learner will apply it with. Only the learner knows
what has changed since the snapshot: a row that it cannot apply is set aside and counted (`info()["refused"]`).
"""

import contextlib
import json
import math
import secrets
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Self

from ..errors import CannotRead, InvalidState, InvalidValue, positive, said
from ..io.files import as_path
from .arguments import Path
from .changes import Answer, Request
from .clock import moment
from .decision import Decision
from .pending import DONE, AlreadyRewarded, NotActive, Open, UnknownDecision
from .rewards import as_weight
from .rows import decide_row, reward_row
from .saving import from_bytes
from .sqlite_store import SQLiteStore
from .store import Repeated, Row, Store, as_id
from .stored import StoredBandit

SHARE = 20.0  # snapshots are read for at most 1/20 of the time: with many decisions that wait they are large


class Follower(StoredBandit):
    """`Bandit.follow`: decides with the newest snapshot; what it does the learner absorbs."""

    _refresh = 5.0
    _looked = 0.0
    _cost = 0.0  # seconds that reading the newest snapshot took
    _seq = -1
    _elsewhere = None  # functions run where the learner is
    closed = False

    def decide(self, items: Any, context: Any = None, **how: Any) -> Decision:
        """Choose with the newest snapshot; the learner counts it when it next does anything."""
        with self._lock:
            self.renew()
            try:
                return super().decide(items, context, **how)
            except Repeated:  # another process made a decision with this id a moment ago
                made = self._made(how["id"])
                assert made is not None
                return made

    def activate(self, decision: Any) -> None:
        """Say that a deferred decision was shown, whichever process made it."""
        with self._lock:
            row, data = self._row_of(getattr(decision, "id", decision))
            if "defer" in data:
                with self.transaction(), contextlib.suppress(Repeated):
                    self._store.append("activate", id=row.id, at=moment(None))

    def _row_of(self, given: Any) -> tuple[Row, dict[str, Any]]:
        id_ = as_id(given)
        row = self._store.decision(id_)
        if row is None:
            raise UnknownDecision(f"no decision {said(id_)} is in {self._store.name}; give the id that decide returned")
        return row, json.loads(row.data or "{}")

    def _note_decision(self, request: Request, decision: Decision) -> None:
        self._pending.give_up(decision.id)  # rewards are matched by the learner
        with self.transaction():
            self._store.append("decide", **decide_row(request, decision))

    def will_change(self) -> None:
        """Nothing has to be undone: the next snapshot replaces whatever the follower knows beyond the present one."""

    def note_decisions(self, requests: Sequence[Request], made: Sequence[Decision]) -> None:
        """Write decisions down, in one statement; the learner counts them when it next does anything."""
        for decision in made:
            self._pending.give_up(decision.id)
        self._store.append_all("decide", [*map(decide_row, requests, made)])

    def _take(self, given: Answer) -> bool:
        """Hand a reward to the learner: whichever process made the decision, it is counted once."""
        row = reward_row(given)
        with self.transaction():
            try:
                self._store.append("reward", **row)
            except Repeated:
                return self._repeated(given, row)
        return given.learn

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Many calls as one: what they write is kept together, or not at all."""
        with self._lock:
            if self._inside:
                yield
                return
            try:
                self._inside = True
                with self._store.transaction():
                    yield
                self._inside = False
            except BaseException:
                self._inside = False
                raise

    def _answer(self, decision: Any, reward: Any, at: Any, weight: Any) -> Answer:
        given: Any = decision.get("id") if isinstance(decision, dict) else getattr(decision, "id", decision)
        w = as_weight(weight)
        row, data = self._row_of(given)
        id_, seq = row.id or "", row.seq
        if "defer" in data and not self._store.activated(id_):
            raise NotActive(
                f"decision {said(id_)} was deferred; call activate when it is shown, and then give its reward"
            )
        rewards = self._rewards(reward, data["shown"])
        known = [r for r in rewards if not math.isnan(r)]
        if w != 0.0:
            late = len(known) > 1 or self._store.decided_after(seq)
            self._learner.accepts([None] * len(known), known, w, late=late)
        return Answer(id_, None, rewards, w, None if at is None else moment(at), data.get("learn", True))

    def _repeated(self, given: Answer, row: dict[str, Any]) -> bool:
        if self._config["on_repeat"] == "error":
            raise AlreadyRewarded(f"decision {given.id!r} has had its reward; a decision is learned once") from None
        if self._config["on_repeat"] == "replace":
            self._check_reward(DONE, given.rewards, given.weight)
            self._store.append("replace", **row)
            return True
        return False

    def look_now(self) -> None:
        """Let the next call look for a newer snapshot, even if it looked a moment ago."""
        self._looked = 0.0

    def renew(self) -> None:
        """Use the newest snapshot, if it is time to look for it."""
        start = time.monotonic()
        if self._looks():
            found = self._store.state(self._read)
            if found is not None:
                self._use(*found, time.monotonic() - start)

    def renew_aside(self) -> None:
        """The same in a thread of its own: calls do not wait while the snapshot is read, which takes long if many decisions wait."""
        start = time.monotonic()
        with self._lock:
            found = self._store.state(bytes) if not self.closed and self._looks() else None
        if found is None:
            return
        try:
            read = self._read(found[1])
        except CannotRead:
            self.look_now()  # the next call takes the one before
            return
        with self._lock:
            if not self.closed and found[0] > self._seq:
                self._use(found[0], read, time.monotonic() - start)

    def _looks(self) -> bool:
        """Whether it is time to look for a newer snapshot, and there is one."""
        now = time.monotonic()
        if now - self._looked < max(self._refresh, SHARE * self._cost):
            return False
        self._looked = now
        return self._store.newest() != self._seq

    def _read(self, data: bytes) -> "Follower":
        return from_bytes(data, self._store.name, kind=Follower, waiting=False, **self._code)

    def _use(self, seq: int, found: "Follower", cost: float) -> None:
        names = ("_learner", "_tick", "_newest", "_counts", "_events", "_ledger", "_challengers", "_config", "_clocked")
        self.__dict__ |= {"_seq": seq} | {name: getattr(found, name) for name in names}
        if self._explore is not None:
            self._config["explore"] = self._explore
        self._pending.unread, self._pending.dropped = found._pending.unread, found._pending.dropped
        self._cost = cost

    def _asked(self, request: Request, id_: str, drawn: Sequence[int], opened: Open) -> Open:  # noqa: ARG002
        return opened  # the learner asks them, when it absorbs the decision

    def _become(self, after: dict[str, Any]) -> None:  # noqa: ARG002
        raise InvalidState(f"a follower has no challengers of its own: the process that opened {self._store.name} has")

    def _note(self, kind: str, **_: Any) -> None:
        raise InvalidState(f"a follower cannot {kind}: the process that opened {self._store.name} does")

    def fit(self, data: Any, **columns: Any) -> Self:  # noqa: ARG002
        """A follower learns nothing itself."""
        raise InvalidState(f"a follower cannot fit: the process that opened {self._store.name} does")

    def info(self) -> dict[str, Any]:
        """Quantities to monitor, as of the newest snapshot."""
        with self._lock:
            self.renew()
            return {**super().info(), "pending": self._pending.unread, "refused": self._store.refused()}

    def close(self) -> None:
        """Let the file go."""
        self.closed = True
        self._store.close()

    def __reduce__(self) -> Any:
        """A file is opened in each process."""
        raise InvalidState(f"a follower of {self._store.name} cannot be copied or pickled; call Bandit.follow there")


def open_follower(path: Path, refresh: Any, code: dict[str, Any]) -> Follower:
    """A decider with the snapshots of a file."""
    unknown = [name for name in code if name not in ("features", "strategy", "on_drift")]
    if unknown:
        raise InvalidValue(
            f"{unknown[0]} is not allowed with Bandit.follow, whose settings are in the file; only features, strategy and "
            "on_drift may be given, which it cannot hold"
        )
    seconds = positive("refresh", refresh, "it is the number of seconds between looks at the snapshot")
    return follow_with(SQLiteStore(as_path(path), learner=False), seconds, code)


def follow_with(store: Store, seconds: float, code: dict[str, Any]) -> Follower:
    """A decider with the snapshots of a store."""
    try:
        found = store.state(lambda data: from_bytes(data, store.name, kind=Follower, waiting=False, **code))
    except BaseException:
        store.close()
        raise
    if found is None:
        store.close()
        raise InvalidState(f"{store.name} has no snapshot yet; is it being opened?")
    seq, bandit = found
    bandit._store, bandit._code, bandit._seq = store, code, seq
    bandit._refresh = seconds
    bandit._looked = time.monotonic()
    bandit._chance = secrets.randbits(64)  # else it would draw what the learner draws
    return bandit
