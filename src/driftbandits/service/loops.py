"""The loops that this process has open. A loop is opened at its first request; when many are open, idle ones are closed."""

import asyncio
import contextlib
import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

from ..bandit.store import StoreUnavailable
from ..bandit.stored import StoredBandit
from ..errors import CannotRead, CannotWrite, DriftBanditsError, InvalidState
from .catalogue import Catalogue, checked_name
from .changes import Job
from .loop import Closed, Loop
from .problems import Problem, where
from .settings import LoopSettings

T = TypeVar("T")
LOG = logging.getLogger("driftbandits.service")
TEND_EVERY = 0.1  # seconds
ATTEMPTS = 5
PAUSE = 0.05  # seconds between them, where the store was not found
THREADS = 40  # so many loops can wait for their store at the same time
OPENING = 1024  # locks; two loops that share one are opened one after the other


class Loops:
    """Open loops, and the threads that tend them.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from driftbandits.service.file_catalogue import FileCatalogue
    >>> from driftbandits.service.models import Decide
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     loops = Loops(FileCatalogue(pathlib.Path(folder), shared=False))
    ...     made = loops.catalogue.create("shop", LoopSettings(reward="click"))
    ...     d = loops.use("shop", lambda loop: loop.decide([Decide(items=["a", "b"])]))[0]
    ...     loops.close()
    >>> made, d.item in ("a", "b")
    (True, True)
    """

    def __init__(self, catalogue: Catalogue, *, most: int = 500) -> None:
        self.catalogue, self.most = catalogue, most
        self._open: OrderedDict[str, Loop] = OrderedDict()
        # One thread opens a loop. Its lock is found by the name, so that all threads take the same one; names may share a lock.
        self._opening = tuple(threading.Lock() for _ in range(OPENING))
        self._lock = threading.Lock()
        self._ending = False  # nothing more is opened
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="loop")
        self._stop = threading.Event()
        self._tending: list[threading.Thread] = []

    def get(self, name: str) -> Loop:
        """A loop, opened if it is not; 404 if there is none."""
        found = self._found(name)
        if found is not None:
            return found
        with self._opening[hash(checked_name(name)) % OPENING]:
            with self._lock:
                found = self._open.get(name)
            if found is None or found._closed:
                found = Loop(name, self.catalogue)
            with self._lock:
                ending = self._ending
                if not ending:
                    self._open[name] = found
                    self._open.move_to_end(name)
                spare = [*self._open.items()][: max(0, len(self._open) - self.most)]
                for old, _ in spare:
                    del self._open[old]
        if ending:
            _close(found)
            raise _ending()
        for _, idle in spare:
            _close(idle)
        return found

    def _found(self, name: str) -> Loop | None:
        """A loop that is open, and the last to be closed when there are too many."""
        with self._lock:
            found = self._open.get(name)
            if found is None or found._closed:
                return None
            self._open.move_to_end(name)
            return found

    def use(self, name: str, function: Callable[[Loop], T]) -> T:
        """Call a loop; if it was closed or recreated in between, look it up and call it again."""
        for attempt in range(ATTEMPTS):
            loop: Loop | None = None
            try:
                loop = self.get(name)
                return function(loop)
            except Closed:
                if attempt == ATTEMPTS - 1:
                    raise
            except Problem as problem:
                if problem.code == "unknown_loop" and loop is not None:
                    loop.let_go_if_replaced()  # deleted by another process: its files are not needed here any more
                raise
            except (InvalidState, CannotRead, CannotWrite):
                if attempt == ATTEMPTS - 1 or (loop is not None and not loop.let_go_if_replaced()):
                    raise
                time.sleep(PAUSE)  # its files are just being moved
        raise AssertionError

    async def change(self, name: str, function: Callable[[Loop], Callable[[StoredBandit], T]], size: int = 1) -> T:
        """Make the change that a function gives for a loop, without a thread for each caller.

        `size` is how many decisions or rewards it has. Changes that come in the same turn of the event loop share a transaction. Where
        `use` would try again, it is asked to: a change that failed has changed nothing.
        """
        loop, events = self._found(name), asyncio.get_running_loop()
        if loop is not None:
            wanted: asyncio.Future[T] = events.create_future()
            if loop.queue(Job(function(loop), wanted, size)):
                events.call_soon(self._serve, loop, events)
            try:
                return await wanted
            except (Closed, InvalidState, CannotRead, CannotWrite):
                pass
            except Problem as problem:
                if problem.code != "unknown_loop":
                    raise
        made = self._send(self.use, name, lambda loop: loop.commit(function(loop)))
        return await asyncio.wrap_future(made)

    def _serve(self, loop: Loop, here: asyncio.AbstractEventLoop) -> None:
        """Make the changes that wait for a loop, here or in a thread."""
        if not loop.serve_here(here):
            try:
                self._send(loop.serve)
            except Problem as ending:
                loop.refuse(ending, here)

    def _send(self, function: Callable[..., T], *args: Any) -> "Future[T]":
        """Let a thread do something."""
        try:
            return self._threads.submit(function, *args)
        except RuntimeError:  # there are no threads any more
            raise _ending() from None

    def open_now(self) -> list[Loop]:
        """The loops that are open in this process."""
        with self._lock:
            for name in [name for name, loop in self._open.items() if loop._closed]:
                del self._open[name]
            return [*self._open.values()]

    def put(self, name: str, asked: LoopSettings) -> bool:
        """Make a loop, or change what can change; whether it is new."""
        checked_name(name)
        if self.catalogue.create(name, asked.checked()):
            return True
        now = self.catalogue.entry(name).settings
        changed = now.changed(asked)
        if changed != now:
            self.catalogue.update(name, changed)
        return False

    def remove(self, name: str) -> str:
        """Move a loop aside."""
        self.catalogue.entry(checked_name(name))
        with self._lock:
            found = self._open.pop(name, None)
        if found is not None:
            found.close()
        return self.catalogue.remove(name)

    def restart(self, name: str, state: bytes | None) -> None:
        """Begin a loop again: with nothing, or with what a saved bandit knows. The one that was is moved aside.

        The file is read before anything is changed; settings that only a service has, and notes, stay.
        """
        settings = self.catalogue.entry(checked_name(name)).settings
        if state is not None:
            settings = settings.model_copy(update=LoopSettings.of_saved(state))
        notes = {key: self.catalogue.note(name, key) for key in self.catalogue.notes(name, "")}
        settings = settings.checked()
        self.remove(name)
        while not self.catalogue.create(name, settings, state):
            with contextlib.suppress(Problem):  # a call has made it anew in between: that one is moved aside, too
                self.remove(name)
        for key, note in notes.items():
            self.catalogue.keep_note(name, key, note)

    # -------------------------------------------------------------------------------------------------------------- tending

    def start(self) -> None:
        """Start the background threads.

        Snapshots have a thread of their own: one may take a second, and the rows of other processes must not wait for it.
        """
        for name, task in (("tend", Loop.tend_if_due), ("snapshots", Loop.write_if_due)):
            thread = threading.Thread(target=self._tend, args=(task,), name=name, daemon=True)
            self._tending.append(thread)
            thread.start()

    def _tend(self, task: Callable[[Loop], None]) -> None:
        while not self._stop.wait(TEND_EVERY):
            for loop in self.open_now():
                try:
                    task(loop)
                except StoreUnavailable:
                    time.sleep(TEND_EVERY)
                except DriftBanditsError as problem:
                    if not loop.let_go_if_replaced():
                        LOG.warning("a loop could not be tended", extra={"fields": {"error": type(problem).__name__}})
                except Exception as problem:
                    LOG.error("a loop could not be tended", extra={"fields": {"error": where(problem)}})

    def close(self) -> None:
        """Close all loops: each learner takes a snapshot, and another process can take over at once."""
        self._stop.set()
        for thread in self._tending:
            thread.join()
        with self._lock:
            self._ending = True
        self._threads.shutdown()
        for loop in self.open_now():
            _close(loop)
        self.catalogue.close()


def _ending() -> Problem:
    return Problem(503, "closing", "the service is ending; call again, when it is there")


def _close(loop: Loop) -> None:
    """Close a loop.

    An error here is logged and not raised, because it is not the fault of the call that caused the closing; acknowledged rows are in the
    log in any case.
    """
    try:
        loop.close()
    except DriftBanditsError as problem:
        LOG.warning("a loop could not be closed: %s", problem)
