"""A state from a file. Compiled code checks no bounds, so every shape, place and count is checked before it is believed."""

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.state import leaves, nodes, unpack
from ..errors import CannotRead
from . import sound


def restored(like: Any, arrays: Mapping[str, NDArray[Any]], *, longer: Collection[str] = ()) -> Any:
    """The state that was packed, of the names and shapes in `like`; see `state.unpack` for `longer`."""
    state = unpack(like, arrays, longer=longer)
    if not all(sound(node) and _slots_fit(node) for _, node in nodes(state)):
        raise CannotRead("its places and counts point outside its arrays")
    return state


def restore(state: Any, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write what was packed into a state of equal shapes. Arrays that two of its fields share stay shared."""
    checked = restored(state, arrays)
    for (_, array), (_, given) in zip(leaves(state), leaves(checked), strict=True):
        array[...] = given


def _slots_fit(node: Any) -> bool:
    """Do the observations that a window keeps say where in the sums they are counted, or −1?"""
    slots = getattr(getattr(node, "history", None), "slot", None)
    counts = getattr(getattr(node, "sums", None), "N", None)
    if slots is None or counts is None:
        return True
    return bool(np.all((slots >= -1) & (slots < counts.shape[-1])))
