"""`driftbandits lab`: a local page to play in."""

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
    port: Annotated[int, typer.Option(min=0, max=65535, help="Of the page; 0 takes any that is free.")] = PORT,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Only print the address.")] = False,
) -> None:
    """Open a page on which sliders move worlds and learners, and every curve follows.

    It is served to this machine only, and needs no network. Ctrl-C ends it.
    """
    from ..errors import InvalidValue

    missing = [name for name in ("starlette", "uvicorn") if importlib.util.find_spec(name) is None]
    if missing:
        raise InvalidValue(f"the lab needs {' and '.join(missing)}: pip install 'driftbandits[lab]'")
    from ..lab import serve

    try:
        with contextlib.suppress(KeyboardInterrupt):  # the way to end it
            serve(port, browser=not no_browser, say=_say)
    finally:
        for child in multiprocessing.active_children():  # they compile, and nobody waits for it any more
            child.kill()


def _say(address: str) -> None:
    out.print(f"lab  {address}  (Ctrl-C ends it)", markup=False)
