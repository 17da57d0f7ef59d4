r"""MASTER over episodes: it lets an optimistic planner for stationary MDPs follow one that changes (Wei, Luo 2021).

The schedule and the tests are those of `meta.master`; a round is an episode. Of the active instance, which alone plans and learns,

    g̃ = V₁(s₁)/H      the optimistic value of the first state, from its plan for this episode
    R  = Σ_h r_h/H     what the episode earned

both in [0, 1], and ρ(k) = c/√k with c = 1, the least that the theory allows: the tests fire as early as they may. With H = 1 and one
state an episode is a round and g̃ the optimistic value of the action chosen: MASTER over a bandit.
"""

from typing import Any, NamedTuple

import numpy as np

from ..core.kernel import kernel, part
from ..core.linalg import Vector
from ..core.state import copy_state, filled, view_state
from ..errors import integer, positive, probability
from ..meta.schedule import Schedule, blank_schedule, count_round, draw_instances, oldest_first
from ..util.notebook import shown_as_boxes
from .protocol import Book, Task, experience, miss, open_book, plan, report, room_for, settle_in, settled


@part
class Tests(NamedTuple):
    """K episodes, the order of the first block, δ, and what multiplies the thresholds."""

    episodes: float
    first_order: float = 0.0
    delta: float = 0.05
    scale: float = 1.0

    def check(self) -> None:
        """The schedule needs whole numbers, the tests a probability."""
        integer("episodes", self.episodes, least=1, why="it is the number of episodes K")
        integer("first_order", self.first_order, least=0, why="the first block has 2^first_order episodes")
        probability("delta", self.delta)
        positive("test_scale", self.scale, "it multiplies the thresholds of the tests; theory is 1")


@shown_as_boxes
class EpisodicMaster(NamedTuple):
    """MASTER around `base`, a planner; see `zoo.master_ucrl`."""

    base: Any
    tests: Tests


class EpisodicMasterState(NamedTuple):
    """The instances, and the schedule."""

    book: Book  # the plan of the active instance
    instances: Any  # place m: the instance of order m
    blank: Any
    plan: Schedule
    earned: Vector  # (1,) of the episode so far


@settle_in.register(EpisodicMaster)
def _(strategy: EpisodicMaster, task: Task) -> tuple[EpisodicMaster, Task]:
    base, task = settled(strategy.base, task)
    return strategy._replace(base=base), task


@open_book.register(EpisodicMaster)
def _(strategy: EpisodicMaster, task: Task) -> EpisodicMasterState:
    K, blank = int(strategy.tests.episodes), open_book(strategy.base, task)
    largest = max(int(strategy.tests.first_order), K.bit_length())
    rate = strategy.tests.scale * 6.0 * (np.log2(K) + 1.0) * np.log(K / strategy.tests.delta)
    return EpisodicMasterState(
        book=open_book(strategy.base, task).book,
        instances=filled(blank, largest + 1),
        blank=blank,
        plan=blank_schedule(largest, float(rate), int(strategy.tests.first_order)),
        earned=np.zeros(1),
    )


@kernel
def _active(state: EpisodicMasterState) -> Any:
    """The state of the active instance: views, no copies."""
    return view_state(state.instances, state.plan.clock.active[0])


@plan.register(EpisodicMaster)
def _(strategy: EpisodicMaster, state: EpisodicMasterState, rng: np.random.Generator) -> None:
    if not state.plan.clock.drawn[0]:
        m = draw_instances(state.plan, rng)
        if state.plan.begun[m] == 0:
            copy_state(view_state(state.instances, m), state.blank)
            state.plan.begun[m] = 1
        state.plan.clock.active[0] = m
    active = _active(state)
    for s in range(state.book.ended.shape[0]):  # which states end an episode is not forgotten
        active.book.ended[s] = state.book.ended[s]
    active.book.idle[0] = state.book.idle[0]
    plan(strategy.base, active, rng)
    copy_state(state.book, active.book)
    state.earned[0] = 0.0


@experience.register(EpisodicMaster)
def _(strategy: EpisodicMaster, state: EpisodicMasterState, h: int, pair: int, r: float, successor: int) -> None:
    if h == 0:
        first = pair // (state.book.Q.shape[1] // state.book.V.shape[1])
        state.plan.sums.optimistic[0] = state.book.V[0, first]
        state.plan.clock.pending[0] = 1
    state.earned[0] += r
    experience(strategy.base, _active(state), h, pair, r, successor)
    _close(strategy, state, h)


@miss.register(EpisodicMaster)
def _(strategy: EpisodicMaster, state: EpisodicMasterState, h: int) -> None:
    miss(strategy.base, _active(state), h)
    _close(strategy, state, h)


@kernel
def _close(strategy: EpisodicMaster, state: EpisodicMasterState, h: int) -> None:
    """After the last stage: the tests."""
    H = state.book.Q.shape[0]
    if h == H - 1 and state.plan.clock.pending[0]:
        g = min(max(state.plan.sums.optimistic[0] / H, 0.0), 1.0)
        count_round(state.plan, state.earned[0] / H, g, int(strategy.tests.first_order))


@room_for.register(EpisodicMaster)
def _(strategy: EpisodicMaster, state: EpisodicMasterState, pair: int, successor: int) -> None:
    if room_for.knows(type(strategy.base)):
        room_for(strategy.base, _active(state), pair, successor)


@report.register(EpisodicMaster)
def _(strategy: EpisodicMaster, state: EpisodicMasterState) -> dict[str, Any]:
    journal = state.plan.journal
    return report(strategy.base, _active(state)) | {
        "order": int(state.plan.clock.order[0]),
        "active_order": int(state.plan.clock.active[0]),
        "blocks": oldest_first(journal.blocks),
        "instances": oldest_first(journal.instances),
        "restarts": oldest_first(journal.restarts),
    }
