"""Numbers 0..n−1 for the elements of a space: of tuples, several numbers, intervals.

Spaces are recognised by their attributes, so that nothing here imports Gymnasium:

==================  ===============================================================================================
Discrete(n)         as they are, less `start`
MultiDiscrete       a number of mixed radix, the last coordinate the fastest
MultiBinary         the same, radix 2
Tuple, Dict         the same over their parts (of a Dict in the order of its keys)
Box                 each coordinate falls into one of `bins` intervals of equal width, or between edges that you give
==================  ===============================================================================================
"""

from collections.abc import Callable, Hashable, Sequence
from math import prod
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InvalidShape, InvalidValue, integer

Bins = int | Sequence[int | ArrayLike]


class Numbering(Protocol):
    """A bijection between a space and 0..size−1, or, of a Box, the middle of each cell."""

    size: int

    def number(self, value: Any) -> int:
        """Of an element of the space."""

    def element(self, number: int) -> Any:
        """The element with this number."""


class Whole:
    """Discrete(n, start)."""

    def __init__(self, space: Any) -> None:
        self.size, self.start = int(space.n), int(getattr(space, "start", 0))

    def number(self, value: Any) -> int:
        """n = value − start."""
        return int(value) - self.start

    def element(self, number: int) -> Any:
        """Value = n + start."""
        return number + self.start


class Digits:
    """MultiDiscrete and MultiBinary: numbers of mixed radix."""

    def __init__(self, space: Any) -> None:
        radix = np.asarray(getattr(space, "nvec", np.full(space.shape, 2)))
        self.shape, self.radix = radix.shape, tuple(int(n) for n in radix.ravel())
        self.start = np.broadcast_to(np.asarray(getattr(space, "start", 0)), self.shape).ravel()
        self.size = prod(self.radix)

    def number(self, value: Any) -> int:
        """The index of the digits."""
        digits = tuple(int(x) for x in np.asarray(value).ravel() - self.start)
        return int(np.ravel_multi_index(digits, self.radix))

    def element(self, number: int) -> Any:
        """The digits of the index."""
        return (np.array(np.unravel_index(number, self.radix)) + self.start).reshape(self.shape)


class Cells:
    """A Box, cut into cells; what lies outside the outermost edges belongs to the outermost cells."""

    def __init__(self, space: Any, bins: Bins | None, name: str) -> None:
        low, high = np.asarray(space.low, float).ravel(), np.asarray(space.high, float).ravel()
        self.shape = space.shape
        if bins is None:
            raise InvalidValue(
                f"{name} is {space!r}; say how to cut it: {name_of_bins(name)}=10, or one number or list of edges for each "
                f"of its {len(low)} coordinates"
            )
        given = [bins] * len(low) if isinstance(bins, int | np.integer) else list(bins)
        if len(given) != len(low):
            raise InvalidShape(
                f"{name_of_bins(name)} has {len(given)} entries; {name} has {len(low)} coordinates: one for each"
            )
        coordinates = zip(given, low, high, strict=True)
        self.edges = [_edges(cut, least, most, name, i) for i, (cut, least, most) in enumerate(coordinates)]
        self.counts = tuple(len(edges) - 1 for edges in self.edges)
        self.size = prod(self.counts)

    def number(self, value: Any) -> int:
        """The cell into which the coordinates fall."""
        coordinates = np.asarray(value, float).ravel()
        if np.isnan(coordinates).any():
            raise InvalidValue(f"an observation contains NaN: {value!r:.60}; it falls into no interval")
        at = [
            int(np.searchsorted(edges[1:-1], x, side="right")) for edges, x in zip(self.edges, coordinates, strict=True)
        ]
        return int(np.ravel_multi_index(at, self.counts))

    def element(self, number: int) -> Any:
        """The middle of the cell."""
        at = np.unravel_index(number, self.counts)
        middle = [0.5 * (edges[i] + edges[i + 1]) for edges, i in zip(self.edges, at, strict=True)]
        return np.array(middle, np.float32).reshape(self.shape)


