"""The SQLite file of a durable bandit: the log, snapshots of the state, and the rows that were set aside.

The file is in WAL mode: what was committed is first in `<file>-wal`, and SQLite moves it into the file at checkpoints. While a bandit is
open, the three files `<file>`, `<file>-wal` and `<file>-shm` belong together, so each transaction looks whether they are still those that
were opened: a file that was deleted, renamed or replaced would otherwise take acknowledged rows with it. `backup` is the way to copy an
open bandit.
"""

import contextlib
import json
import os
import pathlib
import secrets
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from itertools import chain
from typing import Any, TypeVar

from ..errors import CannotRead, CannotWrite, DriftBanditsError, InvalidState, InvalidValue
from ..io.files import PART, as_path, sync_file
from .arguments import Path
from .store import (
    COLUMNS,
    Busy,
    Repeated,
    Row,
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
DAMAGE = (
    sqlite3.SQLITE_ERROR,
    sqlite3.SQLITE_CORRUPT,
    sqlite3.SQLITE_NOTADB,
)  # SQLITE_ERROR: tables are not those of the format
APPLICATION = 0x64726266  # "drbf", marks the file as ours
FORMAT = 3  # 1: without checksums, rows set aside, and the claim of the learner; 2: without deferred decisions
KEPT = 2  # snapshots
FAR_BEHIND = 1 << 16  # pages of the write-ahead log, 256 MiB
KEPT_WAL = 1 << 26  # bytes of a write-ahead log that stay when it begins anew
PATIENCE = 30.0  # seconds to wait for another process to end its transaction
LOOK = 2e-4  # seconds between two looks whether it has
# Seconds for which a folder must not have changed before its time of change is trusted to show the next change: some file systems keep
# whole seconds.
SETTLED = 2.5
TABLES = (
    """CREATE TABLE IF NOT EXISTS log (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL,      -- decide, reward, replace, observe, expire, drop, forget
    id TEXT,                 -- of the decision
    at REAL,                 -- seconds since 1970
    item TEXT,               -- JSON: the item chosen
    propensity REAL,
    reward REAL,
    weight REAL,
    writer TEXT,             -- the process that wrote it
    data TEXT                -- JSON: features, context, rankings
)""",
    "CREATE UNIQUE INDEX IF NOT EXISTS one_decision ON log (id) WHERE kind = 'decide'",
    "CREATE UNIQUE INDEX IF NOT EXISTS one_reward ON log (id) WHERE kind = 'reward'",
    "CREATE TABLE IF NOT EXISTS snapshots (seq INTEGER PRIMARY KEY, at REAL NOT NULL, state BLOB NOT NULL)",
    """CREATE VIEW IF NOT EXISTS decisions AS
    SELECT seq, id, at, json_extract(item, '$') AS item, propensity, writer, data FROM log WHERE kind = 'decide'""",
    """CREATE VIEW IF NOT EXISTS rewards AS
    SELECT max(seq) AS seq, id, at, reward, weight, writer FROM log WHERE kind IN ('reward', 'replace') GROUP BY id""",
)  # format 1; a new file is made as such and then migrated, so that there is one way to each format
SECOND = (
    "ALTER TABLE log ADD COLUMN checksum INTEGER",  # NULL: written by a version before this one
    "ALTER TABLE snapshots ADD COLUMN checksum INTEGER",
    "CREATE TABLE refused (seq INTEGER PRIMARY KEY, at REAL NOT NULL, reason TEXT NOT NULL)",
    "CREATE TABLE claims (seq INTEGER PRIMARY KEY CHECK (seq = 0), writer TEXT NOT NULL)",
)
THIRD = (
    "CREATE UNIQUE INDEX one_activation ON log (id) WHERE kind = 'activate'",
    "CREATE INDEX replaced ON log (id, seq) WHERE kind = 'replace'",
    "CREATE TABLE deleted (seq INTEGER PRIMARY KEY)",  # rows up to here may have been deleted
)
STEPS = (TABLES, SECOND, THIRD)  # to format 1, 2, 3
OURS = {"log", "one_decision", "one_reward", "snapshots", "decisions", "rewards", "sqlite_sequence"}
SELECTED = ", ".join(("seq", *COLUMNS, "checksum"))
INSERT = f"INSERT INTO log ({SELECTED}) VALUES ({', '.join('?' * (len(COLUMNS) + 2))})"
SELECT = f"SELECT {SELECTED} FROM log WHERE seq > ? ORDER BY seq LIMIT ?"
DECISIONS = f"SELECT {SELECTED} FROM log WHERE kind = 'decide' AND id IN (SELECT value FROM json_each(?))"
# Not the largest number in the table: that of a row may be damaged, and rows may have been deleted.
NEWEST = "SELECT seq FROM sqlite_sequence WHERE name = 'log'"
CLAIM = f"SELECT (SELECT writer FROM claims), ({NEWEST})"


class SQLiteStore:
    """An open file; see `store.Store` for what each method promises."""

    local = True
    patience = PATIENCE

    def __init__(self, path: Path, *, sync: str = "normal", learner: bool = False) -> None:
        self.name = os.fspath(path)
        self.path = os.path.realpath(self.name)  # one file has one lock, through whichever link it is opened
        self.writer = f"{os.getpid()}-{secrets.token_hex(8)}"
        self._process = os.getpid()
        self._newest_row: int | None = None  # known inside a transaction: nobody else writes
        self._folder = str(pathlib.Path(self.path).parent)
        self._inodes: list[tuple[int, int]] | None = None
        # The folder, when its files were last seen to be those that were opened.
        self._settled: tuple[int, int, int] | None = None
        if not learner and not pathlib.Path(self.path).exists():
            raise CannotRead(f"{self.name} is not there; Bandit.open makes it")
        try:
            self._db = sqlite3.connect(self.path, isolation_level=None, check_same_thread=False, timeout=PATIENCE)
        except sqlite3.Error as problem:
            raise CannotRead(f"{self.name} cannot be opened: {problem}") from None
        try:
            self._prepare(sync, learner)
        except sqlite3.Error as problem:
            self._db.close()
            raise CannotRead(
                f"{self.name} is not a durable bandit, or it is damaged: {problem}; what save wrote is read by Bandit.load"
            ) from None
        except BaseException:
            self._db.close()
            raise

    def _prepare(self, sync: str, learner: bool) -> None:
        version = self._checked_version(learner)
        if version < FORMAT and not learner:
            raise CannotRead(
                f"{self.name} is of an earlier version (format {version}); the process that learns must open it first"
            )
        self._db.execute("PRAGMA journal_mode=WAL")
        self._db.execute(f"PRAGMA synchronous={sync.upper()}")
        self._db.execute("PRAGMA busy_timeout=0")  # `_run` waits itself

    def _checked_version(self, learner: bool) -> int:
        """The format of the file: 0 if there is nothing in it, or only what a version before this one left when it was killed."""
        db = self._db
        (mark,), (version,) = (db.execute(f"PRAGMA {name}").fetchone() for name in ("application_id", "user_version"))
        if mark == APPLICATION and version > FORMAT:
            raise CannotRead(
                f"{self.name} was written by a later version (format {version}); this one reads up to format {FORMAT}"
            )
        found = {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE name NOT LIKE 'sqlite_auto%'")}
        made = found <= OURS and not ("log" in found and db.execute("SELECT 1 FROM log LIMIT 1").fetchone())
        if mark != APPLICATION and not (learner and made):
            raise CannotRead(f"{self.name} is not a durable bandit")
        return int(version) if mark == APPLICATION else 0

    def migrate(self) -> None:
        """Inside a transaction: make the tables that this version needs, from nothing or from an earlier format."""
        version = self._checked_version(learner=True)
        for statement in chain.from_iterable(STEPS[version:]):
            self._run(statement)
        if version < FORMAT:
            self._db.execute(f"PRAGMA application_id={APPLICATION}")
            self._db.execute(f"PRAGMA user_version={FORMAT}")

    # ------------------------------------------------------------------------------------------------------- transactions

    @contextmanager
    def transaction(self, *, learner: bool = False) -> Iterator[None]:
        """All that is written inside is kept, or nothing."""
        self._check_process()
        if self._db.in_transaction:  # one that was interrupted between its last step and this line
            self._db.execute("ROLLBACK")
        try:
            self._run("BEGIN IMMEDIATE")
            self._newest_row = None
            self._check_files()
            if learner:
                self._check_claim()
            yield
            self._run("COMMIT")
        except BaseException:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise

    def _check_process(self) -> None:
        if os.getpid() != self._process:
            raise InvalidState(
                f"{self.name} was opened in the process from which this one was forked; open it here with Bandit.follow"
            )

    def _check_files(self) -> None:
        """Whether the three files are the ones that were opened: a row for a deleted file would be acknowledged and lost.

        A file that is deleted, renamed or replaced changes its folder. So it is enough to look at the folder, if that has not changed.
        """
        try:
            folder = os.stat(self._folder)  # noqa: PTH116
            seen = (folder.st_dev, folder.st_ino, folder.st_mtime_ns)
            if seen == self._settled:
                return
            found = [(s.st_dev, s.st_ino) for s in map(os.stat, (self.path, f"{self.path}-wal", f"{self.path}-shm"))]
        except OSError as problem:
            found, lost = [], problem.filename
        else:
            lost = self.path
            self._settled = seen if time.time_ns() - folder.st_mtime_ns > SETTLED * 1e9 else None
        if self._inodes is None and found:
            self._inodes = found
        if found != self._inodes:
            self._settled = None
            raise InvalidState(
                f"{lost} was deleted, renamed or replaced while it was open; nothing more is written: "
                "save what is known with backup(…), then open that"
            )

    def _check_claim(self) -> None:
        writer, last = self._run(CLAIM).fetchone()
        self._newest_row = last or 0
        if writer != self.writer:
            raise Superseded(f"{self.name} has been opened for writing again since; one process learns at a time")

    def claim(self) -> None:
        """Become the learner."""
        self._run("INSERT OR REPLACE INTO claims VALUES (0, ?)", (self.writer,))

    def _run(self, sql: str, values: Any = ()) -> sqlite3.Cursor:
        try:
            return self._db.execute(sql, values)
        except sqlite3.IntegrityError:
            raise
        except sqlite3.ProgrammingError:
            raise self._is_closed() from None
        except sqlite3.DatabaseError as problem:
            if problem.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY:
                return self._patiently(sql, values)
            raise self._told(problem) from None

    def _is_closed(self) -> InvalidState:
        return InvalidState(f"{self.name} is closed; open it again")

    def _patiently(self, sql: str, values: Any) -> sqlite3.Cursor:
        """Run a statement as soon as another process lets this one.

        SQLite itself would sleep up to 100 ms between two looks, and transactions are shorter than 1 ms: two processes that write as fast
        as they can would wait most of the time.
        """
        give_up = time.monotonic() + self.patience
        while time.monotonic() < give_up:
            time.sleep(LOOK)
            try:
                return self._db.execute(sql, values)
            except sqlite3.OperationalError as problem:
                if problem.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
                    raise self._told(problem) from None
        raise Busy(f"{self.name} is being written to by another process, for more than {self.patience:g} s; try again")

    def _told(self, problem: sqlite3.DatabaseError) -> DriftBanditsError:
        if problem.sqlite_errorcode & 0xFF in DAMAGE:
            return CannotRead(f"{self.name} is damaged: {problem}; restore a backup")
        return CannotWrite(self.name, OSError(str(problem)))

    # ---------------------------------------------------------------------------------------------------------------- log

    def append(self, kind: str, **row: Any) -> int:
        """Write a row of the log; returns its number."""
        made = as_row(self.last() + 1, kind, row, self.writer)
        try:
            self._run(INSERT, (*made, made.checksum()))
        except sqlite3.IntegrityError as problem:
            raise self._repeated(problem, kind, made.seq, repr(made.id)) from None
        self._newest_row = made.seq
        return made.seq

    def append_all(self, kind: str, rows: Sequence[Mapping[str, Any]]) -> int:
        """Write rows of one kind by one statement; returns the number of the last."""
        last = self.last()
        made = [as_row(seq, kind, row, self.writer) for seq, row in enumerate(rows, start=last + 1)]
        try:
            self._db.executemany(INSERT, [(*row, row.checksum()) for row in made])
        except sqlite3.IntegrityError as problem:
            raise self._repeated(problem, kind, last + 1, "a decision") from None
        except sqlite3.ProgrammingError:
            raise self._is_closed() from None
        except sqlite3.DatabaseError as problem:  # nobody else writes inside a transaction, so it is never busy
            raise self._told(problem) from None
        self._newest_row = last + len(made)
        return self._newest_row

    def _repeated(self, problem: sqlite3.IntegrityError, kind: str, seq: int, whose: str) -> DriftBanditsError:
        if "log.seq" in str(problem):
            return CannotRead(f"{self.name} is damaged: its next row, {seq}, is there already")
        return Repeated(f"a row {kind!r} of {whose} is in {self.name} already")

    def last(self) -> int:
        """The number of the newest row."""
        if self._newest_row is None or not self._db.in_transaction:
            found = self._run(NEWEST).fetchone()
            self._newest_row = 0 if found is None else int(found[0])
        return self._newest_row

    def rows(self, after: int, limit: int) -> list[Row]:
        """Rows after a row, intact; those set aside have the kind ASIDE."""
        found = self._run(SELECT, (after, limit)).fetchall()
        return in_sequence(
            self.name, found, self._aside(after) if found else set(), after, self._deleted() if found else 0
        )

    def _deleted(self) -> int:
        """The number up to which rows may have been deleted."""
        return int(self._run("SELECT max(seq) FROM deleted").fetchone()[0] or 0)

    def delete_learned(self) -> int:
        """Delete what the newest snapshot knows; older snapshots could not be continued, and go as well."""
        upto = self.newest() or 0
        self._run("INSERT OR REPLACE INTO deleted VALUES (?)", (upto,))
        self._run("DELETE FROM snapshots WHERE seq < ?", (upto,))
        gone = self._run(
            "DELETE FROM log WHERE seq <= ? AND (kind NOT IN ('decide', 'activate') OR id IN "
            "(SELECT id FROM log WHERE kind = 'reward' AND seq <= ?))",
            (upto, upto),
        )
        return gone.rowcount

    def rewarded(self, id_: str) -> float | None:
        """The reward that a decision has had."""
        for sql in ("kind = 'replace' AND id = ? ORDER BY seq DESC LIMIT 1", "kind = 'reward' AND id = ?"):
            found = self._run(f"SELECT reward FROM log WHERE {sql}", (as_id(id_),)).fetchone()
            if found is not None:
                return None if found[0] is None else float(found[0])
        return None

    def span(self) -> tuple[float | None, float | None]:
        """The first and the last time in the log."""
        ends = (
            "SELECT at FROM log WHERE at IS NOT NULL ORDER BY seq LIMIT 1",
            "SELECT at FROM log WHERE at IS NOT NULL ORDER BY seq DESC LIMIT 1",
        )
        first, last = (self._run(end).fetchone() for end in ends)
        return (None, None) if first is None else (first[0], last[0])

    def _aside(self, after: int) -> set[int]:
        return {seq for (seq,) in self._run("SELECT seq FROM refused WHERE seq > ?", (after,))}

    def decision(self, id_: str) -> Row | None:
        """The row of a decision."""
        found = self._run(f"SELECT {SELECTED} FROM log WHERE kind = 'decide' AND id = ?", (as_id(id_),)).fetchone()
        return None if found is None else intact(self.name, found)

    def decisions(self, ids: Sequence[str]) -> list[Row]:
        """The rows of those decisions that there are."""
        found = self._run(DECISIONS, (json.dumps([*map(as_id, ids)]),)) if ids else ()
        return [intact(self.name, values) for values in found]

    def activated(self, id_: str) -> bool:
        """Whether a deferred decision was activated."""
        return self._run("SELECT 1 FROM log WHERE kind = 'activate' AND id = ?", (as_id(id_),)).fetchone() is not None

    def decided_after(self, seq: int) -> bool:
        """Whether a decision was made after a row."""
        return self._run("SELECT 1 FROM log WHERE kind = 'decide' AND seq > ? LIMIT 1", (seq,)).fetchone() is not None

    def answered(self, id_: str) -> bool:
        """Whether a decision has had its reward, was expired or was dropped."""
        text = as_id(id_)
        if self._run("SELECT 1 FROM log WHERE kind = 'reward' AND id = ?", (text,)).fetchone():
            return True
        made = self._run("SELECT seq, at, data FROM log WHERE kind = 'decide' AND id = ?", (text,)).fetchone()
        if made is None:
            return False
        closing_ = "SELECT kind, at, item FROM log WHERE kind IN ('expire', 'drop') AND seq > ?"
        shown = json.loads(made[2])["shown"]
        return any(
            made[1] < at if kind == "expire" else json.loads(item) in shown
            for kind, at, item in self._run(closing_, (made[0],))
        )

    def set_aside(self, seq: int, reason: str) -> None:
        """Keep a row, but never apply it."""
        self._run("INSERT OR REPLACE INTO refused VALUES (?, ?, ?)", (seq, time.time(), as_text(reason)))

    def refused(self) -> int:
        """How many rows were set aside."""
        return int(self._run("SELECT count(*) FROM refused").fetchone()[0])

    # ---------------------------------------------------------------------------------------------------------- snapshots

    def snapshot(self, seq: int, state: bytes) -> None:
        """Keep the state after row `seq`."""
        values = (seq, time.time(), state, snapshot_checksum(seq, state))
        self._run("INSERT OR REPLACE INTO snapshots (seq, at, state, checksum) VALUES (?, ?, ?, ?)", values)
        self._run(
            "DELETE FROM snapshots WHERE seq NOT IN (SELECT seq FROM snapshots ORDER BY seq DESC LIMIT ?)", (KEPT,)
        )

    def newest(self) -> int | None:
        """The row of the newest snapshot."""
        return self._run("SELECT max(seq) FROM snapshots").fetchone()[0]  # type: ignore[no-any-return]

    def state(self, read: Callable[[bytes], T]) -> tuple[int, T] | None:
        """The newest snapshot that can be read, and its row."""
        found = self._run("SELECT seq, state, checksum FROM snapshots ORDER BY seq DESC").fetchall()
        return newest_state(self.name, found, read)

    # -------------------------------------------------------------------------------------------------------------- files

    def settle(self) -> None:
        """Move what was committed into the file, as far as readers allow.

        It has a connection of its own: calls of other threads do not wait for the disk.
        """
        place = f"{pathlib.Path(self.path).as_uri()}?mode=rw"  # a file that was deleted is not made again
        with contextlib.suppress(sqlite3.OperationalError), closing(sqlite3.connect(place, uri=True)) as db:
            db.execute("PRAGMA wal_checkpoint(PASSIVE)")  # refused while another process does it

    def leave_settling(self) -> None:
        """Another thread calls `settle`. A commit moves what was committed itself only if that thread falls far behind."""
        self._run(f"PRAGMA wal_autocheckpoint={FAR_BEHIND}")
        self._run(f"PRAGMA journal_size_limit={KEPT_WAL}")

    def backup(self, path: Path) -> None:
        """A consistent copy, whole or not at all; also of a file that was deleted while it was open."""
        self._check_process()
        copy_database(self._db, self.name, path)

    def close(self) -> None:
        """Let the file go."""
        self._db.close()


def copy_database(source: sqlite3.Connection, name: str, path: Path) -> None:
    """SQLite's own backup, under another name first: a reader finds the old file or the new one."""
    target, origin = pathlib.Path(as_path(path)).resolve(), pathlib.Path(name)
    if target.exists() and origin.exists() and target.samefile(origin):
        raise InvalidValue(f"{name} cannot be its own backup; give another path")
    part = target.with_name(f".{secrets.token_hex(8)}{PART}")
    try:
        with closing(sqlite3.connect(part)) as copy:
            source.backup(copy)
            copy.execute("PRAGMA journal_mode=DELETE")  # one file, whoever reads it
        sync_file(str(part))
        part.replace(target)
    except sqlite3.Error as problem:
        raise CannotWrite(os.fspath(path), OSError(str(problem))) from None
    except OSError as problem:
        raise CannotWrite(os.fspath(path), problem) from None
    finally:
        for ending in ("", "-journal", "-wal", "-shm"):
            with contextlib.suppress(OSError):
                pathlib.Path(f"{part}{ending}").unlink()


@contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection that only reads the file of a durable bandit."""
    name = os.fspath(path)
    try:
        db = sqlite3.connect(f"{pathlib.Path(name).resolve().as_uri()}?mode=ro", uri=True, timeout=PATIENCE)
    except sqlite3.Error as problem:
        raise CannotRead(f"{name} cannot be read: {problem}") from None
    with closing(db):
        try:
            (mark,) = db.execute("PRAGMA application_id").fetchone()
            if mark != APPLICATION:
                raise CannotRead(f"{name} is a database, but not of a durable bandit; export its table to a file")
            yield db
        except sqlite3.Error as problem:
            raise CannotRead(f"{name} cannot be read: {problem}") from None
