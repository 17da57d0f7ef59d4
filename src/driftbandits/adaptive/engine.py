"""Everything that the engine computes with, as one tuple: what was learned, how features become columns, and room to compute in."""

from typing import NamedTuple

from .columns import Layout, Scale, Slots
from .sums import State, Work


class Engine(NamedTuple):
    """What `steps`, `entries` and `stretch` are given. Arrays are changed in place; none is ever replaced by compiled code."""

    state: State
    layout: Layout
    items: Scale  # statistics of the features of items, …
    context: Scale  # … and of the context
    slots: Slots
    work: Work
