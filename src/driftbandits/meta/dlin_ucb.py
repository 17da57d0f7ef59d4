r"""dLinUCB: a pool of LinUCB learners, each tested by the errors of its own predictions (Wu, Iyer, Wang 2018).

In round t slave m has θ̂_m, V_m and β_m from the observations it accepted. With n_m = min{rounds since it was made, τ}:

    play     the slave of least  e_m − √(log τ)·d_m,     e_m = share of failures among its last n_m rounds,   d_m = √(log(1/δ₂)/(2n_m))
    fail     slave m fails if  |r − xᵀθ̂_m| > β_m‖x‖_{V_m⁻¹} + ε,   ε = √2·σ·erf⁻¹(1−δ₁);   if it does not, it learns (x, r)
    drop     slaves with  e_m ≥ d_m + δ̃₂
    make     a new slave if no slave of the pool has  e_m < d_m + δ̃₁      (δ̃₁ ≤ δ̃₂)

A new slave has n = 0: d = ∞, so that it is played at once and never the reason for another. The pool here has a fixed number of places;
where it is full, a new slave takes the place of the worst (largest e_m), which the paper does not need to say.
"""

from typing import Any, NamedTuple

import numpy as np

from ..core.kernel import kernel, part, sqrt
from ..core.linalg import Matrix, Vector, dot, solve_lower
from ..core.state import copy_state, counters, filled, view_state
from ..errors import InvalidValue, integer, probability, require
from ..model import Linear
from ..protocol import (
    Integers,
    Setting,
    act,
    conditioning,
    describe,
    estimator,
    indices_valid,
    learn,
    limits,
    magnitude,
    noise_size,
    optimism,
    ready,
    scores,
    start,
)
from ..strategy import Optimistic
from .forwarding import passes_on


@part
class DLinUCB(NamedTuple):
    """dLinUCB with slaves like `base`, an OFUL; see `zoo.dlin_ucb`."""

    base: Any
    slack: float  # ε
    tau: float  # τ
    delta2: float
    good: float  # δ̃₁
    bad: float  # δ̃₂
    places: float = 10.0

    def check(self) -> None:
        """Thresholds in order, and slaves whose error the test is about."""
        if not (isinstance(self.base, Optimistic) and isinstance(self.base.model, Linear)):
            raise InvalidValue(
                f"base = {type(self.base).__name__} is not allowed; dLinUCB's slaves are linear: give oful(…)"
            )
        require(self.slack >= 0.0, "slack", self.slack, "≥ 0", "it is the size of an error that noise explains")
        integer("tau", self.tau, least=2, why="it is the number of rounds over which failures are counted")
        integer("places", self.places, least=1, why="it is the largest number of slaves")
        probability("delta2", self.delta2)
        require(
            0.0 <= self.good <= self.bad,
            "good",
            self.good,
            f"in [0, bad = {self.bad}]",
            "a slave must be bad to be dropped",
        )


class PoolClock(NamedTuple):
    """What has happened so far, each (1,)."""

    played: Integers  # the slave whose choice waits for its reward
    seen: Integers  # observations
    alive: Integers  # how many there are
    made: Integers  # how many there have been
    dropped: Integers


class DLinUCBState(NamedTuple):
    """The pool; a place that is not alive is empty."""

    pool: Any  # place m: the state of slave m
    blank: Any
    alive: Integers  # (K,) 1 or 0
    age: Integers  # (K,) rounds since it was made
    failed: Integers  # (K, τ) the last failures, a ring
    failures: Integers  # (K,) how many of them are failures
    error: Vector  # (K,) e_m, as last computed
    clock: PoolClock
    u: Vector  # (d,)


@start.register(DLinUCB)
def _(strategy: DLinUCB, setting: Setting, rng: np.random.Generator) -> DLinUCBState:
    K, blank = int(strategy.places), start(strategy.base, setting, rng)
    clock = counters(PoolClock)
    clock.alive[0] = clock.made[0] = 1
    alive = np.zeros(K, np.int64)
    alive[0] = 1
    return DLinUCBState(
        pool=filled(blank, K),
        blank=blank,
        alive=alive,
        age=np.zeros(K, np.int64),
        failed=np.zeros((K, int(strategy.tau)), np.int64),
        failures=np.zeros(K, np.int64),
        error=np.zeros(K),
        clock=clock,
        u=np.zeros(setting.dim),
    )


@kernel
def _doubt(strategy: DLinUCB, age: int) -> float:
    """d = √(log(1/δ₂)/(2n)), infinite for a slave that was never tested."""
    n = min(age, int(strategy.tau))
    return sqrt(-np.log(strategy.delta2) / (2.0 * n)) if n > 0 else np.inf


@kernel
def _choose(strategy: DLinUCB, state: DLinUCBState) -> int:
    """The slave of least e − √(log τ)·d; of equals the one in the first place."""
    best, least = 0, np.inf
    for m in range(state.alive.shape[0]):
        if state.alive[m]:
            doubt = _doubt(strategy, state.age[m])
            # A lower confidence bound of the slave's failure rate: optimism over slaves, so a new one is tried at once.
            index = state.error[m] - np.sqrt(np.log(strategy.tau)) * doubt
            if index < least:
                best, least = m, index
    return best


@ready.register(DLinUCB)
def _(strategy: DLinUCB, state: DLinUCBState, rng: np.random.Generator) -> None:
    for m in range(state.alive.shape[0]):
        if state.alive[m]:
            ready(strategy.base, view_state(state.pool, m), rng)
    state.clock.played[0] = _choose(strategy, state)


