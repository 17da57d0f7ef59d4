r"""Unknown Δ: Bandits-over-Bandits over episodes (paper, Appendix on BOB; Exp3.IX of Neu 2015).

The K episodes are cut into blocks. In each block one discount factor γ_i of a grid is used by a fresh learner, and Exp3.IX learns from
block to block which γ_i pays:

    before a block:  γ_i ~ Exp3.IX over N candidates γ_i = 1 − 2^−i, and a fresh learner
    after it:        Exp3.IX suffers ℓ = 1 − Y/(H·block), Y the reward sum of the block

The paper states BOB for bandits; here a round is an episode and rewards lie in [0, H].
"""

from typing import Any, NamedTuple

import numpy as np

from ..core.kernel import kernel, part
from ..core.linalg import Vector
from ..core.state import copy_state
from ..errors import integer
from ..memory import Discounted
from ..meta.exp3ix import Exp3IX, Exp3State, blank_exp3, play, update_loss
from ..protocol import Integers
from ..util.notebook import shown_as_boxes
from .planner import OptimisticPlanner
from .protocol import Book, Task, experience, miss, open_book, plan, report, room_for, settle_in, settled


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


@shown_as_boxes
class BlockwiseChoice(NamedTuple):
    """A planner whose discount factor is chosen anew for every block of episodes."""

    base: Any  # an OptimisticPlanner, or one that is settled when the problem is known
    blocks: Blocks


class BlockwiseState(NamedTuple):
    """The learner of the current block and what is known of the candidates."""

    book: Book
    base: Any
    blank: Any  # the state of a fresh learner
    gamma: Vector  # (N,)
    bandit: Exp3State
    earned: Vector  # (1,) reward sum of the block
    episodes: Integers  # (1,) of the block; −1 before the first


@settle_in.register(BlockwiseChoice)
def _(strategy: BlockwiseChoice, task: Task) -> tuple[BlockwiseChoice, Task]:
    base, task = settled(strategy.base, task)
    return strategy._replace(base=base), task


@open_book.register(BlockwiseChoice)
def _(strategy: BlockwiseChoice, task: Task) -> BlockwiseState:
    N = int(strategy.blocks.candidates)
    base = open_book(strategy.base, task)
    return BlockwiseState(
        book=base.book,
        base=base,
        blank=open_book(strategy.base, task)._replace(book=base.book),  # which states end an episode is not forgotten
        gamma=np.array([1.0 - 0.5**i for i in range(1, N + 1)]),
        bandit=blank_exp3(exp3(strategy.blocks)),
        earned=np.zeros(1),
        episodes=np.full(1, -1, np.int64),
    )


@kernel
def exp3(blocks: Blocks) -> Exp3IX:
    """The bandit over the candidates: it plays once per block."""
    return Exp3IX(options=blocks.candidates, plays=float(-(-int(blocks.episodes) // int(blocks.size))))


@kernel
def _base(strategy: BlockwiseChoice, state: BlockwiseState) -> OptimisticPlanner:
    """The base with the γ of this block."""
    base = strategy.base
    memory = Discounted(gamma=state.gamma[state.bandit.option[0]])
    return OptimisticPlanner(reward=base.reward, transition=base.transition, memory=memory, rule=base.rule)


@plan.register(BlockwiseChoice)
def _(strategy: BlockwiseChoice, state: BlockwiseState, rng: np.random.Generator) -> None:
    size = int(strategy.blocks.size)
    if state.episodes[0] < 0 or state.episodes[0] == size:
        bandit = exp3(strategy.blocks)
        if state.episodes[0] == size:
            H = state.book.Q.shape[0]
            update_loss(bandit, state.bandit, min(max(1.0 - state.earned[0] / (H * size), 0.0), 1.0))
        play(bandit, state.bandit, rng)
        state.episodes[0] = 0
        state.earned[0] = 0.0
        copy_state(state.base, state.blank)
    state.episodes[0] += 1
    plan(_base(strategy, state), state.base, rng)


@experience.register(BlockwiseChoice)
def _(strategy: BlockwiseChoice, state: BlockwiseState, h: int, pair: int, r: float, successor: int) -> None:
    state.earned[0] += r
    experience(_base(strategy, state), state.base, h, pair, r, successor)


@miss.register(BlockwiseChoice)
def _(strategy: BlockwiseChoice, state: BlockwiseState, h: int) -> None:
    miss(_base(strategy, state), state.base, h)


@room_for.register(BlockwiseChoice)
def _(strategy: BlockwiseChoice, state: BlockwiseState, pair: int, successor: int) -> None:
    room_for(strategy.base, state.base, pair, successor)


@report.register(BlockwiseChoice)
def _(strategy: BlockwiseChoice, state: BlockwiseState) -> dict[str, Any]:
    learned = report(strategy.base, state.base)
    return learned | {
        "gamma": state.gamma.copy(),
        "probability": state.bandit.p.copy(),
        "chosen": int(state.bandit.option[0]),
    }
