"""The log of a durable bandit: its SQLite file, read while others may write to it."""

import bisect
import itertools
import json
import os
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from ..bandit.sqlite_store import reading
from ..bandit.store import COLUMNS, intact
from ..bandit.store import Row as Logged
from ..errors import CannotRead, InvalidValue
from ..io.files import Path, as_path
from ..tables.batches import SIZE
from .chunks import Chunk
from .decode import Decoder
from .rows import Columns, Row

NAMES = ("seq", *COLUMNS)
ROLES = Columns("item", "reward", "propensity", "at", None, None, (), "drop")  # a durable bandit names them itself
EXPIRED = "SELECT seq, at, reward FROM log WHERE kind = 'expire' AND seq <= ? ORDER BY seq"

ACTIVATED = "SELECT id, at FROM log WHERE kind = 'activate' AND seq <= ?"


def read_durable(path: Path) -> tuple[str, Callable[[], Iterator[Chunk]]]:
    """Its name, and a function that reads its decisions with their rewards; those without are left out, or have what `expire` gave them."""
    name = as_path(path)
    with reading(name) as db:
        (last,) = db.execute("SELECT coalesce(max(seq), 0) FROM log").fetchone()
        # A decision whose kind was changed would otherwise be left out silently.
        for found in db.execute(_others(db), {"last": last}):
            intact(name, found)

    def rows() -> Iterator[Row | None]:
        with reading(name) as db:
            expired = Expired(db.execute(EXPIRED, (last,)).fetchall())
            activated: dict[str, float] = dict(db.execute(ACTIVATED, (last,)))
            half = len(NAMES) + 1
            for found in db.execute(_decisions(db), {"last": last}):
                decided = intact(name, found[:half])
                rewarded = None if found[half] is None else intact(name, found[half:])
                try:
                    yield _row(name, decided, rewarded, expired, activated)
                except (KeyError, TypeError, ValueError, RecursionError) as problem:
                    if isinstance(problem, InvalidValue):
                        raise
                    raise CannotRead(
                        f"row {decided.seq} of {name} is not as a bandit writes it; was it changed?"
                    ) from None

    def chunks() -> Iterator[Chunk]:
        decoder = Decoder(ROLES, {})
        every = rows()
        while part := [*itertools.islice(every, SIZE)]:
            there = [row for row in part if row is not None]
            yield replace(decoder.of_rows(there, os.fspath(name)), dropped=len(part) - len(there))

    return os.fspath(name), chunks


def _marks(db: sqlite3.Connection) -> tuple[str, str]:
    """The column with checksums, and the condition that a row was not set aside; files of format 1 have neither."""
    if db.execute("PRAGMA user_version").fetchone()[0] > 1:
        return "checksum", "seq NOT IN (SELECT seq FROM refused)"
    return "NULL", "1"


def _others(db: sqlite3.Connection) -> str:
    """All rows but decisions and those set aside; none of a file without checksums."""
    checksum, counts = _marks(db)
    only = "0" if checksum == "NULL" else counts
    return f"SELECT {', '.join(NAMES)}, {checksum} FROM log WHERE kind != 'decide' AND seq <= :last AND {only}"


def _decisions(db: sqlite3.Connection) -> str:
    """Decisions with their last reward, in order of time; rows that were set aside count on neither side.

    The last reward of each decision is found by one pass over the log. A subquery for each decision would be quadratic: the indices of the
    file are partial, one for each kind, and SQLite can use neither for two kinds at once.
    """
    checksum, counts = _marks(db)
    marks = {side: "NULL" if checksum == "NULL" else f"{side}.{checksum}" for side in "dr"}
    columns = ", ".join(part for side in "dr" for part in (*(f"{side}.{name}" for name in NAMES), marks[side]))
    return f"""
WITH newest AS MATERIALIZED (
    SELECT id, max(seq) AS seq FROM log WHERE kind IN ('reward', 'replace') AND seq <= :last AND {counts} GROUP BY id
)
SELECT {columns} FROM log d LEFT JOIN newest ON newest.id = d.id LEFT JOIN log r ON r.seq = newest.seq
WHERE d.kind = 'decide' AND d.seq <= :last AND {counts.replace("seq", "d.seq", 1)} ORDER BY d.at, d.seq
"""


class Expired:
    """Which `expire` ended a decision: the first after it whose time is later than the decision's.

    `most[k][i]` is the latest time among the 2^k rows from i on, so the first is found in log n steps, whatever the order of the times.
    """

    def __init__(self, found: list[tuple[int, float, float | None]]) -> None:
        self._numbers = [number for number, _, _ in found]
        self._rewards = [reward for _, _, reward in found]
        self._most = [np.array([at for _, at, _ in found], float)]
        while 2 ** len(self._most) <= len(found):
            last, step = self._most[-1], 2 ** (len(self._most) - 1)
            self._most.append(np.maximum(last[:-step], last[step:]))

    def reward(self, seq: int, at: float) -> float | None:
        """The reward that a decision was given up with; None if it waits, or was given up without one."""
        i = bisect.bisect_right(self._numbers, seq)
        for k in reversed(range(len(self._most))):  # step over 2^k rows as long as none of them is later
            if i < len(self._most[k]) and self._most[k][i] <= at:
                i += 2**k
        return self._rewards[i] if i < len(self._rewards) else None


def _row(
    path: str, decided: Logged, rewarded: Logged | None, expired: Expired, activated: dict[str, float]
) -> Row | None:
    seq, at = decided.seq, decided.at
    told = json.loads(decided.data or "")
    if at is None or decided.propensity is None or decided.item is None:
        raise ValueError
    if len(told["shown"]) > 1:
        raise InvalidValue(
            f"row {seq} of {path} is a ranking of {len(told['shown'])}; only decisions for one item (k=1) can be replayed: "
            "what one place earns depends on the others"
        )
    reward = None if rewarded is None else rewarded.reward
    since = activated.get(decided.id or "") if "defer" in told else at
    if reward is None and since is not None:  # a deferred decision that was never shown has earned nothing
        reward = expired.reward(seq, since)
    if reward is None:
        return None
    reward_at = None if rewarded is None else rewarded.at
    if told["given"]:  # its times are the user's, and not those of the system
        reward_at = json.loads(rewarded.data).get("at") if rewarded is not None and rewarded.data else None
    late = reward_at if reward_at is not None and reward_at > at else None
    items = dict(zip(told["names"], told["rows"], strict=True))
    return Row(seq, json.loads(decided.item), float(reward), decided.propensity, at, late, items, told["context"])
