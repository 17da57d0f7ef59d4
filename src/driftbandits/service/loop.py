"""One open loop: a bandit that learns, or one that follows the learner of another process, and the settings that a service adds.

Background threads call `tend` and `write_if_due` a few times a second. In the process that learns, `tend` applies the rows that
other processes wrote and expires decisions that waited too long for their reward. In a process that follows, `tend` takes over learning if
the lock of the learner is free. The system releases that lock when the learner dies, so no supervisor is needed.
"""

import asyncio
import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar, cast

from ..bandit.decision import Decision
from ..bandit.durable import Durable
from ..bandit.follower import Follower
from ..bandit.opening import HasLearner
from ..bandit.pending import AlreadyRewarded
from ..bandit.store import Busy, Superseded
from ..bandit.stored import StoredBandit
from ..errors import DriftBanditsError, InvalidState
from ..util.fair_lock import FairLock
from . import requested
from .catalogue import Catalogue, Entry
from .changes import Job, Waiting, tell, together
from .models import Decide, Reward
from .problems import Problem
from .settings import LoopSettings

T = TypeVar("T")
B = TypeVar("B", bound=StoredBandit)
PATIENCE = 10.0  # seconds to wait for a loop that another process is just making
EXPIRE_EVERY = 0.5  # seconds
DIGITS = 20  # of an item's name that is a number
BUSY = 5.0  # seconds after its last use that a loop is tended as often as possible
IDLE_EVERY = 1.0  # seconds
FEW = 64  # decisions and rewards that are made in the thread of the event loop: all other requests wait meanwhile


