"""Dicts of numbers, booleans, strings and vectors as rows of raw numbers.

A `Table` reads one side of a decision: the items on offer, or the context. Each *slot* (column) of its rows is one of

constant   slot 0, always 1
number     the value of a named number or of an entry of a vector, NaN where it is missing
present    1 where a number or a vector that is sometimes missing is there
category   1 where a string fell into this bucket

Slots are made when a feature is first seen, and numbers keep running statistics (`driftbandits.adaptive.columns`). Reading has two steps,
so that bad input changes nothing: `read` checks everything, `write` makes the new slots and the rows.
"""

import hashlib
import math
from array import array
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core.linalg import Matrix, Vector
from ..errors import InvalidShape, InvalidValue, said
from .derived import Derived
from .values import HUGE, PLAIN, WORDS, as_entries, as_number, entries, is_vector
from .vectors import Row, Vectors

CONSTANT, NUMBER, PRESENT, CATEGORY = 0, 1, 2, 3
BUCKETS = 1 << 17
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


NOTHING = Reading(np.empty((1, 0)), (), [])  # one row without features …
BARE = np.ones((1, 1))  # … where nobody has any: the constant, which nothing writes to


class Plan(NamedTuple):
    """Where the numbers of rows with the same names go."""

    slots: NDArray[np.int64]
    there: NDArray[np.int64]  # the slots that say they are there
    straight: bool  # are these all slots, in their order?


