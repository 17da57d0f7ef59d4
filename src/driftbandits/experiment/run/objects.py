"""The worlds and strategies that cells describe, each made once; which machine code they need; whether they fit."""

import functools
import json
import math
from typing import Any

import numpy as np

from ...checks import SLACK
from ...env import Bandit
from ...errors import InvalidValue
from ...mdp.protocol import open_book
from ...mdp.protocol import settled as settled_in_mdp
from ...protocol import Setting, limits, settle, start
from ..spec.calls import Resolved, build
from ..spec.limits import numbers_of

KEPT = 1 << 20  # numbers; larger worlds are made again for every cell rather than kept


def strategy_of(tree: Resolved) -> Any:
    """The strategy of a resolved description. It is a configuration, never changed: all its cells share it."""
    return _strategy(json.dumps(tree, sort_keys=True))


def world_of(tree: Resolved) -> Any:
    """The world of a resolved description; the cells of a trial follow each other, and share it."""
    return build("environment", tree) if numbers_of(tree) > KEPT else _world(json.dumps(tree, sort_keys=True))


@functools.lru_cache(maxsize=1024)
def _strategy(text: str) -> Any:
    return build("strategy", json.loads(text))


@functools.lru_cache(maxsize=32)
def _world(text: str) -> Any:
    return build("environment", json.loads(text))


def composition(strategy: Any, world: Any) -> str:
    """The same for cells that run the same machine code: the types of all parts, without their numbers."""
    if isinstance(world, Bandit):
        return f"{type(world.reward).__qualname__} {_types(settle(strategy, world.dim))}"
    return f"{type(world).__qualname__} {_types(settled_in_mdp(strategy, world.task)[0])}"


def _types(value: Any) -> str:
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return f"{type(value).__module__}.{type(value).__qualname__}({','.join(_types(v) for v in value)})"
    if isinstance(value, tuple):
        return f"({','.join(_types(v) for v in value)})"
    return f"array{value.ndim}" if isinstance(value, np.ndarray) else type(value).__name__


def check_fit(strategy: Any, world: Any, *, first: bool) -> None:
    """Refuse a strategy that cannot run in this world, before anything is compiled.

    In the first trial its state is allocated, once; in every trial the arms are measured against its L.
    """
    if not isinstance(world, Bandit):
        if first:
            open_book(*settled_in_mdp(strategy, world.task))
        return
    ready = settle(strategy, world.dim)
    if not limits.knows(type(ready)):
        raise InvalidValue(f"{type(ready).__name__} is not a strategy for bandits")
    arms = next(world.arms.blocks(world.horizon, 1))
    longest, L = math.sqrt(float(np.einsum("tin,tin->tn", arms, arms).max())), limits(ready).L
    if longest > L * SLACK:  # as `check_arms` says, whose measure is compiled
        raise InvalidValue(f"an arm has norm {longest:.6g} > L = {L:.6g}; raise L, or rescale the arms")
    if first:
        offer = arms[0] if world.arms.fixed else np.zeros((world.dim, 0))
        start(ready, Setting(world.dim, offer, world.horizon), np.random.default_rng(0))
