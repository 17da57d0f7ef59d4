"""Everything that the engine computes with, as one tuple: what was learned, how features become columns, and room to compute in."""

from typing import NamedTuple

import numpy as np

from .columns import CONSTANT, Layout, Scale, Slots, new_scale
from .levels import Cells, Found, Levels, new_cells, new_found, no_levels
from .sums import State, Work, new_state, new_work


class Engine(NamedTuple):
    """What `steps`, `entries` and `stretch` are given. Arrays are changed in place; none is ever replaced by compiled code."""

    state: State
    layout: Layout
    items: Scale  # statistics of the features of items, …
    context: Scale  # … and of the context
    slots: Slots
    work: Work
    levels: Levels  # which slots hold marks of levels without columns
    cells: Cells  # … and what was learned of these
    found: Found


def smallest_engine() -> Engine:
    """An engine of one memory and one column: machine code is compiled for its types, which are those of all others."""
    one, ints, pairs = np.zeros(1), np.zeros(1, np.int64), np.zeros((1, 1), np.int64)
    scale, levels = new_scale([CONSTANT]), no_levels()
    layout, slots = Layout(ints, ints, pairs, ints, ints, pairs), Slots(one, one)
    return Engine(
        new_state(one, 1, 1, 1),
        layout,
        scale,
        scale,
        slots,
        new_work(1, 1, 1),
        levels,
        new_cells(1),
        new_found(levels, 1),
    )
