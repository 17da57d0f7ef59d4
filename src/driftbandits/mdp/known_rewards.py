"""Rewards that are known in advance, so that only the transitions are learned."""

from typing import Any, NamedTuple

import numpy as np

from ..core.kernel import part
from ..core.linalg import Matrix, Vector
from ..core.state import filled, view_state
from ..errors import InvalidValue
from ..protocol import NO_SLOT, History, Moments, blank_history
from .protocol import Task, learn_reward, optimistic_reward, reward_state, told
from .reward import blank_moments, fold


@part
class KnownReward(NamedTuple):
    """The reward of every pair is known and does not drift; there is nothing to be optimistic about."""

    noise: float = 0.0  # announced noise of what is observed, which is not learned from


class KnownState(NamedTuple):
    """The rewards, and how much time has passed."""

    history: History
    sums: Moments  # of no features: it counts
    expected: Matrix  # (rows, S·A): one row if all stages pay alike and are pooled, else H
    optimistic: Matrix  # (rows, S·A), the same
    radius: Vector  # (groups,) 0
    bonus: Vector  # (rows,) 0
    nothing: Vector  # (0,)


@reward_state.register(KnownReward)
def _(reward: KnownReward, task: Task, memory: Any, groups: int) -> KnownState:
    if task.rewards is None:
        raise InvalidValue("this learner needs known_rewards (S, A)")
    table = task.rewards.reshape(-1, task.states * task.actions)
    rewards = np.tile(table, (max(groups, len(table)) // len(table), 1))
    return KnownState(
        history=filled(blank_history(memory, 0), groups),
        sums=blank_moments(0, groups),
        expected=rewards,
        optimistic=rewards.copy(),
        radius=np.zeros(groups),
        bonus=np.zeros(len(rewards)),
        nothing=np.zeros(0),
    )


@optimistic_reward.register(KnownReward)
def _(reward: KnownReward, state: KnownState, h: int) -> None:
    state.bonus[h] = 0.0


@learn_reward.register(KnownReward)
def _(reward: KnownReward, memory: Any, state: KnownState, h: int, pair: int, r: float) -> None:
    g = h % state.sums.n.shape[0]
    fold(memory, view_state(state.history, g), view_state(state.sums, g), state.nothing, 0.0, NO_SLOT)


@told.register(KnownReward)
def _(reward: KnownReward, state: KnownState) -> dict[str, Any]:
    return {"expected_rewards": state.expected.copy()}
