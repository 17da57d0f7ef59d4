"""What a memory answers: how the weight of past observations falls."""

from typing import Any

import numpy as np

from ..core.kernel import generic
from ..core.linalg import Vector
from ..core.parts import Memory
from .tuples import History


@generic
def blank_history(memory: Memory, dim: int) -> History:
    """What the memory keeps of the raw past, before round 1: by default only the clock. (Python only.)"""
    clock = np.zeros(1, np.int64)
    return History(clock=clock, x=np.zeros((0, dim)), r=np.zeros(0), slot=np.zeros(0, np.int64), weight=np.zeros(0))


@generic
def capacity(memory: Memory, horizon: int) -> int:
    """How many past observations can have weight ≥ `NEGLIGIBLE`: by default all T; 0 if there is no bound. (Python only.)"""
    return horizon


@generic
def remember(memory: Memory, history: History, sums: Any, x: Vector, r: float, slot: int) -> float:
    """A round passes, and its reward is here: fold the observation (x, r) into the weighted sums, forgetting as the memory says.

    Returns g ∈ [0, 1]: if g > 0 then V_new ⪰ g·V_old + (1−g)·λI + c·xxᵀ with c = `gained(sums)`, 1 by default, which lets a rule carry its
    bounds over and score fewer arms; g = 0, as by default, promises nothing but V_new ⪰ λI.
    """
    elapse(memory, history, sums)
    recall(memory, history, sums, x, r, slot, 1.0, 0)
    return 0.0


# A reward may come late. The clock of a memory counts rounds, not rewards: `remember` is `elapse`, then `recall` with weight 1 and age 0.
# After all rewards are here, in whatever order they came, the sums are those of rewards that came in time.


@generic
def elapse(memory: Memory, history: History, sums: Any) -> None:
    """A round passes whose reward is not here yet, and may never be."""


@generic
def recall(
    memory: Memory, history: History, sums: Any, x: Vector, r: float, slot: int, weight: float, age: int
) -> None:
    """Fold in an observation of the round `age` rounds before the last one, `weight` ≥ 0 times one of weight 1.

    It counts as much as it would count now had it come in time: weight·w_{t,t−age}, perhaps nothing.
    """


@generic
def takes_back(memory: Memory) -> bool:
    """Does the memory take single observations back (`absorb` with weight < 0)? By default not. (Python only.)"""
    return False


@generic
def occupied(memory: Memory, history: History, age: int) -> bool:
    """Does the memory hold an observation of that round, and has no place for a second one? By default it has. (Python only.)"""
    return False
