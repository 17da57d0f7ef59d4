"""What all strategies share that restart a base: between restarts they answer as the base does.

Such a strategy has a field `base`; its state has `live`, the base's state since the last restart, and `blank`, a state of the base that has
seen nothing, from which `live` is copied at a restart. `answers_as_its_base` registers the open functions that only pass a question on.
"""

from typing import Any

import numpy as np

from ..core.linalg import Matrix, Vector
from ..core.state import pack
from ..protocol import (
    conditioning,
    estimator,
    grow,
    indices_valid,
    magnitude,
    make_room,
    noise_size,
    optimism,
    scores,
    widen,
)


def answers_as_its_base(kind: type, state: type) -> None:
    """Register the methods below for a strategy and its state."""
    scores.register(kind)(_scores)
    optimism.register(kind)(_optimism)
    magnitude.register(kind)(_magnitude)
    conditioning.register(kind)(_conditioning)
    noise_size.register(kind)(_noise_size)
    estimator.register(kind)(_estimator)
    make_room.register(kind)(_make_room)
    indices_valid.register(state)(_indices_valid)
    grow.register(state)(_grow)


def _scores(strategy: Any, state: Any, arms: Matrix, score: Vector) -> None:
    scores(strategy.base, state.live, arms, score)


def _optimism(strategy: Any, state: Any) -> float:
    return optimism(strategy.base, state.live)


def _magnitude(strategy: Any, state: Any) -> float:
    return magnitude(strategy.base, state.live)


def _conditioning(strategy: Any, state: Any) -> tuple[float, float, float]:
    if not conditioning.knows(type(strategy.base)):
        return np.inf, 0.0, 1.0  # unknown: an infinite trace makes the guard check every update
    return conditioning(strategy.base, state.live)


def _noise_size(strategy: Any) -> float:
    return noise_size(strategy.base)


def _estimator(strategy: Any, state: Any) -> Vector:
    return estimator(strategy.base, state.live)


def _make_room(strategy: Any, state: Any, n: int) -> Any:
    live, blank = (make_room(strategy.base, one, n) for one in (state.live, state.blank))
    return state if live is state.live and blank is state.blank else state._replace(live=live, blank=blank)


def _indices_valid(state: Any) -> bool:
    one, other = pack(state.live), pack(state.blank)
    fits = all(one[name].shape == other[name].shape for name in one)
    return bool(fits and all(count[0] >= 0 for count in state.clock))


def _grow(state: Any) -> Any:
    live = grow(state.live) if grow.knows(type(state.live)) else state.live
    return state if live is state.live else state._replace(live=live, blank=widen(state.blank))