class Parts:
    """Tuple and Dict: numbers of mixed radix over their parts."""

    def __init__(self, parts: dict[Any, Numbering], as_tuple: bool) -> None:
        self.parts, self.as_tuple = parts, as_tuple
        self.radix = tuple(part.size for part in parts.values())
        self.size = prod(self.radix)

    def number(self, value: Any) -> int:
        """The index of the numbers of the parts."""
        return int(np.ravel_multi_index([part.number(value[key]) for key, part in self.parts.items()], self.radix))

    def element(self, number: int) -> Any:
        """The elements of the parts."""
        at = np.unravel_index(number, self.radix)
        found = {key: part.element(int(i)) for (key, part), i in zip(self.parts.items(), at, strict=True)}
        return tuple(found.values()) if self.as_tuple else found


def name_of_bins(name: str) -> str:
    """The argument of `discretise` that cuts this space."""
    return "action_bins" if name.startswith("action") else "bins"


def _edges(cut: Any, low: float, high: float, name: str, i: int) -> NDArray[np.float64]:
    """Edges of the intervals of one coordinate."""
    if not isinstance(cut, int | np.integer):
        edges = np.asarray(cut, float)
        if edges.ndim != 1 or len(edges) < 2 or not (np.diff(edges) > 0.0).all():
            raise InvalidValue(
                f"{name_of_bins(name)}[{i}] must be a number of intervals, or at least two edges that increase"
            )
        return edges
    count = integer(f"{name_of_bins(name)}[{i}]", int(cut), least=1, why="it is a number of intervals")
    if not (np.isfinite(low) and np.isfinite(high) and high - low < 1e30):
        raise InvalidValue(
            f"coordinate {i} of {name} lies in [{low:g}, {high:g}], which has no {count} intervals of equal width; "
            f"give its edges: {name_of_bins(name)}=[…, np.linspace(-3, 3, {count + 1}), …]"
        )
    return np.linspace(low, high, count + 1)


def numbering(space: Any, name: str, bins: Bins | None = None) -> Numbering:
    """Number the elements of a space, or say in one line why it cannot be done."""
    if hasattr(space, "nvec") or (hasattr(space, "n") and getattr(space, "shape", ()) not in ((), None)):
        return Digits(space)
    if hasattr(space, "n"):
        return Whole(space)
    if hasattr(space, "low") and hasattr(space, "high"):
        return Cells(space, bins, name)
    parts = getattr(space, "spaces", None)
    if isinstance(parts, dict):
        return Parts({key: numbering(part, f"{name}[{key!r}]", _of(bins, key)) for key, part in parts.items()}, False)
    if isinstance(parts, tuple | list):
        return Parts({i: numbering(part, f"{name}[{i}]", _of(bins, i)) for i, part in enumerate(parts)}, True)
    raise InvalidValue(
        f"{name} is {space!r:.80}; Discrete, MultiDiscrete, MultiBinary, Box, Tuple and Dict can be numbered. "
        "Give features: discretise(env, features=f, states=n), f(observation) anything hashable"
    )


def _of(bins: Any, key: Any) -> Any:
    """What belongs to a part: the same number for all, or that of the part."""
    if isinstance(bins, dict):
        return bins.get(key)
    if isinstance(bins, list | tuple) and isinstance(key, int):
        return bins[key] if key < len(bins) else None
    return bins


class Met:
    """What a function says of observations, numbered in the order in which it is met."""

    def __init__(self, features: Callable[[Any], Any], size: int) -> None:
        self.features, self.size = features, size
        self.numbers: dict[Hashable, int] = {}

    def number(self, value: Any) -> int:
        """The number of what the function says, a new one if it says something new."""
        said = self.features(value)
        if isinstance(said, np.ndarray):
            said = tuple(said.ravel().tolist())
        if not isinstance(said, Hashable):
            raise InvalidValue(
                f"features(observation) returned {said!r:.60}; it must be hashable: a number, text or tuple"
            )
        if said not in self.numbers and len(self.numbers) == self.size:
            raise InvalidValue(
                f"features(observation) returned {said!r:.60}, a state no. {self.size + 1}; there is room for states = {self.size}: "
                "give more room, or a coarser function"
            )
        return self.numbers.setdefault(said, len(self.numbers))

    def element(self, number: int) -> Any:
        """Not needed of observations."""
        raise NotImplementedError
