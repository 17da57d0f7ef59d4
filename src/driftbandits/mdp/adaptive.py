r"""Learning how fast to forget: memories of several lengths learn side by side and are weighted by their forecasts.

    candidates   γ_i = 1 − 1/m_i,  m = 4, 12, 36, 108, 324, 972 episodes, and γ = 1
    evidence     for rewards, ℓ_i ← share(ℓ_i) + Σ_h log f((r − r̂_i)/σ̂);  for transitions, ℓ_i ← share(ℓ_i) + Σ_h log p̂_i(s'|s,a)
    leaders      of rewards and of transitions: the longest memory whose ℓ is within `margin` nats of the best, 1 by default

p̂_i and r̂_i are what candidate i expected before the episode; f is the normal density; σ̂² is a running mean of the
leader's squared errors. `share` gives every candidate a part of a thousandth of the weight per episode, so that one that was wrong for
long can come back.

Rewards without noise are best forecast by the shortest memory, transitions, which are draws, by a longer one: hence two leaders. The bonus
of the rewards is that of the longer of the two, for a short memory forgets what it has explored (`bonus_of`; of a table that of the next
longer memory); a shorter leader of the rewards leans on the longer one's r̂ where it remembers nothing (`lean`), and of a table every
memory leans on all longer ones (`table_memories`).
All candidates learn from every episode, with the values of its plan as targets. No theorem is claimed.

A plan that shows nothing about the transitions (the shore of a river, where all models agree) leaves every forecast equally good: a long
memory that is outdated stays in the lead, and nothing would ever refute it. With `probe`, after n such episodes in a row any of the
candidates plans the next one with probability n/1000, the rate at which `share` lets the best memory change: one in about 45 episodes, and
a short memory, which has forgotten the models, explores. An episode in which forecasts differ ends the row.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from ..adaptive.evidence import longest_credible, reweigh
from ..core.kernel import kernel, part
from ..core.linalg import Matrix, Vector
from ..core.state import filled, view_state
from ..errors import integer, require
from ..memory import Discounted
from ..protocol import Integers
from ..util.notebook import shown_as_boxes
from .planner import OptimisticPlanner, PlannerState, Tally, backup
from .protocol import (
    Book,
    Task,
    blend,
    blend_state,
    bonus_of,
    estimate_transition,
    experience,
    forecast,
    lean,
    miss,
    open_book,
    optimistic_reward,
    plan,
    report,
    room_for,
)

SHORTEST, RATIO = 4.0, 3.0  # episodes
SHARE = 1e-3
TELLING = 0.05  # nats by which the forecasts of an episode must differ to tell candidates apart
NOISE_MEMORY = 200.0  # steps over which the noise of the rewards is averaged
LEAST_NOISE = 1e-6  # variance of rewards that are always the same


MOST = 100  # candidates; a file could ask for more memory than there is


@part
class Candidates(NamedTuple):
    """How many memories are tried, by how many nats a shorter one must be better to be preferred, whether any plans after idle episodes."""

    size: float = 7.0
    margin: float = 1.0
    probe: float = 0.0  # 1: yes

    def check(self) -> None:
        """Refuse an empty choice."""
        integer("candidates", self.size, least=1, why="there must be a memory to choose")
        require(self.size <= MOST, "candidates", self.size, f"≤ {MOST}", "each has a state of its own")
        require(self.margin >= 0.0, "margin", self.margin, "≥ 0", "it is a difference of log-likelihoods")
        require(
            self.probe in (0.0, 1.0),
            "probe",
            self.probe,
            "0 or 1",
            "after idle episodes any memory plans at times, or never",
        )


@shown_as_boxes
class AdaptivePlanner(NamedTuple):
    """A planner that finds out how fast to forget."""

    base: OptimisticPlanner
    candidates: Candidates


class Evidence(NamedTuple):
    """For and against each candidate."""

    total: Vector  # (N,) ℓ
    fresh: Vector  # (N,) what the current episode adds to it
    leader: Integers  # (1,)


class AdaptiveState(NamedTuple):
    """All candidates, and the evidence for each."""

    book: Book
    reward: Any  # leading axis: candidates
    transition: Any  # leading axis: candidates
    tally: Tally
    gamma: Vector  # (N,)
    of_reward: Evidence
    of_transition: Evidence
    noise: Vector  # (1,) σ̂²
    idle: Vector  # (1,) episodes since the transitions last told the candidates apart
    optimistic: Matrix  # (1 or H, S·A) rewards of the plan
    bonus: Vector  # (1 or H,)
    blend: Any  # room for transitions of the plan that are made of several candidates


@open_book.register(AdaptivePlanner)
def _(strategy: AdaptivePlanner, task: Task) -> AdaptiveState:
    N = int(strategy.candidates.size)
    one = open_book(strategy.base, task)

    def evidence() -> Evidence:
        return Evidence(np.zeros(N), np.zeros(N), np.full(1, N - 1, np.int64))

    return AdaptiveState(
        book=one.book,
        reward=filled(one.reward, N),
        transition=filled(one.transition, N),
        tally=one.tally,
        # Memories 4·3^i episodes, and the last candidate never forgets.
        gamma=np.array([1.0 - 1.0 / (SHORTEST * RATIO**i) for i in range(N - 1)] + [1.0]),
        of_reward=evidence(),
        of_transition=evidence(),
        noise=np.full(1, 0.05),
        idle=np.zeros(1),
        optimistic=np.zeros_like(one.reward.optimistic),
        bonus=np.zeros_like(one.reward.bonus),
        blend=blend_state(strategy.base.transition, one.transition),
    )


@kernel
def _candidate(strategy: AdaptivePlanner, state: AdaptiveState, i: int) -> OptimisticPlanner:
    base = strategy.base
    return OptimisticPlanner(base.reward, base.transition, Discounted(gamma=state.gamma[i]), base.rule)


@kernel
def _own(state: AdaptiveState, i: int) -> PlannerState:
    """What candidate i knows, with the plan in use."""
    return PlannerState(state.book, view_state(state.reward, i), view_state(state.transition, i), state.tally)


@kernel
def _weigh(evidence: Evidence, margin: float) -> None:
    """Close the evidence of the last episode and choose the leader of the next."""
    N = evidence.total.shape[0]
    # The same exponential weights with a fixed share as in `adaptive.evidence`, once per episode instead of once per reward.
    lead = reweigh(evidence.total, evidence.fresh, 0, N, SHARE)
    evidence.leader[0] = longest_credible(evidence.total, lead, N, margin)
    for i in range(N):
        evidence.fresh[i] = 0.0


@kernel
def _count_idle(evidence: Evidence, idle: Vector) -> None:
    """Episodes in a row, the last one included, that told nothing about which candidate is right."""
    low, high = math.inf, -math.inf
    for i in range(evidence.fresh.shape[0]):
        low, high = min(low, evidence.fresh[i]), max(high, evidence.fresh[i])
    # All candidates forecast the episode equally well, so it refutes none of them, outdated or not.
    idle[0] = idle[0] + 1.0 if high - low < TELLING else 0.0


@kernel
def _planning(evidence: Evidence, idle: Vector, rng: np.random.Generator) -> int:
    """The candidate that plans the next episode: the leader, or after idle episodes at times any."""
    N = evidence.total.shape[0]
    # The longer nothing is learned about the transitions, the likelier another candidate plans: SHARE is the rate of change that is
    # assumed.
    if rng.random() < SHARE * idle[0]:
        return int(min(rng.random() * N, N - 1.0))
    return int(evidence.leader[0])


@kernel
def _combine(strategy: AdaptivePlanner, state: AdaptiveState, payer: int, longer: int) -> None:
    """The rewards of the plan: what one memory expects, and the bonus of a longer one, on which it leans."""
    own, other = view_state(state.reward, payer), view_state(state.reward, longer)
    for h in range(state.bonus.shape[0]):
        out = state.optimistic[h]
        for n in range(out.shape[0]):
            # The difference is the bonus of the longer memory: a short one has forgotten what it explored and would explore it again.
            out[n] = other.optimistic[h, n] - other.expected[h, n]
        state.bonus[h] = other.bonus[h]
        if payer == longer:
            for n in range(out.shape[0]):
                out[n] += own.expected[h, n]
        else:
            lean(strategy.base.reward, own, other, h, out)


@plan.register(AdaptivePlanner)
def _(strategy: AdaptivePlanner, state: AdaptiveState, rng: np.random.Generator) -> None:
    base = strategy.base
    if strategy.candidates.probe > 0.0:
        _count_idle(state.of_transition, state.idle)  # before the evidence of the episode is closed
    _weigh(state.of_reward, strategy.candidates.margin)
    _weigh(state.of_transition, strategy.candidates.margin)
    rows, groups = state.bonus.shape[0], 1 if base.rule.pooled else state.book.Q.shape[0]
    for i in range(state.gamma.shape[0]):
        own = _own(state, i)
        for h in range(rows):
            optimistic_reward(base.reward, own.reward, h)
        for h in range(groups):
            estimate_transition(base.transition, own.transition, h)
    payer, mover = state.of_reward.leader[0], state.of_transition.leader[0]
    if strategy.candidates.probe > 0.0:
        mover = _planning(state.of_transition, state.idle, rng)
    explored = bonus_of(base.reward, max(payer, mover), state.gamma.shape[0] - 1)
    _combine(strategy, state, payer, explored)
    # For tables the plan's transitions mix all memories; for other models `blend` returns the candidate as it is.
    moving = blend(base.transition, state.transition, mover, state.blend)
    backup(base, state.book, state.optimistic, state.bonus, moving, state.tally, rng)


@experience.register(AdaptivePlanner)
def _(strategy: AdaptivePlanner, state: AdaptiveState, h: int, pair: int, r: float, successor: int) -> None:
    row, used = h % state.bonus.shape[0], 0.0
    forecast(strategy.base.transition, state.transition, h, pair, successor, state.of_transition.fresh)
    for i in range(state.gamma.shape[0]):
        own = _own(state, i)
        error = r - own.reward.expected[row, pair]
        # Log-likelihood of a normal reward; the terms that all candidates share are left out.
        state.of_reward.fresh[i] -= 0.5 * error * error / state.noise[0]
        if i == state.of_reward.leader[0]:
            used = error * error
        experience(_candidate(strategy, state, i), own, h, pair, r, successor)
    # Only the leader's errors measure noise: an outdated candidate's errors are drift.
    state.noise[0] += (max(used, LEAST_NOISE) - state.noise[0]) / NOISE_MEMORY


@miss.register(AdaptivePlanner)
def _(strategy: AdaptivePlanner, state: AdaptiveState, h: int) -> None:
    for i in range(state.gamma.shape[0]):
        miss(_candidate(strategy, state, i), _own(state, i), h)


@room_for.register(AdaptivePlanner)
def _(strategy: AdaptivePlanner, state: AdaptiveState, pair: int, successor: int) -> None:
    room_for(strategy.base, _own(state, 0), pair, successor)


@report.register(AdaptivePlanner)
def _(strategy: AdaptivePlanner, state: AdaptiveState) -> dict[str, Any]:
    leaders = {"rewards": state.of_reward, "transitions": state.of_transition}
    chosen = {name: int(evidence.leader[0]) for name, evidence in leaders.items()}
    told = report(strategy.base, _own(state, chosen["transitions"]))
    for name, evidence in leaders.items():
        share = np.exp(evidence.total - evidence.total.max())
        gamma = float(state.gamma[chosen[name]])
        told[f"memory_of_{name}"] = None if gamma == 1.0 else round(1.0 / (1.0 - gamma), 6)  # None: it forgets nothing
        told[f"weights_of_{name}"] = share / share.sum()
    return told | {"gamma": state.gamma.copy(), "reward_noise": float(np.sqrt(state.noise[0]))}
