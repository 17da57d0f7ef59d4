"""The machine code of change detectors, and their state in files."""

from collections.abc import Callable
from functools import cache, partial

import numpy as np

from ..alarms import bettors
from ..alarms.state import TOLD, State, new_fixed, new_state, new_work
from ..core.background_compile import compile_mode, prepared
from ..core.linalg import Vector
from ..errors import InvalidValue

EVERY = 2e5  # rewards per false alarm, on average, at least …
ARRIVALS = 0.1  # … of which this share is for missing rewards


class Machine:
    """`walk` as machine code if it is in the cache; else as Python, while it is compiled."""

    walk: Callable[..., int]

    def __init__(self) -> None:
        row = np.zeros((1, 1))
        args = (
            new_state(1, 1), new_fixed(np.full((1, 2), -1, np.int64)), row, row, np.zeros((1, TOLD)), 0.0, new_work(1)
        )  # fmt: skip
        self.walk = prepared(bettors.walk, args, compile_mode("background"), partial(setattr, self, "walk"))


@cache
def machine() -> Machine:
    """The one of this process."""
    return Machine()


def packed(state: State) -> Vector:
    """All arrays as one."""
    return np.concatenate([array.reshape(-1) for array in state])


def unpacked(flat: Vector, D: int, N: int) -> State:
    """The arrays of a detector with D columns and N blocks; raises if they are not."""
    like = new_state(D, N)
    sizes = [array.size for array in like]
    if flat.dtype != np.float64 or flat.shape != (sum(sizes),) or not np.isfinite(flat).all():
        raise InvalidValue(f"a change detector is {flat.dtype} {flat.shape}; it must be {sum(sizes)} finite numbers")
    parts = np.split(flat, np.cumsum(sizes)[:-1])
    return State(*(np.ascontiguousarray(part.reshape(array.shape)) for part, array in zip(parts, like, strict=True)))
