"""Which columns there are, as features and items come: the words "item", "interact", "disjoint" and "hybrid" are choices of φ and ψ.

word        φ, shared                                    ψ, own of each item
item        the item's features and the context          1
interact    item × context products                      1; (1, context) where items have no features, or evidence asks for it
linear      as interact, and no column is added by evidence
disjoint    the item's features and the context          (1, context)
hybrid      item × context products                      (1, context)

Rows of an array, whose positions are no names, have no own effects; nor have the arms of `zoo.self_tuning`.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Protocol

import numpy as np

from .columns import Layout
from .sums import Integers

MODES = ("item", "interact", "disjoint", "hybrid", "linear")


class Side(Protocol):
    """The slots of the items, or of the context."""

    @property
    def width(self) -> int:
        """Number of slots; slot 0 is the constant."""

    @property
    def missing(self) -> Sequence[float]:
        """What a row made before a slot existed holds there: 1 means that it continues the constant."""

    @property
    def present(self) -> Mapping[int, int]:
        """For a number that is sometimes missing, the slot that says whether it is present."""

    @property
    def marker(self) -> int:
        """The slot that is 1 in rows made since items have slopes of their own, and was 0 before; 0, the constant, if they always had."""

    @property
    def marks(self) -> Collection[int]:
        """Slots that hold marks of levels (`levels`), and have no columns."""

    @property
    def alone(self) -> Collection[int]:
        """Slots that are not multiplied with those of the other side, and have no own slopes."""


class Columns:
    """The products of slots that are columns, in the order in which they came."""

    __slots__ = ("own", "own_effects", "pairs", "products", "slopes")

    def __init__(self, *, products: bool, slopes: bool, own_effects: bool = True) -> None:
        self.products, self.slopes, self.own_effects = products, slopes, own_effects
        self.pairs: tuple[tuple[int, int], ...] = ()
        self.own: tuple[int, ...] = ()

    def count(self, items: Side, context: Side) -> int:
        """How many shared columns these slots need."""
        left, right = items.width - len(items.marks), context.width - len(context.marks)
        if not self.products:
            return left + right - 1
        a, b = len(items.alone), len(context.alone)
        return (left - a) * (right - b) + a + b

    def with_own_effects(self) -> "Columns":
        """These columns, with own ones from the next extension on."""
        new = Columns(products=self.products, slopes=self.slopes, own_effects=True)
        new.pairs, new.own = self.pairs, self.own
        return new

    def extended(self, items: Side, context: Side) -> "tuple[Columns, Integers, Integers]":
        """The columns of these slots, old ones first, and for each shared and own one the old column it continues, −1 for none."""
        new = Columns(products=self.products, slopes=self.slopes, own_effects=self.own_effects)
        known = dict.fromkeys(self.pairs)
        every = self._every(items, context)
        new.pairs = (*self.pairs, *(pair for pair in every if pair not in known))
        if self.own_effects:
            without = {*context.alone, *context.marks}
            new.own = tuple(c for c in range(context.width) if c not in without) if self.slopes else (0,)
        before = [max((pair[side] for pair in self.pairs), default=-1) + 1 for side in (0, 1)]
        place = {pair: column for column, pair in enumerate(self.pairs)}
        shared = [place.get((_past(items, i, before[0]), _past(context, c, before[1])), -1) for i, c in new.pairs]
        own_place = {slot: column for column, slot in enumerate(self.own)}
        own = [own_place.get(_past(context, c, before[1]), -1) for c in new.own]
        return new, np.array(shared, np.int64), np.array(own, np.int64)

    def _every(self, items: Side, context: Side) -> Iterator[tuple[int, int]]:
        a, b = items.alone, context.alone
        left, right = ([j for j in range(side.width) if j not in side.marks] for side in (items, context))
        for i in left:
            for c in right:
                if i == 0 or c == 0 or (self.products and i not in a and c not in b):
                    yield i, c

    def with_slopes(self) -> "Columns":
        """The same columns, and own slopes of each item."""
        new = Columns(products=self.products, slopes=True)
        new.pairs, new.own = self.pairs, self.own
        return new

    def layout(self, items: Side, context: Side) -> Layout:
        """The columns as compiled code reads them."""
        place = {pair: column for column, pair in enumerate(self.pairs)}
        a, b = ([side.present.get(slot, 0) for slot in range(side.width)] for side in (items, context))
        four = [[place[i, c], place[a[i], c], place[i, b[c]], place[a[i], b[c]]] for i, c in self.pairs]
        own_place = {slot: column for column, slot in enumerate(self.own)}
        two = [[own_place[c], own_place[b[c]]] for c in self.own]
        item, context_ = (np.array([pair[side] for pair in self.pairs], np.int64) for side in (0, 1))
        return Layout(
            item,
            context_,
            np.array(four, np.int64),
            np.array(self.own, np.int64),
            np.array([context.marker if c else 0 for c in self.own], np.int64),
            np.array(two, np.int64).reshape(-1, 2),
        )


def _past(side: Side, slot: int, known: int) -> int:
    """The slot whose value rows made earlier had here: itself, the constant, or nothing."""
    return slot if slot < known else 0 if side.missing[slot] == 1.0 else -1
