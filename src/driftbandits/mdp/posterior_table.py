r"""Tables whose number of imagined visits is estimated: how much is still unknown about a pair that was tried.

    rewards       ρ = max(σ̂², 10⁻⁴),   σ̂² ← σ̂² + (e² − σ̂²)/200,   e = r − the mean of what the pair has paid, if it was tried before
    transitions   ρ = (1 + new)/(1 + Σ 1/n),   over all visits after n ≥ 1 others; `new` of them showed a successor that was new
    optimistic E[V(s')] = (1 − η/H)(μ + c√(v/(n + ρ))),   μ, v: mean and variance of V(s') over n visits and ρ imagined ones of value T

`tables` has as many imagined visits in every world. Where moves are certain one visit tells all, and with a tenth of an imagined one each
of the 3000 pairs of Gymnasium's Taxi is worth a hundred visits: it might lead to a state that nobody ever reaches. If a pair's successors
are drawn from a Dirichlet process of concentration ρ, the visit after n others is to a new one with probability ρ/(n + ρ): ρ is estimated
from how often that happened, for all pairs together. A move that went the same way ten times is then believed in a world where moves are
certain, and doubted in one where they vary. Noise σ̂² of the rewards makes a prior of variance 1 count as σ̂² visits (`posterior_reward`).

What a new successor is worth, T, is found out in the same way, by Dirichlet processes within each other: of the pair, its state, the world.

    pair    T = (m_s max V(successors seen from s) + ρ_s W)/(m_s + ρ_s)
    world   W = ((S − u) max V(states seen) + u max V(states never seen))/S   or max V, if it is that of a state that was seen

and T = max V of a pair that was never tried. m_s successors of the pairs of s were not the first of their pair; ρ_s is estimated as ρ is,
from how often such a one was new to s as well. u of the S states were never seen. With T = max V for all pairs one of FrozenLake 8×8
that was tried 20 times promised 2 % of the best state there is, in each of a hundred steps. With T = W for pairs that were never tried a
state that nobody has entered is worth hardly more than a reward, and the far end of RiverSwim is not looked for.

The factor 1 − η/H, η = 0.1, makes a learner go now rather than later where both are worth the same: what is known now may not be true
later. A task without episodes has η = 0, as none ends.
c = 1 (0.1 of rewards) is a practical choice. No theorem is claimed.
"""

from typing import Any, NamedTuple

