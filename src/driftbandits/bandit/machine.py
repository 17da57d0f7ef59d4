"""The machine code of the default learner: one for all bandits of a process, whose arrays differ in nothing but size."""

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np

from ..core.background_compile import compile_mode, prepared
from . import bank, coordinates, moving
from .coordinates import new_scale
from .features import Table
from .sums import Shape, new_bank, new_work


class Machine:
    """What to call: machine code if it is in the cache; else Python, while it is compiled."""

    count: Callable[..., bool]
    decide: Callable[..., int]
    learn: Callable[..., bool]
    move: Callable[..., bool]
    renew_all: Callable[..., None]

    def __init__(self) -> None:
        one, row, ints, table = np.zeros(1), np.zeros((1, 1)), np.zeros(1, np.int64), Table("item")
        sums, shape, scale, work = new_bank(one, 1, 1), Shape(one, one, ints, ints), new_scale(table), new_work(1, 1, 1)
        route = moving.new_route(np.zeros((1, 4), np.int64), 1, 1)
        state = sums, shape, scale
        self._prepare("count", coordinates.count, scale, row, scale, row)
        self._prepare("decide", bank.decide, *state, row, scale, row, ints, 0.0, 0.0, 0, row, ints, one, work)
        self._prepare("learn", bank.learn, *state, one, scale, one, 0, 0.0, 0.0, 0.0, one, work)
        self._prepare("move", moving.move, *state, scale, route, work)
        self._prepare("renew_all", moving.renew_all, *state, scale, work)

    def _prepare(self, name: str, entry: Any, *args: Any) -> None:
        setattr(self, name, prepared(entry, args, compile_mode("background"), partial(setattr, self, name)))


@cache
def machine() -> Machine:
    """The one of this process."""
    return Machine()
