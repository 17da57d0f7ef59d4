"""Nothing is forgotten: w_{t,s} = 1."""

from typing import Any, NamedTuple

from ..kernel import part
from ..linalg import Vector
from ..protocol import History, absorb, capacity, keep, remember
from .ring import no_ring


@part
class Everything(NamedTuple):
    """Static memory: every observation counts as much as the last one."""


@keep.register(Everything)
def _(memory: Everything, dim: int) -> History:
    return no_ring(dim)


@capacity.register(Everything)
def _(memory: Everything, horizon: int) -> int:
    return horizon


@remember.register(Everything)
def _(memory: Everything, history: History, sums: Any, x: Vector, r: float, slot: int) -> float:
    history.clock[0] += 1
    absorb(sums, x, r, slot, 1.0)
    return 1.0
