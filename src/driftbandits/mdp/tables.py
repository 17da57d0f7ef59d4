r"""Tabular learning without prior knowledge: every pair (s, a) is learned by itself, from weighted counts.

    n(s,a) = Σ_j w_j 1{s_j=s, a_j=a},     m = ρ + n(s,a)
    optimistic E[V(s')] = μ + c√(v/m),    μ, v: mean and variance of V(s') over the visits and ρ imagined ones to the best state
    optimistic reward   = μ + c√(v/m),    the same with ρ imagined visits that paid 1

An imagined visit is worth most where nothing was seen (μ is then the largest value there is) and fades as 1/n; √(v/m) is the error of a
mean of m values of that variance, the shape of an empirical Bernstein bound. ρ and c are practical choices, not a theorem's: the
literal WeightUCRL on one-hot features (`constants="theory"`) has d = S²A parameters and needs d³ operations per stage; this needs one
per known successor. `posterior_table` finds ρ out; `table_memories` has several memories of one table.

Successors are found as they are seen; every pair has room for a stated number of them.
"""

from typing import Any, NamedTuple

import numpy as np

from ..core.kernel import kernel, part, solver, sqrt
from ..core.linalg import Matrix, Vector, scale_vector
from ..core.state import filled, view_state
from ..errors import InvalidValue, positive, require
from ..protocol import History, Integers, absorb, blank_history, fade, indices_valid
from .likelihood import TransitionCounts
from .protocol import (
    Task,
    add_next,
    learn_reward,
    learn_transition,
    optimistic_reward,
    reward_state,
    room_for,
    told,
    transition_state,
)
from .reward import fold
from .successors import place_of


@part
class RewardTable(NamedTuple):
    """A reward for each pair, in [0, 1]: ρ imagined visits that paid 1, and the scale c of the deviation."""

    imagined: float = 1.0
    scale: float = 1.0

    def check(self) -> None:
        """Refuse what is not optimistic."""
        _check(self, "reward")


@part
class TransitionTable(NamedTuple):
    """A distribution of successors for each pair: ρ imagined visits to the best state, and the scale c of the deviation."""

    imagined: float = 1.0
    scale: float = 1.0

    def check(self) -> None:
        """Refuse what is not optimistic."""
        _check(self, "transition")


def _check(table: Any, name: str) -> None:
    positive("imagined_visits", table.imagined, "without them an unknown action looks worthless")
    why = "it multiplies a standard deviation"
    require(table.scale >= 0.0, f"{name}_bonus_scale", table.scale, "≥ 0", why)


class Table(NamedTuple):
    """Weighted sums of what was observed of each pair."""

    n: Vector  # (2,) Σ w and Σ w²
    N: Vector  # (S·A,) Σ w
    R: Vector  # (S·A,) Σ w r
    R2: Vector  # (S·A,) Σ w r²


@fade.register(Table)
def _(sums: Table, g: float) -> None:
    if g == 1.0:  # most steps of pooled stages
        return
    scale_vector(sums.N, g)
    scale_vector(sums.R, g)
    scale_vector(sums.R2, g)
    sums.n[0] *= g
    sums.n[1] *= g * g


@absorb.register(Table)
def _(sums: Table, x: Vector, r: float, slot: int, sign: float) -> None:
    if slot >= 0:
        sums.N[slot] += sign
        sums.R[slot] += sign * r
        sums.R2[slot] += sign * r * r
    sums.n[0] += sign
    sums.n[1] += sign


@kernel
def optimistic_mean(count: float, total: float, squares: float, top: float, imagined: float, scale: float) -> float:
    """μ + c√(v/m) of `count` values with these sums, and `imagined` ones equal to `top`."""
    # The imagined visits take part in the mean and in the variance: with no visits the result is `top`, and the deviation is 0.
    m = count + imagined
    mean = (total + imagined * top) / m
    # Rounding may leave a difference of equal numbers slightly below 0.
    variance = max((squares + imagined * top * top) / m - mean * mean, 0.0)
    return mean + scale * sqrt(variance / m)