class Loop:
    """An open loop. Any thread may call it; calls are served one at a time."""

    def __init__(self, name: str, catalogue: Catalogue) -> None:
        self.name, self.catalogue = name, catalogue
        self.used = time.monotonic()
        self._lock = FairLock()
        self._closed = False
        self._waiting = Waiting()
        self._expired = self._learned = self._tended = 0.0  # when
        self._entry = catalogue.entry(name)
        self._wait = self._entry.settings.wait_seconds()
        self._bandit: StoredBandit = self._opened()

    @property
    def learns(self) -> bool:
        """Whether this process is the learner."""
        return isinstance(self._bandit, Durable)

    @property
    def settings(self) -> LoopSettings:
        """The settings as of the last call."""
        return self._entry.settings

    # ------------------------------------------------------------------------------------------------------------ opening

    def _opened(self) -> StoredBandit:
        give_up = time.monotonic() + PATIENCE
        while True:
            try:
                return self._with_settings(self.catalogue.learner(self.name, self._entry.settings))
            except HasLearner:
                pass
            try:
                return self._with_settings(self.catalogue.follower(self.name))
            except (InvalidState, DriftBanditsError):
                if time.monotonic() > give_up:
                    raise
                time.sleep(0.02)  # its learner is making the file now, or has died: then the next attempt learns

    def _with_settings(self, bandit: B) -> B:
        bandit.set_explore(self._entry.settings.explore)
        return bandit

    @contextlib.contextmanager
    def _turn(self) -> Iterator[StoredBandit]:
        """The bandit, with the settings of now."""
        with self._lock:
            self.used = time.monotonic()
            if self._closed:
                raise Closed(self.name)
            entry = self.catalogue.entry(self.name)
            if entry is not self._entry and entry.mark != self._entry.mark:
                self._renewed(entry)
            self._bandit.renew()
            yield self._bandit

    def _renewed(self, entry: Entry) -> None:
        if entry.identity != self._entry.identity:  # deleted and made anew under its old name
            self._closed = True
            self._let_go()
            raise Closed(self.name)
        self._entry, self._wait = entry, entry.settings.wait_seconds()
        self._bandit.set_explore(entry.settings.explore)

    def let_go_if_replaced(self) -> bool:
        """Whether this loop was deleted or made anew while it was called; then it is closed here, and is to be looked for again."""
        try:
            replaced = self.catalogue.entry(self.name).identity != self._entry.identity
        except Problem:  # there is none of this name any more
            replaced = True
        if replaced or self._closed:
            with self._lock:
                self._closed = True
                self._let_go()
        return self._closed

    def call(self, function: Callable[[StoredBandit], T]) -> T:
        """Call a function with the bandit. If another process has become the learner in between, it is called once more."""
        with self._turn() as bandit:
            try:
                return function(bandit)
            except Superseded:
                self._reopen()
                return function(self._bandit)

    def commit(self, function: Callable[[StoredBandit], T]) -> T:
        """Change the bandit. Calls that wait for their turn at the same time share one transaction: its commit is most of their cost."""
        job = Job(function)
        self._waiting.add(job)
        with self._lock:
            if not job.done:
                self._change()
        return cast(T, job.result())

    def queue(self, job: Job) -> bool:
        """Queue a change; returns whether a thread must be started that calls `serve`."""
        return self._waiting.add_unserved(job)

    def serve(self) -> None:
        """Carry out the queued changes, and those that are queued in the meantime."""
        while not self._waiting.served():
            with self._lock:
                self._change()

    def serve_here(self, here: asyncio.AbstractEventLoop) -> bool:
        """Make the changes that wait in the thread of an event loop, if that takes next to no time; whether none is left.

        Passing them to another thread and back costs as much as a decision. Changes that may take long are left to a thread.
        """
        if self._waiting.size() > FEW or not self._lock.enter_if_free():
            return False
        try:
            bandit = self._bandit
            if not isinstance(bandit, Durable) or not bandit.enter_if_fast():
                return False
            bandit.store.patience, patience = 0.0, bandit.store.patience
            try:
                self._change(here)
            finally:
                bandit.store.patience = patience
                bandit.leave()
        finally:
            self._lock.leave()
        return self._waiting.served()

    def _change(self, here: asyncio.AbstractEventLoop | None = None) -> None:
        jobs = self._waiting.take_all()
        try:
            self.call(lambda bandit: together(bandit, jobs))
        except BaseException as problem:
            later = [job for job in jobs if not job.done]
            if here is not None and isinstance(problem, Busy):
                self._waiting.put_back(later)
            else:
                for job in later:
                    job.fail(problem)
        tell([job for job in jobs if job.done], here)

    def refuse(self, problem: Problem, here: asyncio.AbstractEventLoop) -> None:
        """Refuse the changes that wait: no thread is left to make them."""
        jobs = self._waiting.take_all()
        for job in jobs:
            job.fail(problem)
        self._waiting.served()
        tell(jobs, here)

    def _reopen(self) -> None:
        self._let_go()
        self._bandit = self._opened()

    def _let_go(self) -> None:
        with contextlib.suppress(DriftBanditsError):
            self._bandit.close()

    def close(self) -> None:
        """Take a snapshot, if this process learns, and let the store go."""
        with self._lock:
            if not self._closed:
                self._closed = True
                self._bandit.close()

    # ----------------------------------------------------------------------------------------------------------- the calls

    def decide(self, asked: Sequence[Decide]) -> list[Decision]:
        """Decide all, in one transaction, or none."""
        return self.commit(self.deciding(asked))

    def deciding(self, asked: Sequence[Decide]) -> Callable[[StoredBandit], list[Decision]]:
        """The change that decides all, or none."""
        return requested.Deciding(asked, self.settings)

    def decide_in_turn(self, asked: Sequence[Decide]) -> list[Decision]:
        """Decide one after the other in one transaction; what one shows is not on offer in the next."""
        settings = self.settings
        return self.call(lambda bandit: requested.decide_in_turn(bandit, asked, settings))

    def delete_log(self) -> int:
        """Delete what was learned from, but for decisions that wait; what was learned stays. Returns how many rows are gone."""
        return self.call(lambda bandit: bandit.delete_log())

    def activate(self, id_: str) -> None:
        """Expect the reward of a deferred decision."""
        self.commit(lambda bandit: bandit.activate(id_))

    def reward(self, given: Sequence[Reward]) -> list[bool | DriftBanditsError]:
        """Learn rewards in one transaction; each is learned, ignored, or refused for itself."""
        return self.commit(self.rewarding(given))

    def rewarding(self, given: Sequence[Reward]) -> Callable[[StoredBandit], list[bool | DriftBanditsError]]:
        """The change that learns rewards."""
        return lambda bandit: requested.reward_all(bandit, given, self._check_wait)

    def _check_wait(self, bandit: StoredBandit, id_: str) -> None:
        """After `reward_wait` a follower refuses a reward, too: the learner may not have given up the decision yet."""
        if self._wait is None or isinstance(bandit, Durable):
            return
        made = bandit.made(id_)
        if made is not None and not made.defer and made.at < time.time() - self._wait:
            raise AlreadyRewarded(
                f"decision {id_!r} waited longer than reward_wait = {self.settings.reward_wait!r} for its reward"
            )

    def info(self) -> dict[str, Any]:
        """Quantities to monitor, and which process learns."""
        return self.call(lambda bandit: {**bandit.info(), "learner": isinstance(bandit, Durable)})

    def lag(self) -> int:
        """Rows of the log that the state of this process does not have yet."""
        with self._turn() as bandit:
            return bandit.lag()

    def explain(self, id_: str) -> dict[str, Any]:
        """Why an item was chosen."""
        return self.call(lambda bandit: bandit.explain(id_).to_dict())

    def value(self, against: str, item: str | None, alpha: float) -> dict[str, Any]:
        """What the loop earns, and what another policy would have."""

        def asked(bandit: StoredBandit) -> dict[str, Any]:
            return bandit.value(_named(bandit, against), item=_named(bandit, item), alpha=alpha).to_dict()

        return self.call(asked)

    # -------------------------------------------------------------------------------------------------------------- tending

    def tend_if_due(self) -> None:
        """Call `tend`, but at most once a second for an idle loop, because there may be a thousand of them."""
        now = time.monotonic()
        if now - max(self.used, self._learned) < BUSY or now - self._tended > IDLE_EVERY:
            self._tended = now
            bandit = self._bandit
            if isinstance(bandit, Follower):
                bandit.renew_aside()
            self.tend()

    def tend(self) -> None:
        """The work that must be done without a request."""
        with self._lock:
            if self._closed:
                return
            bandit = self._bandit
            if not isinstance(bandit, Durable):
                self._succeed()
                return
            try:
                if not self.catalogue.still_learns(self.name, bandit):
                    raise Superseded(f"loop {self.name} has another learner")
                now = time.monotonic()
                if bandit.has_work():
                    self._learned = now
                    bandit.absorb()
                if self._wait is not None and now - self._expired > EXPIRE_EVERY:
                    self._expired = now
                    self._give_up_old(bandit)
            except Superseded:
                self._reopen()

    def write_if_due(self) -> None:
        """Keep the state of now, if the newest snapshot is old, and move what was committed; other calls go on meanwhile."""
        bandit = self._bandit
        if not isinstance(bandit, Durable):
            return
        bandit.settle_aside()
        if bandit.snapshot_is_due():
            with contextlib.suppress(Superseded):  # the next call finds the new learner
                bandit.take_snapshot_aside()

    def _give_up_old(self, bandit: Durable) -> None:
        assert self._wait is not None
        if bandit.has_overdue(time.time() - self._wait):
            default = self.settings.default_reward
            bandit.expire(self._wait, None if default is None else float(default), at=time.time())

    def _succeed(self) -> None:
        """Become the learner, if there is none."""
        try:
            bandit = self.catalogue.learner(self.name, self._entry.settings)
        except (HasLearner, Problem):
            return
        self._let_go()
        self._bandit = self._with_settings(bandit)


def _named(bandit: StoredBandit, text: str | None) -> Any:
    """What a text in an address names: an item whose name is a number, if nothing has the text for a name."""
    if text is None or not text.isascii() or not text.removeprefix("-").isdecimal() or len(text) > DIGITS:
        return text
    ledger = bandit._ledger
    known = ledger.knows_item(text) or ledger.knows_policy(text) or not ledger.knows_item(int(text))
    return text if known else int(text)


class Closed(Problem):
    """The loop was closed between being found and being called; the caller looks it up again."""

    def __init__(self, name: str) -> None:
        super().__init__(503, "closing", f"loop {name!r} is being closed; call again")
