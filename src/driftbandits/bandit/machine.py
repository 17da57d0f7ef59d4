"""The machine code of the default learner: one for all bandits of a process, whose arrays differ in nothing but size."""

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np

from ..adaptive import entries
from ..adaptive.engine import smallest_engine
from ..core.background_compile import compile_mode, prepared


class Machine:
    """The functions to call: machine code if it is in the cache; otherwise Python functions until the machine code is compiled."""

    place: Callable[..., bool]
    decide: Callable[..., bool]
    learn: Callable[..., bool]
    move_prior: Callable[..., bool]
    forget_item: Callable[..., bool]

    def __init__(self) -> None:
        one, row, ints = np.zeros(1), np.zeros((1, 1)), np.zeros(1, np.int64)
        engine = smallest_engine()
        placed = engine, row, row, ints, 0.0, ints, one
        self._prepare("place", entries.place, *placed, one)
        self._prepare("decide", entries.decide, *placed, 0.0, 0, row, ints, row, one)
        self._prepare("learn", entries.learn, *placed, row, one)
        self._prepare("move_prior", entries.move_prior, engine, row, row, ints)
        self._prepare("forget_item", entries.forget_item, engine, 0, one)

    def _prepare(self, name: str, entry: Any, *args: Any) -> None:
        setattr(self, name, prepared(entry, args, compile_mode("background"), partial(setattr, self, name)))


@cache
def machine() -> Machine:
    """The instance that all bandits of this process share."""
    return Machine()
