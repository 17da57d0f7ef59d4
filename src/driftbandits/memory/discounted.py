"""The weighted strategy: w_{t,s} = γ^{t−s}."""

import math
from typing import Any

from ..core.linalg import Vector
from ..core.parts import Memory
from ..errors import require
from ..protocol import NEGLIGIBLE, History, absorb, capacity, elapse, fade, recall, remember


class Discounted(Memory):
    """Geometric forgetting with factor γ ∈ (0, 1] per round; the effective memory is 1/(1−γ) rounds."""

    gamma: float

    def check(self) -> None:
        """γ must be in (0, 1]."""
        require(
            0.0 < self.gamma <= 1.0, "gamma", self.gamma, "in (0, 1]", "it multiplies the weight of the past each round"
        )


@capacity.register(Discounted)
def _(memory: Discounted, horizon: int) -> int:
    return rounds_until(NEGLIGIBLE, memory.gamma, horizon)


def rounds_until(weight: float, gamma: float, horizon: int) -> int:
    """The number of rounds after which γ^age is below a weight, at most the horizon."""
    if gamma == 1.0:
        return horizon
    # γ^age < weight for age > log(weight)/log(γ); one more entry, because age 0 occupies one too.
    rounds = math.ceil(math.log(weight) / math.log(gamma)) + 1
    return min(rounds, horizon) if horizon else rounds


@remember.register(Discounted)
def _(memory: Discounted, history: History, sums: Any, x: Vector, r: float, slot: int) -> float:
    # V ← γV + xxᵀ + (1−γ)λI ,  b ← γb + r x      (Algorithm 1, line 5); the sums hold V − λI, so that λ does not appear
    history.clock[0] += 1
    fade(sums, memory.gamma)
    absorb(sums, x, r, slot, 1.0)
    return memory.gamma


@elapse.register(Discounted)
def _(memory: Discounted, history: History, sums: Any) -> None:
    history.clock[0] += 1
    fade(sums, memory.gamma)


@recall.register(Discounted)
def _(memory: Discounted, history: History, sums: Any, x: Vector, r: float, slot: int, weight: float, age: int) -> None:
    # γ^age is the weight the observation would have had by now, so the sums equal those of a reward that came in time.
    absorb(sums, x, r, slot, weight * memory.gamma**age)
