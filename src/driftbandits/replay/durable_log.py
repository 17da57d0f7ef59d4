"""The log of a durable bandit: its SQLite file, read while others may write to it."""

import json
import os
import pathlib
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

from ..bandit.store import APPLICATION
from ..errors import CannotRead, InvalidValue
from .log import Log
from .rows import Row

DECISIONS = """
SELECT d.seq, d.at, d.item, d.propensity, d.data, r.reward, r.at, r.data
FROM log d LEFT JOIN log r ON r.seq = (SELECT max(seq) FROM log WHERE id = d.id AND kind IN ('reward', 'replace'))
WHERE d.kind = 'decide' AND d.seq <= ? ORDER BY d.at, d.seq
"""
EXPIRED = "SELECT seq, at, reward FROM log WHERE kind = 'expire' ORDER BY seq"


def read_durable(path: Any) -> Log:
    """Its decisions with their rewards; those without are left out, or have what `expire` gave them."""
    name = os.fspath(path)
    with _connected(name) as db:
        (last,) = db.execute("SELECT coalesce(max(seq), 0) FROM log").fetchone()

    def rows() -> Iterator[Row | None]:
        with _connected(name) as db:
            expired = db.execute(EXPIRED).fetchall()
            for row in db.execute(DECISIONS, (last,)):
                yield _row(name, row, expired)

    return Log(name, rows, timed=True, known=True)


@contextmanager
def _connected(path: str) -> Iterator[sqlite3.Connection]:
    """An open connection that only reads."""
    try:
        db = sqlite3.connect(f"{pathlib.Path(path).resolve().as_uri()}?mode=ro", uri=True)
    except sqlite3.Error as problem:
        raise CannotRead(f"{path} cannot be read: {problem}") from None
    with closing(db):
        try:
            (mark,) = db.execute("PRAGMA application_id").fetchone()
            if mark != APPLICATION:
                raise CannotRead(f"{path} is a database, but not of a durable bandit; export its table to a file")
            yield db
        except sqlite3.Error as problem:
            raise CannotRead(f"{path} cannot be read: {problem}") from None


def _row(path: str, row: Any, expired: list[Any]) -> Row | None:
    seq, at, item, propensity, data, reward, reward_at, answer = row
    told, answered = json.loads(data), json.loads(answer) if answer else {}
    if len(told["shown"]) > 1:
        raise InvalidValue(
            f"row {seq} of {path} is a ranking of {len(told['shown'])}; only decisions for one item (k=1) can be replayed: "
            "what one place earns depends on the others"
        )
    if reward is None:
        reward = next((r for number, before, r in expired if number > seq and at < before), None)
    if reward is None:
        return None
    if told["given"]:  # its times are the user's, and not those of the system
        reward_at = answered.get("at")
    late = reward_at if reward_at is not None and reward_at > at else None
    items = dict(zip(told["names"], told["rows"], strict=True))
    return Row(seq, json.loads(item), float(reward), float(propensity), float(at), late, items, told["context"])
