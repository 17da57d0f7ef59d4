"""Many copies of one state: the same tree of arrays with a leading axis, for `save_state` and `load_state`."""

import copy
from typing import Any

import numpy as np


def stacked(state: Any, places: int) -> Any:
    """Allocate room for `places` copies of a state."""
    if isinstance(state, tuple):
        return type(state)(*(stacked(field, places) for field in state))
    return np.zeros((places, *state.shape), state.dtype)


def duplicate(state: Any) -> Any:
    """A second state, equal to the first, that shares no array with it."""
    return copy.deepcopy(state)
