r"""Tables whose imagined visits are measured: how much is left to find out about a pair that was tried?

    rewards       ρ = max(σ̂², 10⁻⁴),   σ̂² ← σ̂² + (e² − σ̂²)/200,   e = r − the mean of what the pair has paid, if it was tried before
    transitions   ρ = (1 + new)/(1 + Σ 1/n),   over all visits after n ≥ 1 others; `new` of them showed a successor that was new
    optimistic E[V(s')] = (nμ + ρ max V)/(n + ρ) + c√(v/(n + ρ)),   μ, v: mean and variance of V(s') over the visits

`tables` has as many imagined visits in every world. Where moves are certain one visit tells all, and with a tenth of an imagined one each
of the 3000 pairs of Gymnasium's Taxi is worth a hundred visits: it might lead to a state that nobody ever reaches. If a pair's successors
are drawn from a Dirichlet process of concentration ρ, the visit after n others is to a new one with probability ρ/(n + ρ): ρ is estimated
from how often that happened, for all pairs together. A move that went the same way ten times is then believed in a world where moves are
certain, and doubted in one where they vary. v is of what was seen, for the doubt about what was not is in ρ. Noise σ̂² of the rewards makes
a prior of variance 1 count as σ̂² visits (`posterior_reward`).
c = 0.3 (0.1 of rewards) is a practical choice. No theorem is claimed.
"""

from typing import Any, NamedTuple

from ..core.kernel import kernel, part, solver, sqrt
from ..core.linalg import Vector
from ..core.state import view_state
from ..errors import require
from .posterior_reward import LEAST, MEMORY, START
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
from .tables import (
    RewardTableState,
    TransitionTableState,
    blank_rewards,
    blank_transitions,
    check_room,
    count_successor,
    largest,
    next_values,
    write_table,
)


@part
class MeasuredRewardTable(NamedTuple):
    """A reward for each pair, in [0, 1], with noise that is measured; scale c of the deviation."""

    scale: float = 0.1

    def check(self) -> None:
        """Refuse what is not optimistic."""
        require(self.scale >= 0.0, "reward_bonus_scale", self.scale, "≥ 0", "it multiplies a standard deviation")


@part
class MeasuredTransitionTable(NamedTuple):
    """A distribution of successors for each pair, new ones as likely as they were found to be; scale c of the deviation."""

    scale: float = 0.3

    def check(self) -> None:
        """Refuse what is not optimistic."""
        require(self.scale >= 0.0, "transition_bonus_scale", self.scale, "≥ 0", "it multiplies a standard deviation")


# ---------------------------------------------------------------------------------------------------------------- rewards


@reward_state.register(MeasuredRewardTable)
def _(reward: MeasuredRewardTable, task: Task, memory: Any, groups: int) -> RewardTableState:
    blank = blank_rewards(task, memory, groups, reward.scale)
    blank.noise[:] = START
    return blank


@optimistic_reward.register(MeasuredRewardTable)
def _(reward: MeasuredRewardTable, state: RewardTableState, h: int) -> None:
    write_table(state, h, max(state.noise[h], LEAST), reward.scale)


@learn_reward.register(MeasuredRewardTable)
def _(reward: MeasuredRewardTable, memory: Any, state: RewardTableState, h: int, pair: int, r: float) -> None:
    g = h % state.radius.shape[0]
    sums = view_state(state.sums, g)
    if pair >= 0 and sums.N[pair] > 0.0:
        error = r - sums.R[pair] / sums.N[pair]
        state.noise[g] += (error * error - state.noise[g]) / MEMORY
    fold(memory, view_state(state.history, g), sums, state.nothing, r, pair)


@told.register(MeasuredRewardTable)
def _(reward: MeasuredRewardTable, state: RewardTableState) -> dict[str, Any]:
    return {"expected_rewards": state.expected.copy(), "measured_noise": float(state.noise.max()) ** 0.5}


# ------------------------------------------------------------------------------------------------------------ transitions


@transition_state.register(MeasuredTransitionTable)
def _(transition: MeasuredTransitionTable, task: Task, memory: Any, groups: int) -> TransitionTableState:
    return blank_transitions(task, memory, groups, transition.scale)


@kernel
def _imagined(state: TransitionTableState) -> float:
    return float((1.0 + state.novelty.found[0]) / (1.0 + state.novelty.expected[0]))


@add_next.register(MeasuredTransitionTable)
def _(
    transition: MeasuredTransitionTable,
    state: TransitionTableState,
    h: int,
    fresh: bool,
    V: Vector,
    H: int,
    out: Vector,
) -> float:
    return _add_measured(transition, state, state.sums.N[h % state.radius.shape[0]], V, out)


@solver
def _add_measured(
    transition: MeasuredTransitionTable, state: TransitionTableState, N: Vector, V: Vector, out: Vector
) -> float:
    """Add the optimistic next value of every pair to `out`; returns the sum of the bonuses."""
    rho, top, bonus = _imagined(state), largest(V), 0.0
    for n in range(out.shape[0]):
        count, total, squares = next_values(state, N, V, n)
        mean = total / count if count > 0.0 else 0.0
        variance = max(squares / count - mean * mean, 0.0) if count > 0.0 else 0.0
        m = count + rho
        value = (total + rho * top) / m + transition.scale * sqrt(variance / m)
        out[n] += value
        bonus += value - mean
    return bonus


@learn_transition.register(MeasuredTransitionTable)
def _(
    transition: MeasuredTransitionTable,
    memory: Any,
    state: TransitionTableState,
    h: int,
    pair: int,
    successor: int,
    V: Vector,
) -> None:
    if pair < 0:
        count_successor(memory, state, h, pair, successor)
        return
    met = state.used[pair]
    count_successor(memory, state, h, pair, successor)
    if state.visits[pair] > 0:
        state.novelty.expected[0] += 1.0 / state.visits[pair]
        state.novelty.found[0] += state.used[pair] - met
    state.visits[pair] += 1


@room_for.register(MeasuredTransitionTable)
def _(transition: MeasuredTransitionTable, state: TransitionTableState, pair: int, successor: int) -> None:
    check_room(state, pair, successor)


@told.register(MeasuredTransitionTable)
def _(transition: MeasuredTransitionTable, state: TransitionTableState) -> dict[str, Any]:
    counted = {"successors": int(state.used.sum()), "imagined_visits": _imagined(state)}
    return {"transition_radius": float(state.radius.max())} | counted
