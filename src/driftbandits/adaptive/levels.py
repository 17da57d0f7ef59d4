r"""Categories of many levels: users, towns, brands. The first levels of a category have columns; each further one has *cells*.

A cell is a pair of a level and an item (a level of a category of the items is the same for all of them: `ALL`). It holds how much more
such decisions earned than the rest of the model expected of them, for every memory: n = Σw and t = Σw·left (`cells` has the equations).
Cells lie in a table that is found by hashing (open addressing, linear probing), so a level costs 150 bytes for each item that was shown to
it, and a decision costs the same whatever the number of levels.

Compiled code never makes room: `with_room` is called before, and returns new arrays.
"""

from typing import NamedTuple

import numpy as np

from ..core.kernel import kernel
from ..core.lanes import LANES, aligned, groups_of, zeros
from ..core.linalg import Matrix, Vector
from ..errors import InvalidValue
from .sums import NEVER, Integers

ALL = -1  # in place of an item, of levels of the items' own categories
ITEM_SIDE, CONTEXT_SIDE = 0, 1
WITHOUT, WITH = 0, 1  # rows of `Cells.squares`
PRODUCT, PAIRS = 0, 1  # rows of `Cells.spread`
LEAST_ROOM = 1024
MOST = 1 << 18  # cells; beyond, those that were not observed for longest are dropped
LARGEST = 1e220  # rewards are below 1e100, and their squares are summed
LARGEST_MARK = 1 << 52  # marks of levels are whole numbers below this, exact as floats


class Levels(NamedTuple):
    """Which slots hold marks of levels, 0 for a row whose level has a column, or that has none."""

    item: Integers  # (Fi,)
    context: Integers  # (Fc,)


class Cells(NamedTuple):
    """What is known of levels; C places, a power of two, or none where no category has many levels."""

    level: Integers  # (C,)  the mark of the level; 0: the place is free
    item: Integers  # (C,)  the place of the item, or `ALL`
    last: Vector  # (C,)  the newest observation
    n: Matrix  # (C, G, LANES)  Σw, as of then
    t: Matrix  # (C, G, LANES)  Σw·left
    spread: (
        Matrix  # (2, 2, G, LANES)  of each side: Σ left·mean over pairs of observations of one cell, and how many pairs
    )
    squares: Matrix  # (2, G, LANES)  Σ of squared errors without cells, and with them
    used: Vector  # (1,)  how many places are taken


class Found(NamedTuple):
    """Room to compute in: the cells of one item, and what is the same for all items of a decision."""

    place: Integers  # (F,)  of its cells; UNKNOWN: nothing was learned of it; NO_LEVEL
    kappa: Matrix  # (2, G, LANES)  κ of each side
    left: Matrix  # (G, LANES)  the share of the noise's variance that is left
    mean: Matrix  # (F, LANES)  v of each cell


NO_LEVEL, UNKNOWN = -1, -2


def new_cells(M: int, room: int = 0) -> Cells:
    """No cells of M memories, with this many places."""
    G = groups_of(M)
    return Cells(
        level=np.zeros(room, np.int64),
        item=np.zeros(room, np.int64),
        last=np.full(room, NEVER),
        n=zeros((room, G, LANES)),
        t=zeros((room, G, LANES)),
        spread=zeros((2, 2, G, LANES)),
        squares=zeros((2, G, LANES)),
        used=np.zeros(1),
    )


def new_found(levels: Levels, M: int) -> Found:
    """Room for the cells of one item."""
    G, F = groups_of(M), len(levels.item) + len(levels.context)
    return Found(np.full(F, NO_LEVEL), zeros((2, G, LANES)), zeros((G, LANES)), zeros((F, LANES)))


def no_levels() -> Levels:
    """No category has many levels."""
    return Levels(np.zeros(0, np.int64), np.zeros(0, np.int64))


@kernel
def first_place(level: int, item: int, room: int) -> int:
    """Where to look first for a cell. Marks are hashes already; items are spread by Knuth's multiplier."""
    return (level ^ ((item + 2) * 2654435761)) & (room - 1)


