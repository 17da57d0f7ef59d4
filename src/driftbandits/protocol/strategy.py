"""The open functions of a strategy: decide, learn, and optional features."""

from typing import Any

import numpy as np

from ..core.kernel import generic
from ..core.linalg import Matrix, Vector
from .tuples import Setting


@generic
def settle(strategy: Any, dim: int) -> Any:
    """The strategy to run in this dimension: by default the same one; another if one of its defaults depends on d. (Python only.)"""
    return strategy


@generic
def start(strategy: Any, setting: Setting, rng: np.random.Generator) -> Any:
    """The state before round 1. (Python only.)"""


@generic
def ready(strategy: Any, state: Any, rng: np.random.Generator) -> None:
    """Draw all randomness that the next decision needs; by default none. A second call before the decision has no effect."""
    return


@generic
def act(strategy: Any, state: Any, arms: Matrix, score: Vector, rng: np.random.Generator) -> int:
    """Index of the arm to play. `score` (n,) is scratch."""


@generic
def scores(strategy: Any, state: Any, arms: Matrix, score: Vector) -> None:
    """Write the exact index of every arm into `score` (n,); call `ready` first."""


@generic
def propensities(strategy: Any, state: Any, arms: Matrix, p: Vector) -> None:
    """Write the probability that the next `act` chooses each arm into p (n,), with sum 1; call `ready` first.

    The probabilities are exact, conditional on everything drawn so far including `ready`; the remaining randomness is what `act` draws.
    `act` must choose with these probabilities whether this function was called or not. Only randomised strategies have a method.
    """


@generic
def make_room(strategy: Any, state: Any, n: int) -> Any:
    """The state with workspace for n arms on offer; the same state if it is large enough, and by default. (Python only.)"""
    return state


@generic
def add_item(strategy: Any, state: Any) -> Any:
    """The state with one more item, numbered last. (Python only; only strategies with a model per item have it.)"""


@generic
def drop_item(strategy: Any, state: Any, item: int) -> None:
    """Never choose this item again. (Python only; only strategies with a model per item.)"""


@generic
def optimism(strategy: Any, state: Any) -> float:
    """The index of the arm last chosen."""


@generic
def learn(strategy: Any, state: Any, x: Vector, r: float, slot: int) -> None:
    """Learn from the observation (x, r); slot is the arm's position in the setting's arms, or `NO_SLOT`."""


@generic
def skip(strategy: Any, state: Any) -> None:
    """Advance the clock by a round whose reward has not arrived, because the next decision or another reward came first. (Optional.)"""


@generic
def learn_late(strategy: Any, state: Any, x: Vector, r: float, slot: int, weight: float, age: int) -> None:
    """Learn from an observation of the round `age` rounds before the last one, as if it had arrived on time. (Optional.)

    Strategies without a method (for example a schedule that tests rewards in the order of the rounds) cannot use late rewards.
    """


@generic
def exact_when_late(strategy: Any) -> bool:
    """Whether `learn_late` leaves exactly the state that rewards on time would have left. (Python only.)"""
    return True


@generic
def late_refusal(strategy: Any, state: Any, age: int) -> str:
    """The reason why `learn_late` refuses an observation of that age (−1: the next round); "" if it accepts. (Python only; with `skip`.)"""
