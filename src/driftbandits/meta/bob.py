"""Bandits over Bandits: an adversarial bandit chooses the discount factor, block by block (paper, last appendix).

    blocks of Δ = ⌈d√T⌉ rounds;   candidates γ_i = 1 − d^{−1/2}·2^{1−i},  i = 1..N,  N = ⌈log₂(T/√d)⌉ + 1
    before a block:  γ ~ Exp3.IX, and a fresh base with this γ
    after it:        ℓ = (1 − Y/L_max)/2 with Y = Σ r of the block,  L_max = LSΔ + 2R√(Δ ln(T/√Δ));
                     ℓ = 1 − Y/(mΔ) for rewards in [0, m]

Losses are clipped to [0, 1]; a last block that is shorter has its own Δ (resolutions E5, E6). γ_1 = 0 at d = 1 becomes
1/T (resolution E2).
"""

from typing import Any, NamedTuple

import numpy as np

from ..core.kernel import generic, kernel, part
from ..core.linalg import Matrix, Vector
from ..core.state import copy_state, counters, duplicate
from ..errors import InvalidValue, integer, require
from ..memory import Discounted
from ..protocol import (
    Integers,
    Setting,
    act,
    conditioning,
    describe,
    ellipsoid,
    estimator,
    grow,
    indices_valid,
    learn,
    limits,
    magnitude,
    optimism,
    ready,
    scores,
    start,
)
from ..strategy import Optimistic
from .exp3ix import Exp3IX, Exp3State, blank_exp3, block_loss, play, update_loss
from .forwarding import passes_on
from .restarted import grow_both, same_layout


@generic
def with_gamma(strategy: Any, gamma: float) -> Any:
    """The same strategy with another discount factor."""


@with_gamma.register(Optimistic)
def _(strategy: Optimistic, gamma: float) -> Optimistic:
    return Optimistic(model=strategy.model, memory=Discounted(gamma=gamma), radius=strategy.radius, rule=strategy.rule)


@part
class Bob(NamedTuple):
    """BOB around a discounted `base`, whose γ is the largest candidate; see `zoo.bob`."""

    base: Any
    exp3: Exp3IX
    horizon: float
    dim: float
    block: float
    reach: float  # LS, for rewards around xᵀθ
    noise: float  # R
    top: float = 0.0  # m, for rewards in [0, m]; else 0

    def check(self) -> None:
        """T, d and the block length must be whole numbers."""
        integer("horizon", self.horizon, least=1, why="it is the number of rounds T")
        integer("dim", self.dim, least=1, why="it is the number of features d")
        integer("block", self.block, least=1, why="it is the number of rounds of a block")
        require(self.top >= 0.0, "top", self.top, "≥ 0", "it is the largest reward, or 0 if there is none")


class BlockClock(NamedTuple):
    """The position in the schedule of blocks, each (1,)."""

    round: Integers  # rounds played
    block: Integers  # blocks begun
    left: Integers  # rounds left in this block
    length: Integers  # rounds of this block
    current: Integers  # the candidate of this block
    pending: Integers  # 1 if a choice waits for its reward


class BobState(NamedTuple):
    """The base of this block and the bandit over it."""

    live: Any
    blank: Any  # the state in which every block starts
    bandit: Exp3State
    gammas: Vector  # (N,) candidates
    clock: BlockClock
    reward: Vector  # (1,) Y, of the block so far
    drawn: Integers  # (M,) candidate of each block
    loss: Vector  # (M,) and its loss


@start.register(Bob)
def _(bob: Bob, setting: Setting, rng: np.random.Generator) -> BobState:
    if setting.dim != bob.dim:
        raise InvalidValue(
            f"BOB is made for dim = {bob.dim:g}, the arms have {setting.dim} features; its blocks need it"
        )
    N, M = int(bob.exp3.options), int(bob.exp3.plays)
    blank = start(bob.base, setting._replace(horizon=setting.horizon or int(bob.horizon)), rng)
    clock = counters(BlockClock)
    # Before the first block the base has the largest γ, so observations given without a decision are forgotten slowest.
    clock.current[0] = N - 1
    return BobState(
        live=duplicate(blank),
        blank=blank,
        bandit=blank_exp3(bob.exp3),
        gammas=candidates(setting.dim, N, bob.horizon),
        clock=clock,
        reward=np.zeros(1),
        drawn=np.zeros(M, np.int64),
        loss=np.full(M, np.nan),
    )


