"""D-LinUCB as its public implementation computes it, with its mistake: for replications, not for use (resolution A15).

    V_t as in LB-WeightUCB,   Ṽ_t = γ²V_t + x_t x_tᵀ + (1−γ²)λI   instead of   γ²Ṽ_{t−1} + x_t x_tᵀ + (1−γ²)λI

Panels name it `public_code:d_lin_ucb_public_code`. The algorithm of the paper is `zoo.d_lin_ucb`.
"""

from typing import Any

from driftbandits.core.linalg import Vector
from driftbandits.core.parts import Memory
from driftbandits.errors import require
from driftbandits.memory.discounted import rounds_until
from driftbandits.model import Linear
from driftbandits.protocol import NEGLIGIBLE, History, absorb, capacity, fade, remember
from driftbandits.radius import SelfNormalised
from driftbandits.rule import WideSandwich
from driftbandits.strategy import Optimistic


class DiscountedFromV(Memory):
    """`Discounted` with Ṽ computed from V in every round: Ṽ is neither Σw²xxᵀ nor ⪯ V.

    Late rewards are not supported, because the value of Ṽ after a round without a reward is not defined.
    """

    gamma: float

    def check(self) -> None:
        """γ must be in (0, 1]."""
        why = "it multiplies the weight of the past each round"
        require(0.0 < self.gamma <= 1.0, "gamma", self.gamma, "in (0, 1]", why)


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


def d_lin_ucb_public_code(
    *, gamma: float, lam: float, S: float, L: float, R: float, delta: float, bonus_scale: float = 1.0
) -> Optimistic:
    """Play argmax xᵀθ̂ + β‖x‖_{V⁻¹ṼV⁻¹} with that Ṽ; every arm is scored, since Ṽ may exceed V."""
    return Optimistic(
        model=Linear(lam=lam),
        memory=DiscountedFromV(gamma=gamma),
        radius=SelfNormalised(lam=lam, S=S, L=L, R=R, delta=delta, scale=bonus_scale, squared=True),
        rule=WideSandwich(),
    )
