"""Validation of the features that users give: their names, their kinds, and whether each is still of the kind that it was.

A feature is a number, a string or a vector, and keeps its kind. `Vocabulary.read` compares rows with the features seen so far and sorts
their values by kind. It changes nothing, so bad input leaves no trace. `features.Table` then assigns the values to slots.
"""

from array import array
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import chain
from operator import methodcaller
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core.linalg import Matrix
from ..errors import InvalidShape, InvalidValue, said
from .values import HUGE, PLAIN, WORDS, as_entries, as_number, entries, is_vector
from .vectors import Row, Vectors

Parsed = list[tuple[dict[str, float], list[tuple[str, str]]]]  # for each row, its numbers and its strings
Lengths = Mapping[str, int]
NONE: Lengths = {}
COLUMNS = {str, list, tuple, np.ndarray}  # values that a matrix of numbers cannot hold
SIMPLE = PLAIN | {list, tuple, np.ndarray}  # values that are read without a closer look at each


class Reading(NamedTuple):
    """Checked rows, not yet in slots: all numbers under the same names, or row by row."""

    values: Matrix | None  # (n, len(names)), where every row has just these numbers
    names: tuple[str, ...]
    rows: Parsed  # else row by row
    vectors: Lengths = NONE  # the vectors among the features, whose entries are numbers
    strings: tuple[tuple[str, Sequence[str]], ...] = ()  # with `values`: the strings of every row, feature by feature
    whole: Matrix | None = None  # `values` after the constant 1: all slots, where these names are all that there are


VALUES = methodcaller("values")
NOTHING = Reading(np.empty((1, 0)), (), [])  # one row without features


@lru_cache(64)
def bare(n: int) -> Reading:
    """n rows without features."""
    return Reading(np.empty((n, 0)), (), [])


def by_row(reading: Reading) -> Parsed:
    """Numbers and strings of every row, however they were read."""
    if reading.values is None:
        return reading.rows
    names = [name for name, _ in reading.strings]
    strings = [*zip(*(column for _, column in reading.strings), strict=True)] or [()] * len(reading.values)
    numbers = [dict(zip(reading.names, row, strict=True)) for row in reading.values.tolist()]
    return [(own, [*zip(names, row, strict=True)]) for own, row in zip(numbers, strings, strict=True)]


class Plan(NamedTuple):
    """Where the numbers of rows with the same names go."""

    slots: NDArray[np.int64]
    there: NDArray[np.int64]  # the slots that say they are there
    straight: bool  # are these all slots, in their order?


