r"""Random restarts of a planner: the baseline that every detector for MDPs has to beat.

    before each episode but the first, with probability p = 1/E[episodes between restarts]:  the planner forgets everything
    otherwise                                                                                the planner goes on

The part is `meta.RandomRestart`, whose round is an episode here; which states end an episode is not forgotten.
"""

from typing import Any, NamedTuple

import numpy as np

from ..core.state import copy_state
from ..meta import RandomRestart
from ..protocol import Integers
from .protocol import Book, Task, experience, miss, open_book, plan, report, room_for, settle_in, settled


class RestartedPlannerState(NamedTuple):
    """The planner since the last restart."""

    book: Book
    live: Any
    blank: Any  # what every restart returns to
    since: Integers  # (1,) episodes since the last restart
    restarts: Integers  # (1,)


@settle_in.register(RandomRestart)
def _(strategy: RandomRestart, task: Task) -> tuple[RandomRestart, Task]:
    base, task = settled(strategy.base, task)
    return strategy._replace(base=base), task


@open_book.register(RandomRestart)
def _(strategy: RandomRestart, task: Task) -> RestartedPlannerState:
    live, blank = open_book(strategy.base, task), open_book(strategy.base, task)
    counts = np.zeros(1, np.int64)
    return RestartedPlannerState(open_book(strategy.base, task).book, live, blank, counts, counts.copy())


@plan.register(RandomRestart)
def _(strategy: RandomRestart, state: RestartedPlannerState, rng: np.random.Generator) -> None:
    if state.since[0] > 0 and rng.random() < strategy.rate:
        copy_state(state.live, state.blank)
        state.restarts[0] += 1
        state.since[0] = 0
    state.since[0] += 1
    for s in range(state.book.ended.shape[0]):
        state.live.book.ended[s] = state.book.ended[s]
    state.live.book.idle[0] = state.book.idle[0]
    plan(strategy.base, state.live, rng)
    copy_state(state.book, state.live.book)


@experience.register(RandomRestart)
def _(strategy: RandomRestart, state: RestartedPlannerState, h: int, pair: int, r: float, successor: int) -> None:
    experience(strategy.base, state.live, h, pair, r, successor)


@miss.register(RandomRestart)
def _(strategy: RandomRestart, state: RestartedPlannerState, h: int) -> None:
    miss(strategy.base, state.live, h)


@room_for.register(RandomRestart)
def _(strategy: RandomRestart, state: RestartedPlannerState, pair: int, successor: int) -> None:
    if room_for.knows(type(strategy.base)):
        room_for(strategy.base, state.live, pair, successor)


@report.register(RandomRestart)
def _(strategy: RandomRestart, state: RestartedPlannerState) -> dict[str, Any]:
    told = {"restarts": int(state.restarts[0]), "epoch": int(state.since[0])}
    return report(strategy.base, state.live) | told
