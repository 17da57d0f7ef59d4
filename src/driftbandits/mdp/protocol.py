r"""The open functions that make a learner of episodic MDPs, with their contracts.

In episode k the learner plans backwards over the stages h = H−1, …, 0 from what it learned in the episodes before, follows the greedy
policy, and learns one observation (s, a, r, s') per stage. It is made of a reward model, a transition model, a memory — one of the four
memories of the bandits, which here counts episodes — and a rule of planning.

==========  =================================  ==================================================
part        question                           open functions it answers
==========  =================================  ==================================================
memory      what is forgotten?                 those of the bandits, and `of_step` where stages are pooled
reward      what does an action pay?           `reward_state`, `optimistic_reward`, `learn_reward`, `told`,
                                               and where needed `lean`, `bonus_of`
transition  where does an action lead?         `transition_state`, `add_next`, `learn_transition`, `surprise`, `told`,
                                               and where needed `estimate_transition`, `room_for`;
                                               of several memories `forecast`, `blend_state`, `blend`
dynamics    (environments) the same, in truth  `transition_row`, and where few states can follow `mean_next`
strategy    what to do in this episode?        `open_book`, `plan`, `experience`, `miss`, `report`, `settle_in`
==========  =================================  ==================================================

Pairs (s, a) are numbered n = s·A + a; stages are 0-based in code, 1-based in the paper. Models are told the stage h. What is kept once
for all stages, as estimates where stages are pooled and features where they do not differ, has a leading axis of 1, the rest one of H:
what belongs to stage h is at h % len.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core.kernel import generic
from ..core.linalg import Matrix, Vector, dot
from ..core.state import view_state
from ..errors import InvalidValue
from ..protocol import Integers

Cube = NDArray[np.float64]


class Task(NamedTuple):
    """What a learner may know before the first episode.

    phi (S, A, d_θ) and the `Moves` with their features, None where nothing is known and every pair is learned by itself; is it a
    multinomial-logit problem? Room for so many successors per pair where moves is None; H stages; K episodes, or 0 if that is not known.
    Rewards (S, A) on the learner's scale, where they are known. phi and rewards have H in front, and moves H times as many rows, where
    they differ from stage to stage.
    """

    states: int
    actions: int
    phi: Cube | None
    moves: Any
    multinomial: bool
    successors: int
    horizon: int
    episodes: int
    rewards: Cube | None = None


class Book(NamedTuple):
    """What every strategy lays open while it runs: the plan of the current episode."""

    Q: Cube  # (H, S·A) optimistic values
    V: Matrix  # (H+1, S) their maxima, V[H] = 0
    policy: Integers  # (H, S) greedy actions, ties broken while planning
    ended: Integers  # (S,) 1 for a state in which an episode has ended
    idle: Vector  # (1,) what a stage after the end is worth on the learner's scale of rewards


# ----------------------------------------------------------------------------------------------------------------- memory


@generic
def of_step(memory: Any, h: int, H: int) -> Any:
    """The memory for step h of an episode of H steps that share one estimate, so that it still counts episodes.

    Between two episodes the weights are those of the memory over whole episodes. Within one they may differ; nothing is planned there.
    """


# ----------------------------------------------------------------------------------------------------------------- reward


@generic
def reward_state(reward: Any, task: Task, memory: Any, groups: int) -> Any:
    """Allocate what the model learns: a tuple with at least `history`, `sums`, `expected`, `optimistic`, `bonus`. (Python only.)"""


@generic
def optimistic_reward(reward: Any, state: Any, h: int) -> None:
    """Write every pair's expected and optimistic reward into state.expected[h] and .optimistic[h], the sum of bonuses into .bonus[h].

    Called for h = 0, 1, … in order: once if neither the estimates nor the features differ from stage to stage, else for all H stages.
    """


@generic
def learn_reward(reward: Any, memory: Any, state: Any, h: int, pair: int, r: float) -> None:
    """Remember the reward of a pair in stage h; pair = −1: only time has passed."""


@generic
def lean(reward: Any, state: Any, longer: Any, h: int, out: Vector) -> None:
    """Add every pair's expected reward in stage h to `out` (S·A,), taken from `longer`, a longer memory, where nothing is remembered.

    Called after `optimistic_reward` of both. (By default the expected rewards, as they are.)
    """
    for n in range(out.shape[0]):
        out[n] += state.expected[h, n]


@generic
def bonus_of(reward: Any, longer: int, last: int) -> int:
    """Which of several memories has the bonus of the plan: by default the longer of the two that lead."""
    return longer


# ------------------------------------------------------------------------------------------------------------- transition


@generic
def transition_state(transition: Any, task: Task, memory: Any, groups: int) -> Any:
    """Allocate what the model learns: one set of sums for each of `groups` stages, 1 if the stages are pooled. (Python only.)"""


@generic
def estimate_transition(transition: Any, state: Any, h: int) -> None:
    """Refresh the estimate of stage h from its sums, and what `add_next` needs of it. (Nothing by default.)"""
    _ = h


@generic
def add_next(transition: Any, state: Any, h: int, fresh: bool, V: Vector, H: int, out: Vector) -> float:
    """Add an optimistic E[V(s')] of every pair in stage h to `out` (S·A,), estimated anew if `fresh`.

    Returns how much of what was added is bonus, summed over pairs.
    """


@generic
def learn_transition(transition: Any, memory: Any, state: Any, h: int, pair: int, successor: int, V: Vector) -> None:
    """Remember one transition of stage h; pair = −1 if the episode ended before this stage, so that only time has passed.

    V is the optimistic value of the next stage that the episode was planned with.
    """


@generic
def room_for(part: Any, state: Any, pair: int, successor: int) -> None:
    """Raise if a transition model, or a strategy, cannot remember this transition. (Python only; optional.)"""


@generic
def surprise(transition: Any, state: Any, h: int, pair: int, successor: int) -> float:
    """−log of the probability that the last estimate of stage h gave to this successor. (Needed unless there is a `forecast`.)"""


class Nothing(NamedTuple):
    """No room is needed."""

    nothing: Vector  # (0,)


@generic
def blend_state(transition: Any, state: Any) -> Any:
    """Allocate what `blend` writes, given what one memory knows. (Python only; by default nothing.)"""
    return Nothing(np.zeros(0))


@generic
def blend(transition: Any, memories: Any, leader: int, room: Any) -> Any:
    """What to plan with where several memories learn, from the shortest to one that forgets nothing, and `leader` forecasts best.

    `memories` are their states, with a leading axis. (By default that of the leader.)
    """
    return view_state(memories, leader)


@generic
def forecast(transition: Any, memories: Any, h: int, pair: int, successor: int, out: Vector) -> None:
    """Add the log of the probability that each memory gave to this successor to `out`. (By default less their `surprise`.)"""
    for i in range(out.shape[0]):
        out[i] -= surprise(transition, view_state(memories, i), h, pair, successor)


@generic
def told(part: Any, state: Any) -> dict[str, Any]:
    """What a reward or transition model tells of its estimate, for `report`. (Python only.)"""


@generic
def transition_row(dynamics: Any, row: int, w: Vector, out: Vector) -> None:
    """Write P(·|s,a; w) of a pair, or of a pair of a stage where the stages differ, into `out` (S,)."""


@generic
def mean_next(dynamics: Any, row: int, w: Vector, V: Vector, room: Vector) -> float:
    """E[V(s')] of a pair, or of a pair of a stage; `room` (S,) may be used. (By default from the whole row.)"""
    transition_row(dynamics, row, w, room)
    return dot(room, V)


# --------------------------------------------------------------------------------------------------------------- strategy


@generic
def settle_in(strategy: Any, task: Task) -> tuple[Any, Task]:
    """The strategy for this problem, where constants were left open, and the problem as it sees it. (Python only; optional.)"""


def settled(strategy: Any, task: Task) -> tuple[Any, Task]:
    """What runs in this problem: the strategy itself, unless something of it was left open."""
    if settle_in.knows(type(strategy)):
        return settle_in(strategy, task)
    if not open_book.knows(type(strategy)):
        name = getattr(strategy, "__name__", "")
        hint = f"call it: {name}()" if name else "take one of the zoo: weight_ucrl()"
        raise InvalidValue(f"strategy = {strategy!r:.60} is no learner of episodic MDPs; {hint}")
    return strategy, task


@generic
def open_book(strategy: Any, task: Task) -> Any:
    """Allocate the state before the first episode: a tuple with at least `book`. (Python only.)"""


@generic
def plan(strategy: Any, state: Any, rng: np.random.Generator) -> None:
    """Fill state.book for the coming episode."""


@generic
def experience(strategy: Any, state: Any, h: int, pair: int, r: float, successor: int) -> None:
    """Learn what happened in stage h of the current episode."""


@generic
def miss(strategy: Any, state: Any, h: int) -> None:
    """Note that the current episode ended before stage h."""


@generic
def report(strategy: Any, state: Any) -> dict[str, Any]:
    """What a user may want to know about the state. (Python only.)"""
