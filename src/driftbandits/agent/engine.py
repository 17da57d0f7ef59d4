"""The base of `Agent`: a strategy with its state and the compiled code that runs it.

Arrays of the state are enlarged before an observation or an offer of arms needs the space. An observation after which θ̂ or β would not be
finite leaves the state unchanged (`guard`).

Compiled code checks no bounds. Everything it reads (state, scores, workspace) is therefore built completely and then replaced in one step.
A call that is interrupted is either completed at the beginning of the next call or has no effect: `_doing` holds the call in progress,
with the results of its completed steps (`atomic`).
"""

import math
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ..core.atomic import change
from ..core.background_compile import CompileMode, lazily, prepared
from ..core.kernel import entry
from ..core.linalg import Matrix, Vector
from ..errors import InvalidShape, InvalidState, InvalidValue, NumericalError
from ..protocol import (
    NO_SLOT,
    Setting,
    act,
    grow,
    late_refusal,
    learn,
    learn_late,
    limits,
    magnitude,
    make_room,
    propensities,
    ready,
    scores,
    skip,
    start,
    widen,
)
from ..protocol.shapes import TORN, Shapes
from .guard import Guard

NO_REWARD = -1.0  # a weight that means: there is no reward to learn


class Selecting(NamedTuple):
    """A selection in progress: if `passes`, a round passes; an arm is chosen; then the attributes in `after` are set."""

    offer: Matrix
    passes: bool
    after: Callable[[int], dict[str, Any]]  # the attributes to set, given the arm
    done: list[Any]  # results of the completed steps

    def finish(self, engine: "Engine") -> Any:
        """Do the remaining steps."""
        if self.passes and not self.done:
            engine._pass(self.done)
        if len(self.done) == self.passes:
            state = engine._fitting(self.offer, engine._score)
            args = (engine._strategy, state, self.offer, engine._score, True, engine._rng)
            engine._change(self.done, engine._decide, *args)
        k = int(self.done[-1])
        engine.__dict__.update(self.after(k), _doing=None)
        return k


class Passing(NamedTuple):
    """A round that passes without its reward."""

    after: dict[str, Any]
    done: list[Any]

    def finish(self, engine: "Engine") -> Any:
        """Do the remaining steps."""
        if not self.done:
            engine._pass(self.done)
        engine.__dict__.update(self.after, _doing=None)


class Learning(NamedTuple):
    """An observation being learned; if θ̂ or β is not finite afterwards, the state before is restored."""

    observe: str  # the name of the compiled function
    args: tuple[Any, ...]
    before: Any  # a copy of the state, or None if the update cannot fail
    reward: float
    after: dict[str, Any]
    done: list[Any]

    def finish(self, engine: "Engine") -> Any:
        """Do the remaining steps."""
        if not self.done:
            args = (engine._strategy, engine._fitting(self.args[0]), *self.args)
            try:
                change(self.done, getattr(engine, self.observe), engine._state, engine._rng, *args)
            except (ArithmeticError, ValueError):  # in interpreted code √ and / raise where compiled code returns NaN
                self.done.append(math.nan)
        if math.isfinite(self.done[0]):
            engine.__dict__.update(self.after, _doing=None)
            if self.before is not None:
                engine._guard.warn_if_bad(engine._state)
        elif self.before is None:
            engine.__dict__.update(_decide=_lost, _observe=_lost, _observe_late=_lost, _doing=None)
            raise NumericalError(
                "θ̂ or β is not finite after an update that was thought safe, so no copy was made: this agent cannot be "
                "used any more; load a saved one"
            )
        else:
            engine.__dict__.update(_state=self.before, _doing=None)
            raise engine._guard.failure(self.reward)


