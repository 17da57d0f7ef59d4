"""A bandit that decides with the snapshots of another process, which learns (`durable`).

Whose decision it was does not matter: that a decision has one reward is a unique index of the log.
"""

import secrets
import sqlite3
import time
from typing import Any

from ..errors import InvalidState, positive
from .bandit import Bandit
from .clock import moment
from .core import Answer, Request
from .decision import Decision
from .pending import AlreadyRewarded, UnknownDecision
from .rewards import as_weight
from .rows import decide_row, reward_row
from .saving import from_bytes
from .store import Store


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
