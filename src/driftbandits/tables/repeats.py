"""Duplicate rows of a log, found by an id column: a decision that is counted twice makes intervals too narrow."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InvalidValue
from .batches import Source
from .frames import missing


def repeated_rows(sources: list[Source], column: str) -> list[NDArray[np.int64]]:
    """The numbers of the rows of each source whose id was there before; all ids are kept in memory while they are read."""
    seen: set[Any] = set()
    answer = []
    for source in sources:
        again: list[int] = []
        for batch in source.batches([column], (column,)):
            ids = batch.listed(column)
            new = set(ids)
            if len(new) < len(ids) or not new.isdisjoint(seen) or any(missing(value) for value in new):
                again += _looked_at(ids, batch.numbers, seen, column, source.name)
            seen |= new
        answer.append(np.array(sorted(again), np.int64))
    return answer


def _looked_at(ids: list[Any], numbers: Any, seen: set[Any], column: str, name: str) -> list[int]:
    """One by one, where a batch has an id twice, one that was there before, or none; `seen` grows."""
    again = []
    for number, value in zip(numbers, ids, strict=True):
        if missing(value):
            raise InvalidValue(f"row {number} of {name}: column {column!r} is empty; each row must have an id")
        if value in seen:
            again.append(int(number))
        seen.add(value)
    return again


def refuse_repeats(sources: list[Source], found: list[NDArray[np.int64]], column: str) -> None:
    """One line that names the first, and says how many there are."""
    total = sum(map(len, found))
    for source, rows in zip(sources, found, strict=True):
        if len(rows):
            raise InvalidValue(
                f"row {rows[0]} of {source.name} has an id in column {column!r} that an earlier row has, as have {total} rows in all; "
                "repeats='drop' keeps the first of each"
            )
