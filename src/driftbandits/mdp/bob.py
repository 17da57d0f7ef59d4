r"""Unknown Δ: Bandits-over-Bandits over episodes (paper, Appendix on BOB; Exp3.IX of Neu 2015).

The K episodes are cut into blocks. In each block one discount factor γ_i of a grid is used by a fresh learner, and Exp3.IX learns from
block to block which γ_i pays:

    p_i ∝ exp(−ηL̂_i);   after a block with γ_I and reward sum Y:   L̂_I += ℓ/(p_I + ϱ),   ℓ = 1 − Y/(H·block)
    η = √(2 log N/(NM)),   ϱ = η/2,   N candidates γ_i = 1 − 2^−i,   M blocks

The paper states BOB for bandits; here a round is an episode and rewards lie in [0, H].
"""

from typing import Any, NamedTuple

import numpy as np

from ..errors import integer
from ..kernel import copy_state, part
from ..linalg import Vector
from ..memory import Discounted
from ..protocol import Integers
from .planner import OptimisticPlanner
from .protocol import Book, Task, experience, miss, open_book, plan, report


@part
class Blocks(NamedTuple):
    """How the episodes are cut: K of them, `size` to a block, `candidates` discount factors."""

    episodes: float
    size: float
    candidates: float

    def check(self) -> None:
        """All three are counts."""
        integer("episodes", self.episodes, least=1, why="it is the number of episodes K")
        integer("block", self.size, least=1, why="it is the number of episodes with the same γ")
        integer("candidates", self.candidates, least=1, why="there must be a γ to choose")


class BlockwiseChoice(NamedTuple):
    """A planner whose discount factor is chosen anew for every block of episodes."""

    base: OptimisticPlanner
    blocks: Blocks


class BlockwiseState(NamedTuple):
    """The learner of the current block and what is known of the candidates."""

    book: Book
    base: Any
    blank: Any  # the state of a fresh learner
    gamma: Vector  # (N,)
    loss: Vector  # (N,) L̂
    p: Vector  # (N,)
    earned: Vector  # (1,) reward sum of the block
    clock: Integers  # (2,) episodes of the block, candidate in use
    rate: Vector  # (1,) η


@open_book.register(BlockwiseChoice)
def _(strategy: BlockwiseChoice, task: Task) -> BlockwiseState:
    N, size = int(strategy.blocks.candidates), int(strategy.blocks.size)
    base = open_book(strategy.base, task)
    M = -(-int(strategy.blocks.episodes) // size)
    return BlockwiseState(
        book=base.book,
        base=base,
        blank=open_book(strategy.base, task),
        gamma=np.array([1.0 - 0.5**i for i in range(1, N + 1)]),
        loss=np.zeros(N),
        p=np.full(N, 1.0 / N),
        earned=np.zeros(1),
        clock=np.array([-1, 0]),
        rate=np.full(1, np.sqrt(2.0 * np.log(N) / (N * M)) if N > 1 else 0.0),
    )


@plan.register(BlockwiseChoice)
def _(strategy: BlockwiseChoice, state: BlockwiseState, rng: np.random.Generator) -> None:
    clock, loss, p, rate = state.clock, state.loss, state.p, state.rate[0]
    N, size = loss.shape[0], int(strategy.blocks.size)
    if clock[0] < 0 or clock[0] == size:
        if clock[0] == size:
            H = state.book.Q.shape[0]
            miss_share = min(max(1.0 - state.earned[0] / (H * size), 0.0), 1.0)
            loss[clock[1]] += miss_share / (p[clock[1]] + 0.5 * rate)
        low = loss[0]
        for i in range(N):
            low = min(low, loss[i])
        total = 0.0
        for i in range(N):
            p[i] = np.exp(-rate * (loss[i] - low))
            total += p[i]
        u = rng.random() * total
        chosen = N - 1
        for i in range(N):
            if u < p[i] and i < chosen:
                chosen = i
            u -= p[i]
            p[i] /= total
        clock[0], clock[1] = 0, chosen
        state.earned[0] = 0.0
        copy_state(state.base, state.blank)
    clock[0] += 1
    base = strategy.base
    memory = Discounted(state.gamma[clock[1]])
    plan(OptimisticPlanner(base.reward, base.transition, memory, base.rule), state.base, rng)


@experience.register(BlockwiseChoice)
def _(strategy: BlockwiseChoice, state: BlockwiseState, h: int, pair: int, r: float, successor: int) -> None:
    state.earned[0] += r
    base = strategy.base
    memory = Discounted(state.gamma[state.clock[1]])
    experience(OptimisticPlanner(base.reward, base.transition, memory, base.rule), state.base, h, pair, r, successor)


@miss.register(BlockwiseChoice)
def _(strategy: BlockwiseChoice, state: BlockwiseState, h: int) -> None:
    base = strategy.base
    memory = Discounted(state.gamma[state.clock[1]])
    miss(OptimisticPlanner(base.reward, base.transition, memory, base.rule), state.base, h)


@report.register(BlockwiseChoice)
def _(strategy: BlockwiseChoice, state: BlockwiseState) -> dict[str, Any]:
    learned = report(strategy.base, state.base)
    return learned | {"gamma": state.gamma.copy(), "probability": state.p.copy(), "chosen": int(state.clock[1])}
