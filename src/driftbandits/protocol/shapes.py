"""Whether the arrays of a state fit each other, and what compiled code is given with them.

Compiled code checks no bounds: an array that is too short would be read past its end. The shapes of a state are those that `start`,
`make_room` and `add_item` give it, but for rings of observations, whose last axis `grow` makes longer. No array changes its shape in place,
so a state is compared once, when it is new, and later calls compare its identity alone.
"""

from typing import Any

import numpy as np

from ..core.state import leaves, nodes
from ..errors import InvalidShape
from . import add_item, make_room, widen

TORN = "please report how it came to this; nothing was changed, and a saved agent can be loaded"


class Shapes:
    """The shapes that the arrays of a strategy's state must have; `like` is a state that has them."""

    def __init__(self, like: Any) -> None:
        self._outline = _outline(like)
        self._arrays = {path: (array.shape, array.dtype) for path, array in leaves(like)}
        self._rings = growing(like)

    def with_room(self, strategy: Any, n: int) -> "Shapes":
        """The shapes of a state with workspace for n arms."""
        like = make_room(strategy, self._outline, n)
        return self if like is self._outline else Shapes(like)

    def with_item(self, strategy: Any) -> "Shapes":
        """The shapes of a state with one more item."""
        return Shapes(add_item(strategy, self._outline))

    def check(self, state: Any) -> None:
        """Raise if an array is missing or has another type or shape than it must have."""
        found, lengths = dict(leaves(state)), set()
        if found.keys() != self._arrays.keys():
            raise InvalidShape(f"the state has arrays {[*found]}, and must have {[*self._arrays]}: {TORN}")
        for path, (shape, dtype) in self._arrays.items():
            given = found[path]
            fits = given.shape == shape
            if path in self._rings:
                fits = given.shape[:-1] == shape[:-1] and given.shape[-1] >= shape[-1]
                lengths.add((path.rpartition(".")[0], given.shape[-1]))
            if not fits or given.dtype != dtype:
                raise InvalidShape(
                    f"{path} is {given.dtype} of shape {given.shape}, and must be {dtype} of shape {shape}: {TORN}"
                )
        if len(lengths) > len({path for path, _ in lengths}):
            raise InvalidShape(f"rings of observations have different lengths, {sorted(lengths)}: {TORN}")


def growing(state: Any) -> frozenset[str]:
    """The names of arrays that `grow` may have made longer."""
    rings = [(path, node) for path, node in nodes(state) if widen.knows(type(node))]
    return frozenset(path + name for path, node in rings for name in ("X", "N") if hasattr(node, name))


def _outline(state: Any) -> Any:
    """The same tree of arrays of zeros, which take no memory, whatever their shapes."""
    if isinstance(state, tuple):
        return type(state)(*map(_outline, state))
    return np.broadcast_to(np.zeros((), state.dtype), state.shape)
