"""Record what is stale, in forks of a process that has imported what is slow to import."""

import contextlib
import importlib
import os
import pathlib
import pkgutil
import sys

from mutants import reach
from mutants.changes import TOP
from mutants.reach import World


def warm() -> None:
    """Import the package whole, and what it and its tests import at first use; not hypothesis, which pytest must import itself."""
    import driftbandits

    os.chdir(TOP)
    for module in pkgutil.walk_packages(driftbandits.__path__, "driftbandits."):
        if "__main__" not in module.name:
            try_import(module.name)
    for name in ("pandas", "scipy.stats", "scipy.optimize", "pytest", "coverage"):
        try_import(name)


def try_import(name: str) -> None:
    """What is not installed is not warmed."""
    with contextlib.suppress(ImportError):
        importlib.import_module(name)


def record_stale(world: World, parts: int) -> None:
    """Record anew the files of tests that have changed, or all if the package has, in so many processes."""
    waiting = [path for path in reach.files_of_tests(world) if reach.stale(world, path)]
    if not waiting:
        return
    print(f"recording {len(waiting)} files of tests, {world.name}", file=sys.stderr, flush=True)
    warm()
    for part in range(min(parts, len(waiting))):
        _record_in_a_fork(world, waiting[part::parts])
    for _ in range(min(parts, len(waiting))):
        os.wait()


def _record_in_a_fork(world: World, paths: list[pathlib.Path]) -> None:
    if os.fork() == 0:
        silence(str(reach.KEPT / f"recording-{os.getpid()}.log"))
        try:
            reach.record(world, paths)
        finally:
            os._exit(0)


def silence(place: str = os.devnull) -> None:
    """What tests print is not shown."""
    silent = os.open(place, os.O_WRONLY | os.O_CREAT)
    for stream in (1, 2):
        os.dup2(silent, stream)
