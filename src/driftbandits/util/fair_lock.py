"""A lock for short calls: it changes hands every few milliseconds, not with every call.

A plain lock that several threads want is taken, at each release, by the one that is woken, and the thread that let it go stands behind that
one a moment later: each call then costs a switch of threads, which takes as long as a decision does. Here a thread that comes again takes
the lock again, until another has waited for `TURN` seconds: as the interpreter does with its own lock.
"""

import contextlib
import threading
from time import monotonic, sleep
from typing import Any

TURN = 0.005  # seconds after which who waits comes first; Python's own switch interval
PAUSE = 1e-3  # seconds for which who came too late does not listen, twice as long each time


class Turns:
    """`with turns:` is for one thread at a time, which may enter again.

    Examples
    --------
    >>> turns = Turns()
    >>> with turns, turns:
    ...     "inside"
    'inside'
    """

    __slots__ = ("_line", "_lock")

    def __init__(self) -> None:
        self._lock: Any = threading.RLock()
        self._line: Line | None = None  # made when a thread first has to wait

    def __enter__(self) -> None:
        line = self._line
        if line is not None and line.since and line.waits_too_long() and not self._lock._is_owned():
            self._wait(line)
        elif not self._lock.acquire(blocking=False):
            self._wait(self._queue())

    def _wait(self, line: "Line") -> None:
        try:
            line.wait_for(self._lock)
        except BaseException:  # interrupted with the lock in hand: nobody would let it go
            if self._lock._is_owned():
                self._lock.release()
            raise

    def __exit__(self, *_: object) -> None:
        try:
            self._lock.release()
        except RuntimeError:
            raise
        except BaseException:  # interrupted before it was let go
            if self._lock._is_owned():
                self._lock.release()
            raise
        line = self._line
        if line is not None and line.since:
            line.ring()

    def _queue(self) -> "Line":
        with _making:
            if self._line is None:
                self._line = Line()
            return self._line


_making = threading.Lock()


class Line:
    """Threads that wait: one at the door, the others behind it.

    The one at the door is woken by a bell, not by the lock: it takes the lock only when it also has the interpreter, which a thread that
    goes on deciding keeps. So it comes in when that one pauses, or has had its turn.
    """

    __slots__ = ("_bell", "_door", "since")

    def __init__(self) -> None:
        self._door = threading.Lock()
        self._bell = threading.Lock()  # free: it has been rung
        self._bell.acquire()
        self.since = 0.0  # when the one at the door came; 0 if nobody is there

    def waits_too_long(self) -> bool:
        """Must who comes now let the one at the door go first?"""
        return 0.0 < self.since < monotonic() - TURN

    def ring(self) -> None:
        """Say that the lock was let go."""
        if self._bell.locked():
            with contextlib.suppress(RuntimeError):  # another thread rang in between
                self._bell.release()

    def wait_for(self, lock: Any) -> None:
        """Stand in the line, and return with the lock."""
        with self._door:
            self.since, pause = monotonic(), PAUSE  # from here on each release rings
            try:
                while not lock.acquire(blocking=False):
                    self._bell.acquire()
                    if lock.acquire(blocking=False):
                        return
                    # Taken again before we were awake. To wake at each release would stop the other each time.
                    sleep(max(0.0, min(pause, self.since + TURN - monotonic())))
                    pause *= 2.0
            finally:
                self.since = 0.0
