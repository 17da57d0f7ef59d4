"""When a durable bandit keeps its state, so that opening it reads few rows.

A call during which a snapshot is due takes it. In a service (`tended`) calls do not, because with 100,000 pending decisions a snapshot
takes half a second: a background thread calls `take_snapshot_aside` while other calls continue.
"""

import time
from abc import abstractmethod
from contextlib import AbstractContextManager
from typing import Any

from .row_changes import ReadsRows
from .saving import freeze, to_bytes

ROWS, SECONDS = 1000, 5.0  # a snapshot is taken after so many rows, or so long …
SHARE = 20.0  # … but for at most 1/20 of the time
PAUSE = 1e-3  # seconds, every 2 ms, in which other threads go on while a snapshot is written out


class TakesSnapshots(ReadsRows):
    """The part of `Durable` that takes snapshots."""

    _held: Any = None  # the lock between processes; None: closed
    _ahead = False  # the state in memory may not be that of the log
    _since = 0  # rows since the last snapshot
    _last = 0.0  # when that was
    _cost = 0.0  # how long it took
    _moved = 0  # the last row when `settle_aside` last moved what was committed
    snapshot_seconds = SECONDS  # a snapshot is taken at least so often, while there is something new
    snapshot_share = SHARE  # for at most this part of the time
    tended = False  # a thread calls `absorb` and `take_snapshot_aside` a few times a second, so that no other call has to wait for them

    @abstractmethod
    def _turn(self) -> AbstractContextManager[None]:
        """A transaction."""

    def take_snapshot(self) -> None:
        """Keep the state of now, so that opening reads no older rows."""
        with self._turn():
            self._snapshot()

    def take_snapshot_aside(self) -> None:
        """Take a snapshot if one is due, in a thread of its own.

        Other calls wait while the state is copied and while the database writes it, not while it is turned into bytes.
        """
        start = time.monotonic()
        with self._lock:
            if self._held is None or self._ahead or not self.snapshot_is_due():
                return
            seq, since, frozen = self._seq, self._since, freeze(self)
        try:
            state = frozen.to_bytes(_let_others)
            with self._lock:
                if self._held is None:  # it was closed, with a snapshot of its own
                    return
                with self._turn():
                    if (self._store.newest() or 0) < seq:  # else a later one was taken meanwhile
                        self._store.snapshot(seq, state)
                self._since = max(0, self._since - since)
        finally:
            self._last = time.monotonic()
            self._cost = self._last - start

    def settle_aside(self) -> None:
        """Move what was committed to where a copy of the store finds it, if there is much of it; other calls go on meanwhile."""
        if self._seq - self._moved >= ROWS and self._held is not None:
            self._moved = self._seq
            self._store.settle()

    def snapshot_is_due(self) -> bool:
        """Whether there are rows that the newest snapshot does not know, and it is old enough."""
        if self._since == 0:
            return False
        waited = time.monotonic() - self._last
        return (self._since >= ROWS or waited > self.snapshot_seconds) and waited > self.snapshot_share * self._cost

    def _snapshot_if_due(self) -> bool:
        due = self.snapshot_is_due()
        if due:
            self._snapshot()
        return due

    def _snapshot(self) -> None:
        start = time.monotonic()
        self._store.snapshot(self._seq, to_bytes(self))
        self._since, self._last = 0, time.monotonic()
        self._cost = self._last - start


def _let_others() -> None:
    """Let threads that wait have Python's lock; without a sleep this one would often have it again at once."""
    time.sleep(PAUSE)
