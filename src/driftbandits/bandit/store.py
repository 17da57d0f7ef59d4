"""The SQLite file of a durable bandit: one table that is the log of all that happened, and snapshots of the state.

The state of a bandit is a function of its log: of the rows up to a number, `seq`. A snapshot is that state, so opening reads the newest
snapshot and applies the rows after it.
Every process may append rows; one applies them.
"""

import json
import os
import pathlib
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from ..errors import CannotRead, CannotWrite, DriftBanditsError

APPLICATION = 0x64726266  # "drbf", marks the file as ours
FORMAT = 1
KEPT = 2  # snapshots
SCHEMA = """
CREATE TABLE IF NOT EXISTS log (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL,      -- decide, reward, replace, observe, expire, drop
    id TEXT,                 -- of the decision
    at REAL,                 -- seconds since 1970
    item TEXT,               -- JSON: the item chosen
    propensity REAL,
    reward REAL,
    weight REAL,
    writer TEXT,             -- the process that wrote it
    data TEXT                -- JSON: features, context, rankings
);
CREATE UNIQUE INDEX IF NOT EXISTS one_decision ON log (id) WHERE kind = 'decide';
CREATE UNIQUE INDEX IF NOT EXISTS one_reward ON log (id) WHERE kind = 'reward';
CREATE TABLE IF NOT EXISTS snapshots (seq INTEGER PRIMARY KEY, at REAL NOT NULL, state BLOB NOT NULL);
CREATE VIEW IF NOT EXISTS decisions AS
    SELECT seq, id, at, json_extract(item, '$') AS item, propensity, writer, data FROM log WHERE kind = 'decide';
CREATE VIEW IF NOT EXISTS rewards AS
    SELECT max(seq) AS seq, id, at, reward, weight, writer FROM log WHERE kind IN ('reward', 'replace') GROUP BY id;
"""
COLUMNS = ("kind", "id", "at", "item", "propensity", "reward", "weight", "writer", "data")
INSERT = f"INSERT INTO log ({', '.join(COLUMNS)}) VALUES ({', '.join('?' * len(COLUMNS))})"
SELECT = f"SELECT seq, {', '.join(COLUMNS)} FROM log WHERE seq > ? ORDER BY seq"


class Row(NamedTuple):
    """One row of the log."""

    seq: int
    kind: str
    id: str | None
    at: float | None
    item: str | None
    propensity: float | None
    reward: float | None
    weight: float | None
    writer: str | None
    data: str | None


class Store:
    """An open file."""

    def __init__(self, path: Any, *, sync: str, create: bool) -> None:
        self.path = os.fspath(path)
        self.writer = f"{os.getpid()}-{time.time_ns():x}"
        if not create and not pathlib.Path(self.path).exists():
            raise CannotRead(f"{self.path} is not there; Bandit.open makes it")
        try:
            self._db = sqlite3.connect(self.path, isolation_level=None, check_same_thread=False, timeout=30.0)
            self._prepare(sync, create)
        except sqlite3.DatabaseError as problem:
            raise CannotRead(f"{self.path} is not a durable bandit, or it is damaged: {problem}") from None

    def _prepare(self, sync: str, create: bool) -> None:
        db = self._db
        (mark,), (version,) = (db.execute(f"PRAGMA {name}").fetchone() for name in ("application_id", "user_version"))
        empty = db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0
        if not (mark == APPLICATION or (create and empty)):
            raise CannotRead(f"{self.path} is not a durable bandit")
        if version > FORMAT:
            raise CannotRead(
                f"{self.path} was written by a later version (format {version}); this one reads up to format {FORMAT}"
            )
        db.execute("PRAGMA journal_mode=WAL")
        db.execute(f"PRAGMA synchronous={sync.upper()}")
        if empty:
            db.executescript(SCHEMA)
            db.execute(f"PRAGMA application_id={APPLICATION}")
            db.execute(f"PRAGMA user_version={FORMAT}")

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All that is written inside is kept, or nothing."""
        self._run("BEGIN IMMEDIATE")
        try:
            yield
            self._run("COMMIT")
        except BaseException:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise

    def _run(self, sql: str, values: Any = ()) -> sqlite3.Cursor:
        try:
            return self._db.execute(sql, values)
        except sqlite3.IntegrityError:
            raise
        except sqlite3.Error as problem:
            raise CannotWrite(self.path, OSError(str(problem))) from None

    def append(self, kind: str, **row: Any) -> int:
        """Write a row of the log; returns its number."""
        data = row.get("data")
        row |= {"kind": kind, "writer": self.writer, "data": None if data is None else dumps(data)}
        return int(self._run(INSERT, [*map(row.get, COLUMNS)]).lastrowid or 0)

    def rows(self, after: int) -> list[Row]:
        """What has been written after a row."""
        return [Row(*row) for row in self._run(SELECT, (after,))]

    def decision(self, id_: Any) -> Any | None:
        """The items that a decision showed."""
        found = self._run("SELECT data FROM log WHERE kind = 'decide' AND id = ?", (id_,)).fetchone()
        return None if found is None else json.loads(found[0])["shown"]

    def snapshot(self, seq: int, state: bytes) -> None:
        """Keep the state after row `seq`."""
        self._run("INSERT OR REPLACE INTO snapshots VALUES (?, ?, ?)", (seq, time.time(), state))
        self._run(
            "DELETE FROM snapshots WHERE seq NOT IN (SELECT seq FROM snapshots ORDER BY seq DESC LIMIT ?)", (KEPT,)
        )

    def newest(self) -> int | None:
        """The row of the newest snapshot."""
        return self._run("SELECT max(seq) FROM snapshots").fetchone()[0]  # type: ignore[no-any-return]

    def state(self, read: Callable[[bytes], Any]) -> tuple[int, Any] | None:
        """The newest snapshot that can be read, and its row."""
        problem: DriftBanditsError | None = None
        for seq, state in self._run("SELECT seq, state FROM snapshots ORDER BY seq DESC").fetchall():
            try:
                return seq, read(state)
            except CannotRead as found:
                problem = problem or found
        if problem is not None:
            raise problem
        return None

    def close(self) -> None:
        """Let the file go."""
        self._db.close()


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} is not JSON")


dumps = json.JSONEncoder(separators=(",", ":"), default=_plain).encode  # compact JSON, NumPy's numbers included
