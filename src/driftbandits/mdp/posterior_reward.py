r"""Rewards r = φ(s,a)ᵀθ whose noise is measured, so that the bonus has no scale to be set.

    λ = σ̂²/S²,   θ̂ = (Σ w φφᵀ + λI)⁻¹ Σ w rφ,   optimistic reward: φᵀθ̂ + c·σ̂‖φ‖_{(Σ w φφᵀ + λI)⁻¹}
    σ̂² ← σ̂² + ρ(e² − σ̂²),   e = r − φᵀθ̂,   ρ = (‖φ‖/L)²/200

These are mean and standard deviation of θ ~ N(0, S²I) after observations with noise σ̂. A direction that was never seen adds cS‖φ‖,
whatever σ̂ is; one that was seen n times cσ̂/√n. With the paper's λ_θ, whatever the noise is, rewards without noise are believed as slowly
as noisy ones. e is an error of a forecast, so that drift counts as noise of a memory that is too long for it. Pairs whose φ is 0, which
pay nothing, say nothing about noise. No theorem is claimed.
"""

from typing import Any, NamedTuple

import numpy as np

from ..core.kernel import kernel, part, sqrt
from ..core.linalg import Vector
from ..errors import positive, require
from .protocol import Task, lean, learn_reward, optimistic_reward, reward_state, told
from .reward import RewardState, blank_reward, lean_on, remember_reward, write_rewards

START = 0.05  # σ̂² before anything was seen, of rewards in [0, 1]
LEAST = 1e-4  # σ̂² of rewards without noise
MEMORY = 200.0  # observations over which e² is averaged


@part
class MeasuredReward(NamedTuple):
    """Linear rewards: standard deviation S of each weight before anything was seen, bound L of ‖φ‖, scale c of the bonus."""

    S: float
    L: float
    scale: float = 1.0
    noise: float = 0.0  # as announced: how far rewards may leave their range; what counts is measured

    def check(self) -> None:
        """Refuse what is not a prior."""
        positive("S_theta", self.S, "it is the standard deviation of θ")
        positive("L_phi", self.L, "it bounds the norm of φ")
        require(self.scale >= 0.0, "reward_bonus_scale", self.scale, "≥ 0", "it multiplies a standard deviation")
        require(self.noise >= 0.0, "reward_noise", self.noise, "≥ 0", "it is the size of the rewards' noise")


@reward_state.register(MeasuredReward)
def _(reward: MeasuredReward, task: Task, memory: Any, groups: int) -> RewardState:
    blank = blank_reward(task, memory, groups, 0.0)
    blank.noise[:] = START
    return blank


@kernel
def _variance(state: RewardState, h: int) -> float:
    return float(max(state.noise[h % state.noise.shape[0]], LEAST))


@optimistic_reward.register(MeasuredReward)
def _(reward: MeasuredReward, state: RewardState, h: int) -> None:
    # λ = σ̂²/S²: the ridge of a prior θ ~ N(0, S²I) in units of the measured noise.
    variance = _variance(state, h)
    write_rewards(state, h, variance / (reward.S * reward.S), reward.scale * sqrt(variance))


@learn_reward.register(MeasuredReward)
def _(reward: MeasuredReward, memory: Any, state: RewardState, h: int, pair: int, r: float) -> None:
    remember_reward(memory, state, h, pair, r)
    if pair >= 0:
        g, error, size = h % state.noise.shape[0], r, 0.0
        for i in range(state.x.shape[0]):
            error -= state.x[i] * state.theta[g, i]
            size += state.x[i] * state.x[i]
        # An observation with a small φ says little about the noise of a full one, so it moves σ̂² in proportion to ‖φ‖².
        state.noise[g] += size / (reward.L * reward.L * MEMORY) * (error * error - state.noise[g])


@lean.register(MeasuredReward)
def _(reward: MeasuredReward, state: RewardState, longer: RewardState, h: int, out: Vector) -> None:
    lean_on(state, longer, h, _variance(state, h) / (reward.S * reward.S), out)


@told.register(MeasuredReward)
def _(reward: MeasuredReward, state: RewardState) -> dict[str, Any]:
    noise = float(np.sqrt(state.noise.max()))
    return {"theta": state.theta.copy(), "reward_radius": float(state.radius.max()), "measured_noise": noise}
