"""Columns in the slots of a `Table`, and the rows at which something new appears."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...adaptive.stretch import TORN
from ...core.atomic import wholly
from ...core.linalg import Matrix
from ...errors import InvalidShape
from ...tables.kinds import Categories, Codes, Column, Numbers
from ..features import Table
from ..model import Model

Rows = NDArray[np.int64]


def first_true(mask: NDArray[np.bool_]) -> list[int]:
    """The place of the first True, in a list; an empty list if there is none."""
    place = int(mask.argmax()) if len(mask) else 0
    return [place] if len(mask) and mask[place] else []


def first_of(codes: Codes, wanted: NDArray[np.bool_]) -> list[int]:
    """Where each wanted code occurs first."""
    if not wanted.any():
        return []
    places = np.flatnonzero(wanted[codes] & (codes >= 0))
    return places[np.unique(codes[places], return_index=True)[1]].tolist()  # type: ignore[no-any-return]


def new_to(table: Table, columns: Mapping[str, Column], rows: int) -> list[int]:
    """Rows at which this side of a decision may show something new: all that do, and perhaps some that do not."""
    found: list[int] = []
    for name, column in columns.items():
        there = column.present()
        if isinstance(column, Numbers):
            if name not in table.numbers:
                found += first_true(there)
            if name not in table.presence:
                found += first_true(~there)
        elif isinstance(column, Categories):
            if name not in table.strings:
                found += first_true(there)
            unknown = [not table.has_slot((name, value)) for value in column.values]
            found += first_of(column.codes, np.array(unknown, np.bool_))
    if rows and any(name not in columns and name not in table.presence for name in table.numbers):
        found.append(0)  # a number that this source does not have is missing
    return found


def in_slots(table: Table, columns: Mapping[str, Column], rows: int) -> Matrix:
    """Raw features (rows, width) of rows that show nothing new."""
    out = np.empty((rows, table.width))
    out[:] = table.absent
    every = np.arange(rows)
    for name, column in columns.items():
        if isinstance(column, Categories):
            tokens = [(name, value) for value in column.values]
            slots = np.array([table.slot_of(token) or 0 for token in tokens], np.int64)
            values = np.array([table.value_of(t, s) for t, s in zip(tokens, slots.tolist(), strict=True)])
            there = column.codes >= 0
            codes = column.codes[there]
            out[every[there], slots[codes]] = values[codes]
        elif isinstance(column, Numbers) and name in table.numbers:
            slot = table.numbers[name]
            out[:, slot] = column.values
            if column.missing is not None:
                out[column.missing, slot] = np.nan
            if name in table.presence:
                out[:, table.presence[name]] = column.present()
    for t in range(rows if table.derived else 0):  # one by one: a product of matrices would round otherwise
        table.derive(out[t : t + 1])
    return out


def pieces(new: list[int], rows: int, most: int) -> list[tuple[int, int, bool]]:
    """Rows 0 … rows − 1 as (start, end, is it new?): new rows one by one, others in stretches of at most `most`."""
    answer, start = [], 0
    for place in [*sorted(set(new)), rows]:
        answer += [(a, min(a + most, place), False) for a in range(start, place, most)]
        if place < rows:
            answer.append((place, place + 1, True))
        start = place + 1
    return answer


def walk(step: Callable[..., int], model: Model, *args: Any) -> int:
    """One compiled call over rows, made wholly or not at all; raises if what it was given does not fit the model."""
    found: int = wholly(step, model.arrays(), model.engine, *args)
    if found == TORN:
        raise InvalidShape("rows of a batch do not fit the model: please report how it came to this")
    return found


def codes_of(names: list[Any]) -> tuple[Codes, list[Any]]:
    """Values by codes, in the order in which they appear."""
    known: dict[Any, int] = {}
    codes = np.array([known.setdefault(name, len(known)) for name in names], np.int64)
    return codes, [*known]
