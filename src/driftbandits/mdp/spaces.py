"""Environments whose states or actions are not numbers 0..n−1: tuples, several numbers, intervals.

`discretise(env, bins=…)` numbers them. Spaces are recognised by their attributes, so that nothing here imports Gymnasium:

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
LARGEST = 1 << 22  # states that a table may have


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


class Count:
    """What `run` asks of a space: Discrete(n)."""

    def __init__(self, n: int) -> None:
        self.n, self.start = n, 0

    def __repr__(self) -> str:
        return f"Discrete({self.n})"


class Discretised:
    """An environment with states 0..S−1 and actions 0..A−1; made by `discretise`."""

    def __init__(self, env: Any, states: Numbering, actions: Numbering) -> None:
        self.env, self.states, self.actions = env, states, actions
        self.observation_space, self.action_space = Count(states.size), Count(actions.size)

    def __repr__(self) -> str:
        return f"Discretised({self.states.size} states, {self.actions.size} actions of {self.env!r:.60})"

    @property
    def spec(self) -> Any:
        """Of the environment; its time limit."""
        return getattr(self.env, "spec", None)

    def reset(self, **options: Any) -> tuple[int, Any]:
        """(state, info)."""
        observation, info = self.env.reset(**options)
        return self.states.number(observation), info

    def step(self, action: int) -> tuple[int, float, bool, bool, Any]:
        """(state, reward, terminated, truncated, info)."""
        observation, *rest = self.env.step(self.actions.element(int(action)))
        return (self.states.number(observation), *rest)

    def close(self) -> None:
        """Close the environment."""
        if hasattr(self.env, "close"):
            self.env.close()


def discretise(
    env: Any,
    *,
    bins: Bins | None = None,
    action_bins: Bins | None = None,
    features: Callable[[Any], Any] | None = None,
    states: int | None = None,
) -> Discretised:
    """An environment whose states and actions are numbered, so that tables can learn it.

    Parameters
    ----------
    bins
        How coordinates of a Box are cut: a number of intervals for all, or one entry for each coordinate, a number or a list of edges;
        of a Tuple or Dict one entry for each part. Not needed without a Box.
    action_bins
        The same for actions; the middle of an interval is played.
    features, states
        In place of bins: `features(observation)` returns anything hashable, and each different one is a state, numbered in the order in
        which it is met, with room for `states` of them.

    Examples
    --------
    >>> import gymnasium, driftbandits as db
    >>> db.mdp.discretise(gymnasium.make("Blackjack-v1")).observation_space
    Discrete(704)
    >>> edges = [np.linspace(-2.4, 2.4, 7), np.linspace(-3, 3, 7), np.linspace(-0.2, 0.2, 9), np.linspace(-3, 3, 7)]
    >>> db.mdp.discretise(gymnasium.make("CartPole-v1"), bins=edges).observation_space
    Discrete(1728)
    >>> db.mdp.discretise(gymnasium.make("Blackjack-v1"), features=lambda o: min(o[0], 21), states=32).observation_space
    Discrete(32)
    """
    spaces = [getattr(env, name, None) for name in ("observation_space", "action_space")]
    if None in spaces or not all(callable(getattr(env, name, None)) for name in ("reset", "step")):
        raise InvalidValue(
            f"env = {env!r:.60} has no observation_space and action_space; discretise needs a Gymnasium environment"
        )
    if hasattr(env, "num_envs"):
        raise InvalidValue("discretise takes one environment; make the vector environment of discretised ones instead")
    actions = numbering(spaces[1], "action_space", action_bins)
    if features is None:
        if states is not None:
            raise InvalidValue(
                "states belongs to features=; without it the number of states follows from the space and bins"
            )
        found = numbering(spaces[0], "observation_space", bins)
    else:
        if bins is not None or states is None or not callable(features):
            raise InvalidValue("give features=f, a function of the observation, with states=n, and no bins")
        found = Met(features, integer("states", states, least=1, why="it is the number of states there is room for"))
    if found.size > LARGEST:
        raise InvalidValue(
            f"observation_space has {found.size} cells; a table may have {LARGEST}: take fewer bins, or features=f, states=n"
        )
    return Discretised(env, found, actions)
