"""The common part of all strategies that restart a base: between restarts they answer as the base does.

Such a strategy has a field `base`; its state has `live`, the base's state since the last restart, and `blank`, a state of the base that has
seen nothing, from which `live` is copied at a restart.
"""

from typing import Any

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
from .forwarding import passes_on


def answers_as_its_base(kind: type, state: type) -> None:
    """Register what a restarting strategy passes on, and what is done to `live` and `blank` alike."""
    passes_on(kind, scores, optimism, magnitude, conditioning, noise_size, estimator)
    make_room.register(kind)(_make_room)
    indices_valid.register(state)(_indices_valid)
    grow.register(state)(grow_both)


def _make_room(strategy: Any, state: Any, n: int) -> Any:
    live, blank = (make_room(strategy.base, one, n) for one in (state.live, state.blank))
    return state if live is state.live and blank is state.blank else state._replace(live=live, blank=blank)


def _indices_valid(state: Any) -> bool:
    return same_layout(state) and all(count[0] >= 0 for count in state.clock)


def same_layout(state: Any) -> bool:
    """Whether `live` can be copied from `blank`."""
    one, other = pack(state.live), pack(state.blank)
    return all(one[name].shape == other[name].shape for name in one)


def grow_both(state: Any) -> Any:
    """The state with more room in `live`, and the same in `blank`."""
    live = grow(state.live) if grow.knows(type(state.live)) else state.live
    return state if live is state.live else state._replace(live=live, blank=widen(state.blank))
