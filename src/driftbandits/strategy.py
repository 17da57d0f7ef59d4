"""`Optimistic`: a model, a memory, a radius and a rule make a strategy.

Round t of every optimistic strategy, whatever its parts:

    act:    k = argmax_a index(rule, estimate, β, x_a)
    learn:  sums ← remember(memory, sums, x_k, r);   estimate ← estimate(model, sums);   β ← beta(radius, …)
"""

from typing import Any, NamedTuple

import numpy as np

from .errors import InvalidValue
from .kernel import kernel
from .linalg import Matrix, Vector
from .protocol import (
    History,
    Integers,
    Limits,
    Setting,
    act,
    anticipate,
    beta,
    capacity,
    choose,
    describe,
    estimate,
    estimate_of,
    estimator,
    grow,
    index,
    keep,
    learn,
    limits,
    optimism,
    prepare,
    ready,
    remember,
    renew,
    report,
    scores,
    start,
    sums_of,
    wants_horizon,
    wants_squares,
    workspace,
)


class Optimistic(NamedTuple):
    """A strategy made of four parts.

    Examples
    --------
    >>> from driftbandits import memory, model, radius, rule
    >>> lb_weight_ucb = Optimistic(
    ...     model=model.Linear(lam=2),
    ...     memory=memory.Discounted(gamma=0.98),
    ...     radius=radius.SelfNormalised(lam=2, S=1, L=1, R=1, delta=0.01),
    ...     rule=rule.Bonus(),
    ... )
    """

    model: Any
    memory: Any
    radius: Any
    rule: Any


class OptimisticState(NamedTuple):
    """Everything that changes while an optimistic strategy runs."""

    history: History
    sums: Any
    est: Any
    work: Any
    width: Vector  # (1,) the radius β
    horizon: Integers  # (1,) T, or 0
    fresh: Integers  # (1,) 1 until the first estimate is made
    drawn: Integers  # (1,) 1 while the randomness of the coming decision is drawn


@start.register(Optimistic)
def _(strategy: Optimistic, setting: Setting, rng: np.random.Generator) -> OptimisticState:
    model, memory, radius, rule = strategy
    if wants_horizon(radius) and setting.horizon == 0:
        raise InvalidValue(
            "the radius needs the horizon T (uniform_in_time its union bound, SCB-PW its D); "
            "give it, e.g. Agent(strategy, horizon=10_000)"
        )
    squares = wants_squares(rule) or wants_squares(radius)
    return OptimisticState(
        history=keep(memory, setting.dim),
        sums=sums_of(model, setting, capacity(memory, setting.horizon), squares),
        est=estimate_of(model, setting, squares),
        work=workspace(rule, setting),
        width=np.zeros(1),
        horizon=np.full(1, setting.horizon, np.int64),
        fresh=np.ones(1, np.int64),
        drawn=np.zeros(1, np.int64),
    )


@kernel
def _refresh(strategy: Optimistic, state: OptimisticState, g: float) -> None:
    """Estimate, radius and the rule's digest of them, after the sums have changed."""
    estimate(strategy.model, state.sums, state.est)
    state.width[0] = beta(strategy.radius, state.sums.n, state.est, state.horizon[0])
    prepare(strategy.rule, strategy.model, state.sums, state.est, state.work, g)


@ready.register(Optimistic)
def _(strategy: Optimistic, state: OptimisticState, rng: np.random.Generator) -> None:
    if state.fresh[0]:
        _refresh(strategy, state, 0.0)
        state.fresh[0] = 0
    if not state.drawn[0]:
        renew(strategy.rule, state.est, state.width[0], state.work, rng)
        state.drawn[0] = 1


@act.register(Optimistic)
def _(strategy: Optimistic, state: OptimisticState, arms: Matrix, score: Vector, rng: np.random.Generator) -> int:
    ready(strategy, state, rng)
    state.drawn[0] = 0
    return choose(strategy.rule, strategy.model, state.sums, state.est, state.width[0], state.work, arms, score, rng)


@scores.register(Optimistic)
def _(strategy: Optimistic, state: OptimisticState, arms: Matrix, score: Vector) -> None:
    index(strategy.rule, strategy.model, state.sums, state.est, state.width[0], state.work, arms, score)


@optimism.register(Optimistic)
def _(strategy: Optimistic, state: OptimisticState) -> float:
    return state.work.value[0]  # type: ignore[no-any-return]


@learn.register(Optimistic)
def _(strategy: Optimistic, state: OptimisticState, x: Vector, r: float, slot: int) -> None:
    known = state.fresh[0] == 0  # false if an observation comes before the first decision
    if known:
        anticipate(strategy.rule, state.est, state.work, x)
    g = remember(strategy.memory, state.history, state.sums, x, r, slot)
    _refresh(strategy, state, g if known else 0.0)
    state.fresh[0] = 0


@limits.register(Optimistic)
def _(strategy: Optimistic) -> Limits:
    return limits(strategy.radius)


@estimator.register(Optimistic)
def _(strategy: Optimistic, state: OptimisticState) -> Vector:
    return state.est.theta  # type: ignore[no-any-return]


@describe.register(Optimistic)
def _(strategy: Optimistic, state: OptimisticState) -> dict[str, Any]:
    told: dict[str, Any] = {
        "observations": int(state.history.clock[0]),
        "effective_memory": float(state.sums.n[0]),
        "radius": float(state.width[0]),
    }
    for part, own in ((strategy.model, state.est), (strategy.rule, state.work)):
        if report.knows(type(part)):
            told |= report(part, own)
    return told


@grow.register(OptimisticState)
def _(state: OptimisticState) -> OptimisticState:
    return state._replace(sums=grow(state.sums)) if grow.knows(type(state.sums)) else state
