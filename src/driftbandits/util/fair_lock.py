"""A lock for short calls that is fair on the scale of milliseconds, not of single calls.

With a plain lock, each release passes the lock to a waiting thread, so that every call costs a thread switch, which takes as long as a
decision. Here the thread that released the lock may take it again immediately, until another thread has waited for `TURN` seconds. The
interpreter handles its own lock in the same way.
"""

import contextlib
import threading
from time import monotonic, sleep
from typing import Any

TURN = 0.005  # seconds after which a waiting thread must be served first; Python's own switch interval
PAUSE = 1e-3  # seconds that a thread sleeps after it was woken too late; doubled each time


class FairLock:
    """A reentrant lock, used as `with lock:`.

    Examples
    --------
    >>> lock = FairLock()
    >>> with lock, lock:
    ...     "inside"
    'inside'
    """

    __slots__ = ("_lock", "_queue")

    def __init__(self) -> None:
        self._lock: Any = threading.RLock()
        self._queue: WaitingThreads | None = None  # created when a thread first has to wait

    def __enter__(self) -> None:
        # The fast path is a non-blocking acquire. It is skipped if another thread has waited too long.
        queue = self._queue
        if queue is not None and queue.since and queue.waits_too_long() and not self._lock._is_owned():
            self._wait(queue)
        elif not self._lock.acquire(blocking=False):
            self._wait(self._waiting())

    def enter_if_free(self) -> bool:
        """Take the lock without waiting; False if another thread has it, or has waited too long for it. `leave` releases it."""
        queue = self._queue
        if queue is not None and queue.since and queue.waits_too_long() and not self._lock._is_owned():
            return False
        return bool(self._lock.acquire(blocking=False))

    def leave(self) -> None:
        """Release the lock after `enter_if_free`."""
        self.__exit__()

    def _wait(self, queue: "WaitingThreads") -> None:
        try:
            queue.wait_for(self._lock)
        except BaseException:  # interrupted while holding the lock: it would never be released
            if self._lock._is_owned():
                self._lock.release()
            raise

    def __exit__(self, *_: object) -> None:
        try:
            self._lock.release()
        except RuntimeError:
            raise
        except BaseException:  # interrupted before the release
            if self._lock._is_owned():
                self._lock.release()
            raise
        queue = self._queue
        if queue is not None and queue.since:
            queue.signal()

    def _waiting(self) -> "WaitingThreads":
        with _creating:
            if self._queue is None:
                self._queue = WaitingThreads()
            return self._queue


_creating = threading.Lock()


class WaitingThreads:
    """The threads that wait for a lock. The first of them waits for a signal; the others wait behind it.

    The first thread waits for a signal and not for the lock itself. It then takes the lock only while it also holds the interpreter's lock
    (GIL), which a thread that continues to make decisions keeps. It is therefore served when that thread pauses, or after `TURN` seconds.
    """

    __slots__ = ("_first", "_signal", "since")

    def __init__(self) -> None:
        self._first = threading.Lock()  # held by the first waiting thread
        self._signal = threading.Lock()  # used as an event: unlocked means that the signal was given
        self._signal.acquire()
        self.since = 0.0  # when the first thread began to wait; 0 if no thread waits

    def waits_too_long(self) -> bool:
        """Whether the longest-waiting thread must be served first."""
        return 0.0 < self.since < monotonic() - TURN

    def signal(self) -> None:
        """Wake the first waiting thread: the lock was released."""
        if self._signal.locked():
            with contextlib.suppress(RuntimeError):  # another thread gave the signal in between
                self._signal.release()

    def wait_for(self, lock: Any) -> None:
        """Wait, and return with the lock held."""
        with self._first:
            self.since, pause = monotonic(), PAUSE  # from here on each release gives the signal
            try:
                while not lock.acquire(blocking=False):
                    self._signal.acquire()
                    if lock.acquire(blocking=False):
                        return
                    # The lock was taken again before this thread was awake. Waking at each release would slow the other thread down each
                    # time.
                    sleep(max(0.0, min(pause, self.since + TURN - monotonic())))
                    pause *= 2.0
            finally:
                self.since = 0.0
