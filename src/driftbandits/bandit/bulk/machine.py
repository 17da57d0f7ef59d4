"""The machine code that walks through stretches of rows; compiled when it is first needed."""

from collections.abc import Callable
from functools import cache, partial
from types import BuiltinFunctionType
from typing import Any

import numpy as np

from ...adaptive import stretch
from ...adaptive.columns import CONSTANT, Layout, Slots, new_scale
from ...adaptive.sums import new_state, new_work
from ...core.background_compile import compile_mode, prepared
from ...core.numba_private import interpreted

LONG, SHORT = (
    4096,
    32,
)  # rows of a stretch: while code is being compiled, Python walks, and looks often whether it is there


class Machine:
    """What to call: machine code if it is in the cache; else Python, while it is compiled."""

    observe: Callable[..., int]
    decide: Callable[..., int]
    learn: Callable[..., int]
    replay: Callable[..., int]

    def __init__(self) -> None:
        one, row, many = np.zeros(1), np.zeros((1, 1)), np.zeros((1, 1, 1))
        ints, pairs = np.zeros(1, np.int64), np.zeros((1, 1), np.int64)
        state, work, scale = new_state(one, 1, 1, 1), new_work(1, 1, 1), new_scale([CONSTANT])
        layout, slots = Layout(ints, ints, pairs, ints, ints, pairs), Slots(one, one)
        model = state, layout, scale
        seen = many, scale, many, ints, one, 0, one, True, one, one, one, slots, work
        self._prepare("observe", stretch.observe_rows, *model, *seen)
        asked = many, ints, pairs, one, 0, scale, many, 0.0, one, ints, row, row, ints, row, row, row, row, slots, work
        self._prepare("decide", stretch.decide_rows, *model, *asked)
        logged = ints, ints, one, True, one, ints, row, row, ints, one, row, row, slots, work
        self._prepare("replay", stretch.replay_rows, *model, many, ints, pairs, one, 0, scale, many, 0.0, one, *logged)
        self._prepare("learn", stretch.learn_rows, *model, row, scale, row, ints, one, one, one, row, slots, work)

    def _prepare(self, name: str, entry: Any, *args: Any) -> None:
        setattr(self, name, prepared(entry, args, compile_mode("background"), partial(setattr, self, name)))

    def longest(self, name: str) -> int:
        """How many rows to walk through in one call."""
        return LONG if interpreted() or type(getattr(self, name)) is BuiltinFunctionType else SHORT


@cache
def machine() -> Machine:
    """The one of this process."""
    return Machine()
