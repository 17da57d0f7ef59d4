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
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core.kernel import entry, kernel, sqrt
from ..core.linalg import Matrix, Vector
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
            if scale.kind[j] == NUMBER and scale.seen[j] >= CUT_FROM:
                s = CUT * sqrt(scale.M2[j] / scale.seen[j])
                if s > 0.0:
                    x = min(max(x, scale.mean[j] - s), scale.mean[j] + s)
                    rows[a, j] = x
            if scale.seen[j] == 0.0 and scale.kind[j] == NUMBER:
                scale.mu[j] = x  # z = 0 stands for this value, until there is another
            scale.seen[j] += 1.0
            away = x - scale.mean[j]
            scale.mean[j] += away / scale.seen[j]
            scale.M2[j] += away * (x - scale.mean[j])
            if scale.inv[j] == 0.0 and scale.M2[j] > SAME * scale.mean[j] * scale.mean[j] * scale.seen[j]:
                woken = True
    return woken


@entry(brief=True)
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
        elif scale.kind[j] == NUMBER:
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

    def sources(self, items: Table, context: Table) -> Integers:
        """(p, 4): the columns that (i,c) is made of when coordinates move, (i,c), (ī,c), (i,c̄), (ī,c̄); ī says whether i is there."""
        a, b = (_presence(table) for table in (items, context))
        pairs = [((i, c), (a[i], c), (i, b[c]), (a[i], b[c])) for i, c in self._place]
        return np.array([[self._place[pair] for pair in four] for four in pairs], np.int64).reshape(-1, 4)


def _presence(table: Table) -> list[int]:
    """For each slot the one that says whether its number is there; the constant, if it always is."""
    there = [0] * table.width
    for name, slot in table.presence.items():
        there[table.numbers[name]] = slot
    return there


def following(tick: int) -> int:
    """The checkpoint after decision `tick`: the next one up to 8, then a quarter later."""
    return tick + 1 if tick < 8 else tick + tick // 4


@kernel
def propose(scale: Scale, move: Matrix) -> bool:
    """The coordinates that the statistics now suggest, into rows μ, 1/s, α, β of `move` (4, J); True if they differ materially."""
    material = False
    for j in range(scale.kind.shape[0]):
        mu, inv, alpha, beta = scale.mu[j], 1.0, 1.0, 0.0
        if scale.kind[j] == NUMBER:
            variance = scale.M2[j] / max(scale.seen[j], 1.0)
            inv = 0.0
            if scale.seen[j] > 1.0 and variance > SAME * scale.mean[j] * scale.mean[j]:
                mu, inv = scale.mean[j], 1.0 / sqrt(variance)
            alpha = inv / scale.inv[j] if scale.inv[j] > 0.0 else 0.0
            beta = (scale.mu[j] - mu) * inv
            if abs(beta) > MATERIAL or (inv > 0.0 and abs(alpha - 1.0) > MATERIAL):
                material = True
        move[0, j], move[1, j], move[2, j], move[3, j] = mu, inv, alpha, beta
    return material


@kernel
def second(scale: Scale, j: int) -> float:
    """E z_j²: 1 for a number that is not constant, its frequency for a category."""
    if j == 0:
        return 1.0
    if scale.kind[j] == NUMBER:
        return 1.0 if scale.inv[j] > 0.0 else 0.0
    frequency: float = scale.mean[j]
    return frequency