def candidates(d: int, N: int, T: float) -> Vector:
    """γ_i = 1 − d^{−1/2}·2^{1−i}, at least 1/T."""
    # Memories double from one candidate to the next, so one of them is within a factor of two of the best.
    gammas: Vector = 1.0 - np.exp2(-np.arange(float(N))) / np.sqrt(d)
    return gammas.clip(min=1.0 / T)


@kernel
def _arrange(bob: Bob, state: BobState, rng: np.random.Generator) -> None:
    """Begin a block if none is open."""
    clock = state.clock
    if clock.left[0] == 0:
        if (
            clock.block[0] > 0
        ):  # not before the first block: the base may have learned observations given without decisions
            copy_state(state.live, state.blank)
        left = int(bob.horizon) - clock.round[0]  # the last block before T may be short
        clock.length[0] = min(int(bob.block), left) if left > 0 else int(bob.block)
        clock.left[0] = clock.length[0]
        clock.current[0] = play(bob.exp3, state.bandit, rng)
        if clock.block[0] < state.drawn.shape[0]:
            state.drawn[clock.block[0]] = clock.current[0]
        clock.block[0] += 1
        state.reward[0] = 0.0


@kernel
def _count_round(bob: Bob, state: BobState, r: float) -> None:
    """Record the reward; after the last round of the block, pass its loss to Exp3.IX."""
    clock = state.clock
    state.reward[0] += r
    clock.round[0] += 1
    clock.left[0] -= 1
    clock.pending[0] = 0
    if clock.left[0] == 0:
        # Exp3.IX needs losses in [0, 1], and learns once per block: within a block γ is fixed.
        loss = block_loss(state.reward[0], clock.length[0], bob.reach, bob.noise, bob.horizon, bob.top)
        update_loss(bob.exp3, state.bandit, loss)
        if clock.block[0] <= state.loss.shape[0]:
            state.loss[clock.block[0] - 1] = loss


@kernel
def _base(bob: Bob, state: BobState) -> Any:
    """The base with this block's γ."""
    return with_gamma(bob.base, state.gammas[state.clock.current[0]])


@ready.register(Bob)
def _(bob: Bob, state: BobState, rng: np.random.Generator) -> None:
    _arrange(bob, state, rng)
    ready(_base(bob, state), state.live, rng)


@act.register(Bob)
def _(bob: Bob, state: BobState, arms: Matrix, score: Vector, rng: np.random.Generator) -> int:
    _arrange(bob, state, rng)
    state.clock.pending[0] = 1
    return act(_base(bob, state), state.live, arms, score, rng)


@scores.register(Bob)
def _(bob: Bob, state: BobState, arms: Matrix, score: Vector) -> None:
    scores(_base(bob, state), state.live, arms, score)


@learn.register(Bob)
def _(bob: Bob, state: BobState, x: Vector, r: float, slot: int) -> None:
    learn(_base(bob, state), state.live, x, r, slot)
    if state.clock.pending[0]:  # without a decision the base learns, but no round of the block has passed
        _count_round(bob, state, r)


@indices_valid.register(BobState)
def _(state: BobState) -> bool:
    N = len(state.gammas)  # indices of candidates must be below it
    counted = all(count[0] >= 0 for count in state.clock) and state.bandit.option[0] >= 0
    return bool(same_layout(state) and counted and state.clock.current[0] < N and state.bandit.option[0] < N)


@describe.register(Bob)
def _(bob: Bob, state: BobState) -> dict[str, Any]:
    """The description of this block's base, and:

    gamma
        the candidate of this block
    candidates, probabilities
        (N,) all γ_i, and the probabilities with which this block's was drawn
    choices, losses
        (blocks,) the candidate's number, from 0, and the loss of each block before T; NaN while it runs
    """
    blocks = min(int(state.clock.block[0]), len(state.drawn))
    return {
        **describe(bob.base, state.live),
        "gamma": float(state.gammas[state.clock.current[0]]),
        "candidates": state.gammas.copy(),
        "probabilities": state.bandit.p.copy(),
        "choices": state.drawn[:blocks].copy(),
        "losses": state.loss[:blocks].copy(),
    }


passes_on(Bob, optimism, magnitude, conditioning, limits, estimator, ellipsoid)
grow.register(BobState)(grow_both)
