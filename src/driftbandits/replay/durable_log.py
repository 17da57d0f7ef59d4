"""The log of a durable bandit: its SQLite file, read while others may write to it."""

import json
import os
import sqlite3
from collections.abc import Iterator
from typing import Any

from ..bandit.sqlite_store import intact, reading
from ..bandit.store import COLUMNS
from ..bandit.store import Row as Logged
from ..errors import CannotRead, InvalidValue
from ..io.files import as_path
from .log import Log
from .rows import Row

NAMES = ("seq", *COLUMNS)
EXPIRED = "SELECT seq, at, reward FROM log WHERE kind = 'expire' ORDER BY seq"


def read_durable(path: Any) -> Log:
    """Its decisions with their rewards; those without are left out, or have what `expire` gave them."""
    name = as_path(path)
    with reading(name) as db:
        (last,) = db.execute("SELECT coalesce(max(seq), 0) FROM log").fetchone()
        for found in db.execute(
            _others(db), (last,)
        ):  # a decision whose kind was changed would otherwise be left out silently
            intact(name, found)

    def rows() -> Iterator[Row | None]:
        with reading(name) as db:
            expired = db.execute(EXPIRED).fetchall()
            for found in db.execute(_decisions(db), (last,)):
                half = len(NAMES) + 1
                decided = intact(name, found[:half])
                rewarded = None if found[half] is None else intact(name, found[half:])
                try:
                    yield _row(name, decided, rewarded, expired)
                except (KeyError, TypeError, ValueError, RecursionError) as problem:
                    if isinstance(problem, InvalidValue):
                        raise
                    raise CannotRead(
                        f"row {decided.seq} of {name} is not as a bandit writes it; was it changed?"
                    ) from None

    return Log(os.fspath(name), rows, timed=True, known=True)


def _has_checksums(db: sqlite3.Connection) -> bool:
    return bool(db.execute("PRAGMA user_version").fetchone()[0] > 1)


def _others(db: sqlite3.Connection) -> str:
    """All rows but decisions and those set aside; none of a file without checksums."""
    checked = _has_checksums(db)
    aside = "AND seq NOT IN (SELECT seq FROM refused)" if checked else "AND 0"
    mark = "checksum" if checked else "NULL"
    return f"SELECT {', '.join(NAMES)}, {mark} FROM log WHERE kind != 'decide' AND seq <= ? {aside}"


def _decisions(db: sqlite3.Connection) -> str:
    """Decisions with their last reward, without those that the learner set aside; files of format 1 have no checksums."""
    checked = _has_checksums(db)
    aside = "AND d.seq NOT IN (SELECT seq FROM refused)" if checked else ""
    marks = {side: f"{side}.checksum" if checked else "NULL" for side in "dr"}
    columns = ", ".join(part for side in "dr" for part in (*(f"{side}.{name}" for name in NAMES), marks[side]))
    return f"""
SELECT {columns}
FROM log d LEFT JOIN log r ON r.seq = (SELECT max(seq) FROM log WHERE id = d.id AND kind IN ('reward', 'replace'))
WHERE d.kind = 'decide' AND d.seq <= ? {aside} ORDER BY d.at, d.seq
"""


def _row(path: str, decided: Logged, rewarded: Logged | None, expired: list[Any]) -> Row | None:
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
    if reward is None:
        reward = next((r for number, before, r in expired if number > seq and at < before), None)
    if reward is None:
        return None
    reward_at = None if rewarded is None else rewarded.at
    if told["given"]:  # its times are the user's, and not those of the system
        reward_at = json.loads(rewarded.data).get("at") if rewarded is not None and rewarded.data else None
    late = reward_at if reward_at is not None and reward_at > at else None
    items = dict(zip(told["names"], told["rows"], strict=True))
    return Row(seq, json.loads(decided.item), float(reward), decided.propensity, at, late, items, told["context"])
