"""The static memory, which forgets nothing: w_{t,s} = 1."""

from typing import Any

from ..core.linalg import Vector
from ..core.parts import Memory
from ..protocol import History, absorb, elapse, recall, remember


class Everything(Memory):
    """Static memory: every observation counts as much as the last one."""


@remember.register(Everything)
def _(memory: Everything, history: History, sums: Any, x: Vector, r: float, slot: int) -> float:
    history.clock[0] += 1
    absorb(sums, x, r, slot, 1.0)
    return 1.0


@elapse.register(Everything)
def _(memory: Everything, history: History, sums: Any) -> None:
    history.clock[0] += 1


@recall.register(Everything)
def _(memory: Everything, history: History, sums: Any, x: Vector, r: float, slot: int, weight: float, age: int) -> None:
    absorb(sums, x, r, slot, weight)
