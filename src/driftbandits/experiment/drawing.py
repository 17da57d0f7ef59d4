"""Draw the figures of a finished folder: in this process and, if there are many, in another one at the same time.

The other process is started first of all, while a core is idle: its imports take as long as its figures.
"""

import functools
import gc
import importlib
import pathlib
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict
from typing import Any

from .figures import figures, save
from .helper import DONE, Helper, serve
from .outcome import Panel, load
from .panels import Collection

IMPORTS = ("pyarrow.parquet", "matplotlib.figure", "matplotlib.backends.backend_agg", "matplotlib.backends.backend_pdf")


def artist(wanted: bool) -> AbstractContextManager[Helper | None]:
    """The other process."""
    return Helper(serve_figures) if wanted else nullcontext()


def draw(
    root: pathlib.Path, panels: list[Panel], collection: Collection | None, helper: Helper | None
) -> list[pathlib.Path]:
    """Draw what was saved in OUT into OUT/figures."""
    makers = figures(panels, collection)
    waiting = iter(makers)  # both processes take the next one from here

    def delegate(helper: Helper) -> list[str]:
        """Names of those that the helper could not draw."""
        request = {"root": str(root), "collection": collection and asdict(collection)}
        return [name for name in waiting if helper.ask({**request, "name": name}) != DONE]

    def here(name: str) -> None:
        save(makers[name], root / "figures" / name)

    with ThreadPoolExecutor(1) as pool:
        left = pool.submit(delegate, helper) if helper else None
        for name in waiting:
            here(name)
        for name in left.result() if left else ():
            here(name)
    return [root / "figures" / f"{name}.{ending}" for name in makers for ending in ("pdf", "png")]


@functools.cache
def _saved(root: pathlib.Path) -> list[Panel]:
    return load(root)[0]


def _draw_one(request: dict[str, Any]) -> None:
    root = pathlib.Path(request["root"])
    collection = Collection(**request["collection"]) if request["collection"] else None
    save(figures(_saved(root), collection)[request["name"]], root / "figures" / request["name"])


def serve_figures() -> None:
    """Draw each requested figure; import what that takes before the first is asked for."""
    for module in IMPORTS:
        importlib.import_module(module)
    gc.freeze()
    serve(_draw_one)
