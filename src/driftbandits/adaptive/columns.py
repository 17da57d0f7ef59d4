r"""Raw features as columns, and the prior in raw coordinates.

A side of a decision (the item, or the context) is a row of *slots*: the constant 1, numbers, indicators. A number enters as z = x − anchor,
the anchor being the first value seen: it never moves, so that sums never have to be re-expressed. A missing number has z = 0. A shared
column is a product of one slot of the item and one of the context, φ_(i,c) = z_i z_c with z_0 = 1; an own column is a slot of the context.

How large an effect is expected to be must not depend on units and origin, so the prior is stated for standardised slots

    z = s·z̃ + μ·present ,   φ = Cφ̃ ,   φᵀθ = φ̃ᵀ(Cᵀθ) ,   Λ = CΛ̃Cᵀ ,   K = C_ψ K̃ C_ψᵀ ,

Λ̃ and K̃ diagonal, at most four entries in a row of C. μ and s are those of what has been on offer, and move at *checkpoints*; only the
prior moves with them. The entries of a vector share a unit, so they have one scale, s² = Σ_j M2_j / Σ_j seen_j over its entries j, and
with it one prior variance in the units of the vector.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..core.kernel import kernel, sqrt
from ..core.linalg import Matrix, Vector
from .sums import Integers

CONSTANT, NUMBER, MARK = (
    0,
    1,
    4,
)  # kinds of slots; a `MARK` holds the mark of one (`levels`) and has no column; all others are 0 or 1
CUT = 6.0  # numbers are cut at mean ± 6 standard deviations …
CUT_FROM = 32.0  # … once so many have been seen
SAME = 1e-18  # variance below this share of the squared mean is rounding: the number is constant
TINY = 1e-100  # … and so it is below this: products of two such columns could not be squared


class Scale(NamedTuple):
    """Statistics and coordinates of the slots of one side; each (J,)."""

    kind: Integers
    group: Integers  # the first slot of those with the same scale s
    seen: Vector  # values counted
    mean: Vector  # their running mean; of categories, their frequency
    M2: Vector  # Σ(x − mean)²
    anchor: Vector  # z = x − anchor
    mu: Vector  # of z, as the prior in use has it
    s: Vector  # 1 for a number that has been constant
    awake: Vector  # 0 for a number that has been constant, as the prior in use knows it: its columns are 0


class Layout(NamedTuple):
    """Which slots the columns are made of, and the four columns that each standardised column is a combination of."""

    item: Integers  # (p,)  slot of the item
    context: Integers  # (p,)  slot of the context
    source: Integers  # (p, 4)  columns (i,c), (ī,c), (i,c̄), (ī,c̄): ī is the slot that says whether i is present
    own: Integers  # (k,)  slots of the context, …
    since: Integers  # (k,)  … each times this one: the constant, or the slot that says that a row was made since items have own slopes
    own_source: Integers  # (k, 2)  own columns c, c̄


class Slots(NamedTuple):
    """Room for one decision's rows as z."""

    zi: Vector
    zc: Vector


def new_scale(kinds: Sequence[int], groups: Sequence[int] | None = None, old: Scale | None = None) -> Scale:
    """Statistics for these slots, those of `old`, which are the first ones, kept; each slot is a group of its own if none are given."""
    J, J0 = len(kinds), 0 if old is None else len(old.kind)
    group = np.arange(J) if groups is None else np.array(groups, np.int64)
    scale = Scale(np.array(kinds, np.int64), group, *(np.zeros(J) for _ in range(7)))
    scale.s[:] = 1.0
    scale.awake[:] = (scale.kind != NUMBER) & (scale.kind != MARK)
    if old is not None:
        for new, before in zip(scale[2:], old[2:], strict=True):
            new[:J0] = before
    return scale


@kernel
def cut(scale: Scale, rows: Matrix) -> None:
    """Cut extreme values in place."""
    for j in range(1, rows.shape[1]):
        if scale.kind[j] != NUMBER or scale.seen[j] < CUT_FROM:
            continue
        far, mean = CUT * sqrt(scale.M2[j] / scale.seen[j]), scale.mean[j]
        if far > 0.0:
            for a in range(rows.shape[0]):
                if not math.isnan(rows[a, j]):
                    rows[a, j] = min(max(rows[a, j], mean - far), mean + far)


@kernel
def count(scale: Scale, rows: Matrix) -> bool:
    """Count what is on offer; True if a number that was constant is not so any more.

    Forecasts do not read these statistics: they enter the prior at checkpoints.
    """
    woken = False
    for a in range(rows.shape[0]):
        for j in range(1, rows.shape[1]):
            x = rows[a, j]
            if math.isnan(x) or scale.kind[j] == MARK:
                continue
            number = scale.kind[j] == NUMBER
            # The first value is the anchor for good. Moving it would re-express all sums; a poor anchor only costs digits, not
            # correctness.
            if scale.seen[j] == 0.0 and number:
                scale.anchor[j] = x
            before = _is_constant(scale, j)
            scale.seen[j] += 1.0
            away = x - scale.mean[j]
            # Welford's recursion: Σx² − n·mean² would lose all digits where the mean is large beside the standard deviation.
            scale.mean[j] += away / scale.seen[j]
            scale.M2[j] += away * (x - scale.mean[j])
            # A number that varies for the first time gets a column; its prior can be stated only now that it has a scale.
            woken = woken or (number and before and not _is_constant(scale, j))
    return woken


