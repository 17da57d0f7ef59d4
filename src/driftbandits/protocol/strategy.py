"""What a strategy answers: decide, learn, and the options beyond."""

from typing import Any

import numpy as np

from ..core.kernel import generic
from ..core.linalg import Matrix, Vector
from .tuples import Setting


@generic
def settle(strategy: Any, dim: int) -> Any:
    """What runs in this dimension: by default the strategy itself; another where a default depends on d. (Python only.)"""
    return strategy


@generic
def start(strategy: Any, setting: Setting, rng: np.random.Generator) -> Any:
    """The state before round 1. (Python only.)"""


@generic
def ready(strategy: Any, state: Any, rng: np.random.Generator) -> None:
    """Draw all randomness the coming decision needs; by default none. Drawing twice before a decision changes nothing."""
    return


@generic
def act(strategy: Any, state: Any, arms: Matrix, score: Vector, rng: np.random.Generator) -> int:
    """Index of the arm to play. `score` (n,) is scratch."""


@generic
def scores(strategy: Any, state: Any, arms: Matrix, score: Vector) -> None:
    """The exact index of every arm, into `score` (n,); call `ready` first."""


@generic
def propensities(strategy: Any, state: Any, arms: Matrix, p: Vector) -> None:
    """The probability that the coming `act` chooses each arm, into p (n,), adding up to 1; call `ready` first.

    Exact given everything drawn so far and by `ready`: what is left to chance is what `act` draws. `act` must choose with these
    probabilities whether they were asked for or not. Only strategies that choose at random have a method.
    """


@generic
def make_room(strategy: Any, state: Any, n: int) -> Any:
    """The state with workspace for n arms on offer; itself if it has it, and by default. (Python only.)"""
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
    """A decision's reward is not here yet, and the next decision or a late reward is: its round passes. (Optional.)"""


@generic
def learn_late(strategy: Any, state: Any, x: Vector, r: float, slot: int, weight: float, age: int) -> None:
    """Learn from an observation of the round `age` rounds before the last one, as if it had come in time. (Optional.)

    Strategies without it (a schedule that tests every reward in its turn) are told late rewards in no way.
    """


@generic
def exact_when_late(strategy: Any) -> bool:
    """Does `learn_late` leave exactly what rewards in time would have left? (Python only.)"""
    return True


@generic
def hears(strategy: Any, state: Any, age: int) -> str:
    """Why `learn_late` cannot take an observation of that age, −1 for the coming round; empty if it can. (Python only; with `skip`.)"""
