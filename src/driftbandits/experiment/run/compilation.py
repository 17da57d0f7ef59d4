"""Compile every composition an experiment needs before its trials start: in two processes, into the cache all share."""

import contextlib
import hashlib
import importlib.metadata
import os
import pathlib
import sys
from collections.abc import Callable, Iterable
from concurrent.futures import as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from typing import Any

from ...core import code_cache
from ...env import Table, World, static
from ...simulate.runs import simulate
from .cells import Cell, one_run
from .objects import composition, strategy_of, world_of
from .workers import workers

ROUNDS = 4  # enough to call every function once


def needed(cells: Iterable[Cell]) -> dict[str, dict[str, Any]]:
    """One cell's specification for every composition."""
    return {cell.composition: cell.spec for cell in reversed(list(cells))}


def compile_one(spec: dict[str, Any]) -> None:
    """Run a few rounds of a cell, which compiles its composition, or loads it from the code_cache."""
    world, strategy = world_of(spec["environment"]), strategy_of(spec["strategy"])
    if isinstance(world, World):
        short = replace(world, path=static(ROUNDS, dim=world.dim, norm=world.path.norm))
        simulate(strategy, short, checkpoints=1, check="off")
    elif isinstance(world, Table):
        simulate(strategy, world.first(ROUNDS), checkpoints=1, check="off")
    else:
        one_run(strategy, world, {**spec, "horizon": 2, "checkpoints": 1})
    stamp = _stamp(composition(strategy, world))
    if stamp is not None and stamp.parent.is_dir():  # else the code was not kept either
        with contextlib.suppress(OSError):
            stamp.touch()


def _stamp(name: str) -> pathlib.Path | None:
    version = hashlib.sha256(f"{importlib.metadata.version('numba')} {sys.version} {name}".encode()).hexdigest()[:16]
    place = code_cache.folder()
    return None if place is None else place / f"compiled-{version}"


def is_compiled(name: str) -> bool:
    """Whether a process has compiled this composition into the cache."""
    stamp = _stamp(name)
    return stamp is not None and stamp.exists()


def compile_ahead(cells: Iterable[Cell], *, jobs: int, report: Callable[[int, int], None] = lambda *_: None) -> None:
    """Compile what is not yet in the cache, in at most two processes; then load everything into this one."""
    wanted = needed(cells)
    names = sorted((name for name in wanted if not is_compiled(name)), key=len, reverse=True)
    missing = [wanted[name] for name in names]  # the largest first, so that no process waits long
    if len(missing) > 1 and jobs > 1 and not os.environ.get("NUMBA_DISABLE_JIT"):
        compile_apart(missing, report)
    elif missing:
        report(0, len(missing))
    for number, spec in enumerate(wanted.values(), start=1):
        compile_one(spec)
        if missing and len(missing) <= 1:
            report(min(number, len(missing)), len(missing))


def compile_apart(specs: list[dict[str, Any]], report: Callable[[int, int], None] = lambda *_: None) -> None:
    """Compile in at most two other processes. What fails there fails again in this process, which reports why."""
    report(0, len(specs))
    with workers(min(2, len(specs)), prepare=_nothing) as pool:
        for done, future in enumerate(as_completed([pool.submit(compile_one, spec) for spec in specs]), start=1):
            if isinstance(future.exception(), BrokenProcessPool):
                return
            report(done, len(specs))


def _nothing() -> None:
    """A task that does nothing: unpickling it makes the process import what compilation needs."""
