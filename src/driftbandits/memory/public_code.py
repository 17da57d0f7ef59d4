"""The discounting of a public D-LinUCB implementation, which computes its second matrix from the first (resolution A15).

V ← γV + xxᵀ + (1−γ)λI,   then   Ṽ ← γ²V + xxᵀ + (1−γ²)λI   instead of   γ²Ṽ + xxᵀ + (1−γ²)λI
"""

from typing import Any

from ..core.linalg import Vector
from ..core.parts import Memory
from ..errors import require
from ..protocol import NEGLIGIBLE, History, absorb, capacity, fade, remember
from .discounted import rounds_until


class DiscountedFromV(Memory):
    """`Discounted` with Ṽ computed from V in every round, for replications of that code only: Ṽ is neither Σw²xxᵀ nor ⪯ V.

    Late rewards are not supported, because the value of Ṽ after a round without a reward is not defined.
    """

    gamma: float

    def check(self) -> None:
        """γ must be in (0, 1]."""
        require(
            0.0 < self.gamma <= 1.0, "gamma", self.gamma, "in (0, 1]", "it multiplies the weight of the past each round"
        )


@capacity.register(DiscountedFromV)
def _(memory: DiscountedFromV, horizon: int) -> int:
    return rounds_until(NEGLIGIBLE, memory.gamma, horizon)


@remember.register(DiscountedFromV)
def _(memory: DiscountedFromV, history: History, sums: Any, x: Vector, r: float, slot: int) -> float:
    history.clock[0] += 1
    fade(sums, memory.gamma)
    absorb(sums, x, r, slot, 1.0)
    square = memory.gamma * memory.gamma  # Ṽ − λI = γ²(V − λI) + xxᵀ, with the V that already contains x
    for i in range(sums.A2.shape[0]):
        for j in range(sums.A2.shape[0]):
            sums.A2[i, j] = square * sums.A[i, j] + x[i] * x[j]
    return memory.gamma
