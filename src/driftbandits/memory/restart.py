"""Periodic restarts: every H rounds all observations are forgotten."""

from typing import Any

from ..core.linalg import Vector
from ..core.parts import Memory
from ..errors import integer
from ..protocol import History, absorb, capacity, elapse, fade, recall, remember


class Restart(Memory):
    """The observations since the last of the rounds 1, H+1, 2H+1, …, each with weight 1."""

    H: float

    def check(self) -> None:
        """H must be a whole number ≥ 1."""
        integer("H", self.H, least=1, why="it is the number of rounds between restarts")


@capacity.register(Restart)
def _(memory: Restart, horizon: int) -> int:
    return int(memory.H)


@remember.register(Restart)
def _(memory: Restart, history: History, sums: Any, x: Vector, r: float, slot: int) -> float:
    history.clock[0] += 1
    # The restart follows the round, so that the sums after round H are empty and round H+1 decides with the prior alone.
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
    if age < history.clock[0] % int(memory.H):  # the round lies after the last restart
        absorb(sums, x, r, slot, weight)