def with_room(cells: Cells, more: int) -> Cells:
    """Cells with room for so many more, at most half of the places being taken; the same object where there is enough.

    Beyond `MOST` those that were not observed for longest are dropped, an eighth more than needed, so that this is seldom done.
    """
    used, room = int(cells.used[0]), len(cells.level)
    if 2 * (used + more) <= room:
        return cells
    kept = np.flatnonzero((cells.level > 0) & (cells.last > NEVER))
    if len(kept) + more > MOST:
        newest = np.argsort(cells.last[kept], kind="stable")
        kept = np.sort(kept[newest[len(kept) + more - MOST + MOST // 8 :]])
    return _placed(cells, kept, max(LEAST_ROOM, _power_of_two(2 * (len(kept) + more))))


def _power_of_two(n: int) -> int:
    return 1 << max(n - 1, 0).bit_length()


def _placed(cells: Cells, kept: Integers, room: int) -> Cells:
    """These cells in a table of so many places."""
    new = new_cells(cells.squares.shape[1] * LANES, room)
    to = np.empty(len(kept), np.int64)
    for at, (level, item) in enumerate(zip(cells.level[kept].tolist(), cells.item[kept].tolist(), strict=True)):
        place = first_place(level, item, room)
        while new.level[place]:
            place = (place + 1) & (room - 1)
        new.level[place], new.item[place], to[at] = level, item, place
    new.last[to], new.n[to], new.t[to] = cells.last[kept], cells.n[kept], cells.t[kept]
    new.used[0] = len(kept)
    return new._replace(spread=cells.spread.copy(), squares=cells.squares.copy())


def packed(cells: Cells) -> Cells:
    """The cells alone, in the order of their levels and items: the same whatever the history of the table."""
    taken = np.flatnonzero(cells.level > 0)
    taken = taken[np.lexsort((cells.item[taken], cells.level[taken]))]
    return some(cells, taken)


def some(cells: Cells, at: Integers) -> Cells:
    """The cells at these places alone, in this order."""
    return cells._replace(
        level=cells.level[at],
        item=cells.item[at],
        last=cells.last[at],
        n=cells.n[at],
        t=cells.t[at],
        used=np.full(1, float(len(at))),
    )


def unpacked(cells: Cells) -> Cells:
    """The table of cells that were packed; raises if they are none."""
    level, item = cells.level, cells.item
    G = cells.squares.shape[1]
    n = len(level)
    if not (level.shape == item.shape == cells.last.shape and cells.n.shape == cells.t.shape == (n, G, LANES)):
        raise InvalidValue("arrays of cells do not fit each other; was the file changed?")
    if cells.spread.shape != (2, 2, G, LANES) or (n and not 0 < level.min() <= level.max() < LARGEST_MARK):
        raise InvalidValue("marks of levels must be whole numbers from 1 to 2⁵² − 1; was the file changed?")
    if n and (item.min() < ALL or len({*zip(level.tolist(), item.tolist(), strict=True)}) < n or n > MOST):
        raise InvalidValue("a cell is there twice, or is of no item; was the file changed?")
    if any(np.abs(array).max(initial=0.0) > LARGEST for array in (cells.n, cells.t, cells.spread, cells.squares)):
        raise InvalidValue(f"a sum of cells is beyond {LARGEST:g}, which no sum reaches; was the file changed?")
    if (cells.n < 0.0).any() or (cells.squares < 0.0).any() or (cells.spread[:, PAIRS] < 0.0).any():
        raise InvalidValue("a sum of weights or of squares of cells is negative; was the file changed?")
    return _placed(cells, np.arange(n), max(LEAST_ROOM, _power_of_two(2 * n)) if n else 0)


def joined(a: Cells, b: Cells, rate: Vector) -> Cells:
    """Cells of two logs without a common row, both packed, whose times are counted alike; memories forget at `rate` (M,). Packed, too.

    Examples
    --------
    >>> joined(new_cells(1), new_cells(1), np.zeros(1)).used
    array([0.])
    """
    every = np.concatenate([np.stack([x.level, x.item], 1) for x in (a, b)])
    keys, to = np.unique(every, axis=0, return_inverse=True)
    parts = ((a, to.reshape(-1)[: len(a.level)]), (b, to.reshape(-1)[len(a.level) :]))
    total = new_cells(len(rate), len(keys))
    total.level[:], total.item[:], total.used[0] = keys[:, 0], keys[:, 1], len(keys)
    for x, where in parts:
        total.last[where] = np.maximum(total.last[where], x.last)
    rates = np.pad(rate, (0, total.squares.shape[1] * LANES - len(rate)), mode="edge").reshape(total.squares.shape[1:])
    for x, where in parts:
        age = np.where(x.last > NEVER, total.last[where] - x.last, 0.0)
        f = np.exp(-np.minimum(age[:, None, None] * rates, 700.0))
        total.n[where] += f * x.n
        total.t[where] += f * x.t
    total.spread[:], total.squares[:] = a.spread + b.spread, a.squares + b.squares
    return total


def aligned_cells(cells: Cells) -> Cells:
    """The same cells, with all that has lanes at an address that suits them."""
    n, t = aligned(cells.n), aligned(cells.t)
    return cells._replace(n=n, t=t, spread=aligned(cells.spread), squares=aligned(cells.squares))


@kernel
def cells_fit(cells: Cells, levels: Levels, found: Found, G: int, J: int, C: int) -> bool:
    """Whether arrays have the shapes that compiled code relies on; J and C are the slots of both sides."""
    room, F = cells.level.shape[0], levels.item.shape[0] + levels.context.shape[0]
    if (room & (room - 1)) != 0 or (F > 0 and room == 0):
        return False
    rows = cells.item.shape[0] == room and cells.last.shape[0] == room
    rows = rows and cells.n.shape == (room, G, LANES) and cells.t.shape == (room, G, LANES)
    few = cells.spread.shape == (2, 2, G, LANES) and cells.squares.shape == (2, G, LANES) and cells.used.shape[0] == 1
    own = found.place.shape[0] == F and found.mean.shape == (F, LANES)
    own = own and found.kappa.shape == (2, G, LANES) and found.left.shape == (G, LANES)
    if not (rows and few and own):
        return False
    return _slots_of(levels.item, J) and _slots_of(levels.context, C)


@kernel
def _slots_of(slots: Integers, J: int) -> bool:
    """Whether these are slots, the constant not among them."""
    for j in range(slots.shape[0]):  # noqa: SIM110 (generators do not compile)
        if slots[j] < 1 or slots[j] >= J:
            return False
    return True