# ---------------------------------------------------------------------------------------------------------------- rewards


class RewardTableState(NamedTuple):
    """What is known of the rewards, for each group of stages."""

    history: History
    sums: Table
    expected: Matrix  # (groups, S·A) mean rewards
    optimistic: Matrix  # (groups, S·A)
    radius: Vector  # (groups,) the scale
    bonus: Vector  # (groups,)
    noise: Vector  # (groups,) σ̂² where it is measured, else 0
    nothing: Vector  # (0,)


@reward_state.register(RewardTable)
def _(reward: RewardTable, task: Task, memory: Any, groups: int) -> RewardTableState:
    return blank_rewards(task, memory, groups, reward.scale)


def blank_rewards(task: Task, memory: Any, groups: int, scale: float) -> RewardTableState:
    """Nothing is known of the rewards yet."""
    pairs = task.states * task.actions
    return RewardTableState(
        history=filled(blank_history(memory, 0), groups),
        sums=Table(np.zeros((groups, 2)), *(np.zeros((groups, pairs)) for _ in range(3))),
        expected=np.zeros((groups, pairs)),
        optimistic=np.zeros((groups, pairs)),
        radius=np.full(groups, scale),
        bonus=np.zeros(groups),
        noise=np.zeros(groups),
        nothing=np.zeros(0),
    )


@optimistic_reward.register(RewardTable)
def _(reward: RewardTable, state: RewardTableState, h: int) -> None:
    write_table(state, h, reward.imagined, reward.scale)


@kernel
def write_table(state: RewardTableState, h: int, imagined: float, scale: float) -> None:
    """Every pair's expected and optimistic reward in stage h."""
    g = h  # as many rows as groups: a table has no features
    sums = view_state(state.sums, g)
    bonus = 0.0
    for n in range(sums.N.shape[0]):
        count = sums.N[n]
        # The plain mean: forecasts, by which memories are compared, must not be optimistic.
        state.expected[g, n] = sums.R[n] / count if count > 0.0 else 0.0
        value = optimistic_mean(count, sums.R[n], sums.R2[n], 1.0, imagined, scale)
        state.optimistic[g, n] = value
        bonus += value - state.expected[g, n]
    state.bonus[g] = bonus


@learn_reward.register(RewardTable)
def _(reward: RewardTable, memory: Any, state: RewardTableState, h: int, pair: int, r: float) -> None:
    g = h % state.radius.shape[0]
    fold(memory, view_state(state.history, g), view_state(state.sums, g), state.nothing, r, pair)


@told.register(RewardTable)
def _(reward: RewardTable, state: RewardTableState) -> dict[str, Any]:
    return {"expected_rewards": state.expected.copy()}


# ------------------------------------------------------------------------------------------------------------ transitions


class Novelty(NamedTuple):
    """How often a visit showed a successor that was new to its pair, and how often such a one was new to its state as well."""

    expected: Vector  # (2,) Σ 1/n over draws after n ≥ 1 others: so often, were ρ = 1 and n large
    found: Vector  # (2,)
    met: Integers  # (S,) 1 for a state that was seen


class TransitionTableState(NamedTuple):
    """What is known of the transitions, for each group of stages."""

    successor: Integers  # (S·A, U) states in the order in which they were met
    used: Integers  # (S·A,) how many were met
    history: History
    sums: TransitionCounts  # N (groups, S·A·U)
    radius: Vector  # (groups,) the scale
    visits: Integers  # (S·A,) ever; this and the next where novelty is measured, else 0
    novelty: Novelty
    nothing: Vector  # (0,)


@transition_state.register(TransitionTable)
def _(transition: TransitionTable, task: Task, memory: Any, groups: int) -> TransitionTableState:
    return blank_transitions(task, memory, groups, transition.scale)


