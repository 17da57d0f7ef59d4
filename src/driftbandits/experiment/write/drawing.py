"""Draw the figures of a finished folder: in this process and, if there are many, in another one at the same time.

The other one is started first of all, while a core is idle: its imports take as long as its figures.
"""

import functools
import gc
import importlib
import pathlib
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, contextmanager, nullcontext

from ...plots.paper import save
from ..analyse.panel_results import Panel, load
from ..run.workers import workers
from ..spec.schema import Collection
from .figures import figures

IMPORTS = ("pyarrow.parquet", "matplotlib.figure", "matplotlib.backends.backend_agg", "matplotlib.backends.backend_pdf")


def artists(count: int) -> AbstractContextManager[ProcessPoolExecutor | None]:
    """Other processes that draw; none if none are wanted."""
    return workers(count, prepare) if count else nullcontext()


def prepare() -> None:
    """Import what drawing takes, before the first figure is asked for."""
    for module in IMPORTS:
        importlib.import_module(module)
    gc.freeze()


@contextmanager
def drawing(
    root: pathlib.Path, panels: list[Panel], collection: Collection | None, pool: ProcessPoolExecutor | None
) -> Iterator[list[pathlib.Path]]:
    """Draw what was saved in OUT into OUT/figures; all is drawn at the end of the block.

    The others begin with the first. After the block this process begins with the last, until they meet.
    """
    makers = figures(panels, collection)
    asked = _ask(pool, root, collection, list(makers))
    yield [root / "figures" / f"{name}.{ending}" for name in makers for ending in ("pdf", "png")]
    for name in reversed(makers):
        if name not in asked or asked[name].cancel() or not _drawn(asked[name]):
            save(makers[name], root / "figures" / name)


def _ask(
    pool: ProcessPoolExecutor | None, root: pathlib.Path, collection: Collection | None, names: list[str]
) -> dict[str, Future[None]]:
    try:
        return {name: pool.submit(draw_one, root, collection, name) for name in names} if pool else {}
    except BrokenProcessPool:
        return {}


def _drawn(asked: Future[None]) -> bool:
    """What a process that died did not draw is drawn here; any other error is told."""
    try:
        asked.result()
    except BrokenProcessPool:
        return False
    return True


@functools.cache
def _saved(root: pathlib.Path) -> list[Panel]:
    return load(root)[0]


def draw_one(root: pathlib.Path, collection: Collection | None, name: str) -> None:
    """Draw one figure of a folder, in another process."""
    save(figures(_saved(root), collection)[name], root / "figures" / name)
