"""The log of a loop in PostgreSQL: `store.Store` for many machines.

Order           The row of a loop in `loops` is locked by every transaction that writes its log, and holds the number of the newest row. So
                rows are numbered 1, 2, 3, … in the order of commits: there is no transaction that commits late, and the learner reads
                `seq > last` as in SQLite. Other loops are not waited for.
Exactly once    Unique indices over (loop, id), one for each of "decide", "activate" and "reward".
One learner     An advisory lock of a session, gone when its process dies. What protects the log is the claim, which every transaction of
                a learner compares under the lock of the loop's row: a learner that lost its session is refused.
Followers       NOTIFY when a snapshot is kept.
"""

import contextlib
import json
import os
import secrets
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import psycopg
from psycopg_pool import ConnectionPool, PoolTimeout

from ..errors import CannotRead, CannotWrite, InvalidState, said
from .arguments import Path
from .store import (
    COLUMNS,
    Repeated,
    Row,
    StoreUnavailable,
    Superseded,
    as_id,
    as_row,
    as_text,
    in_sequence,
    intact,
    newest_state,
    snapshot_checksum,
)

T = TypeVar("T")
FORMAT = 1
KEPT = 2  # snapshots
CHANNEL = "driftbandits"
LOCKS = 0x64726266  # the class of our advisory locks
PATIENCE = 2.0  # seconds to wait for a connection
CREATION = 0x64726267  # the advisory lock of who makes or migrates the tables
SCHEMA = (
    "CREATE SCHEMA IF NOT EXISTS driftbandits",
    "CREATE TABLE IF NOT EXISTS driftbandits.format (version INTEGER NOT NULL)",
)
FIRST = (
    """CREATE TABLE driftbandits.loops (
    loop INTEGER GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name TEXT NOT NULL,
    settings TEXT NOT NULL,             -- JSON
    changed BIGINT NOT NULL DEFAULT 0,  -- how often the settings were
    last BIGINT NOT NULL DEFAULT 0,     -- the newest row of its log
    claim TEXT,                         -- the learner
    gone BIGINT NOT NULL DEFAULT 0,     -- rows up to here may have been deleted
    start BYTEA,                        -- a saved bandit that it began with
    deleted DOUBLE PRECISION            -- when; such a loop is kept, but not found
)""",
    "CREATE UNIQUE INDEX one_loop ON driftbandits.loops (name) WHERE deleted IS NULL",
    """CREATE TABLE driftbandits.log (
    loop INTEGER NOT NULL,
    seq BIGINT NOT NULL,
    kind TEXT NOT NULL,
    id TEXT,
    at DOUBLE PRECISION,
    item TEXT,
    propensity DOUBLE PRECISION,
    reward DOUBLE PRECISION,
    weight DOUBLE PRECISION,
    writer TEXT,
    data TEXT,
    checksum BIGINT NOT NULL,
    PRIMARY KEY (loop, seq)
)""",
    "CREATE UNIQUE INDEX one_decision ON driftbandits.log (loop, id) WHERE kind = 'decide'",
    "CREATE UNIQUE INDEX one_activation ON driftbandits.log (loop, id) WHERE kind = 'activate'",
    "CREATE UNIQUE INDEX one_reward ON driftbandits.log (loop, id) WHERE kind = 'reward'",
    "CREATE INDEX endings ON driftbandits.log (loop, seq) WHERE kind IN ('expire', 'drop')",
    """CREATE TABLE driftbandits.snapshots (
    loop INTEGER NOT NULL, seq BIGINT NOT NULL, at DOUBLE PRECISION NOT NULL, state BYTEA NOT NULL, checksum BIGINT NOT NULL,
    PRIMARY KEY (loop, seq)
)""",
    "ALTER TABLE driftbandits.snapshots ALTER COLUMN state SET STORAGE EXTERNAL",  # it is compressed already
    "CREATE INDEX replaced ON driftbandits.log (loop, id, seq) WHERE kind = 'replace'",
    """CREATE TABLE driftbandits.notes (
    loop INTEGER NOT NULL, key TEXT NOT NULL, note TEXT NOT NULL, PRIMARY KEY (loop, key)
)""",
    """CREATE TABLE driftbandits.refused (
    loop INTEGER NOT NULL, seq BIGINT NOT NULL, at DOUBLE PRECISION NOT NULL, reason TEXT NOT NULL, PRIMARY KEY (loop, seq)
)""",
)
STEPS = (FIRST,)  # to format 1, …
SELECTED = ", ".join(("seq", *COLUMNS, "checksum"))
PLACES = ", ".join(["%s"] * (len(COLUMNS) + 3))
# Not any conflict is a repetition: a second row of the same number would be damage, and is an error.
INSERT = f"INSERT INTO driftbandits.log (loop, {SELECTED}) VALUES ({PLACES})"
ONCE = {
    kind: f"{INSERT} ON CONFLICT (loop, id) WHERE kind = '{kind}' DO NOTHING"
    for kind in ("decide", "activate", "reward")
}
TURN = "SELECT last, claim, deleted FROM driftbandits.loops WHERE loop = %s FOR UPDATE"