class Engine:
    """The state of a strategy, and one method for each operation on it. Callers validate their input and hold a lock.

    Parameters
    ----------
    strategy
        The strategy, settled for this dimension.
    setting
        The setting of an agent, which has no fixed arms.
    measured
        False if arms longer than the strategy's L are refused, so that L² bounds ‖x‖² of every observation.
    how
        When to compile (`core.background_compile`).
    """

    def __init__(
        self, strategy: Any, setting: Setting, rng: np.random.Generator, *, measured: bool, how: CompileMode
    ) -> None:
        self._strategy, self._rng, self._dim = strategy, rng, setting.dim
        self._limits = limits(strategy)
        self._state = _started(strategy, setting, rng)
        self._shapes = Shapes(self._state)
        self._checked: Any = None  # the state whose shapes were compared last
        kind = type(self._state)
        self._grows = grow.knows(kind) and not (widen.knows(kind) and widen(self._state) is self._state)
        # Whether a round may pass before its reward has arrived.
        self._waits = skip.knows(type(strategy)) and not late_refusal(strategy, self._state, -1)
        self._score = np.zeros(0)
        self._room = 0  # the largest number of arms offered so far
        self._doing: Selecting | Passing | Learning | None = None  # the call in progress
        self._guard = Guard(strategy)
        # An upper bound of ‖x‖² of one observation; None if it has to be computed each time
        self._gain = None if measured or not math.isfinite(self._limits.L) else self._limits.L**2
        deciding = (strategy, self._state, np.zeros((setting.dim, 1)), self._score, True, rng)
        self._decide: Callable[..., int] = prepared(_decide, deciding, how, partial(setattr, self, "_decide"))
        observing = (strategy, self._state, np.zeros(setting.dim), 0.0, NO_SLOT)
        self._observe: Callable[..., float] = prepared(_observe, observing, how, partial(setattr, self, "_observe"))
        # Many agents never receive a late reward or compute propensities, so these are compiled at their first call.
        self._observe_late: Callable[..., float] = lazily(_observe_late, how, partial(setattr, self, "_observe_late"))
        self._chances: Callable[..., None] = lazily(_propensities, how, partial(setattr, self, "_chances"))

    def _begin(self, doing: Selecting | Passing | Learning) -> Any:
        """Carry out a call. If it is interrupted between two steps, `_recover` completes it at the beginning of the next call."""
        self._doing = doing
        return doing.finish(self)

    def _recover(self) -> None:
        """Complete a call that was interrupted after its first step; discard one that was interrupted before it."""
        doing = self._doing
        if doing is None:
            return
        if not doing.done:
            self._doing = None
            return
        with suppress(NumericalError):  # the observation was undone
            doing.finish(self)

    def _choose(self, offer: Matrix, n: int, passes: bool, after: Callable[[int], dict[str, Any]]) -> int:
        """The index of the chosen arm; if `passes`, the round of the last selection passes first."""
        self._scratch(n)  # may replace the state by one with room for n arms
        return int(self._begin(Selecting(offer, passes, after, [])))

    def _scored(self, offer: Matrix, n: int) -> Vector:
        """The index of each of n arms."""
        score = self._scratch(n)
        args = (self._strategy, self._fitting(offer, score), offer, score, False, self._rng)
        self._change([], self._decide, *args)
        return score.copy()

    def _probabilities(self, offer: Matrix, n: int) -> Vector:
        """The probability of each of n arms."""
        self._scratch(n)
        p = np.zeros(n)
        state = self._fitting(offer, p)
        self._change([], self._chances, self._strategy, state, offer, p, self._rng)
        return p

    def _change(self, done: list[Any], step: Callable[..., Any], *args: Any) -> None:
        """A step of a decision, wholly or not at all. Interpreted code raises where machine code would go on with NaN."""
        try:
            change(done, step, self._state, self._rng, *args)
        except (ArithmeticError, ValueError) as problem:
            raise NumericalError(
                f"the scores of the arms cannot be computed ({problem}): what was learned is outside of what rewards can lead to; "
                "load a saved agent, or make a new one"
            ) from None

    def _fitting(self, given: Matrix | Vector | None, score: Vector | None = None) -> Any:
        """The state, if its arrays fit each other, the arms or features that are given (d in front), and the scores, one for each arm."""
        state = self._state
        if state is not self._checked:
            self._shapes.check(state)
            self._checked = state
        if given is None:
            return state
        if given.shape[0] != self._dim or (score is not None and score.shape[0] < given.shape[1]):
            room = "" if score is None else f", with room for {score.shape[0]} scores"
            raise InvalidShape(f"what is given has shape {given.shape} at dim = {self._dim}{room}: {TORN}")
        return state

    def _scratch(self, n: int) -> Vector:
        """An array of n scores. If n changed, it is replaced in one step together with a state that has workspace for n arms."""
        if self._score.shape[0] != n:
            before, shapes = self._fitting(None), self._shapes
            score, state = np.zeros(n), make_room(self._strategy, before, n)
            if state is not before:
                shapes = shapes.with_room(self._strategy, n)
            self.__dict__.update(_score=score, _state=state, _shapes=shapes, _room=max(self._room, n))
        return self._score

    def _learn(self, x: Vector, r: float, slot: int, after: dict[str, Any]) -> None:
        """Learn an observation of weight 1 in a round of its own."""
        self._apply("_observe", x, r, 1.0, (slot,), after)

    def _learn_late(
        self, x: Vector, r: float, weight: float, age: int | None, slot: int, after: dict[str, Any], *, behind: bool
    ) -> None:
        """Let the last round pass, if it has not yet; then learn an observation of an earlier one, or of weight ≠ 1."""
        passes = behind or age is None
        self._check_late(age, passes=passes)
        self._apply("_observe_late", x, r, weight, (slot, passes, weight, age or 0), after)

    def _check_late(self, age: int | None, *, passes: bool) -> None:
        """Raise if an observation of an earlier round, or of weight ≠ 1, cannot be learned."""
        if not learn_late.knows(type(self._strategy)):
            name = type(self._strategy).__name__
            raise InvalidState(
                f"{name} learns rewards in the order of their rounds and with weight 1; it cannot learn a late or weighted one"
            )
        why = late_refusal(self._strategy, self._state, (age or 0) - passes)
        if why:
            raise InvalidState(
                f"age = {age} cannot be learned: {why}; without age the observation gets a round of its own"
            )

    def _pass(self, done: list[Any]) -> None:
        """The step in which a round passes without its reward."""
        x = np.zeros(self._dim)
        args = (self._strategy, self._fitting(x), x, 0.0, NO_SLOT, True, NO_REWARD, 0)
        change(done, self._observe_late, self._state, self._rng, *args)

    def _apply(
        self, observe: str, x: Vector, r: float, weight: float, rest: tuple[Any, ...], after: dict[str, Any]
    ) -> None:
        """Learn an observation, or leave the state unchanged if θ̂ or β would not be finite afterwards."""
        if self._grows:
            self._state = grow(self._fitting(x))
        gain = float(x @ x) if self._gain is None else self._gain
        reward = weight * abs(r)
        before = self._guard.copy_if_risky(self._state, weight * gain, reward)
        self._begin(Learning(observe, (x, r, *rest), before, reward, after, []))


