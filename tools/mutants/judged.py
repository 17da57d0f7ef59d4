"""Survivors that somebody has looked at: `judged.toml` says why no test can notice them.

    [[same]]                     # the result of every call is the same: only time, memory or wording changes
    file = "core/ball.py"        # below src/driftbandits
    statement = "n = 2 * m"      # the first line of the statement, as it stands in the source
    change = "2 → 3"
    why = "…"

A row that fits no mutant any more is an error: the code has changed, and must be judged again.
"""

import pathlib
import tomllib
from typing import NamedTuple

from mutants.changes import Mutant, sites

PLACE = pathlib.Path(__file__).with_name("judged.toml")


class Row(NamedTuple):
    """A judgement."""

    file: str
    statement: str
    change: str
    why: str


def rows() -> dict[tuple[str, str, str], Row]:
    """All of them, by what they judge."""
    said = tomllib.loads(PLACE.read_text(encoding="utf-8")).get("same", [])
    return {(row["file"], row["statement"], row["change"]): Row(**row) for row in said}


def why(mutant: Mutant) -> str:
    """Why nothing can notice it; empty if nobody has said so."""
    row = rows().get((mutant.file, mutant.statement, mutant.change))
    return row.why if row else ""


def outdated() -> list[Row]:
    """Rows that fit no mutant any more."""
    waiting = rows()
    for site in sites(sorted({row.file for row in waiting.values()})):
        mutant = site.mutant()
        waiting.pop((mutant.file, mutant.statement, mutant.change), None)
    return list(waiting.values())
