r"""`OptimisticPlanner`: a reward model, a transition model, a memory and a rule make a learner of episodic MDPs.

Episode k of WeightUCRL and all its relatives (Algorithms 3 and 4; the order of operations is resolution D2):

    plan   for h = H..1, from episodes < k:   Q_h = clip_{[0,cap]}(optimistic reward + optimistic E[V_{h+1}(s')]),   V_h = max_a Q_h
    act    π_h(s) = argmax_a Q_h(s,a), ties broken at random once for each (h, s)
    learn  remember (s_h, a_h, r_h, s_{h+1}) in the sums of stage h, with the V_{h+1} of the plan

The cap is H as printed, or H−h+1 (`stage`), which the model-prediction-error lemma needs (resolution D8).
"""

from typing import Any, NamedTuple

import numpy as np

from ..kernel import kernel, part
from ..linalg import Vector
from ..rule.ties import best_arm
from .protocol import (
    Book,
    Task,
    add_next,
    experience,
    learn_transition,
    miss,
    open_book,
    plan,
    report,
    transition_state,
)
from .reward import RewardRidge, RewardState, learn_reward, optimistic_reward, reward_state


@part
class Backup(NamedTuple):
    """How to plan: `stage` caps Q at the stages left instead of H; `pooled` lets all stages share one estimate."""

    stage: float = 0.0
    pooled: float = 0.0


class OptimisticPlanner(NamedTuple):
    """A strategy for episodic MDPs; `zoo` has the named ones."""

    reward: RewardRidge
    transition: Any
    memory: Any
    rule: Backup


class PlannerState(NamedTuple):
    """Everything that changes while a planner learns."""

    book: Book
    reward: RewardState
    transition: Any


def blank_book(task: Task) -> Book:
    """A plan that says nothing yet."""
    S, A, _ = task.phi.shape
    H = task.horizon
    return Book(Q=np.zeros((H, S * A)), V=np.zeros((H + 1, S)), policy=np.zeros((H, S), np.int64))


@open_book.register(OptimisticPlanner)
def _(strategy: OptimisticPlanner, task: Task) -> PlannerState:
    groups = 1 if strategy.rule.pooled else task.horizon
    return PlannerState(
        book=blank_book(task),
        reward=reward_state(task, strategy.memory, groups),
        transition=transition_state(strategy.transition, task, strategy.memory, groups),
    )


@kernel
def _greedy(Q: Vector, V: Vector, policy: Any, cap: float, rng: np.random.Generator) -> None:
    """Clip Q of one stage to [0, cap]; V is its maximum over actions, the policy the action that attains it."""
    A = Q.shape[0] // V.shape[0]
    for n in range(Q.shape[0]):
        Q[n] = min(max(Q[n], 0.0), cap)
    for s in range(V.shape[0]):
        row = Q[s * A : (s + 1) * A]
        policy[s] = best_arm(row, rng)
        best = row[0]
        for a in range(1, A):
            best = max(best, row[a])
        V[s] = best


@plan.register(OptimisticPlanner)
def _(strategy: OptimisticPlanner, state: PlannerState, rng: np.random.Generator) -> None:
    book = state.book
    H = book.Q.shape[0]
    groups = state.reward.theta.shape[0]
    for h in range(H - 1, -1, -1):
        g = h if groups > 1 else 0
        fresh = groups > 1 or h == H - 1
        if fresh:
            optimistic_reward(strategy.reward, state.reward, g)
        for n in range(book.Q.shape[1]):
            book.Q[h, n] = state.reward.optimistic[g, n]
        add_next(strategy.transition, state.transition, g, fresh, book.V[h + 1], H, book.Q[h])
        _greedy(book.Q[h], book.V[h], book.policy[h], float(H - h if strategy.rule.stage else H), rng)


@experience.register(OptimisticPlanner)
def _(strategy: OptimisticPlanner, state: PlannerState, h: int, pair: int, r: float, successor: int) -> None:
    g = h if state.reward.theta.shape[0] > 1 else 0
    learn_reward(strategy.memory, state.reward, g, pair, r)
    V = state.book.V[h + 1]
    learn_transition(strategy.transition, strategy.memory, state.transition, g, pair, successor, V)


@miss.register(OptimisticPlanner)
def _(strategy: OptimisticPlanner, state: PlannerState, h: int) -> None:
    if not strategy.rule.pooled:  # weights are over episodes: time passes for a stage that was not reached
        learn_reward(strategy.memory, state.reward, h, -1, 0.0)
        learn_transition(strategy.transition, strategy.memory, state.transition, h, -1, 0, state.book.V[h + 1])


@report.register(OptimisticPlanner)
def _(strategy: OptimisticPlanner, state: PlannerState) -> dict[str, Any]:
    Q = state.book.Q
    cap = np.arange(len(Q), 0, -1)[:, None] if strategy.rule.stage else len(Q)
    return {
        "observations": int(state.reward.history.clock.sum()),
        "effective_memory": float(state.reward.sums.n[0, 0]),
        "theta": state.reward.theta.copy(),
        "w": state.transition.w.copy(),
        "saturation": float(np.mean(cap - Q < 1e-9)),
    }