@contextmanager
def reachable(name: str) -> Iterator[None]:
    """Errors of the database as ours: those of the connection may pass."""
    try:
        yield
    except PoolTimeout:
        raise StoreUnavailable(f"{name}: the database cannot be reached; try again soon") from None
    except (psycopg.OperationalError, psycopg.InterfaceError) as problem:
        reason = str(problem).partition("\n")[0]
        raise StoreUnavailable(f"{name}: the database cannot be reached now ({reason}); try again soon") from None
    except psycopg.Error as problem:
        raise CannotWrite(name, OSError(str(problem).partition("\n")[0])) from None


def _bounded(db: psycopg.Connection[Any]) -> None:
    """No session waits for ever for a lock, and none holds one for ever: its machine may be gone."""
    db.execute("SET lock_timeout = '10s'")
    db.execute("SET idle_in_transaction_session_timeout = '30s'")


def open_pool(url: str, *, size: int = 8) -> ConnectionPool[Any]:
    """Connections that a process shares among its loops; each is alone outside of transactions."""
    return ConnectionPool(
        url,
        min_size=1,
        max_size=size,
        timeout=PATIENCE,
        kwargs={"autocommit": True, "prepare_threshold": 2, "connect_timeout": 5},
        reconnect_timeout=2.0,  # then the next call begins afresh: the pool doubles its pauses, and would sleep as long as an outage was
        configure=_bounded,
        open=True,
    )


def check_reachable(url: str) -> None:
    """One connection, so that the reason is told if there is none: a pool says only that it waited."""
    with reachable("PostgreSQL"):
        psycopg.connect(url, connect_timeout=5).close()


def migrate(pool: ConnectionPool[Any]) -> None:
    """Make the tables that this version needs, from nothing or from an earlier format; refuse those of a later one."""
    with reachable("PostgreSQL"), pool.connection() as db, db.transaction():
        db.execute("SELECT pg_advisory_xact_lock(%s)", (CREATION,))
        for statement in SCHEMA:
            db.execute(statement)
        found = db.execute("SELECT version FROM driftbandits.format").fetchone()
        version = 0 if found is None else int(found[0])
        if version > FORMAT:
            raise CannotRead(
                f"the tables in PostgreSQL are of a later version (format {version}); this one reads up to format {FORMAT}"
            )
        for step in STEPS[version:]:
            for statement in step:
                db.execute(statement)
        if found is None:
            db.execute("INSERT INTO driftbandits.format VALUES (%s)", (FORMAT,))
        elif version < FORMAT:
            db.execute("UPDATE driftbandits.format SET version = %s", (FORMAT,))


