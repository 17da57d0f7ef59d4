"""Run the cells of an experiment: find what is there, compile, then work through the rest on threads or on a cluster.

The compiled loops release the GIL, so threads use all cores. A cell is on disk as soon as it is done; killing the
process loses only the cells in flight.
"""

import itertools
import os
from collections.abc import Iterable, Iterator
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
    for cell, result in itertools.chain(
        _on_cluster(remote, cluster, store),
        on_threads([c for c in here if not c.alone], threads, store),
        on_threads([c for c in here if c.alone], 1, store),  # nothing else runs while time is measured
    ):
        found[cell.key] = result
        done += 1
        progress.running(done, total)
    return found


def _on_cluster(cells: list[Cell], address: str, store: Store) -> Iterator[tuple[Cell, Result]]:
    """Results as they come from other machines, stored here."""
    if cells:
        from .cluster import on_cluster

        for cell, result in on_cluster(cells, address):
            store.put(cell, result)
            yield cell, result


def on_threads(cells: list[Cell], threads: int, store: Store) -> Iterator[tuple[Cell, Result]]:
    """Results as they come, already stored; only a few cells are taken up ahead, so that an interrupt is soon obeyed."""

    def finish(cell: Cell) -> Result:
        result = run(cell.spec)
        store.put(cell, result)
        return result

    queue = iter(cells)
    open_: dict[Future[Result], Cell] = {}
    with ThreadPoolExecutor(threads) as pool:
        for cell in itertools.islice(queue, 2 * threads):
            open_[pool.submit(finish, cell)] = cell
        while open_:
            finished, _ = wait(open_, return_when=FIRST_COMPLETED)
            for future in finished:
                cell = open_.pop(future)
                for following in itertools.islice(queue, 1):
                    open_[pool.submit(finish, following)] = following
                yield cell, future.result()
