"""A sliding window: only the last W observations have weight.

Round s uses entry (s − 1) mod W of a ring buffer.

Removing an observation from the sums leaves the rounding errors that it caused while it was there. The sums are therefore recomputed from
the buffer once in W rounds, which costs O(1) per round, and also when an observation leaves that was much larger than the others.
"""

import math
from typing import Any

import numpy as np

from ..core.kernel import kernel
from ..core.linalg import Vector
from ..core.parts import Memory
from ..errors import integer
from ..protocol import (
    NO_SLOT,
    History,
    absorb,
    blank_history,
    capacity,
    elapse,
    fade,
    indices_valid,
    occupied,
    recall,
    remember,
    takes_back,
)


class Window(Memory):
    """The last W observations, each with weight 1."""

    W: float

    def check(self) -> None:
        """W must be a whole number ≥ 1."""
        integer("W", self.W, least=1, why="it is the number of rounds remembered")


@blank_history.register(Window)
def _(memory: Window, dim: int) -> History:
    W = int(memory.W)
    return History(
        clock=np.zeros(1, np.int64),
        x=np.zeros((W, dim)),
        r=np.zeros(W),
        slot=np.full(W, NO_SLOT, np.int64),
        weight=np.zeros(W),
        usual=np.zeros(2),
    )


@capacity.register(Window)
def _(memory: Window, horizon: int) -> int:
    return int(memory.W)


OUTLIER = (
    13.0  # powers of two above the running mean: a smaller observation leaves an error of at most 1e-12 of the mean
)


@remember.register(Window)
def _(memory: Window, history: History, sums: Any, x: Vector, r: float, slot: int) -> float:
    W = history.r.shape[0]
    place = history.clock[0] % W
    # In the first W rounds, and after rounds without a reward, the entry is empty and nothing leaves.
    evicts = history.weight[place] > 0.0
    recompute = _remove(history, sums, place)
    _put(history, place, x, r, slot, 1.0)
    history.clock[0] += 1
    if recompute:
        _recompute(history, sums)
    else:
        absorb(sums, x, r, slot, 1.0)
    return 0.0 if evicts else 1.0  # V has lost an observation, so that no multiple of the old V bounds it from below


@elapse.register(Window)
def _(memory: Window, history: History, sums: Any) -> None:
    place = history.clock[0] % history.r.shape[0]
    recompute = _remove(history, sums, place)
    history.weight[place] = 0.0
    history.clock[0] += 1
    if recompute:
        _recompute(history, sums)


@recall.register(Window)
def _(memory: Window, history: History, sums: Any, x: Vector, r: float, slot: int, weight: float, age: int) -> None:
    W = history.r.shape[0]
    if age >= W or weight == 0.0:
        return
    # The entry of the round in which the decision was made: the ring is indexed by rounds, not by arrivals.
    _put(history, (history.clock[0] - 1 - age) % W, x, r, slot, weight)
    if age == 0:
        absorb(sums, x, r, slot, weight)
    else:  # sums with atoms remove the oldest they hold, so a late observation must be inserted in the order of rounds
        _recompute(history, sums)


@takes_back.register(Window)
def _(memory: Window) -> bool:
    return True


@occupied.register(Window)
def _(memory: Window, history: History, age: int) -> bool:
    W = history.r.shape[0]
    return age < W and bool(history.weight[(history.clock[0] - 1 - age) % W] > 0.0)


@kernel
def _put(history: History, place: int, x: Vector, r: float, slot: int, weight: float) -> None:
    """Store an observation in the entry of its round, and update the running means of magnitudes."""
    for i in range(x.shape[0]):
        history.x[place, i] = x[i]
    history.r[place] = r
    history.slot[place] = slot
    history.weight[place] = weight
    # A mean of exponents, that is, of magnitudes on a logarithmic scale, over about one window.
    rate = 1.0 / min(history.clock[0] + 1.0, float(history.r.shape[0]))
    xx, rx = _sizes(history, place)
    if xx > 0.0:
        history.usual[0] += rate * (_power(xx) - history.usual[0])
    if rx > 0.0:
        history.usual[1] += rate * (_power(rx) - history.usual[1])


@kernel
def _sizes(history: History, place: int) -> tuple[float, float]:
    """The largest entries that the observation adds to Σ w x xᵀ and to Σ w r x."""
    top = 0.0
    for i in range(history.x.shape[1]):
        top = max(top, abs(history.x[place, i]))
    own = history.weight[place] * top
    return own * top, own * abs(history.r[place])


@kernel
def _power(x: float) -> float:
    """⌊log₂ x⌋ + 1, read from the exponent of the number."""
    # frexp instead of log2: it reads the exponent bits, which is exact and much cheaper.
    return float(math.frexp(x)[1])


@kernel
def _remove(history: History, sums: Any, place: int) -> bool:
    """Remove the observation in this entry, if any, from the sums; returns whether the sums should now be recomputed."""
    if history.weight[place] == 0.0:
        return False
    absorb(sums, history.x[place], history.r[place], history.slot[place], -history.weight[place])
    # Subtracting a term from a running sum leaves a rounding error of the size of that term. An ordinary one is harmless until the sums are
    # recomputed, once per turn of the ring; a term far larger than the others would drown them, so the sums are recomputed at once.
    xx, rx = _sizes(history, place)
    outlier = (xx > 0.0 and _power(xx) > history.usual[0] + OUTLIER) or (
        rx > 0.0 and _power(rx) > history.usual[1] + OUTLIER
    )
    return bool(outlier or place == history.r.shape[0] - 1)


@kernel
def _recompute(history: History, sums: Any) -> None:
    """Compute the sums from the ring buffer, oldest round first."""
    W = history.r.shape[0]
    fade(sums, 0.0)
    # In the order of rounds: sums with atoms identify the oldest observation by its position.
    for j in range(W):
        s = (history.clock[0] + j) % W
        if history.weight[s] > 0.0:
            absorb(sums, history.x[s], history.r[s], history.slot[s], history.weight[s])


@indices_valid.register(History)
def _(history: History) -> bool:
    return bool((history.clock >= 0).all() and (history.weight >= 0.0).all())
