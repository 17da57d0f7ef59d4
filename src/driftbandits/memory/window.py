"""A sliding window: only the last W observations count."""

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
    occupied,
    recall,
    remember,
    sound,
    takes_back,
)


class Window(Memory):
    """The last W observations, each with weight 1."""

    W: float

    def check(self) -> None:
        """W is a number of rounds."""
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


# Round s has place (s − 1) mod W of the ring.
#
# Taking an observation back leaves the rounding errors that it caused while it was there. The sums are therefore made anew from the ring
# once per turn of it, at O(1) per round, and at once when an observation leaves that was out of all proportion to the others.

OUTLIER = 13.0  # in powers of two above the usual: smaller ones leave 1e-12 of the usual behind


@remember.register(Window)
def _(memory: Window, history: History, sums: Any, x: Vector, r: float, slot: int) -> float:
    W = history.r.shape[0]
    place = history.clock[0] % W
    evicts = history.weight[place] > 0.0
    anew = _take_back(history, sums, place)
    _put(history, place, x, r, slot, 1.0)
    history.clock[0] += 1
    if anew:
        _make_anew(history, sums)
    else:
        absorb(sums, x, r, slot, 1.0)
    return 0.0 if evicts else 1.0


@elapse.register(Window)
def _(memory: Window, history: History, sums: Any) -> None:
    place = history.clock[0] % history.r.shape[0]
    anew = _take_back(history, sums, place)
    history.weight[place] = 0.0
    history.clock[0] += 1
    if anew:
        _make_anew(history, sums)


@recall.register(Window)
def _(memory: Window, history: History, sums: Any, x: Vector, r: float, slot: int, weight: float, age: int) -> None:
    W = history.r.shape[0]
    if age >= W or weight == 0.0:
        return
    _put(history, (history.clock[0] - 1 - age) % W, x, r, slot, weight)
    if age == 0:
        absorb(sums, x, r, slot, weight)
    else:  # observations leave in the order of their rounds, so they must stand in that order
        _make_anew(history, sums)


@takes_back.register(Window)
def _(memory: Window) -> bool:
    return True


@occupied.register(Window)
def _(memory: Window, history: History, age: int) -> bool:
    W = history.r.shape[0]
    return age < W and bool(history.weight[(history.clock[0] - 1 - age) % W] > 0.0)


@kernel
def _put(history: History, place: int, x: Vector, r: float, slot: int, weight: float) -> None:
    """The observation of the round that has this place."""
    for i in range(x.shape[0]):
        history.x[place, i] = x[i]
    history.r[place] = r
    history.slot[place] = slot
    history.weight[place] = weight
    rate = 1.0 / min(history.clock[0] + 1.0, float(history.r.shape[0]))
    xx, rx = _sizes(history, place)
    if xx > 0.0:
        history.usual[0] += rate * (_power(xx) - history.usual[0])
    if rx > 0.0:
        history.usual[1] += rate * (_power(rx) - history.usual[1])


@kernel
def _sizes(history: History, place: int) -> tuple[float, float]:
    """The largest numbers that the observation adds to Σ w x xᵀ and to Σ w r x."""
    top = 0.0
    for i in range(history.x.shape[1]):
        top = max(top, abs(history.x[place, i]))
    own = history.weight[place] * top
    return own * top, own * abs(history.r[place])


@kernel
def _power(x: float) -> float:
    """⌊log₂ x⌋ + 1, cheaply."""
    return float(math.frexp(x)[1])


@kernel
def _take_back(history: History, sums: Any, place: int) -> bool:
    """The round that has this place leaves the window, with its observation if it has one; is it time to make the sums anew?"""
    if history.weight[place] == 0.0:
        return False
    absorb(sums, history.x[place], history.r[place], history.slot[place], -history.weight[place])
    xx, rx = _sizes(history, place)
    outlier = (xx > 0.0 and _power(xx) > history.usual[0] + OUTLIER) or (
        rx > 0.0 and _power(rx) > history.usual[1] + OUTLIER
    )
    return bool(outlier or place == history.r.shape[0] - 1)


@kernel
def _make_anew(history: History, sums: Any) -> None:
    """The sums from the ring, oldest round first."""
    W = history.r.shape[0]
    fade(sums, 0.0)
    for j in range(W):
        s = (history.clock[0] + j) % W
        if history.weight[s] > 0.0:
            absorb(sums, history.x[s], history.r[s], history.slot[s], history.weight[s])


@sound.register(History)
def _(history: History) -> bool:
    return bool((history.clock >= 0).all() and (history.weight >= 0.0).all())