@act.register(DLinUCB)
def _(strategy: DLinUCB, state: DLinUCBState, arms: Matrix, score: Vector, rng: np.random.Generator) -> int:
    ready(strategy, state, rng)
    return act(strategy.base, view_state(state.pool, state.clock.played[0]), arms, score, rng)


@scores.register(DLinUCB)
def _(strategy: DLinUCB, state: DLinUCBState, arms: Matrix, score: Vector) -> None:
    scores(strategy.base, view_state(state.pool, state.clock.played[0]), arms, score)


@optimism.register(DLinUCB)
def _(strategy: DLinUCB, state: DLinUCBState) -> float:
    return optimism(strategy.base, view_state(state.pool, state.clock.played[0]))


@kernel
def _fails(strategy: DLinUCB, state: DLinUCBState, m: int, x: Vector, r: float) -> bool:
    """|r − xᵀθ̂| > β‖x‖_{V⁻¹} + ε, with the estimate from before r; a slave without an estimate yet cannot fail."""
    slave = view_state(state.pool, m)
    if slave.fresh[0]:
        return False
    solve_lower(slave.est.factor, x, state.u)
    # A slave fails when the reward lies outside what its estimate (β‖x‖) and the noise (ε) explain together.
    width = slave.beta[0] * sqrt(dot(state.u, state.u)) + strategy.slack
    return bool(abs(r - dot(x, slave.est.theta)) > width)


@kernel
def _test(strategy: DLinUCB, state: DLinUCBState, m: int, x: Vector, r: float, slot: int) -> None:
    """Count the failure of slave m in the window of its last τ rounds, or let it learn."""
    fails, place = _fails(strategy, state, m, x, r), state.age[m] % state.failed.shape[1]
    # The ring keeps the last τ outcomes; the entry that is overwritten leaves the count.
    state.failures[m] -= state.failed[m, place]
    state.failed[m, place] = 1 if fails else 0
    state.failures[m] += state.failed[m, place]
    state.age[m] += 1
    state.error[m] = state.failures[m] / min(state.age[m], state.failed.shape[1])
    if not fails:
        learn(strategy.base, view_state(state.pool, m), x, r, slot)


@kernel
def _make(strategy: DLinUCB, state: DLinUCBState) -> None:
    """A new slave in an empty place, or in that of the worst."""
    # An empty place has infinite badness, so it is taken before any slave loses its own.
    place, worst = 0, -np.inf
    for m in range(state.alive.shape[0]):
        badness = state.error[m] if state.alive[m] else np.inf
        if badness > worst:
            place, worst = m, badness
    if state.alive[place]:
        state.clock.dropped[0] += 1
    else:
        state.alive[place] = 1
        state.clock.alive[0] += 1
    copy_state(view_state(state.pool, place), state.blank)
    state.age[place] = 0
    state.failures[place] = 0
    state.error[place] = 0.0
    for i in range(state.failed.shape[1]):
        state.failed[place, i] = 0
    state.clock.made[0] += 1


@learn.register(DLinUCB)
def _(strategy: DLinUCB, state: DLinUCBState, x: Vector, r: float, slot: int) -> None:
    good = False
    state.clock.seen[0] += 1
    for m in range(state.alive.shape[0]):
        if state.alive[m]:
            _test(strategy, state, m, x, r, slot)
            doubt = _doubt(strategy, state.age[m])
            if state.error[m] < doubt + strategy.good:
                good = True
            elif state.error[m] >= doubt + strategy.bad:
                state.alive[m] = 0
                state.clock.alive[0] -= 1
                state.clock.dropped[0] += 1
    # No slave predicts well: the world has probably changed, and a new slave starts without data.
    if not good:
        _make(strategy, state)


@magnitude.register(DLinUCB)
def _(strategy: DLinUCB, state: DLinUCBState) -> float:
    total = 0.0
    for m in range(state.alive.shape[0]):
        if state.alive[m]:
            total += magnitude(strategy.base, view_state(state.pool, m))
    return total


@conditioning.register(DLinUCB)
def _(strategy: DLinUCB, state: DLinUCBState) -> tuple[float, float, float]:
    alive = [m for m in range(len(state.alive)) if state.alive[m]]
    found = [conditioning(strategy.base, view_state(state.pool, m)) for m in alive]
    return max(found, key=lambda one: one[2]) if found else (np.inf, 0.0, 1.0)


@estimator.register(DLinUCB)
def _(strategy: DLinUCB, state: DLinUCBState) -> Vector:
    return estimator(strategy.base, view_state(state.pool, int(state.clock.played[0])))


@indices_valid.register(DLinUCBState)
def _(state: DLinUCBState) -> bool:
    K = len(state.alive)
    counted = all(count[0] >= 0 for count in state.clock) and bool((state.age >= 0).all())
    return bool(counted and state.clock.played[0] < K and state.alive.any() and set(np.unique(state.alive)) <= {0, 1})


@describe.register(DLinUCB)
def _(strategy: DLinUCB, state: DLinUCBState) -> dict[str, Any]:
    """What the slave that played last tells, then:

    observations
        all that there were, whichever slaves learned them
    slaves, made, dropped
        how many there are, have been, and were dropped
    badness
        (slaves,) share of failures among the last τ rounds of each, in the order of their places
    """
    told = describe(strategy.base, view_state(state.pool, int(state.clock.played[0])))
    return told | {
        "observations": int(state.clock.seen[0]),
        "slaves": int(state.clock.alive[0]),
        "made": int(state.clock.made[0]),
        "dropped": int(state.clock.dropped[0]),
        "badness": state.error[state.alive == 1].copy(),
    }


passes_on(DLinUCB, limits, noise_size)
