"""Features that were read and checked (`reading`) as rows of raw numbers.

A `Table` is one side of a decision: the items on offer, or the context. Each *slot* (column) of its rows is one of

constant   slot 0, always 1
number     the value of a named number or of an entry of a vector, NaN where it is missing
present    1 where a number or a vector that is sometimes missing is there
category   1 where a string fell into this bucket
mark       the mark of a string that has no slot of its own, 0 for none: categories of many levels (`driftbandits.adaptive.levels`)

Slots are made when a feature is first seen, and numbers keep running statistics (`driftbandits.adaptive.columns`). Reading has two steps,
so that bad input changes nothing: `read` checks everything, `write` makes the new slots and the rows.
"""

import hashlib
import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from ..adaptive.levels import LARGEST_MARK
from ..core.linalg import Matrix, Vector
from ..errors import InvalidValue
from .derived import Derived
from .reading import NONE, NOTHING, Lengths, Parsed, Plan, Reading, Vocabulary, by_row
from .values import entries

CONSTANT, NUMBER, PRESENT, CATEGORY, MARK = 0, 1, 2, 3, 4  # kinds of slots
OWN_SLOTS = 24  # so many levels of a category have slots of their own where items have names; the next ones have cells
BUCKETS = 1 << 17
MANY = 16  # rows from which categories are written by one call of NumPy
BARE = np.ones((1, 1))  # a row without features where nobody has any: the constant, which nothing writes to


@lru_cache(64)
def bare_rows(n: int) -> Matrix:
    """n rows without features where nobody has any; nothing writes to them."""
    return np.ones((n, 1))