class PostgresStore:
    """The log of one loop; see `store.Store` for what each method promises."""

    local = False
    patience = 10.0  # `_bounded` sets it in the database

    def __init__(self, pool: ConnectionPool[Any], loop: int, name: str) -> None:
        self.name = f"loop {name} in PostgreSQL"
        self.loop = loop
        self.writer = f"{os.getpid()}-{secrets.token_hex(8)}"
        self._pool = pool
        self._db: psycopg.Connection[Any] | None = None  # inside a transaction
        self._newest_row = 0  # known inside a transaction: the loop's row is locked
        self._closed = False

    # ------------------------------------------------------------------------------------------------------- transactions

    @contextmanager
    def transaction(self, *, learner: bool = False) -> Iterator[None]:
        """All that is written inside is kept, or nothing."""
        self._check_open()
        with reachable(self.name), self._pool.connection() as db, db.transaction():
            found = db.execute(TURN, (self.loop,)).fetchone()
            if found is None or found[2] is not None:
                raise InvalidState(f"{self.name} was deleted")
            last, claim, _ = found
            if learner and claim != self.writer:
                raise Superseded(f"{self.name} has been opened for writing again since; one process learns at a time")
            try:
                self._db, self._newest_row = db, last
                yield
                if self._newest_row != last:
                    db.execute("UPDATE driftbandits.loops SET last = %s WHERE loop = %s", (self._newest_row, self.loop))
            finally:
                self._db = None

    def _check_open(self) -> None:
        if self._closed:
            raise InvalidState(f"{self.name} is closed; open it again")

    def _run(self, sql: str, values: tuple[Any, ...]) -> list[Any]:
        """The rows that a statement gives, inside the transaction or in one of its own."""
        if self._db is not None:
            cursor = self._db.execute(sql, values, binary=True)
            return cursor.fetchall() if cursor.description else []
        self._check_open()
        with reachable(self.name), self._pool.connection() as db:
            cursor = db.execute(sql, values, binary=True)
            return cursor.fetchall() if cursor.description else []

    def migrate(self) -> None:
        """The tables are shared by all loops: `migrate` made them."""

    def claim(self) -> None:
        """Become the learner."""
        self._run("UPDATE driftbandits.loops SET claim = %s WHERE loop = %s", (self.writer, self.loop))

    # ---------------------------------------------------------------------------------------------------------------- log

    def append(self, kind: str, **row: Any) -> int:
        """Write a row of the log; returns its number."""
        assert self._db is not None, "rows are written inside a transaction"
        made = as_row(self._newest_row + 1, kind, row, self.writer)
        values = (self.loop, *made, made.checksum())
        cursor = self._db.execute(ONCE.get(kind, INSERT), values)
        if cursor.rowcount == 0:
            raise Repeated(f"a row {kind!r} of {made.id!r} is in {self.name} already")
        self._newest_row = made.seq
        return made.seq

    def append_all(self, kind: str, rows: Sequence[Mapping[str, Any]]) -> int:
        """Write rows of one kind, sent to the database together; returns the number of the last."""
        assert self._db is not None, "rows are written inside a transaction"
        first = self._newest_row + 1
        made = [as_row(seq, kind, row, self.writer) for seq, row in enumerate(rows, start=first)]
        with self._db.cursor() as cursor:
            cursor.executemany(ONCE.get(kind, INSERT), [(self.loop, *row, row.checksum()) for row in made])
            if cursor.rowcount != len(made):
                raise Repeated(f"a row {kind!r} of a decision is in {self.name} already")
        self._newest_row += len(made)
        return self._newest_row

    def last(self) -> int:
        """The number of the newest row."""
        if self._db is not None:
            return self._newest_row
        found = self._run("SELECT last FROM driftbandits.loops WHERE loop = %s", (self.loop,))
        return int(found[0][0]) if found else 0

    def rows(self, after: int, limit: int) -> list[Row]:
        """Rows after a row, intact; those set aside have the kind ASIDE."""
        sql = f"SELECT {SELECTED} FROM driftbandits.log WHERE loop = %s AND seq > %s ORDER BY seq LIMIT %s"
        found = self._run(sql, (self.loop, after, limit))
        sql = "SELECT seq FROM driftbandits.refused WHERE loop = %s AND seq > %s"
        aside = {seq for (seq,) in self._run(sql, (self.loop, after))} if found else set()
        gone = self._run("SELECT gone FROM driftbandits.loops WHERE loop = %s", (self.loop,)) if found else []
        return in_sequence(self.name, found, aside, after, int(gone[0][0]) if gone else 0)

    def delete_learned(self) -> int:
        """Delete what the newest snapshot knows; older snapshots could not be continued, and go as well."""
        assert self._db is not None, "rows are deleted inside a transaction"
        upto = self.newest() or 0
        self._run("UPDATE driftbandits.loops SET gone = %s WHERE loop = %s", (upto, self.loop))
        self._run("DELETE FROM driftbandits.snapshots WHERE loop = %s AND seq < %s", (self.loop, upto))
        sql = """DELETE FROM driftbandits.log WHERE loop = %s AND seq <= %s AND (kind NOT IN ('decide', 'activate') OR id IN
            (SELECT id FROM driftbandits.log WHERE loop = %s AND kind = 'reward' AND seq <= %s))"""
        return self._db.execute(sql, (self.loop, upto, self.loop, upto)).rowcount

    def rewarded(self, id_: str) -> float | None:
        """The reward that a decision has had; inside a transaction the loop's row is locked."""
        for sql in ("kind = 'replace' AND id = %s ORDER BY seq DESC LIMIT 1", "kind = 'reward' AND id = %s"):
            found = self._run(f"SELECT reward FROM driftbandits.log WHERE loop = %s AND {sql}", (self.loop, as_id(id_)))
            if found:
                return None if found[0][0] is None else float(found[0][0])
        return None

    def span(self) -> tuple[float | None, float | None]:
        """The first and the last time in the log."""
        sql = "SELECT at FROM driftbandits.log WHERE loop = %s AND at IS NOT NULL ORDER BY seq {} LIMIT 1"
        first, last = (self._run(sql.format(way), (self.loop,)) for way in ("", "DESC"))
        return (None, None) if not first else (first[0][0], last[0][0])

    def decision(self, id_: str) -> Row | None:
        """The row of a decision."""
        sql = f"SELECT {SELECTED} FROM driftbandits.log WHERE loop = %s AND kind = 'decide' AND id = %s"
        found = self._run(sql, (self.loop, as_id(id_)))
        return intact(self.name, found[0]) if found else None

    def decisions(self, ids: Sequence[str]) -> list[Row]:
        """The rows of those decisions that there are."""
        sql = f"SELECT {SELECTED} FROM driftbandits.log WHERE loop = %s AND kind = 'decide' AND id = ANY(%s)"
        found = self._run(sql, (self.loop, [*map(as_id, ids)])) if ids else ()
        return [intact(self.name, values) for values in found]

    def _has(self, kind: str, id_: str) -> bool:
        sql = f"SELECT 1 FROM driftbandits.log WHERE loop = %s AND kind = '{kind}' AND id = %s"
        return bool(self._run(sql, (self.loop, as_id(id_))))

    def activated(self, id_: str) -> bool:
        """Whether a deferred decision was activated."""
        return self._has("activate", id_)

    def decided_after(self, seq: int) -> bool:
        """Whether a decision was made after a row."""
        sql = "SELECT 1 FROM driftbandits.log WHERE loop = %s AND kind = 'decide' AND seq > %s LIMIT 1"
        return bool(self._run(sql, (self.loop, seq)))

    def answered(self, id_: str) -> bool:
        """Whether a decision has had its reward, was expired or was dropped."""
        if self._has("reward", id_):
            return True
        made = self.decision(id_)
        if made is None or made.at is None:
            return False
        shown = json.loads(made.data or "{}")["shown"]
        sql = "SELECT kind, at, item FROM driftbandits.log WHERE loop = %s AND kind IN ('expire', 'drop') AND seq > %s"
        return any(
            made.at < at if kind == "expire" else json.loads(item) in shown
            for kind, at, item in self._run(sql, (self.loop, made.seq))
        )

    def set_aside(self, seq: int, reason: str) -> None:
        """Keep a row, but never apply it."""
        sql = "INSERT INTO driftbandits.refused VALUES (%s, %s, %s, %s) ON CONFLICT DO NOTHING"
        self._run(sql, (self.loop, seq, time.time(), as_text(reason).replace("\0", " ")))

    def refused(self) -> int:
        """How many rows were set aside."""
        return int(self._run("SELECT count(*) FROM driftbandits.refused WHERE loop = %s", (self.loop,))[0][0])

    # ---------------------------------------------------------------------------------------------------------- snapshots

    def snapshot(self, seq: int, state: bytes) -> None:
        """Keep the state after row `seq`, and tell followers."""
        sql = """INSERT INTO driftbandits.snapshots VALUES (%s, %s, %s, %s, %s)
            ON CONFLICT (loop, seq) DO UPDATE SET at = excluded.at, state = excluded.state, checksum = excluded.checksum"""
        self._run(sql, (self.loop, seq, time.time(), state, snapshot_checksum(seq, state)))
        sql = """DELETE FROM driftbandits.snapshots WHERE loop = %s AND seq NOT IN
            (SELECT seq FROM driftbandits.snapshots WHERE loop = %s ORDER BY seq DESC LIMIT %s)"""
        self._run(sql, (self.loop, self.loop, KEPT))
        self._run("SELECT pg_notify(%s, %s)", (CHANNEL, f"snapshot {self.loop} {seq}"))

    def newest(self) -> int | None:
        """The row of the newest snapshot."""
        return self._run("SELECT max(seq) FROM driftbandits.snapshots WHERE loop = %s", (self.loop,))[0][0]  # type: ignore[no-any-return]

    def state(self, read: Callable[[bytes], T]) -> tuple[int, T] | None:
        """The newest snapshot that can be read, and its row."""
        sql = "SELECT seq, state, checksum FROM driftbandits.snapshots WHERE loop = %s ORDER BY seq DESC"
        return newest_state(self.name, self._run(sql, (self.loop,)), read)

    # -------------------------------------------------------------------------------------------------------------- files

    def settle(self) -> None:
        """PostgreSQL does it itself."""

    def backup(self, path: Path) -> None:
        """PostgreSQL has its own."""
        raise InvalidState(f"{self.name} is not copied to {said(path)}; pg_dump --schema=driftbandits copies all loops")

    def close(self) -> None:
        """Let the loop go; connections are shared."""
        self._closed = True


