"""Other processes to work in: they start at once, so that their imports go on while this process does something else."""

import contextlib
import multiprocessing
import os
import signal
import sys
import threading
import types
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor


@contextlib.contextmanager
def workers(count: int, prepare: Callable[[], object]) -> Iterator[ProcessPoolExecutor]:
    """A pool of processes, each of which has called `prepare`, or is about to; they end with this block, whatever they do.

    They are started afresh: a fork would copy locks that other threads hold. They import neither the caller's script, which would
    run it a second time, nor do they hear Ctrl-C: this process does, and ends them.
    """
    before = set(multiprocessing.active_children())
    pool = ProcessPoolExecutor(count, multiprocessing.get_context("spawn"), initializer=_end_with_parent)
    try:
        with _deaf(), _without_script():
            for _ in range(count):
                pool.submit(prepare)
        yield pool
    finally:
        started = set(multiprocessing.active_children()) - before
        pool.shutdown(wait=False, cancel_futures=True)
        for process in started:
            process.kill()
        for process in started:
            while (
                process.is_alive()
            ):  # a join returns too early where the pool's own thread collects the process at the same moment
                process.join(timeout=0.01)


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