class Table(Vocabulary):
    """The slots of one side (the items, or the context), and how to write rows into them.

    Examples
    --------
    >>> table = Table("item")
    >>> table.write(table.read([{"price": 3.0, "kind": "new"}, {"kind": "used"}])).shape  # 1, price, is it there, two kinds
    (2, 5)
    """

    __slots__ = (
        "_absent",
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
        "level_slots",
        "marker",
        "missing",
        "own_slots",
        "owners",
        "presence",
        "rows_seen",
    )

    def __init__(self, side: str, buckets: int = BUCKETS) -> None:
        super().__init__(side)
        self.buckets = buckets
        self.kinds: list[int] = [CONSTANT]
        self.groups: list[int] = [0]  # slots with one prior variance have the same number
        self.missing: list[float] = [1.0]  # what a row made before a slot existed holds there
        self.presence: dict[str, int] = {}
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
        self.own_slots: float = (
            math.inf
        )  # so many levels of a category have slots; set by who offers, before new ones come
        self.level_slots: dict[str, int] = {}  # of categories that have more, the slot that holds their marks
        self.collisions = 0
        self.rows_seen = 0  # 1 once there was a row
        self._tokens: dict[tuple[str, str], int] = {}
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
    def marks(self) -> frozenset[int]:
        """Slots that hold marks of levels."""
        return frozenset(slot for slot, kind in enumerate(self.kinds) if kind == MARK)

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
                    row[slot] = self.value_of(token, slot)
        self.derive(rows)
        self.rows_seen |= learn
        return rows

    def planned(self, reading: Reading) -> Matrix | None:
        """Rows under names and of strings that have come before, without a change; None where `write` must look closer."""
        if reading is NOTHING and len(self.kinds) == 1:
            return BARE if self.rows_seen else None
        plan = None if reading.values is None else self._plan(reading.names)
        if plan is None or not all(self._known(*column) for column in reading.strings):
            return None
        if reading.whole is not None and plan.straight:
            return reading.whole.copy()  # extreme values are cut in it
        rows = self._planned(reading.values, plan)
        self._write_strings(rows, reading)
        self.derive(rows)
        return rows

    def _write_strings(self, rows: Matrix, reading: Reading) -> None:
        for name, column in reading.strings:
            if name in self.level_slots:
                own = {string: self._slot_of_level((name, string)) for string in {*column}}
                marks = {string: self.value_of((name, string), slot) for string, slot in own.items()}
                for row, string in zip(rows, column, strict=True):
                    row[own[string]] = marks[string]
                continue
            found = {string: self.slot_of((name, string)) for string in {*column}}
            _set_ones(rows, [*map(found.__getitem__, column)])

    def lacks(self, reading: Reading) -> bool:
        """Whether `write` would make slots for these rows, or note categories that it does not remember."""
        if reading is NOTHING and len(self.kinds) == 1:
            return False
        if reading.values is not None and self._plan(reading.names) is not None:
            return not all(self._known(*column) for column in reading.strings)
        if reading.vectors.keys() - self.vectors.keys():
            return True
        for numbers, strings in by_row(reading):
            if any(name not in self.numbers for name in numbers) or not all(self.has_slot(token) for token in strings):
                return True
            if any(name not in numbers and name not in self.presence for name in self.numbers):
                return True
        return False

    def copy(self) -> "Table":
        """A table of the same slots, whose changes do not show in this one."""
        new = Table(self.side, self.buckets)
        for field in (*Vocabulary.__slots__, *self.__slots__):
            if hasattr(self, field):
                value = getattr(self, field)
                setattr(new, field, value.copy() if isinstance(value, dict | list) else value)
        return new

    def _known(self, name: str, column: Sequence[str]) -> bool:
        """Whether every string of a feature has its slot."""
        return name in self.level_slots or all((name, value) in self._tokens for value in {*column})

    def has_slot(self, token: tuple[str, str]) -> bool:
        """Whether a category needs no new slot: it has come before, or has a cell."""
        return token in self._tokens or token[0] in self.level_slots

    def _planned(self, values: Any, plan: "Plan") -> Matrix:
        """Rows whose numbers have their slots already."""
        if plan.straight and not values.shape[1]:
            return bare_rows(len(values))
        rows = np.empty((len(values), self.width))
        if plan.straight:
            rows[:, 0] = 1.0
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
            if not self.has_slot(token):
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
        """The slot of a category: that of its bucket, or the one for marks if its feature has as many slots as it may have."""
        found = mark(self.side, token)
        bucket = found % self.buckets
        if bucket not in self.bucket_slots:
            if sum(name == token[0] for name in self.owners.values()) >= self.own_slots:
                self.level_slots[token[0]] = self._add(MARK, 0.0)
                return
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
        if slot is not None:
            return slot
        if token[0] not in self.level_slots:
            return self.bucket_slots.get(mark(self.side, token) % self.buckets)
        return self._slot_of_level(token)

    def _slot_of_level(self, token: tuple[str, str]) -> int:
        """The own slot of a level that has one, or the slot for marks: the same after a saved table is loaded, which has no tokens."""
        known = self._tokens.get(token)
        if known is not None:
            return known
        found = mark(self.side, token)
        bucket = found % self.buckets
        slot = self.bucket_slots.get(bucket)
        if slot is None or self.owners.get(slot) != token[0] or self.first_hash[bucket] not in (found, -1):
            slot = self.level_slots[token[0]]
        if len(self._tokens) < 4 * self.buckets:
            self._tokens[token] = slot
        return slot

    def value_of(self, token: tuple[str, str], slot: int) -> float:
        """What a row with this category holds in its slot: 1, or the mark of a level, 52 bits of its hash."""
        return float(mark(self.side, token) % LARGEST_MARK or 1) if self.kinds[slot] == MARK else 1.0

    # ---------------------------------------------------------------------------------------------------------- forgetting

    def knows(self, name: str) -> bool:
        """Whether a feature has been seen."""
        return self.kind_of(name) is not None

    def forget(self, name: str) -> None:
        """Free a name: its slots stay, under a name that no one uses, and are missing in every row from now on."""
        self.strings.pop(name, None)
        if self.level_slots.pop(name, None) is not None:
            self._tokens = {token: slot for token, slot in self._tokens.items() if token[0] != name}
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
            "level_slots": self.level_slots,
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
        table.level_slots = {str(name): int(slot) for name, slot in saved.get("level_slots", NONE).items()}
        if not table.marks.issuperset(table.level_slots.values()):
            raise InvalidValue("a slot for marks of levels is none")
        table.collisions, table.rows_seen = int(saved["collisions"]), int(saved["rows_seen"] > 0)
        return table


def mark(side: str, token: tuple[str, ...]) -> int:
    """64 bits that are the same in every process, on every machine, in every version."""
    text = "\0".join((side, *token)).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "little")


def _set_ones(rows: Matrix, slots: Sequence[int | None]) -> None:
    """1 in one slot of each row; None: in none."""
    if len(rows) >= MANY and None not in slots:
        rows[np.arange(len(rows)), np.array(slots, np.int64)] = 1.0
        return
    for row, slot in zip(rows, slots, strict=True):
        if slot is not None:
            row[slot] = 1.0
