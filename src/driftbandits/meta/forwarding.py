"""Open functions that a strategy around a base answers by calling the base.

Such a strategy has a field `base`, and its state has a field `live`, the state of that base. An open function whose answer does not depend
on the wrapping strategy has one method for all of them, below; `passes_on` registers it.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.linalg import Matrix, Vector
from ..protocol import (
    Limits,
    conditioning,
    ellipsoid,
    estimator,
    exact_when_late,
    late_refusal,
    learn_late,
    limits,
    magnitude,
    noise_size,
    optimism,
    ready,
    scores,
    skip,
)


def passes_on(kind: type, *questions: Any) -> None:
    """Register the base's answer to each of these open functions for a strategy."""
    for question in questions:
        question.register(kind)(ANSWERS[question])


def _ready(strategy: Any, state: Any, rng: np.random.Generator) -> None:
    ready(strategy.base, state.live, rng)


def _scores(strategy: Any, state: Any, arms: Matrix, score: Vector) -> None:
    scores(strategy.base, state.live, arms, score)


def _skip(strategy: Any, state: Any) -> None:
    skip(strategy.base, state.live)


def _optimism(strategy: Any, state: Any) -> float:
    return optimism(strategy.base, state.live)


def _magnitude(strategy: Any, state: Any) -> float:
    return magnitude(strategy.base, state.live)


def _conditioning(strategy: Any, state: Any) -> tuple[float, float, float]:
    if not conditioning.knows(type(strategy.base)):
        return np.inf, 0.0, 1.0  # unknown: an infinite trace makes the guard check every update
    return conditioning(strategy.base, state.live)


def _estimator(strategy: Any, state: Any) -> Vector:
    return estimator(strategy.base, state.live)


def _ellipsoid(strategy: Any, state: Any) -> tuple[Vector, Matrix]:
    return ellipsoid(strategy.base, state.live)


def _noise_size(strategy: Any) -> float:
    return noise_size(strategy.base)


def _limits(strategy: Any) -> Limits:
    return limits(strategy.base)


def _exact_when_late(strategy: Any) -> bool:
    return exact_when_late(strategy.base)


def base_refuses(strategy: Any, state: Any, age: int) -> str:
    """Why the base cannot learn a reward of `age` rounds ago; empty if it can."""
    if not (skip.knows(type(strategy.base)) and learn_late.knows(type(strategy.base))):
        return f"its base {type(strategy.base).__name__} learns rewards in the order of their rounds only"
    return late_refusal(strategy.base, state.live, age)


ANSWERS: dict[Any, Callable[..., Any]] = {
    ready: _ready,
    scores: _scores,
    skip: _skip,
    optimism: _optimism,
    magnitude: _magnitude,
    conditioning: _conditioning,
    estimator: _estimator,
    ellipsoid: _ellipsoid,
    noise_size: _noise_size,
    limits: _limits,
    exact_when_late: _exact_when_late,
    late_refusal: base_refuses,
}
