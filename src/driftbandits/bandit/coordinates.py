r"""Where the origin is and how long a unit: raw rows as the columns φ a model sees.

A number x becomes z = (x − μ)/s with the mean and standard deviation of what has been on offer; categories stay 0 or 1. A column of φ
is a product
of one slot of the item and one of the context, φ_(i,c) = z_i z_c with z_0 = 1, so that (0,0) is the intercept and (i,0) the item's own
effect.

μ and s stand still between *checkpoints*. When they move, a column becomes a combination of old ones,

    z′ = α z + β·present ,   α = s/s′ ,  β = (μ − μ′)/s′ ,        φ′ = Tφ ,   V ← TVTᵀ ,  b ← Tb ,

so what has been learned is re-expressed exactly. A row that waits for its reward is kept raw, and is written in the coordinates of the
day it is learned.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..kernel import entry, kernel, sqrt
from ..linalg import Matrix, Vector
from .features import NUMBER, Table

CUT = 6.0  # numbers are cut at μ ± 6s …
CUT_FROM = 32.0  # … once so many have been seen
SAME = 1e-18  # variance below this share of the squared mean is rounding: the number is constant
MATERIAL = 0.05  # coordinates are moved when the mean is off by this share of s, or s by this share of itself
Integers = NDArray[np.int64]


class Scale(NamedTuple):
    """Statistics and coordinates of one side's slots; each (J,)."""

    kind: Integers
    seen: Vector  # values counted
    mean: Vector  # their running mean; of categories, their frequency
    M2: Vector  # Σ(x − mean)²
    mu: Vector  # the origin in use
    inv: Vector  # 1/s in use; 0 for a number that has been constant


def new_scale(table: Table, old: Scale | None = None) -> Scale:
    """Statistics for all slots of a table, those of `old` kept."""
    J, J0 = table.width, 0 if old is None else old.kind.shape[0]
    scale = Scale(np.array(table.kinds, np.int64), *(np.zeros(J) for _ in range(5)))
    for j in range(J0, J):
        if scale.kind[j] != NUMBER:
            scale.inv[j] = 1.0
    if old is not None:
        for new, before in zip(scale[1:], old[1:], strict=True):
            new[:J0] = before
    return scale


@kernel
def _count(scale: Scale, rows: Matrix) -> bool:
    """Count what is on offer, cutting extreme values in place; True if a number that was constant is not so any more."""
    woken = False
    for a in range(rows.shape[0]):
        for j in range(1, rows.shape[1]):
            x = rows[a, j]
            if math.isnan(x):
                continue
            if scale.kind[j] == 1 and scale.seen[j] >= 32.0:
                s = 6.0 * sqrt(scale.M2[j] / scale.seen[j])
                if s > 0.0:
                    x = min(max(x, scale.mean[j] - s), scale.mean[j] + s)
                    rows[a, j] = x
            if scale.seen[j] == 0.0 and scale.kind[j] == 1:
                scale.mu[j] = x  # z = 0 stands for this value, until there is another
            scale.seen[j] += 1.0
            away = x - scale.mean[j]
            scale.mean[j] += away / scale.seen[j]
            scale.M2[j] += away * (x - scale.mean[j])
            if scale.inv[j] == 0.0 and scale.M2[j] > 1e-18 * scale.mean[j] * scale.mean[j] * scale.seen[j]:
                woken = True
    return woken


@entry
def count(items: Scale, rows: Matrix, context: Scale, row: Matrix) -> bool:
    """Count one decision's items and context."""
    a = _count(items, rows)
    b = _count(context, row)
    return a or b


@kernel
def standardise(scale: Scale, row: Vector, z: Vector) -> None:
    """z of one raw row; what is missing is 0, the mean."""
    for j in range(row.shape[0]):
        x = row[j]
        if math.isnan(x):
            z[j] = 0.0
        elif scale.kind[j] == 1:
            z[j] = (x - scale.mu[j]) * scale.inv[j]
        else:
            z[j] = x


