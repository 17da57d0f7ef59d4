"""Groups of a log's rows by what was known before the choice: values of the context, stretches of the log, hours of the day.

The group of a row must not depend on its choice, nor on anything later. A category is grouped by its values in the order in which they
appear. A number is grouped by quantiles of its first `LOOKED_AT` values (or by the values themselves, if there are few), and only rows
after these have a group.
"""

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..tables.kinds import Categories, Codes, Numbers
from .chunks import Chunk

LEVELS = 16  # values of a column with a group of their own; further ones share one
BINS = 8  # of a number
LOOKED_AT = 100  # values of a number that say how it is cut
FEATURES = 64  # columns that are looked at
STRETCH = 250  # rows of the first stretch; each further one is as long as all before it
SIZE = LEVELS + 1  # groups of a column, at most

Way = tuple[str, str]  # to group rows: a kind, and the name of a column of the context
ROWS, HOUR = ("rows", ""), ("hour", "")


class Grouped:
    """The groups of one column."""

    def __init__(self) -> None:
        self.told: list[str] = []  # each group in words
        self._places: dict[Any, int] = {}
        self._first: list[float] = []
        self._cuts: NDArray[np.float64] | None = None

    def of(self, column: Numbers | Categories) -> Codes:
        """The group of each row; −1: it has none."""
        if isinstance(column, Categories):
            return self._categories(column)
        if column.values.dtype.kind == "b":
            return self._levels(column, repr)
        return self._numbers(column)

    def _categories(self, column: Categories) -> Codes:
        places = np.full(len(column.values) + 1, -1, np.int64)  # code −1 is the last
        codes, first = np.unique(column.codes, return_index=True)
        for code in codes[np.argsort(first)].tolist():
            if code >= 0:
                places[code] = self._place(repr(column.values[code]))
        return places[column.codes]

    def _levels(self, column: Numbers, told: Any) -> Codes:
        distinct, codes = np.unique(column.values, return_inverse=True)
        places = np.array([self._place(told(value)) for value in distinct.tolist()], np.int64)
        return np.where(column.present(), places[codes], -1)

    def _place(self, value: str) -> int:
        place = self._places.get(value)
        if place is None:
            place = min(len(self._places), LEVELS)
            if place < LEVELS:
                self._places[value] = place
                self.told.append(f"= {value}")
            elif len(self.told) == LEVELS:
                self.told.append("is something else")
        return place

    def _numbers(self, column: Numbers) -> Codes:
        groups = np.full(len(column.values), -1, np.int64)
        there = np.flatnonzero(column.present())
        if len(self._first) < LOOKED_AT:
            looked, there = there[: LOOKED_AT - len(self._first)], there[LOOKED_AT - len(self._first) :]
            self._first.extend(column.values[looked].astype(float).tolist())
            if len(self._first) == LOOKED_AT:
                self._cut()
        if len(there) and self._cuts is not None:
            values = column.values[there].astype(float)
            groups[there] = np.searchsorted(self._cuts, values, side="right")
        elif len(there):
            groups[there] = self._levels(Numbers(column.values[there].astype(float), None), "{:g}".format)
        return groups

    def _cut(self) -> None:
        distinct = np.unique(self._first)
        if len(distinct) <= LEVELS:
            for value in distinct.tolist():
                self._place(f"{value:g}")
            return
        cuts = np.unique(np.quantile(self._first, np.arange(1, BINS) / BINS))
        edges = [f"{x:.4g}" for x in cuts]
        between = [f"in [{a}, {b})" for a, b in itertools.pairwise(edges)]
        self.told, self._cuts = [f"< {edges[0]}", *between, f"≥ {edges[-1]}"], cuts


class ContextLevels:
    """Groups of rows, chunk by chunk."""

    def __init__(self) -> None:
        self.columns: dict[str, Grouped] = {}
        self._rows = 0

    def of(self, chunk: Chunk) -> Iterator[tuple[Way, Codes]]:
        """Each way to group the rows of a chunk, and the group of each row (−1: none)."""
        rows = self._rows + np.arange(len(chunk))
        self._rows += len(chunk)
        yield ROWS, np.searchsorted(STRETCH * 2 ** np.arange(LEVELS), rows, side="right")
        if chunk.at is not None:
            yield HOUR, (chunk.at // 3600.0 % 24.0 // 3.0).astype(np.int64)
        for name, column in _columns(chunk).items():
            if name not in self.columns and len(self.columns) < FEATURES:
                self.columns[name] = Grouped()
            if name in self.columns:
                yield ("context", name), self.columns[name].of(column)

    def told(self, way: Way, group: int) -> tuple[str, str]:
        """A group in words, and why the propensities of one group may be wrong."""
        if way == ROWS:
            start, end = (0 if group == 0 else STRETCH * 2 ** (group - 1)), STRETCH * 2**group
            where = f"in decisions {start} to {end - 1}" if group < LEVELS else f"from decision {start} on"
            return where, "the logger chose otherwise in other parts of the log"
        if way == HOUR:
            return f"from {3 * group} to {3 * group + 3} o'clock UTC", "the logger chose otherwise at other hours"
        name = way[1]
        where = f"where {name!r} {self.columns[name].told[group]}"
        return where, f"the logger followed {name!r}, or {name!r} was known only after the choice and is no context"


def _columns(chunk: Chunk) -> dict[str, Numbers | Categories]:
    """The context's columns; those of dicts are made from their values that are numbers, truth values and strings."""
    if chunk.contexts is None:
        return chunk.context
    found: dict[str, list[tuple[int, Any]]] = {}
    for t, row in enumerate(chunk.contexts):
        for name, value in (row or {}).items():
            if isinstance(value, str | bool | int | float) and (name in found or len(found) < FEATURES):
                found.setdefault(name, []).append((t, value))
    return {name: _column(values, len(chunk)) for name, values in found.items()}


def _column(known: list[tuple[int, Any]], n: int) -> Numbers | Categories:
    places = [t for t, _ in known]
    if any(isinstance(value, str) for _, value in known):
        values = list(dict.fromkeys(str(value) for _, value in known))
        code = {value: k for k, value in enumerate(values)}
        codes = np.full(n, -1, np.int64)
        codes[places] = [code[str(value)] for _, value in known]
        return Categories(codes, values)
    numbers, missing = np.zeros(n), np.ones(n, np.bool_)
    numbers[places], missing[places] = [float(value) for _, value in known], False
    if all(isinstance(value, bool) for _, value in known):
        return Numbers(numbers.astype(np.bool_), missing)
    return Numbers(numbers, missing)
