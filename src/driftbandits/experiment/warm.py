"""Compile every composition an experiment needs before its trials start: in two processes, into the cache all share."""

import hashlib
import importlib.metadata
import json
import os
import sys
import threading
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from ..env import Bandit, static
from ..kernel import cache_folder
from ..simulate import simulate
from .calls import build
from .cells import Cell, one_run
from .helper import DIED, Helper, serve

ROUNDS = 4  # enough to call every function once


def composition(spec: dict[str, Any]) -> str:
    """The same for cells that run the same machine code: the types of all parts, without their numbers."""
    world = build("environment", spec["environment"])
    reward = type(world.reward).__qualname__ if isinstance(world, Bandit) else type(world).__qualname__
    return f"{reward} {_types(build('strategy', spec['strategy']))}"


def _types(value: Any) -> str:
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return f"{type(value).__module__}.{type(value).__qualname__}({','.join(_types(v) for v in value)})"
    if isinstance(value, tuple):
        return f"({','.join(_types(v) for v in value)})"
    return f"array{value.ndim}" if isinstance(value, np.ndarray) else type(value).__name__


def needed(cells: Iterable[Cell]) -> dict[str, dict[str, Any]]:
    """One cell's specification for every composition."""
    seen: dict[str, str] = {}
    answer: dict[str, dict[str, Any]] = {}
    for cell in cells:
        shape = json.dumps([_skeleton(cell.spec["strategy"]), _skeleton(cell.spec["environment"])])
        if shape not in seen:
            seen[shape] = composition(cell.spec)
            answer.setdefault(seen[shape], cell.spec)
    return answer


def _skeleton(tree: Any) -> Any:
    """A resolved call without its numbers, but with its texts and switches, which may choose other parts."""
    if isinstance(tree, dict):
        return {key: _skeleton(value) for key, value in tree.items()}
    if isinstance(tree, list):
        return [_skeleton(value) for value in tree]
    return "number" if isinstance(tree, int | float) and not isinstance(tree, bool) else tree


def compile_one(spec: dict[str, Any]) -> None:
    """Run a few rounds of a cell, which compiles its composition, or loads it from the cache."""
    world = build("environment", spec["environment"])
    strategy = build("strategy", spec["strategy"])
    if isinstance(world, Bandit):
        short = replace(world, path=static(ROUNDS, dim=world.dim, norm=world.path.norm))
        simulate(strategy, short, checkpoints=1, check="off")
    else:
        one_run(strategy, world, {**spec, "horizon": 2, "checkpoints": 1})
    _stamp(composition(spec)).parent.mkdir(parents=True, exist_ok=True)
    _stamp(composition(spec)).touch()


def _stamp(name: str) -> Any:
    version = hashlib.sha256(f"{importlib.metadata.version('numba')} {sys.version} {name}".encode()).hexdigest()[:16]
    return cache_folder() / f"compiled-{version}"


def is_compiled(name: str) -> bool:
    """Has some process compiled this composition into the cache?"""
    return bool(_stamp(name).exists())


def warm_up(cells: Iterable[Cell], *, jobs: int, report: Callable[[int, int], None] = lambda *_: None) -> None:
    """Compile what is not yet in the cache, in at most two processes; then load everything into this one."""
    wanted = needed(cells)
    missing = [spec for name, spec in wanted.items() if not is_compiled(name)]
    missing.sort(
        key=lambda spec: len(composition(spec)), reverse=True
    )  # the largest first, so that no process waits long
    if len(missing) > 1 and jobs > 1 and not os.environ.get("NUMBA_DISABLE_JIT"):
        _compile_in_processes(missing, report)
    elif missing:
        report(0, len(missing))
    for number, spec in enumerate(wanted.values(), start=1):
        compile_one(spec)
        if missing and len(missing) <= 1:
            report(min(number, len(missing)), len(missing))


def _compile_in_processes(specs: list[dict[str, Any]], report: Callable[[int, int], None]) -> None:
    """In two. If one dies, this process will compile what is left, and tell why it cannot."""
    waiting, done, lock = iter(specs), 0, threading.Lock()
    report(0, len(specs))

    def feed() -> None:
        nonlocal done
        with Helper(serve_compilation) as helper:
            for spec in waiting:
                if helper.ask(spec) == DIED:
                    return
                with lock:
                    done += 1
                    report(done, len(specs))

    threads = [threading.Thread(target=feed, daemon=True) for _ in range(min(2, len(specs)))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def serve_compilation() -> None:
    """Compile what each requested cell needs."""
    serve(compile_one)
