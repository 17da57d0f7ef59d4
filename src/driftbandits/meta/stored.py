"""Many copies of one state: the same tree of arrays with a leading axis, of which `view_state` shows one place."""

from collections.abc import Sequence
from typing import Any

import numpy as np


def filled(state: Any, places: int) -> Any:
    """That many copies of a state."""
    if isinstance(state, tuple):
        return type(state)(*(filled(field, places) for field in state))
    room = np.empty((places, *state.shape), state.dtype)
    room[...] = state
    return room


def joined(states: Sequence[Any]) -> Any:
    """States of equal shapes, one in each place."""
    if isinstance(states[0], tuple):
        return type(states[0])(*map(joined, zip(*states, strict=True)))
    return np.stack(states)


def duplicate(state: Any) -> Any:
    """A second state, equal to the first, that shares no array with it."""
    return type(state)(*map(duplicate, state)) if isinstance(state, tuple) else state.copy()