class Table:
    """The slots of one side (the items, or the context), and how to read rows into them.

    Examples
    --------
    >>> table = Table("item")
    >>> table.write(table.read([{"price": 3.0, "kind": "new"}, {"kind": "used"}])).shape  # 1, price, is it there, two kinds
    (2, 5)
    """

    __slots__ = (
        "_absent",
        "_plans",
        "_tokens",
        "absent_from",
        "bucket_slots",
        "buckets",
        "collisions",
        "derived",
        "derived_slots",
        "first_hash",
        "groups",
        "kinds",
        "marker",
        "missing",
        "numbers",
        "owners",
        "presence",
        "rows_seen",
        "side",
        "strings",
        "vectors",
    )

    def __init__(self, side: str, buckets: int = BUCKETS) -> None:
        self.side = side
        self.buckets = buckets
        self.kinds: list[int] = [CONSTANT]
        self.groups: list[int] = [0]  # slots with one prior variance have the same number
        self.missing: list[float] = [1.0]  # what a row made before a slot existed holds there
        self.numbers: dict[str, int] = {}
        self.presence: dict[str, int] = {}
        self.strings: dict[str, None] = {}
        self.vectors: dict[str, int] = {}  # their lengths
        self.marker = (
            0  # the slot that is 1 in rows made since items have slopes of their own; 0, the constant: they always had
        )
        self.derived: list[Derived] = []  # columns for curvature, …
        self.derived_slots: list[
            int
        ] = []  # … and the first slot of each; the slot after the last says whether they are there
        self.bucket_slots: dict[int, int] = {}
        self.owners: dict[int, str] = {}  # for each slot of a category, the feature that made it
        self.first_hash: dict[int, int] = {}
        self.collisions = 0
        self.rows_seen = 0  # 1 once there was a row
        self._tokens: dict[tuple[str, str], int] = {}
        self._plans: dict[tuple[str, ...], Plan] = {}
        self._absent: Vector | None = None

    @property
    def width(self) -> int:
        """Number of slots, the constant included."""
        return len(self.kinds)

    @property
    def present(self) -> dict[int, int]:
        """For each number that is sometimes missing, its slot and the one that says whether it is there."""
        found = {self.numbers[name]: slot for name, slot in self.presence.items()}
        for first, derived in zip(self.derived_slots, self.derived, strict=True):
            found |= dict.fromkeys(range(first, first + derived.width), first + derived.width)
        return found

    @property
    def alone(self) -> frozenset[int]:
        """Slots without products and own slopes: random Fourier features are many, and mean nothing one by one."""
        waves = [(f, d.width) for f, d in zip(self.derived_slots, self.derived, strict=True) if len(d.c)]
        own = [self.marker] if self.marker else []
        return frozenset([*own, *(slot for first, count in waves for slot in range(first, first + count + 1))])

    def mark(self) -> None:
        """Make a slot that is 1 in all rows from now on, and was 0 before."""
        self.marker = self._add(CATEGORY, 0.0)
        self._absent = None

    def add_derived(self, derived: Derived) -> None:
        """Slots for curvature; rows made earlier hold nothing there."""
        self.derived_slots.append(self.width)
        for _ in range(derived.width):
            self._add(NUMBER, math.nan)
        self._add(PRESENT, 0.0)
        self.derived.append(derived)

    def derive(self, rows: Matrix) -> None:
        """Fill in derived slots of raw rows (n, width)."""
        if not self.derived:
            return
        for first, derived in zip(self.derived_slots, self.derived, strict=True):
            values = derived.values(rows)
            rows[:, first : first + derived.width] = values
            rows[:, first + derived.width] = ~np.isnan(values).any(axis=1)

    @property
    def described(self) -> bool:
        """Has any feature been seen?"""
        return len(self.kinds) > 1

    # ---------------------------------------------------------------------------------------------------------- reading

    def read(self, rows: Sequence[Row]) -> Reading:
        """Check rows and sort their values by kind; changes nothing."""
        if type(rows) is Vectors and self._plain_names(rows.names) and np.vdot(rows.values, rows.values) < HUGE:
            return Reading(rows.values, rows.names, [])
        first = rows[0]
        if not first:
            if len(rows) == 1:
                return NOTHING
            return self._read_slowly(rows) if any(rows) else Reading(np.empty((len(rows), 0)), (), [])
        names = tuple(first)
        try:
            values = [[*row.values()] for row in rows if tuple(row) == names]  # type: ignore[union-attr,arg-type]
        except TypeError:  # a row without features
            return self._read_slowly(rows)
        if len(values) < len(rows) or not (names in self._plans or all(type(name) is str for name in names)):
            return self._read_slowly(rows)
        flat = [*chain.from_iterable(values)]
        if not PLAIN.issuperset(map(type, flat)):
            if COLUMNS.isdisjoint(map(type, values[0])):
                return self._read_slowly(rows)
            return self._read_columns(rows, names, values)
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

    def _read_columns(self, rows: Sequence[Row], names: tuple[str, ...], values: list[list[Any]]) -> Reading:
        """Rows that have the same features, feature by feature; what is not so simple is read slowly."""
        whole, flat, vectors, strings = [np.empty((len(rows), 0))], list[str](), dict[str, int](), []
        for name, column in zip(names, zip(*values, strict=True), strict=True):
            types = {*map(type, column)}
            if types == {str}:
                strings.append((name, column))
                if self.kind_of(name) not in (None, str):
                    return self._read_slowly(rows)
                continue
            if not types <= SIMPLE:
                return self._read_slowly(rows)
            try:
                raw = np.array(column)
            except (ValueError, TypeError, OverflowError):  # different lengths
                return self._read_slowly(rows)
            d = raw.shape[-1] if raw.ndim == 2 else 1
            kind, known = (list if raw.ndim == 2 else float), self.vectors.get(name, d)
            if (
                raw.dtype.kind not in "fib"
                or raw.ndim > 2
                or not d
                or d != known
                or self.kind_of(name) not in (None, kind)
            ):
                return self._read_slowly(rows)
            if kind is list:
                vectors[name] = d
            flat.extend(entries(name, d) if kind is list else (name,))
            whole.append(raw.reshape(len(rows), d))
        together: Matrix = np.hstack(whole).astype(np.float64, copy=False)
        if not np.vdot(together, together) < HUGE:
            return self._read_slowly(rows)
        return Reading(together, tuple(flat), [], vectors, tuple(strings))

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
        """What a feature has been so far."""
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

    # ---------------------------------------------------------------------------------------------------------- writing

    def write(self, reading: Reading, *, learn: bool = True) -> Matrix:
        """Rows (n, width) of raw numbers; `learn` makes slots for what is new, else it is passed over."""
        if reading is NOTHING and len(self.kinds) == 1:
            self.rows_seen |= learn
            return BARE
        plan = None if reading.values is None else self._plan(reading.names)
        if plan is not None and (not learn or all(self._known(*column) for column in reading.strings)):
            rows = self._planned(reading.values, plan)
            self._write_strings(rows, reading)
            self.derive(rows)
            self.rows_seen |= learn
            return rows
        read = by_row(reading)
        if learn:
            self._make_slots(read, reading.vectors)
        rows = np.tile(self.absent, (len(read), 1))
        for row, (numbers, strings) in zip(rows, read, strict=True):
            for name, value in numbers.items():
                slot = self.numbers.get(name)
                if slot is not None:
                    row[slot] = value
                    if name in self.presence:
                        row[self.presence[name]] = 1.0
            for token in strings:
                slot = self.slot_of(token)
                if slot is not None:
                    row[slot] = 1.0
        self.derive(rows)
        self.rows_seen |= learn
        return rows

    def planned(self, reading: Reading) -> Matrix | None:
        """Rows under names and of strings that have come before, without a change; None where `write` must look closer."""
        if reading is NOTHING and len(self.kinds) == 1:
            return BARE if self.rows_seen else None
        plan = None if reading.values is None else self._plans.get(reading.names)
        if plan is None or not all(self._known(*column) for column in reading.strings):
            return None
        rows = self._planned(reading.values, plan)
        self._write_strings(rows, reading)
        self.derive(rows)
        return rows

    def _write_strings(self, rows: Matrix, reading: Reading) -> None:
        for name, column in reading.strings:
            for row, string in zip(rows, column, strict=True):
                slot = self.slot_of((name, string))
                if slot is not None:
                    row[slot] = 1.0

    def lacks(self, reading: Reading) -> bool:
        """Whether `write` would make slots for these rows, or note categories that it does not remember."""
        if reading is NOTHING and len(self.kinds) == 1:
            return False
        if reading.values is not None and self._plan(reading.names) is not None:
            return not all(self._known(*column) for column in reading.strings)
        if reading.vectors.keys() - self.vectors.keys():
            return True
        for numbers, strings in by_row(reading):
            if any(name not in self.numbers for name in numbers) or any(token not in self._tokens for token in strings):
                return True
            if any(name not in numbers and name not in self.presence for name in self.numbers):
                return True
        return False

    def copy(self) -> "Table":
        """A table of the same slots, whose changes do not show in this one."""
        new = Table(self.side, self.buckets)
        for field in self.__slots__:
            if hasattr(self, field):
                value = getattr(self, field)
                setattr(new, field, value.copy() if isinstance(value, dict | list) else value)
        return new

    def _known(self, name: str, column: Sequence[str]) -> bool:
        """Whether every string of a feature has its slot."""
        return all((name, value) in self._tokens for value in column)

    def _planned(self, values: Any, plan: "Plan") -> Matrix:
        """Rows whose numbers have their slots already."""
        rows = np.empty((len(values), self.width))
        if plan.straight:
            rows[:, 0] = 1.0
            if values.shape[1]:
                rows[:, 1:] = values
            return rows
        rows[:] = self.absent
        rows[:, plan.slots] = values
        rows[:, plan.there] = 1.0
        return rows

    @property
    def absent(self) -> Vector:
        """The row in which everything is missing."""
        if self._absent is None:
            self._absent = np.array([{CONSTANT: 1.0, NUMBER: math.nan}.get(kind, 0.0) for kind in self.kinds])
            self._absent[self.marker] = 1.0
        return self._absent

    def _plan(self, names: tuple[str, ...]) -> "Plan | None":
        """Slots of these names and of their presence, if rows with just these numbers need no new slot."""
        if names in self._plans:
            return self._plans[names]
        known = all(name in self.numbers for name in names)
        complete = all(name in names or name in self.presence for name in self.numbers)
        if not known or not complete:
            return None
        slots = np.array([self.numbers[name] for name in names], np.int64)
        there = np.array([self.presence[name] for name in names if name in self.presence], np.int64)
        if len(self._plans) >= 64:
            self._plans.clear()
        straight = slots.tolist() == list(range(1, self.width))
        self._plans[names] = plan = Plan(slots, there, straight)
        return plan

    def _make_slots(self, read: Parsed, vectors: Lengths) -> None:
        """Slots for what is new: sorted, so that no order of keys or items matters."""
        found = {name for numbers, _ in read for name in numbers}
        new, before = found.difference(self.numbers), self.rows_seen > 0
        for name in sorted(vectors.keys() - self.vectors.keys()):
            own = entries(name, vectors[name])
            self._make_numbers([entry for entry in own if entry in new], always=not before)
            self.vectors[name] = vectors[name]
        within = {entry for name, d in self.vectors.items() for entry in entries(name, d)}
        for name in sorted(new - within):
            self._make_numbers([name], always=not before)
        every = [(name, entries(name, d)) for name, d in self.vectors.items()]
        every += [(name, (name,)) for name in self.numbers if name not in within]
        for _, own in sorted(every):
            if own[0] not in self.presence and any(own[0] not in numbers for numbers, _ in read):
                slot = self._add(PRESENT, 0.0 if own[0] in new else 1.0)
                self.presence |= dict.fromkeys(own, slot)
        tokens = {token for _, strings in read for token in strings}
        for token in sorted(tokens):
            self.strings.setdefault(token[0])
            if token not in self._tokens:
                self._place(token)

    def _make_numbers(self, names: Sequence[str], *, always: bool) -> None:
        """Slots of a number, or of the entries of a vector; one says whether it is there, unless it `always` was."""
        group = len(self.kinds)
        for name in names:
            self.numbers[name] = self._add(NUMBER, math.nan, group)
        if not always:
            slot = self._add(PRESENT, 0.0)
            self.presence |= dict.fromkeys(names, slot)

    def _add(self, kind: int, missing: float, group: int | None = None) -> int:
        self.groups.append(len(self.kinds) if group is None else group)
        self.kinds.append(kind)
        self.missing.append(missing)
        self._absent = None
        self._plans.clear()
        return len(self.kinds) - 1

    def _place(self, token: tuple[str, str]) -> None:
        """The slot of a category: that of its bucket."""
        found = mark(self.side, token)
        bucket = found % self.buckets
        if bucket not in self.bucket_slots:
            self.bucket_slots[bucket] = slot = self._add(CATEGORY, 0.0)
            self.owners[slot] = token[0]
            self.first_hash[bucket] = found
        elif self.first_hash[bucket] not in (found, -1):
            self.collisions += 1
            self.first_hash[bucket] = -1  # shared: counted once
        if len(self._tokens) >= 4 * self.buckets:
            self._tokens.clear()
        self._tokens[token] = self.bucket_slots[bucket]

    def slot_of(self, token: tuple[str, str]) -> int | None:
        """The slot of a category, if it or one that shares its bucket has been seen."""
        slot = self._tokens.get(token)
        return slot if slot is not None else self.bucket_slots.get(mark(self.side, token) % self.buckets)

    # ---------------------------------------------------------------------------------------------------------- forgetting

    def knows(self, name: str) -> bool:
        """Whether a feature has been seen."""
        return self.kind_of(name) is not None

    def forget(self, name: str) -> None:
        """Free a name: its slots stay, under a name that no one uses, and are missing in every row from now on."""
        self.strings.pop(name, None)
        vector, d = name in self.vectors, self.vectors.pop(name, 1)
        gone = entries(name, d) if vector else (name,)
        if gone[0] not in self.numbers:
            return
        taken = self.numbers.keys() | self.vectors.keys()
        free = next(f"\0{n} {name}" for n in range(len(self.kinds)) if f"\0{n} {name}" not in taken)
        if vector:
            self.vectors[free] = d
        now = dict(zip(gone, entries(free, d) if vector else (free,), strict=True))
        self.numbers = {now.get(key, key): slot for key, slot in self.numbers.items()}
        self.presence = {now.get(key, key): slot for key, slot in self.presence.items()}
        self._plans.clear()

    # ----------------------------------------------------------------------------------------------------------- saving

    def to_json(self) -> dict[str, Any]:
        """Everything but the statistics, as JSON."""
        missing = [None if math.isnan(m) else m for m in self.missing]
        fields = ("numbers", "presence", "collisions", "rows_seen", "buckets", "kinds", "groups", "vectors", "marker")
        plain = {field: getattr(self, field) for field in fields}
        buckets = [[b, slot, self.first_hash[b]] for b, slot in self.bucket_slots.items()]
        plain["derived"] = [[first, d.to_json()] for first, d in zip(self.derived_slots, self.derived, strict=True)]
        return plain | {
            "missing": missing,
            "strings": sorted(self.strings),
            "bucket_slots": buckets,
            "owners": [*self.owners.items()],
        }

    @classmethod
    def from_json(cls, side: str, saved: Mapping[str, Any]) -> "Table":
        """The table that was saved."""
        table = cls(side, int(saved["buckets"]))
        table.kinds = [int(k) for k in saved["kinds"]]
        table.missing = [math.nan if m is None else float(m) for m in saved["missing"]]
        table.numbers = {str(k): int(v) for k, v in saved["numbers"].items()}
        table.presence = {str(k): int(v) for k, v in saved["presence"].items()}
        table.strings = dict.fromkeys(saved["strings"])
        table.groups = [int(g) for g in saved.get("groups", range(len(table.kinds)))]
        table.vectors = {str(k): int(d) for k, d in saved.get("vectors", NONE).items()}
        if len(table.groups) != len(table.kinds) or not all(0 <= g <= j for j, g in enumerate(table.groups)):
            raise InvalidValue("the groups of its slots do not fit its slots")
        table.marker = int(saved.get("marker", 0))
        if not 0 <= table.marker < table.width:
            raise InvalidValue("its marker is no slot")
        table.derived_slots = [int(first) for first, _ in saved.get("derived", ())]
        table.derived = [Derived.from_json(made, table.width) for _, made in saved.get("derived", ())]
        if any(not 0 < f < f + d.width < table.width for f, d in zip(table.derived_slots, table.derived, strict=True)):
            raise InvalidValue("its derived columns do not fit its slots")
        table.bucket_slots = {int(b): int(slot) for b, slot, _ in saved["bucket_slots"]}
        table.first_hash = {int(b): int(first) for b, _, first in saved["bucket_slots"]}
        table.owners = {int(slot): str(name) for slot, name in saved.get("owners", ())}  # files of 0.2 have none
        table.collisions, table.rows_seen = int(saved["collisions"]), int(saved["rows_seen"] > 0)
        return table


def by_row(reading: Reading) -> Parsed:
    """Numbers and strings of every row, however they were read."""
    if reading.values is None:
        return reading.rows
    names = [name for name, _ in reading.strings]
    strings = [*zip(*(column for _, column in reading.strings), strict=True)] or [()] * len(reading.values)
    numbers = [dict(zip(reading.names, row, strict=True)) for row in reading.values.tolist()]
    return [(own, [*zip(names, row, strict=True)]) for own, row in zip(numbers, strings, strict=True)]


def mark(side: str, token: tuple[str, ...]) -> int:
    """64 bits that are the same in every process, on every machine, in every version."""
    text = "\0".join((side, *token)).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "little")
