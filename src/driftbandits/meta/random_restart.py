r"""Restarts at random: the baseline that every detector has to beat.

    before each decision, with probability p = 1/E[rounds between restarts]:  the base forgets everything
    otherwise                                                                 the base goes on

The times between restarts are geometric, do not depend on the rewards, and need no knowledge of the changes. MASTER with its published
constants never restarts at practical horizons (Gerogiannis, Huang, Veeravalli 2025), so that a comparison with it is one with its
schedule of fresh instances; this part is the plainest schedule of that kind.
"""

from typing import Any, NamedTuple

import numpy as np

from ..core.kernel import kernel, part
from ..core.linalg import Matrix, Vector
from ..core.state import copy_state, counters, duplicate
from ..errors import require
from ..protocol import (
    Integers,
    Setting,
    act,
    describe,
    exact_when_late,
    late_refusal,
    learn,
    learn_late,
    limits,
    ready,
    settle,
    skip,
    start,
)
from .forwarding import base_refuses, passes_on
from .restarted import answers_as_its_base


@part
class RandomRestart(NamedTuple):
    """`base`, restarted before a decision with probability `rate`; see `zoo.random_restart`."""

    base: Any
    rate: float

    def check(self) -> None:
        """A probability."""
        require(
            0.0 <= self.rate <= 1.0, "rate", self.rate, "in [0, 1]", "it is the probability of a restart in a round"
        )


class RestartClock(NamedTuple):
    """What has happened so far, each (1,)."""

    drawn: Integers  # 1 while it is decided whether the coming round restarts
    since: Integers  # rounds since the last restart
    seen: Integers  # observations
    restarts: Integers


class RandomRestartState(NamedTuple):
    """The base since the last restart."""

    live: Any
    blank: Any  # what every restart returns to
    clock: RestartClock


@settle.register(RandomRestart)
def _(strategy: RandomRestart, dim: int) -> RandomRestart:
    return strategy._replace(base=settle(strategy.base, dim))


@start.register(RandomRestart)
def _(strategy: RandomRestart, setting: Setting, rng: np.random.Generator) -> RandomRestartState:
    blank = start(strategy.base, setting, rng)
    return RandomRestartState(live=duplicate(blank), blank=blank, clock=counters(RestartClock))


@kernel
def _draw(strategy: RandomRestart, state: RandomRestartState, rng: np.random.Generator) -> None:
    """Decide once for the coming round; before the first one there is nothing to forget."""
    if state.clock.drawn[0] == 0:
        state.clock.drawn[0] = 1
        if state.clock.since[0] > 0 and rng.random() < strategy.rate:
            copy_state(state.live, state.blank)
            state.clock.restarts[0] += 1
            state.clock.since[0] = 0


@ready.register(RandomRestart)
def _(strategy: RandomRestart, state: RandomRestartState, rng: np.random.Generator) -> None:
    _draw(strategy, state, rng)
    ready(strategy.base, state.live, rng)


@act.register(RandomRestart)
def _(strategy: RandomRestart, state: RandomRestartState, arms: Matrix, score: Vector, rng: np.random.Generator) -> int:
    _draw(strategy, state, rng)
    return act(strategy.base, state.live, arms, score, rng)


@learn.register(RandomRestart)
def _(strategy: RandomRestart, state: RandomRestartState, x: Vector, r: float, slot: int) -> None:
    learn(strategy.base, state.live, x, r, slot)
    state.clock.seen[0] += 1
    state.clock.since[0] += 1
    state.clock.drawn[0] = 0


# A reward from before the last restart is not learned, because the world is assumed to have changed since.


@skip.register(RandomRestart)
def _(strategy: RandomRestart, state: RandomRestartState) -> None:
    skip(strategy.base, state.live)
    state.clock.since[0] += 1
    state.clock.drawn[0] = 0


@learn_late.register(RandomRestart)
def _(
    strategy: RandomRestart, state: RandomRestartState, x: Vector, r: float, slot: int, weight: float, age: int
) -> None:
    state.clock.seen[0] += 1
    if age < state.clock.since[0]:
        learn_late(strategy.base, state.live, x, r, slot, weight, age)


@late_refusal.register(RandomRestart)
def _(strategy: RandomRestart, state: RandomRestartState, age: int) -> str:
    # A reward from before the last restart is only counted; the base never saw its decision.
    return base_refuses(strategy, state, age if age < state.clock.since[0] else 0)


@describe.register(RandomRestart)
def _(strategy: RandomRestart, state: RandomRestartState) -> dict[str, Any]:
    """What the base since the last restart tells, then:

    observations
        all that were learned, whatever has been forgotten since
    restarts
        how many so far
    epoch
        rounds since the last one
    """
    told = describe(strategy.base, state.live)
    names = {"observations": "seen", "restarts": "restarts", "epoch": "since"}
    return told | {name: int(getattr(state.clock, count)[0]) for name, count in names.items()}


answers_as_its_base(RandomRestart, RandomRestartState)
passes_on(RandomRestart, limits, exact_when_late)
