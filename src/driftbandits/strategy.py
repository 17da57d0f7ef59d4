"""`Optimistic`: a strategy composed of a model, a memory, a radius and a rule.

Every optimistic strategy runs the same round t:

    act:    k = argmax_a index(rule, estimate, β, x_a)
    learn:  sums ← remember(memory, sums, x_k, r);   estimate ← estimate(model, sums);   β ← beta(radius, …)
"""

from typing import Any, NamedTuple

import numpy as np

from .core.kernel import kernel, part
from .core.linalg import Matrix, Vector
from .core.parts import Memory, Model, Radius, Rule, require_kind
from .errors import InvalidValue
from .protocol import (
    History,
    Integers,
    Limits,
    Setting,
    act,
    anticipate,
    anytime,
    beta,
    blank_estimate,
    blank_history,
    blank_sums,
    blank_work,
    capacity,
    choose,
    conditioning,
    describe,
    elapse,
    ellipsoid,
    estimate,
    estimator,
    exact_when_late,
    grow,
    index,
    late_refusal,
    learn,
    learn_late,
    limits,
    linearises,
    magnitude,
    noise_size,
    occupied,
    optimism,
    prepare,
    promise,
    ready,
    recall,
    remember,
    renew,
    report,
    scores,
    skip,
    start,
    takes_back,
    wants_horizon,
    wants_squares,
    widen,
)


@part
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

    model: Model
    memory: Memory
    radius: Radius
    rule: Rule

    def check(self) -> None:
        """Every field must be a part of its kind, and the model must work with the memory."""
        for name, kind in (("model", Model), ("memory", Memory), ("radius", Radius), ("rule", Rule)):
            require_kind(name, getattr(self, name), kind)
        if linearises(self.model) and takes_back(self.memory):
            raise InvalidValue(
                f"{type(self.model).__name__} cannot work with {type(self.memory).__name__}: it linearises an observation once and keeps "
                "none, so that none can be removed again; use Discounted or Restart"
            )


class OptimisticState(NamedTuple):
    """The state of an optimistic strategy."""

    history: History
    sums: Any
    est: Any
    work: Any
    beta: Vector  # (1,)
    horizon: Integers  # (1,) T, or 0
    fresh: Integers  # (1,) 1 while the sums have changed since the last estimate, or there is no estimate yet
    drawn: Integers  # (1,) 1 once the randomness of the next decision is drawn
    missing: Integers  # (1,) rounds whose reward has not arrived


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
        history=blank_history(memory, setting.dim),
        sums=blank_sums(model, setting, capacity(memory, setting.horizon), squares),
        est=blank_estimate(model, setting, squares),
        work=blank_work(rule, setting),
        beta=np.zeros(1),
        horizon=np.full(1, setting.horizon, np.int64),
        fresh=np.ones(1, np.int64),
        drawn=np.zeros(1, np.int64),
        missing=np.zeros(1, np.int64),
    )


@kernel
def _refresh(strategy: Optimistic, state: OptimisticState, g: float) -> None:
    """Update the estimate, the radius and the rule's workspace after the sums have changed."""
    estimate(strategy.model, state.sums, state.est)
    rounds = state.history.clock[0] + 1 if anytime(strategy.radius) else state.horizon[0]
    state.beta[0] = beta(strategy.radius, state.sums.n, state.est, rounds)
    prepare(strategy.rule, strategy.model, state.sums, state.est, state.work, g)


@ready.register(Optimistic)
def _(strategy: Optimistic, state: OptimisticState, rng: np.random.Generator) -> None:
    if state.fresh[0]:
        _refresh(strategy, state, 0.0)
        state.fresh[0] = 0
    if not state.drawn[0]:
        renew(strategy.rule, state.est, state.beta[0], state.work, rng)
        state.drawn[0] = 1


@act.register(Optimistic)
def _(strategy: Optimistic, state: OptimisticState, arms: Matrix, score: Vector, rng: np.random.Generator) -> int:
    ready(strategy, state, rng)
    state.drawn[0] = 0
    return choose(strategy.rule, strategy.model, state.sums, state.est, state.beta[0], state.work, arms, score, rng)


@scores.register(Optimistic)
def _(strategy: Optimistic, state: OptimisticState, arms: Matrix, score: Vector) -> None:
    index(strategy.rule, strategy.model, state.sums, state.est, state.beta[0], state.work, arms, score)


@optimism.register(Optimistic)
def _(strategy: Optimistic, state: OptimisticState) -> float:
    return promise(strategy.model, state.work.value[0])