class AdvisoryLocks:
    """The locks of the loops that this process learns, all of one session: when it ends, however it ends, they are free.

    PostgreSQL gives a lock to the session that has it as often as it asks, and wants it back as often. `_taken` says which are held, so
    that two bandits of one process are not both the learner, as two of different processes are not.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self._taken: set[int] = set()
        self._lock = threading.Lock()
        self._db: psycopg.Connection[Any] | None = None

    def take(self, loop: int) -> "AdvisoryLock | None":
        """The lock of a loop, or None if it is held, here or elsewhere."""
        with self._lock, reachable("PostgreSQL"):
            if self._db is None or self._db.closed or self._db.broken:
                self._db = psycopg.connect(self._url, autocommit=True, connect_timeout=5)
                self._taken.clear()
                for name, seconds in (
                    ("idle", 5),
                    ("interval", 2),
                    ("count", 3),
                ):  # a machine that is gone is noticed in 11 s
                    self._db.execute(f"SET tcp_keepalives_{name} = {seconds}")
            if loop in self._taken:
                return None
            found = self._db.execute("SELECT pg_try_advisory_lock(%s, %s)", (LOCKS, loop)).fetchone()
            if not found or not found[0]:
                return None
            self._taken.add(loop)
            return AdvisoryLock(self, self._db, loop)

    def give_back(self, session: psycopg.Connection[Any], loop: int) -> None:
        """Let a lock go, if its session is still the one of this process."""
        with self._lock:
            if session is self._db and loop in self._taken:
                self._taken.discard(loop)
                with contextlib.suppress(psycopg.Error):
                    session.execute("SELECT pg_advisory_unlock(%s, %s)", (LOCKS, loop))

    def close(self) -> None:
        """End the session."""
        if self._db is not None:
            self._db.close()


class AdvisoryLock:
    """One lock that is held."""

    def __init__(self, locks: AdvisoryLocks, session: psycopg.Connection[Any], loop: int) -> None:
        self._locks, self._session, self._loop = locks, session, loop

    def held(self) -> bool:
        """Whether its session is still the one of this process."""
        return self._session is self._locks._db and not self._session.closed and not self._session.broken

    def close(self) -> None:
        """Let it go."""
        self._locks.give_back(self._session, self._loop)
