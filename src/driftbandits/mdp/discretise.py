"""Environments whose states or actions are not numbers 0..n−1: `discretise(env, bins=…)` numbers them (`spaces`).

A vector environment has one number for each of its copies. Gymnasium batches what is made of parts part by part: an observation of
Tuple(Discrete, Box) of four copies is a tuple of an array (4,) and an array (4, …). `_one` takes out that of one copy, `_batch` puts
actions together.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InvalidValue, integer
from .spaces import Bins, Met, Numbering, numbering

LARGEST = 1 << 22  # states that a table may have


def is_vector(env: Any) -> bool:
    """Is this a vector environment?"""
    return hasattr(env, "num_envs") and hasattr(env, "single_observation_space")


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


class DiscretisedVector:
    """A vector environment with states 0..S−1 and actions 0..A−1; made by `discretise`."""

    def __init__(self, env: Any, states: Numbering, actions: Numbering) -> None:
        self.env, self.states, self.actions, self.num_envs = env, states, actions, int(env.num_envs)
        self.single_observation_space, self.single_action_space = Count(states.size), Count(actions.size)

    def __repr__(self) -> str:
        return f"DiscretisedVector({self.states.size} states, {self.actions.size} actions of {self.env!r:.60})"

    @property
    def spec(self) -> Any:
        """Of the environments; their time limit."""
        return getattr(self.env, "spec", None)

    @property
    def metadata(self) -> Any:
        """How the environments are reset."""
        return getattr(self.env, "metadata", {})

    def reset(self, **options: Any) -> tuple[NDArray[np.int64], Any]:
        """(states, info)."""
        observations, info = self.env.reset(**options)
        return self._numbers(observations), info

    def step(self, actions: Sequence[int]) -> tuple[Any, ...]:
        """(states, rewards, terminated, truncated, info)."""
        played = [self.actions.element(int(action)) for action in actions]
        observations, *rest, info = self.env.step(_batch(self.env.single_action_space, played))
        final = info.get("final_obs")  # of copies that were reset in this step
        if final is not None:
            info = info | {"final_obs": [None if one is None else self.states.number(one) for one in final]}
        return (self._numbers(observations), *rest, info)

    def close(self) -> None:
        """Close the environments."""
        self.env.close()

    def _numbers(self, observations: Any) -> NDArray[np.int64]:
        space = self.env.single_observation_space
        return np.array([self.states.number(_one(space, observations, i)) for i in range(self.num_envs)])


def parts_of(space: Any) -> dict[Any, Any]:
    """The parts of a Tuple or Dict by their keys; of other spaces none."""
    parts = getattr(space, "spaces", ())
    return dict(parts if isinstance(parts, dict) else enumerate(parts))


def _one(space: Any, batch: Any, i: int) -> Any:
    """Element i of a batch."""
    found = {key: _one(part, batch[key], i) for key, part in parts_of(space).items()}
    if not found:
        return batch[i]
    return tuple(found.values()) if isinstance(batch, tuple) else found


def _batch(space: Any, elements: Sequence[Any]) -> Any:
    """Elements of a space as Gymnasium batches them."""
    found = {key: _batch(part, [element[key] for element in elements]) for key, part in parts_of(space).items()}
    if not found:
        return np.asarray(elements, getattr(space, "dtype", None))
    return tuple(found.values()) if isinstance(elements[0], tuple) else found


def discretise(
    env: Any,
    *,
    bins: Bins | None = None,
    action_bins: Bins | None = None,
    features: Callable[[Any], Any] | None = None,
    states: int | None = None,
) -> "Discretised | DiscretisedVector":
    """An environment whose states and actions are numbered, so that tables can learn it.

    Parameters
    ----------
    env
        An environment, or a vector environment, each of whose copies is numbered alike.
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
    single = "single_" if is_vector(env) else ""
    spaces = [getattr(env, single + name, None) for name in ("observation_space", "action_space")]
    if None in spaces or not all(callable(getattr(env, name, None)) for name in ("reset", "step")):
        raise InvalidValue(
            f"env = {env!r:.60} has no observation_space and action_space; discretise needs a Gymnasium environment"
        )
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
    return (DiscretisedVector if single else Discretised)(env, found, actions)