class Vocabulary:
    """Names and kinds of the features of one side of a decision: the items, or the context."""

    __slots__ = ("_plans", "numbers", "side", "strings", "vectors")

    def __init__(self, side: str) -> None:
        self.side = side
        self.numbers: dict[str, int] = {}  # the slot of each number, and of each entry of a vector
        self.strings: dict[str, None] = {}
        self.vectors: dict[str, int] = {}  # their lengths
        self._plans: dict[tuple[str, ...], Plan] = {}  # by the names of a row, all of which are known to be numbers

    def read(self, rows: Sequence[Row]) -> Reading:
        """Check rows and sort their values by kind; changes nothing."""
        if type(rows) is Vectors and self._plain_names(rows.names) and np.vdot(rows.values, rows.values) < HUGE:
            return Reading(rows.values, rows.names, [])
        first = rows[0]
        if not first:
            if len(rows) == 1:
                return NOTHING
            return self._read_slowly(rows) if any(rows) else bare(len(rows))
        names = tuple(first)
        plan = self._plans.get(names) if len(rows) == 1 else None
        if plan is not None and plan.straight and (whole := _numbers([1.0, *first.values()])) is not None:
            return Reading(whole[:, 1:], names, [], whole=whole)
        try:
            alike = {*map(tuple, rows)} == {names}  # type: ignore[arg-type]
        except TypeError:  # a row without features
            return self._read_slowly(rows)
        if not alike or not (names in self._plans or all(type(name) is str for name in names)):
            return self._read_slowly(rows)
        flat = [*chain.from_iterable(map(VALUES, rows))]
        if not PLAIN.issuperset(map(type, flat)):
            if COLUMNS.isdisjoint(map(type, flat[: len(names)])):
                return self._read_slowly(rows)
            return self._read_columns(rows, names, flat)
        if not self._plain_names(names):
            return self._read_slowly(rows)  # what was no number before
        try:
            raw = np.frombuffer(array("d", flat)).reshape(len(rows), len(names))
        except (OverflowError, TypeError):  # a whole number beyond all floats; a kind of number that says no float
            return self._read_slowly(rows)
        if not np.vdot(raw, raw) < HUGE:
            return self._read_slowly(rows)  # which says where, if one is not finite
        return Reading(raw, names, [])

    def _plain_names(self, names: tuple[str, ...]) -> bool:
        return names in self._plans or (
            all(type(name) is str for name in names)
            and not any(name in self.strings or name in self.vectors for name in names)
        )

    def _read_columns(self, rows: Sequence[Row], names: tuple[str, ...], flat: list[Any]) -> Reading:
        """Rows that have the same features, feature by feature (`flat` has their values, row after row); else they are read slowly."""
        columns, known, vectors, strings = list[Matrix](), list[str](), dict[str, int](), []
        for j, name in enumerate(names):
            column = flat[j :: len(names)]
            types = {*map(type, column)}
            if types == {str}:
                strings.append((name, column))
                if self.kind_of(name) not in (None, str):
                    return self._read_slowly(rows)
                continue
            raw = _as_columns(column, types)
            if raw is None:
                return self._read_slowly(rows)
            d, vector = raw.shape[1], not types <= PLAIN
            if d != self.vectors.get(name, d) or self.kind_of(name) not in (None, list if vector else float):
                return self._read_slowly(rows)
            if vector:
                vectors[name] = d
            known.extend(entries(name, d) if vector else (name,))
            columns.append(raw)
        together: Matrix = np.hstack(columns) if columns else np.empty((len(rows), 0))
        if not np.vdot(together, together) < HUGE:
            return self._read_slowly(rows)
        return Reading(together, tuple(known), [], vectors, tuple(strings))

    def _read_slowly(self, rows: Sequence[Row]) -> Reading:
        kinds: dict[str, type] = {}
        vectors: dict[str, int] = {}
        read = []
        for row in rows:
            numbers: dict[str, float] = {}
            strings: list[tuple[str, str]] = []
            for name, value in (row or {}).items():
                if type(value) in PLAIN and name in self.numbers and -HUGE < value < HUGE:
                    numbers[name] = float(value)
                    continue
                if not isinstance(name, str):
                    raise InvalidValue(
                        f"{self.side} feature {said(name)} is named by a {type(name).__name__}; names are strings"
                    )
                if value is None:
                    continue
                if isinstance(value, str):
                    self._same_kind(name, value, str, kinds)
                    strings.append((name, value))
                elif is_vector(value):
                    given = as_entries(self.side, name, value)
                    self._same_kind(name, value, list, kinds)
                    self._same_length(name, len(given), vectors)
                    numbers.update(zip(entries(name, len(given)), given.tolist(), strict=True))
                else:
                    numbers[name] = as_number(self.side, name, value)
                    self._same_kind(name, value, float, kinds)
            read.append((numbers, strings))
        return Reading(None, (), read, vectors)

    def kind_of(self, name: str) -> type | None:
        """The kind that a feature has had so far."""
        if name in self.strings:
            return str
        return list if name in self.vectors else float if name in self.numbers else None

    def _same_kind(self, name: str, value: Any, kind: type, kinds: dict[str, type]) -> None:
        known = self.kind_of(name) or kinds.setdefault(name, kind)
        if known is not kind:
            raise InvalidValue(
                f"{self.side} feature {said(name)} = {said(value)} is {WORDS[kind]} and was {WORDS[known]} before; a feature keeps "
                f"its kind: bandit.forget_feature({said(name)}) if this is right and the earlier ones were wrong"
            )

    def _same_length(self, name: str, d: int, vectors: dict[str, int]) -> None:
        known = self.vectors.get(name) or vectors.setdefault(name, d)
        vectors[name] = known
        if known != d:
            raise InvalidShape(
                f"{self.side} feature {said(name)} has {d} numbers and had {known} before; a vector keeps its length"
            )


def _as_columns(column: list[Any], types: set[type]) -> Matrix | None:
    """The values of a feature (n, 1), or (n, d) if they are vectors; None where each must be looked at."""
    if types <= PLAIN:
        try:
            return np.frombuffer(array("d", column)).reshape(len(column), 1)
        except (OverflowError, TypeError):  # a whole number beyond all floats; a kind of number that says no float
            return None
    if not types <= SIMPLE:
        return None
    try:
        raw = np.array(column)
    except (ValueError, TypeError, OverflowError):  # different lengths
        return None
    whole = raw.ndim == 2 and raw.dtype.kind in "fib" and raw.shape[1]
    return raw.astype(np.float64, copy=False) if whole else None


def _numbers(values: list[Any]) -> Matrix | None:
    """A row (1, n) of numbers; None if they must be looked at more closely."""
    if not PLAIN.issuperset(map(type, values)):
        return None
    try:
        row = np.frombuffer(array("d", values)).reshape(1, -1)
    except (OverflowError, TypeError):  # a whole number beyond all floats; a kind of number that says no float
        return None
    return row if np.vdot(row, row) < HUGE else None
