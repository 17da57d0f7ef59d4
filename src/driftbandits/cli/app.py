"""The application every subcommand registers itself with, and how its errors are told."""

import functools
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any, NoReturn

import typer

from .. import __version__
from ..errors import DriftBanditsError
from .console import out, say_error
from .interrupts import INTERRUPTED, STOPPED, interrupt_in_order

EXPERIMENTS = "Experiments"  # headings of --help
QUESTIONS = "Questions"

app = typer.Typer(
    name="driftbandits",
    help="Sequential decisions in a drifting world: reproduce the paper, compare strategies, read theory as numbers.",
    epilog="Exit codes: 0 done; 2 it cannot be done, and one line says why; 130 interrupted.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
)

REFUSED = 2  # exit code of what cannot be done; one line says why


def command(panel: str, name: str | None = None) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Make a function a subcommand, under this heading of --help; its errors are told as all others."""

    def register(function: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(function)
        def told(*args: Any, **options: Any) -> None:
            with readable_errors():
                function(*args, **options)

        app.command(name, rich_help_panel=panel)(told)
        return told

    return register


@contextmanager
def readable_errors() -> Iterator[None]:
    """What cannot be done is told in one line and exits with 2; an interrupt is told and exits with 130.

    A warning is one line too.
    """
    interrupt_in_order()
    try:
        with warnings.catch_warnings():
            warnings.showwarning = lambda message, *_: say_error(f"warning: {message}")
            yield
    except DriftBanditsError as problem:
        _refuse(str(problem))
    except BrokenPipeError:  # whoever read our output has enough: Typer ends quietly
        raise
    except OSError as problem:
        place = "" if problem.filename is None else f"{problem.filename}: "
        _refuse(f"{place}{problem.strerror or problem}")
    except MemoryError:
        _refuse("this machine has not enough memory for it")
    except KeyboardInterrupt:
        say_error(STOPPED)
        raise typer.Exit(INTERRUPTED) from None


def _refuse(message: str) -> NoReturn:
    say_error(message)
    raise typer.Exit(REFUSED) from None


def _version(wanted: bool) -> None:
    if wanted:
        out.print(__version__)
        raise typer.Exit


@app.callback()
def _top(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass
