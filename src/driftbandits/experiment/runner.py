"""Run the cells of an experiment: find what is there, compile, then work through the rest on threads or on a cluster.

The compiled loops release the GIL, so threads use all cores. A cell is on disk as soon as it is done; killing the
process loses only the cells in flight.
"""

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Protocol

from .cells import Cell, Result, run
from .store import Store
from .warm import warm_up


class Progress(Protocol):
    """Who wants to know how far we are."""

    def compiling(self, done: int, total: int) -> None:
        """So many compositions are compiled."""

    def running(self, done: int, total: int) -> None:
        """So many cells are done."""


class Silent:
    """Nobody does."""

    def compiling(self, done: int, total: int) -> None:
        """Say nothing."""

    def running(self, done: int, total: int) -> None:
        """Say nothing."""


Engine = Callable[[list[Cell]], Iterator[tuple[Cell, Result]]]


def run_cells(
    cells: Iterable[Cell], store: Store, *, jobs: int | None = None, cluster: str = "", progress: Progress | None = None
) -> dict[str, Result]:
    """Results of all cells by their keys: those in the store, and the rest, computed now and stored at once."""
    progress = progress or Silent()
    wanted = {cell.key: cell for cell in cells}
    found = {key: result for key in wanted if (result := store.get(key)) is not None}
    todo = [cell for key, cell in wanted.items() if key not in found]
    if not todo:
        return found
    threads = jobs or os.cpu_count() or 1
    remote = [c for c in todo if not c.alone] if cluster else []
    here = [c for c in todo if not (cluster and not c.alone)]
    total, done = len(wanted), len(found)
    warm_up(todo if not cluster.startswith("tcp") else here, jobs=threads, report=progress.compiling)
    progress.running(done, total)
    batches: list[tuple[Engine, list[Cell]]] = []
    if remote:
        from .cluster import on_cluster

        batches.append((lambda some: on_cluster(some, cluster), remote))
    batches.append((lambda some: on_threads(some, threads), [c for c in here if not c.alone]))
    batches.append(
        (lambda some: on_threads(some, 1), [c for c in here if c.alone])
    )  # nothing else runs while time is measured
    for engine, some in batches:
        if not some:
            continue
        for cell, result in engine(some):
            store.put(cell, result)
            found[cell.key] = result
            done += 1
            progress.running(done, total)
    return found


def on_threads(cells: list[Cell], threads: int) -> Iterator[tuple[Cell, Result]]:
    """Results as they come; only a few cells are taken up ahead, so that an interrupt is soon obeyed."""
    queue = iter(cells)
    open_: dict[Future[Result], Cell] = {}
    with ThreadPoolExecutor(threads) as pool:
        for cell in queue:
            open_[pool.submit(run, cell.spec)] = cell
            if len(open_) >= 2 * threads:
                break
        while open_:
            finished, _ = wait(open_, return_when=FIRST_COMPLETED)
            for future in finished:
                cell = open_.pop(future)
                following = next(queue, None)
                if following is not None:
                    open_[pool.submit(run, following.spec)] = following
                yield cell, future.result()
