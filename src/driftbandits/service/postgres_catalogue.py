"""Loops in PostgreSQL: the same command on many machines.

A thread listens for notifications of other processes: it renews followers when a snapshot was stored, and settings when they were changed.
While its connection is lost, settings and the newest snapshot are polled every second.
"""

import contextlib
import logging
import threading
import time
from typing import Any

import orjson
import psycopg

from ..bandit.durable import Durable
from ..bandit.follower import Follower, follow_with
from ..bandit.opening import HasLearner, open_with
from ..bandit.postgres_store import (
    CHANNEL,
    AdvisoryLocks,
    PostgresStore,
    migrate,
    open_pool,
    reachable,
)
from ..bandit.saving import from_bytes
from .catalogue import Entry, unknown
from .settings import LoopSettings

LOG = logging.getLogger("driftbandits.service")
REFRESH = 0.25  # seconds after which a follower looks for a newer snapshot
LOOK = 1.0  # seconds after which settings are read again, if no notification of a change came
SNAPSHOTS = 0.5  # seconds between snapshots, while there is something new


class PostgresCatalogue:
    """The loops of a database; see `Catalogue`."""

    def __init__(self, url: str) -> None:
        self._pool = open_pool(url)
        self._url = url
        try:
            migrate(self._pool)
        except BaseException:
            self._pool.close()
            raise
        self._locks = AdvisoryLocks(url)
        self._entries: dict[str, tuple[Entry, int, float]] = {}  # with the number of the loop, and when it was read
        self._following: dict[int, list[Follower]] = {}
        self._followers = threading.Lock()  # of that table
        self._stop = threading.Event()
        self._listener = threading.Thread(target=self._listen, name="listen", daemon=True)
        self._listener.start()

    def _run(self, sql: str, values: tuple[Any, ...] = ()) -> list[Any]:
        with reachable("PostgreSQL"), self._pool.connection() as db:
            cursor = db.execute(sql, values)
            return cursor.fetchall() if cursor.description else []

    # ---------------------------------------------------------------------------------------------------------- settings

    def names(self) -> list[str]:
        """All loops, sorted."""
        found = self._run("SELECT name FROM driftbandits.loops WHERE deleted IS NULL")
        return sorted(name for (name,) in found)

    def _known(self, name: str) -> tuple[Entry, int]:
        known = self._entries.get(name)
        if known is None or time.monotonic() - known[2] > LOOK:
            sql = "SELECT loop, settings, changed FROM driftbandits.loops WHERE name = %s AND deleted IS NULL"
            found = self._run(sql, (name,))
            if not found:
                self._entries.pop(name, None)
                raise unknown(name)
            loop, settings, changed = found[0]
            mark = (loop, changed)
            entry = (
                known[0]
                if known and known[0].mark == mark
                else Entry(LoopSettings.model_validate_json(settings), mark, loop)
            )
            known = self._entries[name] = (entry, loop, time.monotonic())
        return known[0], known[1]

    def entry(self, name: str) -> Entry:
        """The settings of a loop."""
        return self._known(name)[0]

    def create(self, name: str, settings: LoopSettings, start: bytes | None = None) -> bool:
        """Make a loop."""
        sql = """INSERT INTO driftbandits.loops (name, settings, start) VALUES (%s, %s, %s)
            ON CONFLICT (name) WHERE deleted IS NULL DO NOTHING RETURNING loop"""
        return bool(self._run(sql, (name, settings.model_dump_json(), start)))

    def update(self, name: str, settings: LoopSettings) -> None:
        """Keep changed settings, and tell the other processes."""
        sql = "UPDATE driftbandits.loops SET settings = %s, changed = changed + 1 WHERE name = %s AND deleted IS NULL"
        self._run(sql, (settings.model_dump_json(), name))
        self._tell(name)

    def remove(self, name: str) -> str:
        """Rename a loop and mark it as deleted; its rows stay."""
        _, loop = self._known(name)
        self._run("UPDATE driftbandits.loops SET deleted = %s WHERE loop = %s", (time.time(), loop))
        self._tell(name)
        return f"loop {loop} of table driftbandits.loops"

    def _tell(self, name: str) -> None:
        self._entries.pop(name, None)
        self._run("SELECT pg_notify(%s, %s)", (CHANNEL, f"settings {name}"))

    # ------------------------------------------------------------------------------------------------------------ opening

    def learner(self, name: str, settings: LoopSettings) -> Durable:
        """Open a loop to learn."""
        _, loop = self._known(name)
        held = self._locks.take(loop)
        if held is None:
            raise HasLearner(f"loop {name} has a learner already")
        fixed = settings.for_bandit()
        fixed.pop("explore")
        try:
            (saved,) = self._run("SELECT start FROM driftbandits.loops WHERE loop = %s", (loop,))
            start = None if saved[0] is None else from_bytes(bytes(saved[0]), f"the start of loop {name}", kind=Durable)
        except BaseException:
            held.close()
            raise
        bandit = open_with(PostgresStore(self._pool, loop, name), held, Durable(**fixed), fixed, start=start)
        bandit.snapshot_seconds, bandit.tended = SNAPSHOTS, True
        return bandit

    def still_learns(self, name: str, bandit: Durable) -> bool:
        """A session that was lost has lost its locks."""
        if bandit.lock.held():
            return True
        held = self._locks.take(self._known(name)[1])
        if held is not None:
            bandit.relock(held)
        return held is not None

    def follower(self, name: str) -> Follower:
        """Open a loop to decide."""
        _, loop = self._known(name)
        follower = follow_with(PostgresStore(self._pool, loop, name), REFRESH, {})
        with self._followers:
            self._following.setdefault(loop, []).append(follower)
        return follower

    # -------------------------------------------------------------------------------------------------------------- notes

    def note(self, name: str, key: str) -> dict[str, Any] | None:
        """A row of the table of notes."""
        sql = "SELECT note FROM driftbandits.notes WHERE loop = %s AND key = %s"
        found = self._run(sql, (self._known(name)[1], key))
        return orjson.loads(found[0][0]) if found else None

    def notes(self, name: str, prefix: str) -> list[str]:
        """The keys of those rows."""
        sql = "SELECT key FROM driftbandits.notes WHERE loop = %s AND starts_with(key, %s)"
        return sorted(key for (key,) in self._run(sql, (self._known(name)[1], prefix)))

    def keep_note(self, name: str, key: str, note: dict[str, Any] | None) -> None:
        """Write the row."""
        loop = self._known(name)[1]
        if note is None:
            self._run("DELETE FROM driftbandits.notes WHERE loop = %s AND key = %s", (loop, key))
            return
        sql = """INSERT INTO driftbandits.notes VALUES (%s, %s, %s)
            ON CONFLICT (loop, key) DO UPDATE SET note = excluded.note"""
        self._run(sql, (loop, key, orjson.dumps(note).decode()))

    # ---------------------------------------------------------------------------------------------------------- listening

    def _listen(self) -> None:
        while not self._stop.is_set():
            try:
                with psycopg.connect(self._url, autocommit=True, connect_timeout=5) as db:
                    db.execute(f"LISTEN {CHANNEL}")
                    self._entries.clear()  # what was told meanwhile is not known
                    while not self._stop.is_set():
                        for told in db.notifies(timeout=0.5):
                            self._heard(*told.payload.split())
            except psycopg.Error:
                self._stop.wait(0.5)

    def _heard(self, what: str, which: str, *_: str) -> None:
        if what == "settings":
            self._entries.pop(which, None)
        elif what == "snapshot":
            with self._followers:
                followers = [f for f in self._following.pop(int(which), []) if not f.closed]
                if followers:
                    self._following[int(which)] = followers
            for follower in followers:
                follower.look_now()

    def ready(self) -> None:
        """Whether the database answers."""
        self._run("SELECT 1")

    def close(self) -> None:
        """Let the connections go."""
        self._stop.set()
        self._listener.join(2.0)
        with contextlib.suppress(psycopg.Error):
            self._locks.close()
        self._pool.close()
