"""The cells of a study: those in the store are read, the others computed in several processes and stored at once."""

import contextlib
import functools
import hashlib
import importlib
import importlib.util
import inspect
import os
import pathlib
import sys
import time
import types
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ProcessPoolExecutor
from typing import Any

from ...core.rooms import PACKAGE
from ...errors import InvalidValue
from ...io.cell_store import JsonStore, digest
from ..run.cells import library
from ..run.platforms import MixedPlatformsWarning, Platform, mixture, this_platform
from ..run.runner import Progress, Silent, in_order_of_completion, kept_results
from ..run.workers import workers
from .source import code_digest

Function = Callable[..., Any]
Spec = dict[str, Any]


class Cells:
    """Call `cells(function, arguments)`: the function's answers, in the order of the arguments.

    Parameters
    ----------
    store
        Where answers are kept.
    also
        Rooms of the library that the study uses beyond those that decide a simulation (`core.rooms`), such as "bandit".
    jobs
        Processes; 1 computes everything in this one.
    progress
        Told how many cells are done.
    """

    def __init__(
        self,
        store: JsonStore,
        *,
        also: frozenset[str] = frozenset(),
        jobs: int | None = None,
        progress: Progress | None = None,
    ) -> None:
        self.store, self.also, self.jobs, self.progress = store, also, jobs or os.cpu_count() or 1, progress or Silent()
        self.total = self.done = self.computed = 0
        self._pool: ProcessPoolExecutor | None = None
        self._open = contextlib.ExitStack()

    def __call__(self, function: Function, arguments: Iterable[Mapping[str, Any]], *, alone: bool = False) -> list[Any]:
        """What the function returns for each of the arguments, as JSON gives it back.

        Parameters
        ----------
        function
            A function at the top level of a study's file; it takes the arguments by name and returns plain data.
        arguments
            Plain data that decide the answer, together with the code.
        alone
            One after the other in this process, with nothing else running: for answers that are times.
        """
        specs = [self._spec(function, given) for given in arguments]
        wanted = {digest(spec): spec for spec in specs}
        found = kept_results(wanted, self.store)
        missing = [spec for key, spec in wanted.items() if key not in found]
        self.total, self.done = self.total + len(wanted), self.done + len(found)
        self.progress.running(self.done, self.total)
        for spec, (answer, seconds, platform) in self._computed(function, missing, alone):
            result = {"answer": answer, "seconds": seconds, "platform": platform}
            found[digest(spec)] = self.store.put(spec, result)
            self.done, self.computed = self.done + 1, self.computed + 1
            self.progress.running(self.done, self.total)
        mixed = mixture(kept["platform"] for kept in found.values())
        if mixed:
            warnings.warn(f"{self.store.root}: {mixed}", MixedPlatformsWarning, stacklevel=2)
        return [found[digest(spec)]["answer"] for spec in specs]

    def __enter__(self) -> "Cells":
        return self

    def __exit__(self, *problem: object) -> None:
        self._open.close()

    def _spec(self, function: Function, given: Mapping[str, Any]) -> Spec:
        spec = {
            "function": function.__name__,
            "code": code_digest(function),
            "library": library(self.also),
            "arguments": dict(given),
        }
        try:
            digest(spec)
        except (TypeError, ValueError) as problem:
            raise InvalidValue(
                f"{function.__name__}({_told(given)}): the arguments of a cell must be plain data, numbers finite ({problem})"
            ) from None
        return spec

    def _computed(
        self, function: Function, missing: list[Spec], alone: bool
    ) -> Iterator[tuple[Spec, tuple[Any, float, Platform]]]:
        path, name = inspect.getfile(function), function.__name__
        if alone or self.jobs == 1 or len(missing) < 2:
            for spec in missing:
                yield spec, compute(path, name, spec["arguments"])
            return
        if self._pool is None:
            self._pool = self._open.enter_context(workers(self.jobs, prepare=this_platform))
        pool = self._pool

        def submit(spec: Spec) -> Future[tuple[Any, float, Platform]]:
            return pool.submit(compute, path, name, spec["arguments"])

        yield from in_order_of_completion(missing, submit, ahead=2 * self.jobs)


def compute(path: str, name: str, arguments: dict[str, Any]) -> tuple[Any, float, Platform]:
    """The answer of a cell, the seconds it took, and the platform."""
    function, began = getattr(load(pathlib.Path(path)), name), time.perf_counter()
    try:
        answer = function(**arguments)
    except Exception as problem:
        problem.add_note(f"in the cell {name}({_told(arguments)}) of {path}")
        raise
    return answer, time.perf_counter() - began, this_platform()


def _told(arguments: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in arguments.items())


@functools.cache
def load(path: pathlib.Path) -> types.ModuleType:
    """The module in a study's file. Files beside it can be imported, so that studies share their worlds."""
    path = path.resolve()
    if not path.is_file():
        raise InvalidValue(f"{path} is no file; it must be a Python file")
    if path.is_relative_to(PACKAGE):  # of this library: under its own name, so that its relative imports work
        return importlib.import_module(".".join(("driftbandits", *path.relative_to(PACKAGE).with_suffix("").parts)))
    if str(path.parent) not in sys.path:
        sys.path.append(str(path.parent))
    name = f"study_{path.stem}_{hashlib.sha256(str(path).encode()).hexdigest()[:8]}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise InvalidValue(f"{path} is no Python file; it must be one")
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module
