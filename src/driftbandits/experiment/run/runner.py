"""Run the cells of an experiment: read finished ones, compile, then compute the rest on threads or on a cluster.

The compiled loops release the GIL, so threads use all cores. A cell is on disk as soon as it is done; killing the
process loses only the cells in flight.
"""

import itertools
import logging
import os
import warnings
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Protocol, TypeVar

from ...io.cell_store import CellStore
from .cells import Cell, Result, run
from .compilation import compile_ahead
from .platforms import MixedPlatforms, MixedPlatformsWarning, difference, mixture, this_platform
from .store import ResultStore

LOG = logging.getLogger("driftbandits")
Item = TypeVar("Item")
Answer = TypeVar("Answer")


class Progress(Protocol):
    """Receives the progress of a run."""

    def compiling(self, done: int, total: int) -> None:
        """Called when so many compositions are compiled."""

    def running(self, done: int, total: int) -> None:
        """Called when so many cells are finished."""


class Silent:
    """Ignores the progress."""

    def compiling(self, done: int, total: int) -> None:
        """Say nothing."""

    def running(self, done: int, total: int) -> None:
        """Say nothing."""


def run_cells(
    cells: Iterable[Cell],
    store: ResultStore,
    *,
    jobs: int | None = None,
    cluster: str = "",
    progress: Progress | None = None,
    strict: bool = False,
) -> dict[str, Result]:
    """Results of all cells by their keys: those in the store, and the rest, computed now and stored at once.

    Cells computed on different platforms (processor, versions of NumPy and the compiler) may differ in their last digits: they are
    shown together with a warning or, if `strict`, not at all.
    """
    progress = progress or Silent()
    wanted = {cell.key: cell for cell in cells}
    found = kept_results(wanted, store)
    todo = [cell for key, cell in wanted.items() if key not in found]
    if strict:
        _refuse_mixture(found, store, here=any(c.alone or not cluster for c in todo))
    if todo:
        _compute(todo, found, store, jobs, cluster, progress, len(wanted))
    else:
        progress.running(len(found), len(wanted))
    mixed = mixture(result.platform for result in found.values())
    if mixed and strict:
        raise MixedPlatforms(f"{store.root}: {mixed}, and --strict does not allow that")
    if mixed:
        warnings.warn(f"{store.root}: {mixed}; --strict would refuse", MixedPlatformsWarning, stacklevel=2)
    return found


def kept_results(wanted: Iterable[str], store: CellStore[Answer]) -> dict[str, Answer]:
    """The results of these keys that are in the store; one line tells of files that are damaged."""
    found = {key: result for key in wanted if (result := store.get(key)) is not None}
    if store.damaged:
        some = ", ".join(sorted(store.damaged)[:2]) + (", …" if len(store.damaged) > 2 else "")
        files = "1 file" if len(store.damaged) == 1 else f"{len(store.damaged)} files"
        LOG.warning("%s: %s in cells/ damaged since written (%s); computed again", store.root, files, some)
    return found


def _refuse_mixture(found: dict[str, Result], store: ResultStore, here: bool) -> None:
    """Before anything is computed: stored results must come from one platform, which must be this one if more cells are computed here."""
    platforms = [result.platform for result in found.values()]
    mixed = mixture(platforms)
    if mixed:
        raise MixedPlatforms(f"{store.root}: {mixed}, and --strict does not allow that; choose another --out")
    if here and platforms and platforms[0] != this_platform():
        what = difference(platforms[0], this_platform())
        raise MixedPlatforms(
            f"{store.root}: its {len(found)} cells were computed on another platform ({what}), and --strict does not allow "
            "to add to them; choose another --out"
        )


def _compute(
    todo: list[Cell],
    found: dict[str, Result],
    store: ResultStore,
    jobs: int | None,
    cluster: str,
    progress: Progress,
    total: int,
) -> None:
    """Compute what is missing, and add it to what was found."""
    threads = jobs or os.cpu_count() or 1
    remote = [c for c in todo if not c.alone] if cluster else []
    here = [c for c in todo if not (cluster and not c.alone)]
    done = len(found)
    compile_ahead(todo if not cluster.startswith("tcp") else here, jobs=threads, report=progress.compiling)
    progress.running(done, total)
    for cell, result in itertools.chain(
        _on_cluster(remote, cluster, store),
        on_threads([c for c in here if not c.alone], threads, store),
        on_threads([c for c in here if c.alone], 1, store),  # nothing else runs while time is measured
    ):
        found[cell.key] = result
        done += 1
        progress.running(done, total)


def _on_cluster(cells: list[Cell], address: str, store: ResultStore) -> Iterator[tuple[Cell, Result]]:
    """Results of other machines in the order in which they arrive; each is stored here."""
    if cells:
        from .cluster import on_cluster

        for cell, result in on_cluster(cells, address):
            store.put(cell, result)
            yield cell, result


def on_threads(cells: list[Cell], threads: int, store: ResultStore) -> Iterator[tuple[Cell, Result]]:
    """Results in the order in which they are finished, each already stored."""

    def finish(cell: Cell) -> Result:
        found = store.get(cell.key)  # another process may have been faster
        if found is not None:
            return found
        result = run(cell.spec)
        store.put(cell, result)
        return result

    pool = ThreadPoolExecutor(threads)
    try:
        yield from in_order_of_completion(cells, lambda cell: pool.submit(finish, cell), ahead=2 * threads)
    finally:
        pool.shutdown(cancel_futures=True)  # after an error or an interrupt, only the cells in flight are finished


def in_order_of_completion(
    items: Iterable[Item], submit: Callable[[Item], Future[Answer]], ahead: int
) -> Iterator[tuple[Item, Answer]]:
    """Each item with its answer, in the order in which they are finished.

    Only `ahead` items are submitted at a time, so that an interrupt is soon obeyed.
    """
    queue = iter(items)
    in_flight = {submit(item): item for item in itertools.islice(queue, ahead)}
    while in_flight:
        finished, _ = wait(in_flight, return_when=FIRST_COMPLETED)
        for future in finished:
            item, answer = in_flight.pop(future), future.result()
            for following in itertools.islice(queue, 1):
                in_flight[submit(following)] = following
            yield item, answer
