"""Other processes to work in: they start at once, so that their imports go on while this process does something else."""

import contextlib
import multiprocessing
import multiprocessing.context
import os
import signal
import sys
import threading
import types
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from typing import Any


@contextlib.contextmanager
def workers(count: int, prepare: Callable[[], object]) -> Iterator[ProcessPoolExecutor]:
    """A pool of processes, each of which has called `prepare`, or is about to; they end with this block, whatever they do.

    They are started afresh: a fork would copy locks that other threads hold. They import neither the caller's script, which would
    run it a second time, nor do they hear Ctrl-C: this process does, and ends them. Threads may each have a pool.
    """
    context = _Context()
    pool = ProcessPoolExecutor(count, context, initializer=_end_with_parent)
    try:
        for _ in range(count):
            pool.submit(prepare)
        yield pool
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        started = [process for process in context.made if process.pid is not None]
        for process in started:
            process.kill()
        for process in started:
            # A join returns too early where the pool's own thread collects the process at the same moment.
            while process.is_alive():
                process.join(timeout=0.01)


_starting = threading.Lock()  # for the time of a start this process has another `__main__`, in all of its threads


class _Worker(multiprocessing.context.SpawnProcess):
    """A process that inherits that interrupts wait, and is not told which script this is."""

    def start(self) -> None:
        with _starting, _deaf(), _without_script():
            super().start()


class _Context(multiprocessing.context.SpawnContext):
    """Starts workers, and knows which: those of another thread's pool are not ours to end."""

    def __init__(self) -> None:
        self.made: list[_Worker] = []

    def Process(self, *args: Any, **kwargs: Any) -> _Worker:  # type: ignore[override]
        made = _Worker(*args, **kwargs)
        self.made.append(made)
        return made


def _end_with_parent() -> None:
    """A process that was killed cannot end the others: they watch it."""
    parent = multiprocessing.parent_process()

    def watch() -> None:
        if parent is not None:
            parent.join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


@contextlib.contextmanager
def _deaf() -> Iterator[None]:
    """Processes started in this block inherit that an interrupt waits; here it comes after the block."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextlib.contextmanager
def _without_script() -> Iterator[None]:
    """Processes started in this block are not told which script this is."""
    script = sys.modules["__main__"]
    sys.modules["__main__"] = types.ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = script
