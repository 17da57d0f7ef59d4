r"""MASTER: turns a base algorithm for stationary problems into one for non-stationary problems (Wei and Luo 2021).

Time is divided into blocks of 2^n rounds, n = n₀, n₀+1, … In a block, *instances* of the base run on several time scales at once:

    in round τ = 0, 1, …, 2^n − 1 of a block, for m = n, n−1, …, 0, if 2^m divides τ:
    start with probability ρ(2^n)/ρ(2^m) an instance of order m, which lives for 2^m rounds              (Procedure 1)

With ρ(t) = c/√t the probability is 2^{−(n−m)/2}; the instance of order n always exists. The shortest living instance is *active*: it alone
chooses and learns while the others pause. After each round, with g̃ the active instance's optimistic value and U = min g̃ in the block so
far,

    test 1   an instance of order m ends, and the mean reward over all rounds of its life ≥ U + 9ρ̂(2^m)
    test 2   mean of g̃_τ − R_τ over the t rounds of the block ≥ 3ρ̂(t),         ρ̂(t) = 6(log₂T + 1)·log(T/δ)·ρ(t)

If one of the tests fails, the parameter must have changed, and a new block of order n₀ begins. Instances start at multiples of their
length, so at most one of each order is alive. The state therefore consists of n + 1 states of the base, nothing is copied when another
instance becomes active, and the schedule is drawn when it is needed: one random number per slot, O(2^n) in all.
"""

from typing import Any, NamedTuple

import numpy as np

from ..core.kernel import entry, kernel, part
from ..core.linalg import Matrix, Vector
from ..core.state import copy_state, duplicate, filled, joined, pack, view_state
from ..errors import integer, positive, probability, require
from ..protocol import (
    Limits,
    Setting,
    act,
    beta,
    conditioning,
    describe,
    ellipsoid,
    estimator,
    grow,
    indices_valid,
    learn,
    limits,
    magnitude,
    mean,
    optimism,
    ready,
    scores,
    start,
    widen,
)
from ..strategy import Optimistic, OptimisticState
from .schedule import Schedule, blank_schedule, count_round, draw_instances, oldest_first

LARGEST_ORDER = 40


@part
class Master(NamedTuple):
    """MASTER around `base`; see `zoo.master`. The tests use scaled rewards (r − low)/span, while the base learns r itself."""

    base: Any
    horizon: float
    first_order: float
    delta: float
    low: float
    span: float
    test_scale: float = 1.0
    bonus_factor: float = 1.0  # already in the base's radius; ρ is made without it

    def check(self) -> None:
        """T and the first order must be whole numbers, δ a probability, and the range of rewards positive."""
        integer("horizon", self.horizon, least=1, why="it is the number of rounds T")
        integer("first_order", self.first_order, least=0, why="the first block has 2^first_order rounds")
        positive("bonus_factor", self.bonus_factor, "it multiplies the base's bonus; 2 is Wei and Luo's")
        limit = f"≤ {LARGEST_ORDER}"
        require(
            self.first_order <= LARGEST_ORDER,
            "first_order",
            self.first_order,
            limit,
            "the first block has 2^first_order rounds",
        )
        probability("delta", self.delta)
        positive("span", self.span, "the tests divide rewards by the length of their range")
        positive("test_scale", self.test_scale, "it multiplies the thresholds of the tests; theory is 1")


class MasterState(NamedTuple):
    """The instances, and the schedule."""

    instances: Any  # index m: the instance of order m
    blank: Any  # the state in which every instance starts
    plan: Schedule


@start.register(Master)
def _(master: Master, setting: Setting, rng: np.random.Generator) -> MasterState:
    T = int(master.horizon)
    # Blocks double until they exceed T, so no instance of a larger order is ever alive.
    largest = max(int(master.first_order), T.bit_length())
    inner = setting._replace(horizon=setting.horizon or T)
    blank = start(master.base, inner, rng)
    # ρ̂(t) = 6(log₂T + 1)·log(T/δ)·c/√t: all that does not depend on t is computed once.
    constant = 6.0 * (np.log2(T) + 1.0) * np.log(T / master.delta)
    rate = master.test_scale * constant * _rate(master, setting.dim, blank)
    plan = blank_schedule(largest, rate, int(master.first_order))
    return MasterState(instances=filled(blank, largest + 1), blank=blank, plan=plan)


def _rate(master: Master, d: int, state: Any) -> float:
    """The constant c of ρ(t) = c/√t, the base's regret per round on the scale of the tests.

        c = β√(d log(T/δ))/span, at least 1                                           (Wei and Luo 2021, Appendix I.2)

    β is the base's own radius, without `bonus_factor`, at its largest: after T rounds spread evenly over all directions. A base without
    a radius gets c = 1, the least that the theory allows.
    """
    if not isinstance(master.base, Optimistic):
        return 1.0
    T, est = master.horizon, duplicate(state.est)
    lam = getattr(master.base.model, "lam", 1.0)
    square = limits(master.base).L ** 2 * T / d + lam
    for factor in (est.factor, est.factor2):
        # V = λI + (L²T/d)I, rounds spread evenly over all directions: the largest determinant that T rounds can reach.
        factor[...] = np.eye(len(factor)) / np.sqrt(square)  # reciprocals, as in every factor
    if hasattr(est, "upsilon"):  # Υ of a one-pass model is at most log det(H/λ)
        est.upsilon[0] = d * np.log(square / lam)
    width = _width(master.base.radius, np.full(2, T), est, int(T)) / master.bonus_factor
    return max(1.0, float(width * np.sqrt(d * np.log(T / master.delta)) / master.span))