def _started(strategy: Any, setting: Setting, rng: np.random.Generator) -> Any:
    """The state before round 1."""
    try:
        return start(strategy, setting, rng)
    except MemoryError:
        name, d = type(strategy).__name__, setting.dim
        raise InvalidValue(
            f"the state of {name} at dim = {d} does not fit into memory; its size grows with d², and with a window's W"
        ) from None


@entry
def _decide(strategy: Any, state: Any, arms: Matrix, score: Vector, choose: bool, rng: np.random.Generator) -> int:
    """Choose an arm, or only score all arms for the next choice."""
    if choose:
        return act(strategy, state, arms, score, rng)
    ready(strategy, state, rng)
    scores(strategy, state, arms, score)
    return -1


@entry
def _propensities(strategy: Any, state: Any, arms: Matrix, p: Vector, rng: np.random.Generator) -> None:
    ready(strategy, state, rng)
    propensities(strategy, state, arms, p)


@entry
def _observe(strategy: Any, state: Any, x: Vector, r: float, slot: int) -> float:
    learn(strategy, state, x, r, slot)
    return magnitude(strategy, state)


@entry
def _observe_late(
    strategy: Any, state: Any, x: Vector, r: float, slot: int, passes: bool, weight: float, age: int
) -> float:
    """Let a round pass, if `passes`; then learn a late reward, unless its weight is `NO_REWARD`."""
    if passes:
        skip(strategy, state)
    if weight >= 0.0:
        learn_late(strategy, state, x, r, slot, weight, age)
    return magnitude(strategy, state)


def _lost(*args: Any) -> Any:
    raise InvalidState("the estimate of this agent is not finite any more; load a saved one, or make a new one")