@learn.register(Optimistic)
def _(strategy: Optimistic, state: OptimisticState, x: Vector, r: float, slot: int) -> None:
    # Without an up-to-date estimate (an observation before the first decision, or after `skip`) the rule cannot update its bounds: g = 0.
    known = state.fresh[0] == 0
    if known:
        anticipate(strategy.rule, state.est, state.work, x)
    g = remember(strategy.memory, state.history, state.sums, x, r, slot)
    _refresh(strategy, state, g if known else 0.0)
    state.fresh[0] = 0


@skip.register(Optimistic)
def _(strategy: Optimistic, state: OptimisticState) -> None:
    elapse(strategy.memory, state.history, state.sums)
    state.missing[0] += 1
    state.fresh[0] = 1


@learn_late.register(Optimistic)
def _(strategy: Optimistic, state: OptimisticState, x: Vector, r: float, slot: int, weight: float, age: int) -> None:
    recall(strategy.memory, state.history, state.sums, x, r, slot, weight, age)
    state.missing[0] -= 1
    _refresh(strategy, state, 0.0)
    state.fresh[0] = 0


@exact_when_late.register(Optimistic)
def _(strategy: Optimistic) -> bool:
    return not linearises(strategy.model)


@late_refusal.register(Optimistic)
def _(strategy: Optimistic, state: OptimisticState, age: int) -> str:
    memory = type(strategy.memory)
    if not (elapse.knows(memory) and recall.knows(memory)):
        return f"its memory {memory.__name__} has no methods for elapse and recall"
    if age >= 0 and occupied(strategy.memory, state.history, age):
        return f"{memory.__name__} keeps one observation per round, and already has one of that round"
    return ""


@magnitude.register(Optimistic)
def _(strategy: Optimistic, state: OptimisticState) -> float:
    total = abs(state.beta[0])
    for i in range(state.est.theta.shape[0]):
        total += abs(state.est.theta[i])
    return float(total)


@conditioning.register(Optimistic)
def _(strategy: Optimistic, state: OptimisticState) -> tuple[float, float, float]:
    # The squared ratio of the extreme pivots of the Cholesky factor is a lower bound of V's condition number, and costs O(d).
    pivots = np.abs(np.diagonal(state.est.factor))  # the factor holds their reciprocals, which have the same ratio
    ratio = float(pivots.max() / pivots.min()) if pivots.min() > 0.0 else 1.0
    model: Any = strategy.model
    ridge = getattr(model, "lam", 0.0) * getattr(model, "c_mu", 1.0)  # the regulariser of a likelihood is λc_μ
    return float(np.trace(state.sums.A)), ridge, ratio**2


@limits.register(Optimistic)
def _(strategy: Optimistic) -> Limits:
    return limits(strategy.radius)


@noise_size.register(Optimistic)
def _(strategy: Optimistic) -> float:
    return noise_size(strategy.radius)


@estimator.register(Optimistic)
def _(strategy: Optimistic, state: OptimisticState) -> Vector:
    return state.est.theta  # type: ignore[no-any-return]


@ellipsoid.register(Optimistic)
def _(strategy: Optimistic, state: OptimisticState) -> tuple[Vector, Matrix]:
    return bonus_ellipsoid(strategy, state.est, state.beta[0])


def bonus_ellipsoid(strategy: Optimistic, est: Any, beta: float) -> tuple[Vector, Matrix]:
    """θ̂ and β²V⁻¹, or β²V⁻¹ṼV⁻¹ if the rule's norm uses both matrices."""
    if not est.factor.any():  # no estimate yet
        return est.theta.copy(), np.zeros_like(est.factor)
    inverse: Matrix = np.asarray(np.linalg.inv(_squared(est.factor)), np.float64)
    metric: Matrix = inverse @ _squared(est.factor2) @ inverse if wants_squares(strategy.rule) else inverse
    return est.theta.copy(), beta * beta * metric


def _squared(factor: Matrix) -> Matrix:
    """UᵀU; the factor holds 1/U_ii on its diagonal."""
    U = np.triu(factor)
    np.fill_diagonal(U, 1.0 / np.diagonal(factor))
    product: Matrix = U.T @ U
    return product


@describe.register(Optimistic)
def _(strategy: Optimistic, state: OptimisticState) -> dict[str, Any]:
    info: dict[str, Any] = {
        "observations": int(state.history.clock[0] - state.missing[0]),
        "effective_memory": float(state.sums.n[0]),
        "radius": float(state.beta[0]),
    }
    return info | report(strategy.model, state.est) | report(strategy.rule, state.work)


@grow.register(OptimisticState)
def _(state: OptimisticState) -> OptimisticState:
    sums = grow(state.sums)
    return state if sums is state.sums else state._replace(sums=sums)


@widen.register(OptimisticState)
def _(state: OptimisticState) -> OptimisticState:
    sums = widen(state.sums)
    return state if sums is state.sums else state._replace(sums=sums)
