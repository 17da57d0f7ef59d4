"""The open functions of a memory: how the weight of past observations decreases.

The clock of a memory counts rounds, not rewards, because a reward may arrive late: `remember` equals `elapse` followed by `recall` with
weight 1 and age 0. Once all rewards have arrived, in any order, the sums equal those of rewards that arrived on time.
"""

from typing import Any

import numpy as np

from ..core.kernel import generic
from ..core.linalg import Vector
from ..core.parts import Memory
from .tuples import History


@generic
def blank_history(memory: Memory, dim: int) -> History:
    """The raw history that the memory keeps, as it is before round 1: by default only the clock. (Python only.)"""
    clock = np.zeros(1, np.int64)
    return History(clock=clock, x=np.zeros((0, dim)), r=np.zeros(0), slot=np.zeros(0, np.int64), weight=np.zeros(0))


@generic
def capacity(memory: Memory, horizon: int) -> int:
    """The number of past observations that can have weight ≥ `NEGLIGIBLE`: by default all T; 0 if there is no bound. (Python only.)"""
    return horizon


@generic
def remember(memory: Memory, history: History, sums: Any, x: Vector, r: float, slot: int) -> float:
    """Advance the clock by a round whose reward is known: forget as the memory defines, then add the observation (x, r) to the sums.

    Returns g ∈ [0, 1]. If g > 0 then V_new ⪰ g·V_old + (1−g)·λI + c·xxᵀ with c = `gained(sums)`, 1 by default; a rule uses this to update
    its bounds instead of computing them again, and so scores fewer arms. g = 0, the default, only guarantees V_new ⪰ λI.
    """
    elapse(memory, history, sums)
    recall(memory, history, sums, x, r, slot, 1.0, 0)
    return 0.0


@generic
def elapse(memory: Memory, history: History, sums: Any) -> None:
    """Advance the clock by a round whose reward has not arrived yet, and may never arrive."""


@generic
def recall(
    memory: Memory, history: History, sums: Any, x: Vector, r: float, slot: int, weight: float, age: int
) -> None:
    """Add an observation of the round `age` rounds before the last one, multiplied by `weight` ≥ 0.

    It gets the weight that it would have now had it arrived on time, weight·w_{t,t−age}, which may be 0.
    """


@generic
def takes_back(memory: Memory) -> bool:
    """Whether the memory removes single observations from the sums (`absorb` with weight < 0): by default not. (Python only.)"""
    return False


@generic
def occupied(memory: Memory, history: History, age: int) -> bool:
    """Whether the memory holds an observation of that round and has no place for a second one: by default never. (Python only.)"""
    return False