@entry
def _width(radius: Any, n: Vector, est: Any, horizon: int) -> float:
    return beta(radius, n, est, horizon)


@entry
def expected_reward(model: Any, z: float) -> float:
    """`mean` as an entry, so that Python can call it."""
    return mean(model, z)


@kernel
def _active(state: MasterState) -> Any:
    """The state of the active instance, as views."""
    return view_state(state.instances, state.plan.clock.active[0])


# ------------------------------------------------------------------------------------------------------------- strategy


@kernel
def _arrange(state: MasterState, rng: np.random.Generator) -> None:
    """Once before each decision: draw which instances start, and set the active one."""
    if not state.plan.clock.drawn[0]:
        m = draw_instances(state.plan, rng)
        if state.plan.begun[m] == 0:
            # An instance is reset when it first becomes active, not when it starts: many start and are never the shortest.
            copy_state(view_state(state.instances, m), state.blank)
            state.plan.begun[m] = 1
        state.plan.clock.active[0] = m


@ready.register(Master)
def _(master: Master, state: MasterState, rng: np.random.Generator) -> None:
    _arrange(state, rng)
    ready(master.base, _active(state), rng)


@act.register(Master)
def _(master: Master, state: MasterState, arms: Matrix, score: Vector, rng: np.random.Generator) -> int:
    _arrange(state, rng)
    active = _active(state)
    k = act(master.base, active, arms, score, rng)
    state.plan.sums.optimistic[0] = optimism(master.base, active)
    state.plan.clock.pending[0] = 1
    return k


@scores.register(Master)
def _(master: Master, state: MasterState, arms: Matrix, score: Vector) -> None:
    scores(master.base, _active(state), arms, score)


@optimism.register(Master)
def _(master: Master, state: MasterState) -> float:
    return state.plan.sums.optimistic[0]  # type: ignore[no-any-return]


@learn.register(Master)
def _(master: Master, state: MasterState, x: Vector, r: float, slot: int) -> None:
    learn(master.base, _active(state), x, r, slot)
    if state.plan.clock.pending[0]:  # an observation without a decision is learned, but is not a round of the schedule
        # The tests compare numbers in [0, 1]; an optimistic value above the range says no more than the top of the range.
        g = min(max((state.plan.sums.optimistic[0] - master.low) / master.span, 0.0), 1.0)
        count_round(state.plan, (r - master.low) / master.span, g, int(master.first_order))


@magnitude.register(Master)
def _(master: Master, state: MasterState) -> float:
    return magnitude(master.base, _active(state))


@conditioning.register(Master)
def _(master: Master, state: MasterState) -> tuple[float, float, float]:
    return conditioning(master.base, _active(state))


@limits.register(Master)
def _(master: Master) -> Limits:
    # The tests compare rewards of different rounds, so with constant θ the best attainable reward must be constant too.
    return limits(master.base)._replace(fixed_arms=True)


@estimator.register(Master)
def _(master: Master, state: MasterState) -> Vector:
    return estimator(master.base, _active(state))


@ellipsoid.register(Master)
def _(master: Master, state: MasterState) -> tuple[Vector, Matrix]:
    return ellipsoid(master.base, _active(state))


@indices_valid.register(MasterState)
def _(state: MasterState) -> bool:
    clock, orders = state.plan.clock, len(state.plan.alive)
    one, many = pack(state.blank), pack(state.instances)
    fits = all(many[name].shape == (orders, *one[name].shape) for name in one)
    # The instance of order n, the length of the whole block, is always alive.
    order, active = int(clock.order[0]), int(clock.active[0])
    lives = 0 <= order < orders and state.plan.alive[order] != 0 and active < orders
    return bool(
        fits and lives and all(count[0] >= 0 for count in (*clock, *(kind.total for kind in state.plan.journal)))
    )


@grow.register(MasterState)
def _(state: MasterState) -> MasterState:
    """Only the active instance learns, but the arrays of all instances must have equal shapes."""
    if not isinstance(state.blank, OptimisticState) or not grow.knows(type(state.blank.sums)):
        return state
    # All instances are places of one array, so when one needs room all of them get it.
    active = view_state(state.instances.sums, state.plan.clock.active[0])
    if grow(active) is active:
        return state
    places = range(len(state.plan.alive))
    instances = joined([widen(view_state(state.instances, m)) for m in places])
    return state._replace(instances=instances, blank=widen(state.blank))


@describe.register(Master)
def _(master: Master, state: MasterState) -> dict[str, Any]:
    """The description of the active instance, and:

    order, active_order
        of the block and of the active instance
    blocks, instances
        (k, 2) first round and order of each, oldest first
    restarts
        (k, 2) round of each restart, and the number of the test that failed after it
    """
    journal = state.plan.journal
    return {
        **describe(master.base, _active(state)),
        "order": int(state.plan.clock.order[0]),
        "active_order": int(state.plan.clock.active[0]),
        "blocks": oldest_first(journal.blocks),
        "instances": oldest_first(journal.instances),
        "restarts": oldest_first(journal.restarts),
    }
