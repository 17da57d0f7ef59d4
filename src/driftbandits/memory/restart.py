"""Periodic restarts: everything is forgotten every H rounds."""

from typing import Any, NamedTuple

from ..errors import integer
from ..kernel import part
from ..linalg import Vector
from ..protocol import History, absorb, capacity, fade, keep, remember
from .ring import no_ring


@part
class Restart(NamedTuple):
    """Fresh start in rounds 1, H+1, 2H+1, …"""

    H: float

    def check(self) -> None:
        """H is a number of rounds."""
        integer("H", self.H, least=1, why="it is the number of rounds between restarts")


@keep.register(Restart)
def _(memory: Restart, dim: int) -> History:
    return no_ring(dim)


@capacity.register(Restart)
def _(memory: Restart, horizon: int) -> int:
    return int(memory.H)


@remember.register(Restart)
def _(memory: Restart, history: History, sums: Any, x: Vector, r: float, slot: int) -> float:
    history.clock[0] += 1
    absorb(sums, x, r, slot, 1.0)
    if history.clock[0] % int(memory.H) == 0:  # the next round starts afresh
        fade(sums, 0.0)
        return 0.0
    return 1.0
