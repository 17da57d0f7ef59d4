"""The queue of changes of a loop. Changes that wait at the same time share a transaction, because the commit is most of their cost."""

import asyncio
import contextlib
import itertools
import threading
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ..bandit.store import Busy, Superseded
from ..bandit.stored import StoredBandit
from ..errors import DriftBanditsError
from .problems import status_of
from .requested import Deciding


class Job:
    """A queued change and its result; `wanted`, if given, is an asyncio future that receives the result."""

    def __init__(
        self, function: Callable[[StoredBandit], Any], wanted: "asyncio.Future[Any] | None" = None, size: int = 1
    ) -> None:
        self.function, self.wanted, self.size = function, wanted, size
        self.done = False
        self._result: Any = None
        self._problem: BaseException | None = None

    def finish(self, result: Any) -> None:
        """It was made."""
        self._result, self.done = result, True

    def fail(self, problem: BaseException) -> None:
        """It was refused, and has changed nothing."""
        self._problem, self.done = problem, True

    def result(self) -> Any:
        """What the change gave; raises what refused it."""
        if self._problem is not None:
            raise self._problem
        return self._result


class Waiting:
    """The queue of one loop; any thread may add to it."""

    def __init__(self) -> None:
        self._jobs: list[Job] = []
        self._lock = threading.Lock()
        self._served = False  # a thread makes changes until none is left

    def size(self) -> int:
        """The number of decisions and rewards in the queue."""
        return sum(job.size for job in self._jobs)

    def add(self, job: Job) -> None:
        """Add a change; the next thread that calls `take_all` makes it."""
        with self._lock:
            self._jobs.append(job)

    def add_unserved(self, job: Job) -> bool:
        """Add a change. Returns True if no thread serves the queue: the caller must then start one, which serves until `served` is True."""
        with self._lock:
            self._jobs.append(job)
            unserved, self._served = not self._served, True
            return unserved

    def served(self) -> bool:
        """Whether the queue is empty; the serving thread then ends."""
        with self._lock:
            self._served = bool(self._jobs)
            return not self._served

    def put_back(self, jobs: Sequence[Job]) -> None:
        """Return changes that could not be made yet to the front of the queue."""
        with self._lock:
            self._jobs[:0] = jobs

    def take_all(self) -> list[Job]:
        """Remove and return all queued changes."""
        with self._lock:
            jobs, self._jobs = self._jobs, []
            return jobs


def tell(jobs: Sequence[Job], here: "asyncio.AbstractEventLoop | None" = None) -> None:
    """Set the futures of finished changes, all at once, because waking an event loop costs more than a result.

    `here` is the event loop of this thread, if it has one.
    """
    waiting = [(job.wanted, job) for job in jobs if job.wanted is not None]
    for loop in {future.get_loop() for future, _ in waiting}:
        theirs = [pair for pair in waiting if pair[0].get_loop() is loop]
        if loop is here:
            _tell(theirs)
            continue
        with contextlib.suppress(RuntimeError):  # the event loop has ended, and nobody waits
            loop.call_soon_threadsafe(_tell, theirs)


def _tell(waiting: "Sequence[tuple[asyncio.Future[Any], Job]]") -> None:
    for future, job in waiting:
        if future.done():  # who waited has hung up
            continue
        try:
            future.set_result(job.result())
        except BaseException as problem:
            future.set_exception(problem)


class _Undone(Exception):
    """A change failed after it had begun: its transaction is rolled back, and the changes in it are repeated one by one."""


def together(bandit: StoredBandit, jobs: Sequence[Job]) -> None:
    """Make changes in one transaction. A change that is refused before it changed anything does not affect the others."""
    if len(jobs) > 1:
        try:
            results = _attempt(bandit, jobs)
        except (_Undone, Superseded):
            pass
        else:
            for job, result in zip(jobs, results, strict=True):
                job.fail(result.problem) if isinstance(result, _Refusal) else job.finish(result)
            return
    for job in [job for job in jobs if not job.done]:
        try:
            job.finish(job.function(bandit))
        except (Superseded, Busy):
            raise
        except DriftBanditsError as problem:
            job.fail(problem)


class _Refusal(NamedTuple):
    problem: DriftBanditsError


def _attempt(bandit: StoredBandit, jobs: Sequence[Job]) -> list[Any]:
    """The results of all, kept when this returns."""
    results: list[Any] = []
    with bandit.transaction():
        for _, same in itertools.groupby((job.function for job in jobs), key=lambda function: type(function)):
            functions = [*same]
            decisions = [function for function in functions if isinstance(function, Deciding)]
            made = Deciding.all_at_once(bandit, decisions) if len(decisions) > 1 else None
            results += [_result(bandit, function) for function in functions] if made is None else made
    return results


def _result(bandit: StoredBandit, function: Callable[[StoredBandit], Any]) -> Any:
    before = bandit.position()
    try:
        return function(bandit)
    except DriftBanditsError as problem:
        if bandit.position() != before or status_of(problem)[0] >= 500:
            raise _Undone from None
        return _Refusal(problem)
