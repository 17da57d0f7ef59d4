r"""`OptimisticPlanner`: a reward model, a transition model, a memory and a rule make a learner of episodic MDPs.

Episode k of WeightUCRL and all its relatives (Algorithms 3 and 4; the order of operations is resolution D2):

    plan   for h = H..1, from episodes < k:   Q_h = clip_{[0,cap]}(optimistic reward + optimistic E[V_{h+1}(s')]),   V_h = max_a Q_h
    act    π_h(s) = argmax_a Q_h(s,a), ties broken at random once for each (h, s)
    learn  remember (s_h, a_h, r_h, s_{h+1}) in the sums of stage h, with the V_{h+1} of the plan

The cap is H as printed, or H−h+1 (`stage`), which the model-prediction-error lemma needs (resolution D8). The paper prints min{·, H} and no
lower clip; values are ≥ 0, so clipping at 0 as well keeps Q a valid bound and never makes it looser.

In a state in which an episode has ended nothing more is earned: V_h = (H−h+1)·idle there from then on, in plans and in the targets of the
regression, where idle is 0 unless the learner's rewards are shifted.
"""

from typing import Any, NamedTuple

import numpy as np

from ..core.kernel import kernel, part
from ..core.linalg import Matrix, Vector
from ..core.ties import best_arm
from ..errors import require
from ..memory import Discounted, Everything, Restart, Window
from ..util.notebook import shown_as_boxes
from .protocol import (
    Book,
    Task,
    add_next,
    experience,
    learn_reward,
    learn_transition,
    miss,
    of_step,
    open_book,
    optimistic_reward,
    plan,
    report,
    reward_state,
    room_for,
    told,
    transition_state,
)


@part
class Backup(NamedTuple):
    """How to plan: `stage` caps Q at the stages left instead of H; `pooled` lets all stages share one estimate.

    With `discount` ρ < 1 a reward i steps ahead counts ρ^i, and Q is at most 1 + ρ + … over the stages left.
    """

    stage: float = 0.0
    pooled: float = 0.0
    discount: float = 1.0

    def check(self) -> None:
        """ρ is a share of the next value."""
        require(0.0 < self.discount <= 1.0, "discount", self.discount, "in (0, 1]", "it multiplies the next value")


@shown_as_boxes
class OptimisticPlanner(NamedTuple):
    """A strategy for episodic MDPs; `zoo` has the named ones."""

    reward: Any
    transition: Any
    memory: Any
    rule: Backup


class Tally(NamedTuple):
    """Sums over stages and pairs of the last plan, of which the bonus has a share."""

    bonus: Vector  # (1,)
    value: Vector  # (1,) Q before clipping


class PlannerState(NamedTuple):
    """Everything that changes while a planner learns."""

    book: Book
    reward: Any
    transition: Any
    tally: Tally


def blank_book(task: Task) -> Book:
    """A plan that says nothing yet."""
    S, H = task.states, task.horizon
    return Book(
        Q=np.zeros((H, S * task.actions)),
        V=np.zeros((H + 1, S)),
        policy=np.zeros((H, S), np.int64),
        ended=np.zeros(S, np.int64),
        idle=np.zeros(1),
    )


def blank_tally() -> Tally:
    """Nothing is planned yet."""
    return Tally(bonus=np.zeros(1), value=np.zeros(1))


@open_book.register(OptimisticPlanner)
def _(strategy: OptimisticPlanner, task: Task) -> PlannerState:
    pooled = bool(strategy.rule.pooled)
    groups = 1 if pooled else task.horizon
    memory = of_step(strategy.memory, 0, task.horizon) if pooled else strategy.memory
    return PlannerState(
        book=blank_book(task),
        reward=reward_state(strategy.reward, task, memory, groups),
        transition=transition_state(strategy.transition, task, memory, groups),
        tally=blank_tally(),
    )


# With pooled stages H observations come per episode, each of which moves a memory's clock on.


@of_step.register(Everything)
def _(memory: Everything, h: int, H: int) -> Everything:
    return memory


@of_step.register(Discounted)
def _(memory: Discounted, h: int, H: int) -> Discounted:
    # H observations arrive per episode and all belong to the same time, so only the first one makes the past fade.
    return Discounted(gamma=memory.gamma if h == 0 else 1.0)  # the past fades once per episode


@of_step.register(Window)
def _(memory: Window, h: int, H: int) -> Window:
    return Window(W=memory.W * H)


@of_step.register(Restart)
def _(memory: Restart, h: int, H: int) -> Restart:
    return Restart(H=memory.H * H)


