"""`driftbandits lab`: a local web page for interactive experiments."""

import contextlib
import importlib.util
import multiprocessing
from typing import Annotated

import typer

from .app import EXPERIMENTS, command
from .console import out

PORT = 8642


@command(EXPERIMENTS)
def lab(
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port of the page; 0 selects a free one.")] = PORT,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Only print the address.")] = False,
) -> None:
    """Open an interactive page: sliders change the world and the learners, and all curves are updated.

    The page is served to this machine only and needs no network. Ctrl-C ends it.
    """
    from ..errors import InvalidValue

    missing = [name for name in ("starlette", "uvicorn") if importlib.util.find_spec(name) is None]
    if missing:
        raise InvalidValue(f"the lab needs {' and '.join(missing)}: pip install 'driftbandits[lab]'")
    from ..lab import serve

    try:
        with contextlib.suppress(KeyboardInterrupt):  # Ctrl-C is the normal way to end it
            serve(port, browser=not no_browser, say=_say)
    finally:
        for child in multiprocessing.active_children():  # they compile code that is no longer needed
            child.kill()


def _say(address: str) -> None:
    out.print(f"lab  {address}  (Ctrl-C ends it)", markup=False)
