"""The common base of the learner and its followers: a bandit whose decisions and rewards are rows of a store.

Users need `Bandit` alone. A service needs more of a bandit that it shares among requests: many calls in one transaction, a reward that is
checked before anything is written, the decision behind an id. The public methods of `StoredBandit` are this interface; `durable.Durable`
(the learner) and `follower.Follower` (all others) implement it.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any, Self

from .arguments import Moment, Path
from .bandit import Bandit
from .bulk.requests import RefusedAt, at_once, decide_many
from .changes import Answer, Request, Wanted
from .decision import Decision
from .explanation import Case
from .rows import decided, decision_of, last_decided
from .saving import to_bytes
from .store import Store


class StoredBandit(Bandit, ABC):
    """A bandit with a store, which other processes use too."""

    _writes_rows = True
    _store: Store
    _code: dict[str, Any]  # what a store cannot hold: functions
    _explore: float | None = None  # what `set_explore` said
    _seq: int  # the last row of the log that the state holds
    _inside = False  # a transaction: calls inside a call belong to it

    # --------------------------------------------------------------------------------------------------------- for services

    @property
    def store(self) -> Store:
        """The log and the snapshots."""
        return self._store

    @abstractmethod
    def transaction(self) -> AbstractContextManager[None]:
        """Many calls as one: what they write is kept together, or not at all, and an error in one undoes all."""

    def made(self, id_: str) -> Decision | None:
        """The decision with an id, whichever process made it; None if there is none."""
        return self._made(id_)

    def made_of(self, ids: Sequence[str]) -> dict[str, Decision]:
        """Those decisions with these ids that there are, by their ids."""
        return {row.id: decision_of(row) for row in self._store.decisions(ids) if row.id is not None}

    def decide_many(self, wanted: Sequence[Wanted]) -> list[Decision]:
        """Decide all in one transaction, each as `decide` would, or none; `RefusedAt` names the first that is refused."""
        with self.transaction():
            self.renew()
            return decide_many(self, wanted)

    def decide_at_once(self, wanted: Sequence[Wanted]) -> list[Decision] | None:
        """The same, where that takes one compiled call; None, and nothing changed, where it does not, or an id is not new."""
        ids = [one.id for one in wanted if one.id is not None]
        with self.transaction():
            self.renew()
            if len({*ids}) < len(ids) or self._store.decisions(ids):
                return None
            return at_once(self, wanted)

    @abstractmethod
    def will_change(self) -> None:
        """The state in memory is about to change, before the rows that say so are written."""

    @abstractmethod
    def note_decisions(self, requests: Sequence[Request], made: Sequence[Decision]) -> None:
        """Write decisions down, in one statement."""

    def checked(self, decision: Any, reward: Any, *, at: Moment = None, weight: float = 1.0) -> Answer:
        """A reward that can be taken, or an error that says why not; changes nothing, and writes nothing."""
        return self._answer(decision, reward, at, weight)

    def take(self, given: Answer) -> bool:
        """Write a reward that was checked in the same transaction. Returns whether it is learned: a second one may be ignored."""
        return self._take(given)

    def report_drift(self) -> None:
        """Call `on_drift` with the drifts that were found in a transaction; outside of one."""
        self._report_drift()

    def set_explore(self, share: float) -> None:
        """Explore by another share from now on; the store keeps the one it was made with."""
        self._explore = float(share)
        self._config["explore"] = self._explore

    def position(self) -> tuple[int, int]:
        """Decisions made and the newest row: the same before and after a call that changed nothing."""
        return self._tick, self._store.last()

    def lag(self) -> int:
        """Rows of the log that the state does not hold yet."""
        return max(0, self._store.last() - self._seq)

    def to_bytes(self) -> bytes:
        """What it knows, as the file of `save`."""
        with self._turn():
            return to_bytes(self)

    def delete_log(self) -> int:
        """Delete the rows up to the newest snapshot, but for decisions that wait for a reward. Returns how many."""
        with self.transaction():
            return self._store.delete_learned()

    def renew(self) -> None:
        """Use the newest snapshot, if this process does not learn itself."""

    @abstractmethod
    def close(self) -> None:
        """Let the store go."""

    # --------------------------------------------------------------------------------------------------- instead of `Bandit`'s

    def _whole(self) -> AbstractContextManager[None]:
        return self.transaction()

    def _made(self, id_: str) -> Decision | None:
        found = self._store.decision(id_)
        return None if found is None else decision_of(found)

    def _decide_wanted(self, wanted: Sequence[Wanted]) -> list[Decision]:
        """Of a frame, whose rows have been checked."""
        try:
            return self.decide_many(wanted)
        except RefusedAt as refused:
            raise refused.problem from None

    def _decided(self, id_: str) -> Decision | Case:
        """A decision by its id, from the log."""
        return self._recent.get(id_) or decided(self._store, id_)

    def _recent_decisions(self) -> Sequence[Any]:
        """The last decisions, whoever made them."""
        return last_decided(self._store)

    def backup(self, path: Path) -> None:
        """Write a consistent copy to another file, whole or not at all, while this one is in use."""
        with self._lock:
            self._store.backup(path)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()