from ..core.kernel import kernel, part, solver
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
from .successors import place_of
from .tables import (
    Novelty,
    RewardTableState,
    TransitionTableState,
    blank_rewards,
    blank_transitions,
    check_room,
    count_successor,
    largest,
    next_values,
    optimistic_mean,
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
    """A distribution of successors for each pair, new ones as likely as they were found to be; scale c of the deviation.

    `haste` is the share η of a value that is lost by waiting a whole episode; a task without episodes has none.
    """

    scale: float = 1.0
    haste: float = 0.1

    def check(self) -> None:
        """Refuse what is not optimistic."""
        require(self.scale >= 0.0, "transition_bonus_scale", self.scale, "≥ 0", "it multiplies a standard deviation")
        require(0.0 <= self.haste <= 1.0, "haste", self.haste, "in [0, 1]", "it is a share")


# ---------------------------------------------------------------------------------------------------------------- rewards


@reward_state.register(MeasuredRewardTable)
def _(reward: MeasuredRewardTable, task: Task, memory: Any, groups: int) -> RewardTableState:
    blank = blank_rewards(task, memory, groups, reward.scale)
    blank.noise[:] = START
    return blank


@optimistic_reward.register(MeasuredRewardTable)
def _(reward: MeasuredRewardTable, state: RewardTableState, h: int) -> None:
    # A prior of variance 1 counts as many visits as the noise variance says: σ̂² of them.
    write_table(state, h, max(state.noise[h], LEAST), reward.scale)


@learn_reward.register(MeasuredRewardTable)
def _(reward: MeasuredRewardTable, memory: Any, state: RewardTableState, h: int, pair: int, r: float) -> None:
    g = h % state.radius.shape[0]
    sums = view_state(state.sums, g)
    if pair >= 0 and sums.N[pair] > 0.0:
        error = r - sums.R[pair] / sums.N[pair]
        # Errors against the mean of the pair itself, from before this reward: a pair's first reward tells nothing about noise.
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
def _concentration(novelty: Novelty, level: int) -> float:
    # Moment estimate of ρ: after n draws a new successor comes with probability ρ/(n+ρ) ≈ ρ/n. The 1s are a prior that is soon
    # outweighed.
    return float((1.0 + novelty.found[level]) / (1.0 + novelty.expected[level]))


@kernel
def _of_world(novelty: Novelty, V: Vector) -> float:
    """What a successor that is new to its state is worth: one of the states that were never seen, or the best of the others."""
    seen, unseen, never = 0.0, 0.0, 0
    for s in range(V.shape[0]):
        if novelty.met[s]:
            seen = max(seen, V[s])
        else:
            unseen = max(unseen, V[s])
            never += 1
    # The states that were never seen promise nothing more than what is known, so they do not matter.
    if unseen <= seen:
        return seen
    return float(((V.shape[0] - never) * seen + never * unseen) / V.shape[0])


@kernel
def _of_state(state: TransitionTableState, V: Vector, s: int, world: float) -> float:
    """What a successor that is new to its pair is worth in state s: the best one that any action has shown there, or one new to s."""
    A, best, draws, doubt = state.used.shape[0] // V.shape[0], 0.0, 0, _concentration(state.novelty, 1)
    for n in range(s * A, (s + 1) * A):
        draws += max(state.used[n] - 1, 0)
        for u in range(state.used[n]):
            best = max(best, V[state.successor[n, u]])
    return (draws * best + doubt * world) / (draws + doubt)


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
    return _add_measured(transition, state, state.sums.N[h % state.radius.shape[0]], V, 1.0 - transition.haste / H, out)


@solver
def _add_measured(
    transition: MeasuredTransitionTable, state: TransitionTableState, N: Vector, V: Vector, keep: float, out: Vector
) -> float:
    """Add the optimistic next value of every pair to `out`; returns the sum of the bonuses."""
    A, rho, bonus = out.shape[0] // V.shape[0], _concentration(state.novelty, 0), 0.0
    world, best = _of_world(state.novelty, V), largest(V)
    for s in range(V.shape[0]):
        local = _of_state(state, V, s, world)
        for n in range(s * A, (s + 1) * A):
            count, total, squares = next_values(state, N, V, n)
            # A pair that was never tried is as good as the best state: otherwise the far end of a chain would never be looked for.
            top = local if count > 0.0 else best
            # The factor 1 − η/H breaks ties between now and later in favour of now, because what is known may change.
            value = keep * optimistic_mean(count, total, squares, top, rho, transition.scale)
            out[n] += value
            bonus += value - (total / count if count > 0.0 else 0.0)
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
    if pair >= 0:
        _note_novelty(state, pair, successor, state.used.shape[0] // V.shape[0])
    count_successor(memory, state, h, pair, successor)


@kernel
def _note_novelty(state: TransitionTableState, pair: int, successor: int, A: int) -> None:
    """Before a visit is counted: was its successor new to the pair, and to the state?"""
    s, novelty = pair // A, state.novelty
    novelty.met[s] = 1
    new = place_of(state.successor, state.used[pair], pair, successor) < 0
    if state.visits[pair] > 0:
        # Had the pair been a Dirichlet process with ρ = 1, this draw would have been new with about this probability.
        novelty.expected[0] += 1.0 / state.visits[pair]
        novelty.found[0] += 1.0 if new else 0.0
    state.visits[pair] += 1
    if not new:
        return
    draws, known = 0, False
    for n in range(s * A, (s + 1) * A):
        draws += max(state.used[n] - 1, 0)
        known = known or place_of(state.successor, state.used[n], n, successor) >= 0
    if state.used[pair] > 0 and draws > 0:
        novelty.expected[1] += 1.0 / draws
        novelty.found[1] += 0.0 if known else 1.0
    if not known:
        novelty.met[successor] = 1


@room_for.register(MeasuredTransitionTable)
def _(transition: MeasuredTransitionTable, state: TransitionTableState, pair: int, successor: int) -> None:
    check_room(state, pair, successor)


@told.register(MeasuredTransitionTable)
def _(transition: MeasuredTransitionTable, state: TransitionTableState) -> dict[str, Any]:
    counted = {"successors": int(state.used.sum()), "imagined_visits": _concentration(state.novelty, 0)}
    return {"transition_radius": float(state.radius.max())} | counted