@kernel
def hold_still(scale: Scale, rows: Matrix) -> None:
    """Write the anchor in place of numbers that have been constant: z = 0 now, and when the reward comes, and if it is taken back.

    What differs from the anchor here is rounding. Without this a row would be learned with z = 0 before the number first varies, and with
    another z if its reward came, or was replaced, after that.
    """
    for j in range(1, rows.shape[1]):
        if scale.kind[j] == NUMBER and _has_no_scale(scale, j):
            for a in range(rows.shape[0]):
                if not math.isnan(rows[a, j]):
                    rows[a, j] = scale.anchor[j]


@kernel
def wake(scale: Scale) -> None:
    """The prior knows the scales of today."""
    for j in range(scale.kind.shape[0]):
        constant = scale.kind[j] == NUMBER and _has_no_scale(scale, j)
        scale.awake[j] = 0.0 if constant or scale.kind[j] == MARK else 1.0


@kernel
def _has_no_scale(scale: Scale, j: int) -> bool:
    return bool(scale.seen[j] < 2.0 or _is_constant(scale, j))


@kernel
def _is_constant(scale: Scale, j: int) -> bool:
    return bool(scale.M2[j] <= max(SAME * scale.mean[j] * scale.mean[j], TINY) * scale.seen[j])


@kernel
def shift(scale: Scale, row: Vector, z: Vector) -> None:
    """z of one raw row; 0 for a number that the prior knows only as constant, so that nothing is forecast from it yet."""
    for j in range(row.shape[0]):
        x = row[j]
        z[j] = 0.0 if math.isnan(x) or scale.awake[j] == 0.0 else x - scale.anchor[j]


@kernel
def settle_scale(scale: Scale) -> None:
    """μ and s for the prior, from the statistics."""
    for j in range(scale.kind.shape[0]):
        if scale.kind[j] == NUMBER:
            constant = _has_no_scale(scale, j)
            scale.mu[j] = 0.0 if constant else scale.mean[j] - scale.anchor[j]
            scale.s[j] = 1.0 if constant else sqrt(scale.M2[j] / scale.seen[j])
    _share_scales(scale)


@kernel
def _share_scales(scale: Scale) -> None:
    """One s for the entries of a vector."""
    j, J = 0, scale.kind.shape[0]
    while j < J:
        end, squares, seen = j + 1, scale.M2[j], scale.seen[j]
        # The entries of a vector are adjacent slots with the first one's number as their group.
        while end < J and scale.group[end] == j:
            squares += scale.M2[end]
            seen += scale.seen[end]
            end += 1
        if end > j + 1 and squares > TINY * seen:
            for entry in range(j, end):
                scale.s[entry] = sqrt(squares / seen)
        j = end


@kernel
def mean_square(scale: Scale, j: int) -> float:
    """E z̃_j²: 1 for a number that is not constant, its frequency for a category."""
    if j == 0:
        return 1.0
    if scale.kind[j] == NUMBER:
        return 0.0 if _is_constant(scale, j) else 1.0
    frequency: float = scale.mean[j]
    return frequency


@kernel
def size_of_columns(layout: Layout, items: Scale, context: Scale) -> tuple[float, float]:
    """E‖φ̃‖² and E‖ψ̃‖², both without the constant."""
    shared, own = 0.0, 0.0
    for r in range(1, layout.item.shape[0]):
        shared += mean_square(items, layout.item[r]) * mean_square(context, layout.context[r])
    for r in range(1, layout.own.shape[0]):
        own += mean_square(context, layout.own[r])
    return shared, own


@kernel
def shared_prior(layout: Layout, items: Scale, context: Scale, first: float, others: float, Lam: Matrix) -> float:
    """Λ = CΛ̃Cᵀ with Λ̃ = diag(first, others, …) into Lam; returns log|Λ|."""
    p, logdet = layout.item.shape[0], 0.0
    for r in range(p):
        for q in range(r + 1):
            total = 0.0
            for x in range(4):
                a = _entry(layout, items, context, r, x)
                if a == 0.0:
                    continue
                column = layout.source[r, x]
                for y in range(4):
                    if layout.source[q, y] == column:
                        total += (first if column == 0 else others) * a * _entry(layout, items, context, q, y)
            Lam[r, q] = total
            Lam[q, r] = total
        scale = items.s[layout.item[r]] * context.s[layout.context[r]]
        # C is triangular up to the order of columns, with the scales s on its diagonal: log|CΛ̃Cᵀ| = Σ log λ̃ + 2 Σ log s.
        logdet += math.log(first if r == 0 else others) + 2.0 * math.log(scale)
    return logdet


@kernel
def _entry(layout: Layout, items: Scale, context: Scale, r: int, x: int) -> float:
    """Row r of C at the x-th of its four columns."""
    # z = s·z̃ + μ·present for each factor of a product gives four terms: bit 0 of x says whether the item's factor is its indicator, bit
    # 1 the context's.
    return _share(items, layout.item[r], x % 2 == 1) * _share(context, layout.context[r], x >= 2)


@kernel
def own_prior(layout: Layout, context: Scale, first: float, others: float, K: Matrix) -> float:
    """K = C_ψK̃C_ψᵀ into K; returns log|K|."""
    k, logdet = layout.own.shape[0], 0.0
    for r in range(k):
        for q in range(k):
            total = 0.0
            for x in range(2):
                column = layout.own_source[r, x]
                for y in range(2):
                    if layout.own_source[q, y] == column:
                        a, b = _share(context, layout.own[r], x == 1), _share(context, layout.own[q], y == 1)
                        total += (first if column == 0 else others) * a * b
            K[r, q] = total
        logdet += math.log(first if r == 0 else others) + 2.0 * math.log(context.s[layout.own[r]])
    return logdet


@kernel
def _share(scale: Scale, j: int, present: bool) -> float:
    """z_j = s·z̃_j + μ·present: the coefficient of z̃_j, or of the slot that says whether it is present."""
    return float(scale.mu[j] if present else scale.s[j])
