"""The weighted strategy: w_{t,s} = γ^{t−s}."""

import math
from typing import Any, NamedTuple

from ..errors import require
from ..kernel import part
from ..linalg import Vector
from ..protocol import History, absorb, capacity, fade, keep, remember
from .ring import no_ring

NEGLIGIBLE = 1e-12  # an observation of smaller weight changes no estimate visibly


@part
class Discounted(NamedTuple):
    """Geometric forgetting with factor γ ∈ (0, 1] a round; the effective memory is 1/(1−γ) rounds."""

    gamma: float

    def check(self) -> None:
        """γ must be a weight."""
        require(
            0.0 < self.gamma <= 1.0, "gamma", self.gamma, "in (0, 1]", "it multiplies the weight of the past each round"
        )


@keep.register(Discounted)
def _(memory: Discounted, dim: int) -> History:
    return no_ring(dim)


@capacity.register(Discounted)
def _(memory: Discounted, horizon: int) -> int:
    if memory.gamma == 1.0:
        return horizon
    rounds = math.ceil(math.log(NEGLIGIBLE) / math.log(memory.gamma)) + 1
    return min(rounds, horizon) if horizon else rounds


@remember.register(Discounted)
def _(memory: Discounted, history: History, sums: Any, x: Vector, r: float, slot: int) -> float:
    # V ← γV + xxᵀ + (1−γ)λI ,  b ← γb + r x      (Algorithm 1, line 5); the sums hold V − λI, so that λ does not appear
    history.clock[0] += 1
    fade(sums, memory.gamma)
    absorb(sums, x, r, slot, 1.0)
    return memory.gamma