def blank_transitions(task: Task, memory: Any, groups: int, scale: float) -> TransitionTableState:
    """Nothing is known of the transitions yet."""
    pairs, U = task.states * task.actions, task.successors
    return TransitionTableState(
        successor=np.zeros((pairs, U), np.int64),
        used=np.zeros(pairs, np.int64),
        history=filled(blank_history(memory, 0), groups),
        sums=TransitionCounts(np.zeros((groups, 2)), np.zeros((groups, pairs * U))),
        radius=np.full(groups, scale),
        visits=np.zeros(pairs, np.int64),
        novelty=Novelty(np.zeros(2), np.zeros(2), np.zeros(task.states, np.int64)),
        nothing=np.zeros(0),
    )


@add_next.register(TransitionTable)
def _(
    transition: TransitionTable, state: TransitionTableState, h: int, fresh: bool, V: Vector, H: int, out: Vector
) -> float:
    g = h % state.radius.shape[0]
    return _add_table(transition, state, state.sums.N[g], V, out)


@kernel
def largest(V: Vector) -> float:
    """The value of the best state."""
    top = 0.0
    for s in range(V.shape[0]):
        top = max(top, V[s])
    return top


@kernel
def next_values(state: TransitionTableState, N: Vector, V: Vector, n: int) -> tuple[float, float, float]:
    """Of the known successors of pair n, with these weights: sums of the weights, of the weighted values and of their squares."""
    count, total, squares, U = 0.0, 0.0, 0.0, state.successor.shape[1]
    for u in range(state.used[n]):
        # Only the successors of the pair are visited: planning costs one operation for each known (s, a, s').
        w, v = N[n * U + u], V[state.successor[n, u]]
        count += w
        total += w * v
        squares += w * v * v
    return count, total, squares


@solver
def _add_table(transition: TransitionTable, state: TransitionTableState, N: Vector, V: Vector, out: Vector) -> float:
    """Add the optimistic next value of every pair to `out`; returns the sum of the bonuses."""
    top, bonus = largest(V), 0.0
    for n in range(out.shape[0]):
        count, total, squares = next_values(state, N, V, n)
        value = optimistic_mean(count, total, squares, top, transition.imagined, transition.scale)
        out[n] += value
        bonus += value - (total / count if count > 0.0 else 0.0)
    return bonus


@learn_transition.register(TransitionTable)
def _(
    transition: TransitionTable, memory: Any, state: TransitionTableState, h: int, pair: int, successor: int, V: Vector
) -> None:
    count_successor(memory, state, h, pair, successor)


@kernel
def count_successor(memory: Any, state: TransitionTableState, h: int, pair: int, successor: int) -> None:
    """Remember one transition of stage h; a successor that is new gets a place, if there is one."""
    g, slot = h % state.radius.shape[0], -1
    if pair >= 0:
        # Successors are stored in the order in which they were met, so a table costs what was seen and not S²A.
        place = place_of(state.successor, state.used[pair], pair, successor)
        if place < 0 and state.used[pair] < state.successor.shape[1]:
            place = state.used[pair]
            state.successor[pair, place] = successor
            state.used[pair] += 1
        # No place is left: the visit still moves the clock of the memory on, but nothing is counted for the pair.
        slot = pair * state.successor.shape[1] + place if place >= 0 else -1
    fold(memory, view_state(state.history, g), view_state(state.sums, g), state.nothing, 0.0, slot)


@room_for.register(TransitionTable)
def _(transition: TransitionTable, state: TransitionTableState, pair: int, successor: int) -> None:
    check_room(state, pair, successor)


def check_room(state: TransitionTableState, pair: int, successor: int) -> None:
    """Refuse a successor for which there is no place."""
    room = state.successor.shape[1]
    if state.used[pair] == room and successor not in state.successor[pair]:
        raise InvalidValue(
            f"s_next = {successor} is successor no. {room + 1} of a pair with room for {room}; give more: tabular(…, successors={2 * room})"
        )


@indices_valid.register(TransitionTableState)
def _(state: TransitionTableState) -> bool:
    return bool(((state.used >= 0) & (state.used <= state.successor.shape[-1])).all())


@told.register(TransitionTable)
def _(transition: TransitionTable, state: TransitionTableState) -> dict[str, Any]:
    return {"transition_radius": float(state.radius.max()), "successors": int(state.used.sum())}
