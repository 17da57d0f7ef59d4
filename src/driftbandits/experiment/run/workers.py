"""Worker processes. They start at once, so that they import while this process continues."""

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
    """A pool of processes, each of which calls `prepare` first; all end with this block, even if they are busy.

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
    """A process that starts with interrupts blocked and does not import the main script."""

    def start(self) -> None:
        with _starting, _interrupts_blocked(), _without_script():
            super().start()


class _Context(multiprocessing.context.SpawnContext):
    """Starts workers and remembers them, so that workers of another thread's pool are not ended."""

    def __init__(self) -> None:
        self.made: list[_Worker] = []

    def Process(self, *args: Any, **kwargs: Any) -> _Worker:  # type: ignore[override]
        made = _Worker(*args, **kwargs)
        self.made.append(made)
        return made


def _end_with_parent() -> None:
    """Workers watch their parent, because a killed parent cannot end them."""
    parent = multiprocessing.parent_process()

    def watch() -> None:
        if parent is not None:
            parent.join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


@contextlib.contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """Block interrupts in processes started in this block; in this process an interrupt is delivered after the block."""
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
    """Processes started in this block do not import the main script."""
    script = sys.modules["__main__"]
    sys.modules["__main__"] = types.ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = script
