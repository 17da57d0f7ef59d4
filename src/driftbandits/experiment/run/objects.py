"""Worlds and strategies of cells, each created once; the machine code they need; whether they fit each other."""

import functools
import json
import math
import pathlib
from typing import Any

import numpy as np

from ...core.checks import SLACK
from ...env import Table, World
from ...env.table import Cube
from ...errors import InvalidValue
from ...mdp.protocol import open_book
from ...mdp.protocol import settled as settled_in_mdp
from ...protocol import Setting, limits, settle, start
from ...simulate.runs import check_table
from ..spec.calls import Resolved, build
from ..spec.limits import numbers_of

DATA = ("file", "X", "R", "times", "expected")  # parameters of worlds that may name a file
KEPT = 1 << 20  # numbers; larger worlds are made again for every cell rather than kept


def strategy_of(tree: Resolved) -> Any:
    """The strategy of a resolved description. It is a configuration, never changed: all its cells share it."""
    return _strategy(json.dumps(tree, sort_keys=True))


def world_of(tree: Resolved) -> Any:
    """The world of a resolved description; the cells of a trial follow each other, and share it."""
    files = tuple((str(path), path.stat().st_mtime_ns, path.stat().st_size) for path in files_of(tree))
    return build("environment", tree) if numbers_of(tree) > KEPT else _world(json.dumps(tree, sort_keys=True), files)


def files_of(tree: Resolved) -> list[pathlib.Path]:
    """The files of data that a world is made of."""
    given = [pathlib.Path(value) for key, value in tree.items() if key in DATA and isinstance(value, str)]
    return [path for path in given if path.is_file()]


@functools.lru_cache(maxsize=1024)
def _strategy(text: str) -> Any:
    return build("strategy", json.loads(text))


@functools.lru_cache(maxsize=32)
def _world(text: str, files: tuple[tuple[str, int, int], ...]) -> Any:
    return build("environment", json.loads(text))


def composition(strategy: Any, world: Any) -> str:
    """The same for cells that run the same machine code: the types of all parts, without their numbers."""
    if isinstance(world, World):
        return f"{type(world.reward).__qualname__} {_types(settle(strategy, world.dim))}"
    if isinstance(world, Table):
        return f"Table {_types(settle(strategy, world.dim))}"
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
    if not isinstance(world, World | Table):
        if first:
            open_book(*settled_in_mdp(strategy, world.task))
        return
    ready = settle(strategy, world.dim)
    if not limits.knows(type(ready)):
        raise InvalidValue(f"{type(ready).__name__} is not a strategy for bandits")
    items, offer, L = 0, np.zeros((world.dim, 0)), limits(ready).L
    if isinstance(world, Table):
        check_table(ready, world, "error")
        items = world.choices if world.items else 0
        for _, arms in world.blocks(world.horizon) if first else ():
            _check_lengths(arms, L)
    else:
        arms = next(world.arms.blocks(world.horizon, 1))
        _check_lengths(arms, L)
        offer = arms[0] if world.arms.fixed else offer
    if first:
        start(ready, Setting(world.dim, offer, world.horizon, items), np.random.default_rng(0))


def _check_lengths(arms: Cube, L: float) -> None:
    """As `check_arms` says, whose measure is compiled."""
    longest = math.sqrt(float(np.einsum("tin,tin->tn", arms, arms).max()))
    if longest > L * SLACK:
        raise InvalidValue(f"an arm has norm {longest:.6g} > L = {L:.6g}; raise L, or rescale the arms")
