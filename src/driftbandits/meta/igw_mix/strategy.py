"""IGW-mix as a strategy: its methods for deciding, learning and reporting."""

import math
from typing import Any

import numpy as np

from ...adaptive.envelope import pick
from ...core.kernel import kernel
from ...core.linalg import Matrix, Vector, dot, largest, position
from ...protocol import Limits, act, describe, estimator, learn, limits, optimism, propensities, ready, scores, trace
from ..exp3ix import block_loss, play, update_loss
from .experts import reweigh, update_expert
from .exploration import distribution
from .families import noise, rewards
from .parts import BLOCKS, IgwMix, IgwState


@ready.register(IgwMix)
def _(strategy: IgwMix, state: IgwState, rng: np.random.Generator) -> None:
    block, draw = state.block, state.draw
    if strategy.tuning == BLOCKS and block.left[0] == 0.0:
        left = strategy.horizon - state.seen[0]  # the last block before T may be short
        usual = math.ceil(math.sqrt(strategy.horizon))
        block.rounds[0] = min(usual, left) if left > 0.0 else usual
        block.left[0], block.reward[0] = block.rounds[0], 0.0
        play(strategy.exp3, state.bandit, rng)
    if draw.drawn[0] == 0.0:
        draw.u[0] = rng.random()
        draw.drawn[0] = 1.0


@scores.register(IgwMix)
def _(strategy: IgwMix, state: IgwState, arms: Matrix, score: Vector) -> None:
    """Write ŷ of every arm; the arm that was drawn gets a score above all others."""
    n = arms.shape[1]
    distribution(strategy, state, arms, state.work.p[:n])
    chosen = pick(state.work.p[:n], state.work.key[:n], state.draw.u[0])
    top = largest(state.work.mean[:n])
    for a in range(n):
        score[a] = state.work.mean[a]
    score[chosen] = top + 1.0


@act.register(IgwMix)
def _(strategy: IgwMix, state: IgwState, arms: Matrix, score: Vector, rng: np.random.Generator) -> int:
    ready(strategy, state, rng)
    scores(strategy, state, arms, score)
    state.draw.drawn[0] = 0.0
    k = position(score, largest(score))
    state.value[0] = state.work.mean[k]
    return k


@propensities.register(IgwMix)
def _(strategy: IgwMix, state: IgwState, arms: Matrix, p: Vector) -> None:
    distribution(strategy, state, arms, p)


@optimism.register(IgwMix)
def _(strategy: IgwMix, state: IgwState) -> float:
    return state.value[0]  # type: ignore[no-any-return]


@learn.register(IgwMix)
def _(strategy: IgwMix, state: IgwState, x: Vector, r: float, slot: int) -> None:
    error = dot(state.mixed, x) - r
    state.squares[0] += error * error
    reweigh(strategy, state, x, r)
    for k in range(state.weight.shape[0]):
        update_expert(strategy, state, k, x, r)
    state.seen[0] += 1.0
    if state.block.left[0] > 0.0:
        _close_block(strategy, state, r)
    # Fixed share at rate 1/(t+1): every memory keeps some weight, so that it can recover when the rate of drift changes.
    share = 1.0 / (state.seen[0] + 1.0)
    for i in range(x.shape[0]):
        state.mixed[i] = 0.0
    for k in range(state.weight.shape[0]):
        state.weight[k] = (1.0 - share) * state.weight[k] + share / state.weight.shape[0]
        for i in range(x.shape[0]):
            state.mixed[i] += state.weight[k] * state.theta[k, i]


@kernel
def _close_block(strategy: IgwMix, state: IgwState, r: float) -> None:
    """Record the reward; after the last round of a block, pass its loss to Exp3.IX."""
    block = state.block
    block.reward[0] += r
    block.left[0] -= 1.0
    if block.left[0] == 0.0:
        reach, R = strategy.L * strategy.S, noise(strategy.family)
        loss = block_loss(block.reward[0], block.rounds[0], reach, R, strategy.horizon, 0.0)
        update_loss(strategy.exp3, state.bandit, loss)


@limits.register(IgwMix)
def _(strategy: IgwMix) -> Limits:
    return Limits(strategy.L, *rewards(strategy.family))


@estimator.register(IgwMix)
def _(strategy: IgwMix, state: IgwState) -> Vector:
    return state.mixed


@trace.register(IgwMix)
def _(strategy: IgwMix, state: IgwState) -> dict[str, Any]:
    """The mixture over time:

    effective_memory
        Σ_k w_k·n_k, n_k = Σ γ_k^age
    weights
        (K,) of the memories 2, 4, …, 2^K
    eta
        η_t (g_t in the finite form) of the last decision
    """
    return {
        "effective_memory": float(state.weight @ state.n),
        "weights": state.weight.copy(),
        "eta": float(state.eta[0]),
    }


@describe.register(IgwMix)
def _(strategy: IgwMix, state: IgwState) -> dict[str, Any]:
    """The entries of `trace`, and `kappa`, the largest certificate of a design so far; the theorem's κ̄ must be at least that."""
    return {
        "observations": int(state.seen[0]),
        **trace(strategy, state),
        "memories": 2.0 ** np.arange(1, len(state.weight) + 1),
        "kappa": float(state.kappa[0]),
    }