@kernel
def _greedy(book: Book, h: int, cap: float, rng: np.random.Generator) -> None:
    """Clip Q of one stage to [0, cap]; V is its maximum over actions, the policy the action that attains it."""
    Q, V, policy = book.Q[h], book.V[h], book.policy[h]
    A = Q.shape[0] // V.shape[0]
    for n in range(Q.shape[0]):
        # The lower clip never loosens the bound, since values are ≥ 0; without it a poor estimate could make Q negative.
        Q[n] = min(max(Q[n], 0.0), cap)
    for s in range(V.shape[0]):
        row = Q[s * A : (s + 1) * A]
        if book.ended[s]:
            for a in range(A):
                row[a] = book.idle[0] * (book.Q.shape[0] - h)
        # Ties are broken once for each (h, s) of the plan, not at every visit: a policy is a function of the state.
        policy[s] = best_arm(row, rng)
        best = row[0]
        for a in range(1, A):
            best = max(best, row[a])
        V[s] = best


@plan.register(OptimisticPlanner)
def _(strategy: OptimisticPlanner, state: PlannerState, rng: np.random.Generator) -> None:
    reward = state.reward
    for h in range(reward.optimistic.shape[0]):
        optimistic_reward(strategy.reward, reward, h)
    backup(strategy, state.book, reward.optimistic, reward.bonus, state.transition, state.tally, rng)


@kernel
def backup(
    strategy: OptimisticPlanner,
    book: Book,
    optimistic: Matrix,
    bonus: Vector,
    transition: Any,
    tally: Tally,
    rng: np.random.Generator,
) -> None:
    """Plan backwards from optimistic rewards (1 or H, S·A), of which `bonus` (1 or H,) is how much of their sum is bonus."""
    H, rows = book.Q.shape[0], optimistic.shape[0]
    tally.bonus[0] = 0.0
    tally.value[0] = 0.0
    for h in range(H - 1, -1, -1):
        row = h % rows
        # Pooled stages share one estimate, which the first stage planned (the last one, H−1) computes for all.
        fresh = not strategy.rule.pooled or h == H - 1
        for n in range(book.Q.shape[1]):
            book.Q[h, n] = optimistic[row, n]
        tally.bonus[0] += bonus[row] + add_next(strategy.transition, transition, h, fresh, book.V[h + 1], H, book.Q[h])
        for n in range(book.Q.shape[1]):
            tally.value[0] += book.Q[h, n]
        _greedy(book, h, most_worth(strategy.rule, H, h), rng)
        if strategy.rule.discount < 1.0 and h > 0:  # V[h] is what the stage before adds
            for s in range(book.V.shape[1]):
                book.V[h, s] *= strategy.rule.discount


@kernel
def most_worth(rule: Backup, H: int, h: int) -> float:
    """The cap of Q in stage h: rewards are at most 1."""
    # Σ_{i<left} ρ^i: the most that rewards in [0, 1] can be worth from here on.
    left = float(H - h if rule.stage else H)
    return left if rule.discount == 1.0 else (1.0 - rule.discount**left) / (1.0 - rule.discount)


@experience.register(OptimisticPlanner)
def _(strategy: OptimisticPlanner, state: PlannerState, h: int, pair: int, r: float, successor: int) -> None:
    _learn(strategy, state, h, pair, r, successor)


@miss.register(OptimisticPlanner)
def _(strategy: OptimisticPlanner, state: PlannerState, h: int) -> None:
    _learn(strategy, state, h, -1, 0.0, 0)  # weights are over episodes: time passes for a stage that was not reached


@kernel
def _learn(strategy: OptimisticPlanner, state: PlannerState, h: int, pair: int, r: float, successor: int) -> None:
    V = state.book.V[h + 1]
    if strategy.rule.pooled:
        memory = of_step(strategy.memory, h, state.book.Q.shape[0])
        learn_reward(strategy.reward, memory, state.reward, h, pair, r)
        learn_transition(strategy.transition, memory, state.transition, h, pair, successor, V)
    else:
        learn_reward(strategy.reward, strategy.memory, state.reward, h, pair, r)
        learn_transition(strategy.transition, strategy.memory, state.transition, h, pair, successor, V)


@room_for.register(OptimisticPlanner)
def _(strategy: OptimisticPlanner, state: PlannerState, pair: int, successor: int) -> None:
    if room_for.knows(type(strategy.transition)):
        room_for(strategy.transition, state.transition, pair, successor)


@report.register(OptimisticPlanner)
def _(strategy: OptimisticPlanner, state: PlannerState) -> dict[str, Any]:
    Q = state.book.Q
    cap = np.arange(len(Q), 0, -1)[:, None] if strategy.rule.stage else len(Q)
    planned = {
        "observations": int(state.reward.history.clock.sum()),
        "effective_memory": float(state.reward.sums.n[0, 0]),
        "saturation": float(np.mean(cap - Q < 1e-9)),
        "bonus_share": float(state.tally.bonus[0] / state.tally.value[0]) if state.tally.value[0] > 0.0 else 0.0,
        "ended": np.flatnonzero(state.book.ended),
    }
    return planned | told(strategy.reward, state.reward) | told(strategy.transition, state.transition)
