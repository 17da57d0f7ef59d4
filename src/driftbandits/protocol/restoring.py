"""A state from a file. Compiled code checks no bounds, so every shape, index and count is validated before it is used."""

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.state import leaves, nodes, unpack
from ..errors import CannotRead
from . import indices_valid


def restored(like: Any, arrays: Mapping[str, NDArray[Any]], *, longer: Collection[str] = ()) -> Any:
    """The state that was packed, of the names and shapes in `like`; see `state.unpack` for `longer`."""
    state = unpack(like, arrays, longer=longer)
    if not all(indices_valid(node) and _slots_fit(node) for _, node in nodes(state)):
        raise CannotRead("its indices and counts point outside its arrays")
    return state


def restore(state: Any, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write packed arrays into an existing state of equal shapes. Arrays that two of its fields share stay shared."""
    checked = restored(state, arrays)
    for (_, array), (_, given) in zip(leaves(state), leaves(checked), strict=True):
        array[...] = given


def _slots_fit(node: Any) -> bool:
    """Whether the slot of every observation in a window is an index into the counts of the sums, or −1."""
    slots = getattr(getattr(node, "history", None), "slot", None)
    counts = getattr(getattr(node, "sums", None), "N", None)
    if slots is None or counts is None:
        return True
    return bool(np.all((slots >= -1) & (slots < counts.shape[-1])))
