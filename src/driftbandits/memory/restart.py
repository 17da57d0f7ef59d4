"""Periodic restarts: everything is forgotten every H rounds."""

from typing import Any

from ..core.linalg import Vector
from ..core.parts import Memory
from ..errors import integer
from ..protocol import History, absorb, capacity, elapse, fade, recall, remember


class Restart(Memory):
    """Fresh start in rounds 1, H+1, 2H+1, …"""

    H: float

    def check(self) -> None:
        """H is a number of rounds."""
        integer("H", self.H, least=1, why="it is the number of rounds between restarts")


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


@elapse.register(Restart)
def _(memory: Restart, history: History, sums: Any) -> None:
    history.clock[0] += 1
    if history.clock[0] % int(memory.H) == 0:
        fade(sums, 0.0)


@recall.register(Restart)
def _(memory: Restart, history: History, sums: Any, x: Vector, r: float, slot: int, weight: float, age: int) -> None:
    if age < history.clock[0] % int(memory.H):  # so many rounds have passed since the last restart
        absorb(sums, x, r, slot, weight)
