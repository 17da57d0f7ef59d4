"""The machine code of change detectors, and their state in files."""

from collections.abc import Callable
from functools import cache, partial
from types import BuiltinFunctionType

import numpy as np

from ..alarms import bettors
from ..alarms.state import (
    COUNT,
    CUSUM,
    F2,
    GG,
    OPEN,
    RIDGE,
    ROUNDS,
    SCALE,
    SEEN,
    SQUARES,
    SR,
    STEPS,
    TOLD,
    U2,
    U4,
    State,
    new_fixed,
    new_state,
    new_work,
)
from ..core.background_compile import CompileMode, compile_mode, prepared
from ..core.linalg import Vector
from ..core.numba_private import interpreted
from ..errors import InvalidValue

EVERY = 2e5  # rewards per false alarm, on average, at least …
LARGEST = 1e270  # u⁴ is below 1e250 …
STEEPEST = 1e70  # … and |θ| below √(Σr²/ridge), r within ± 1e60
ARRIVALS = 0.1  # … of which this share is for missing rewards


class Machine:
    """`walk` as machine code if it is in the cache; else as Python, while it is compiled."""

    walk: Callable[..., int]

    def __init__(self) -> None:
        self._prepare(compile_mode("background"))

    def _prepare(self, how: CompileMode) -> None:
        row = np.zeros((1, 1))
        args = (
            new_state(1, 1), new_fixed(np.full((1, 2), -1, np.int64)), row, row, np.zeros((1, TOLD)), 0.0, new_work(1)
        )  # fmt: skip
        self.walk = prepared(bettors.walk, args, how, partial(setattr, self, "walk"))

    def wait(self) -> None:
        """Wait for machine code: of each of many rewards to come, Python would take a millisecond."""
        if type(self.walk) is not BuiltinFunctionType and not interpreted():
            self._prepare("now")


@cache
def machine() -> Machine:
    """The one of this process."""
    return Machine()


def packed(state: State) -> Vector:
    """All arrays as one."""
    return np.concatenate([array.reshape(-1) for array in state])


def unpacked(flat: Vector, D: int, N: int) -> State:
    """The arrays of a detector with D columns and N blocks; raises if they are not."""
    if flat.size < N:  # before anything of that size is made
        raise InvalidValue(f"a change detector of {N} blocks cannot be {flat.size} numbers")
    like = new_state(D, N)
    sizes = [array.size for array in like]
    if flat.dtype != np.float64 or flat.shape != (sum(sizes),) or not np.isfinite(flat).all():
        raise InvalidValue(f"a change detector is {flat.dtype} {flat.shape}; it must be {sum(sizes)} finite numbers")
    parts = np.split(flat, np.cumsum(sizes)[:-1])
    state = State(*(np.ascontiguousarray(part.reshape(array.shape)) for part, array in zip(parts, like, strict=True)))
    _check(state)
    return state


def _check(state: State) -> None:
    """Refuse numbers that no rewards lead to: counts, sums of squares and scales below 0, bets without a variance."""
    n = state.numbers
    bettors = [b[..., [GG, SR, CUSUM]] for b in (state.shared, state.misfit, state.own)]
    known = (
        n[[ROUNDS, U2, U4, F2, COUNT, STEPS]],
        state.columns[:, [SEEN, SQUARES, SCALE]],
        state.tally[:, [0, 2, 3, 4]],
    )
    variances = np.diagonal(state.P, axis1=1, axis2=2) + 1e-6  # rounding
    least = min(part.min() for part in (*known, *bettors, variances))
    if least < 0.0 or (n[OPEN] != 0.0 and not min(n[ROUNDS], n[U2], n[U4]) > 0.0) or n[STEPS] % 1.0:
        raise InvalidValue("the sums of its change detector are not those of any rewards; was the file changed?")
    bounds = {"theta": STEEPEST, "P": 2.0 / RIDGE}
    if any(np.abs(array).max() > bounds.get(name, LARGEST) for name, array in state._asdict().items()):
        raise InvalidValue(
            "its change detector has a number that is larger than any rewards make it; was the file changed?"
        )
