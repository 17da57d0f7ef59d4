"""Batches of the client: the frames of `Bandit.decide_batch` and `Bandit.reward_batch`, divided into requests that the service accepts."""

from collections.abc import Iterator, Sequence
from typing import Any

from ..bandit.bulk.decide import Made, asked_of, with_columns
from ..bandit.store import dumps
from ..errors import InvalidValue
from ..tables.frames import read_frame

ROWS, BYTES = 1000, 1 << 19  # of a piece: half of what a service accepts unless it is told otherwise


def decisions_of(frame: Any, offers: Any, context: Sequence[str] | None) -> tuple[Any, list[dict[str, Any]]]:
    """The frame, and the arguments of `decide` of each row."""
    table, asked = asked_of(frame, offers=offers, time=None, context=context)
    rows = [part.single(t) for part in asked for t in range(len(part))]
    return table, [{"items": items, "context": context} for items, context, _ in rows]


def decided(table: Any, made: Sequence[Any]) -> Any:
    """The frame with the columns id, item and propensity."""
    return with_columns(table, Made([d.id for d in made], [d.item for d in made], [d.propensity for d in made]))


def rewards_of(frame: Any) -> list[dict[str, Any]]:
    """The rewards of a frame."""
    table = read_frame(frame, ["id", "reward"])
    names = [name for name in ("id", "reward", "at", "weight") if name in table.columns]
    rows = table.select(*names).rows(named=True)
    for n, row in enumerate(rows):
        if row["reward"] is None or row["reward"] != row["reward"]:
            raise InvalidValue(f"row {n} of the frame has no reward; leave out rows whose reward has not come")
    return [{name: x for name, x in row.items() if x is not None} for row in rows]


def pieces(rows: Sequence[Any]) -> Iterator[Sequence[Any]]:
    """Rows in pieces, each small enough for one call."""
    start, size = 0, 0
    for end, row in enumerate(rows):
        length = len(dumps(row))
        if end > start and (end - start >= ROWS or size + length > BYTES):
            yield rows[start:end]
            start, size = end, 0
        size += length + 1
    if start < len(rows):
        yield rows[start:]
