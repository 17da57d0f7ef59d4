"""A sliding window: only the last W observations count."""

from typing import Any, NamedTuple

from ..errors import integer
from ..kernel import part
from ..linalg import Vector
from ..protocol import History, absorb, capacity, fade, keep, remember
from .ring import ring


@part
class Window(NamedTuple):
    """The last W observations, each with weight 1."""

    W: float

    def check(self) -> None:
        """W is a number of rounds."""
        integer("W", self.W, least=1, why="it is the number of rounds remembered")


@keep.register(Window)
def _(memory: Window, dim: int) -> History:
    return ring(dim, int(memory.W))


@capacity.register(Window)
def _(memory: Window, horizon: int) -> int:
    return int(memory.W)


@remember.register(Window)
def _(memory: Window, history: History, sums: Any, x: Vector, r: float, slot: int) -> float:
    W = history.r.shape[0]
    place = history.clock[0] % W
    evicts = history.clock[0] >= W
    if evicts:
        absorb(sums, history.x[place], history.r[place], history.slot[place], -1.0)
    for i in range(x.shape[0]):
        history.x[place, i] = x[i]
    history.r[place] = r
    history.slot[place] = slot
    history.clock[0] += 1
    if evicts and place == W - 1:
        # Once per turn of the ring the sums are made anew from it: what subtraction lost cannot grow, at O(1) a round.
        fade(sums, 0.0)
        for s in range(W):
            absorb(sums, history.x[s], history.r[s], history.slot[s], 1.0)
    else:
        absorb(sums, x, r, slot, 1.0)
    return 0.0 if evicts else 1.0