class Columns:
    """Which products of slots are columns, and how they change."""

    __slots__ = ("_place", "context", "item", "products")

    def __init__(self, products: bool) -> None:
        self.products = products
        self._place: dict[tuple[int, int], int] = {}
        self.item = np.zeros(0, np.int64)
        self.context = np.zeros(0, np.int64)

    @property
    def width(self) -> int:
        """Number of columns p."""
        return self.item.shape[0]

    def count(self, items: Table, context: Table) -> int:
        """How many columns there will be after `grow`."""
        return items.width * context.width if self.products else items.width + context.width - 1

    def grow(self, items: Table, context: Table) -> Integers:
        """Make columns for new slots. Returns for each column, old and new, the old column it continues, −1 for none."""
        old = dict(self._place)
        before = [max((pair[side] for pair in old), default=-1) + 1 for side in (0, 1)]
        for i in range(items.width):
            for c in range(context.width):
                if (self.products or i == 0 or c == 0) and (i, c) not in self._place:
                    self._place[i, c] = len(self._place)
        pairs = np.array(list(self._place), np.int64).reshape(-1, 2)
        self.item, self.context = np.ascontiguousarray(pairs[:, 0]), np.ascontiguousarray(pairs[:, 1])

        def past(table: Table, slot: int, known: int) -> int:
            """The slot whose value rows made earlier had here: itself, the constant, or nothing."""
            return slot if slot < known else 0 if table.missing[slot] == 1.0 else -1

        sources = [(past(items, i, before[0]), past(context, c, before[1])) for i, c in self._place]
        return np.array([old.get(pair, -1) for pair in sources], np.int64)

    def restore(self, pairs: Sequence[Sequence[int]]) -> None:
        """The columns that were saved."""
        self.item, self.context = (np.array(side, np.int64) for side in pairs)
        self._place = {(int(i), int(c)): j for j, (i, c) in enumerate(zip(*pairs, strict=True))}

    def place(self, i: int, c: int) -> int | None:
        """The column of a pair of slots."""
        return self._place.get((i, c))


def following(tick: int) -> int:
    """The checkpoint after decision `tick`: the next one up to 8, then a quarter later."""
    return tick + 1 if tick < 8 else tick + tick // 4


class Move(NamedTuple):
    """New coordinates of one side: z′ = αz + β·present."""

    mu: Vector
    inv: Vector
    alpha: Vector
    beta: Vector
    material: bool


def propose(scale: Scale) -> Move:
    """The coordinates that the statistics now suggest."""
    number = scale.kind == NUMBER
    n = np.maximum(scale.seen, 1.0)
    variance = scale.M2 / n
    live = number & (variance > SAME * scale.mean**2) & (scale.seen > 1.0)
    mu = np.where(live, scale.mean, scale.mu)
    inv = np.where(live, 1.0 / np.sqrt(np.where(live, variance, 1.0)), np.where(number, 0.0, 1.0))
    alpha = np.where(number, np.divide(inv, scale.inv, out=np.zeros_like(inv), where=scale.inv > 0.0), 1.0)
    beta = np.where(number, (scale.mu - mu) * inv, 0.0)
    off = np.abs(mu - scale.mu) * inv > MATERIAL
    off |= live & (np.abs(alpha - 1.0) > MATERIAL)
    return Move(mu, inv, alpha, beta, bool((number & off).any()))


def transformation(columns: Columns, items: Table, a: Move, context: Table, b: Move) -> Matrix:
    """T (p, p) with φ′ = Tφ."""
    T = np.zeros((columns.width, columns.width))
    there = [_presence(table) for table in (items, context)]
    for row, (i, c) in enumerate(zip(columns.item.tolist(), columns.context.tolist(), strict=True)):
        for slot_i, weight_i in ((i, a.alpha[i]), (there[0].get(i, 0), a.beta[i])):
            for slot_c, weight_c in ((c, b.alpha[c]), (there[1].get(c, 0), b.beta[c])):
                if weight_i != 0.0 and weight_c != 0.0:
                    place: Any = columns.place(slot_i, slot_c)
                    T[row, place] += weight_i * weight_c
    return T


def _presence(table: Table) -> dict[int, int]:
    """The slot that says whether a number is there, by the number's slot."""
    return {table.numbers[name]: slot for name, slot in table.presence.items()}


def spread(columns: Columns, items: Scale, context: Scale) -> float:
    """E‖φ‖² without the intercept: 1 for each number, its frequency for each category."""

    def second(scale: Scale) -> Vector:
        moment: Vector = np.where(scale.kind == NUMBER, (scale.inv > 0.0).astype(float), scale.mean)
        moment[0] = 1.0
        return moment

    total: float = (second(items)[columns.item] * second(context)[columns.context])[1:].sum()
    return total
