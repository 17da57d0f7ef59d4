"""The application with which every subcommand registers itself, and the reporting of errors."""

import functools
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any, NoReturn

import typer
import typer.core

from .. import __version__
from ..errors import DriftBanditsError
from .console import out, say_error
from .interrupts import INTERRUPTED, STOPPED, interrupt_in_order
from .wrong_use import wrong_use

WRONG_USE: Any = typer.BadParameter.__base__  # UsageError, wherever this version of Typer has it
OWN_DATA = "Your own data"  # headings of --help, in the order of `FIRST` in __init__.py
ALGORITHMS = "Algorithms and theorems"
EXPERIMENTS = "Experiments"


class _ReadableHelp(typer.core.TyperCommand):
    """A command whose --help shows `--json` and `--seed N` instead of `--json <bool>` and `--seed <int range>`."""

    def get_params(self, ctx: Any) -> list[Any]:
        """All parameters, --help included."""
        return _with_plain_types(super().get_params(ctx))


class _ReadableGroup(typer.core.TyperGroup):
    """The same for the command as a whole, which reports a wrong use in one line, as every other error."""

    def main(self, args: Any = None, *, standalone_mode: bool = True, **extra: Any) -> Any:  # type: ignore[override]
        """Run the command, and exit."""
        if not standalone_mode:
            return super().main(args, standalone_mode=False, **extra)
        try:
            code = super().main(args, standalone_mode=False, **extra)
        except WRONG_USE as problem:
            if type(problem).__name__ == "NoArgsIsHelpError":  # its text is --help
                problem.show()
            else:
                path = problem.ctx.command_path if problem.ctx is not None else self.name
                say_error(f"{wrong_use(problem)}; {path} --help lists what there is")
            sys.exit(problem.exit_code)
        sys.exit(code if isinstance(code, int) else 0)

    def get_params(self, ctx: Any) -> list[Any]:
        """All parameters, --help included."""
        return _with_plain_types(super().get_params(ctx))


PLAIN = {"int": "N", "float": "NUMBER", "path": "PATH", "str": "TEXT"}


def _with_plain_types(found: list[Any]) -> list[Any]:
    """Flags and arguments show no type: a flag has none, and the metavar of an argument is its name. Options show a plain word."""
    for param in found:
        bare = getattr(param, "is_flag", False) or param.param_type_name == "argument"
        param.display_type_rich = functools.partial(_plain_type, None if bare else param.display_type_rich)
    return found


def _plain_type(shown: Callable[..., str | None] | None, ctx: Any) -> str | None:
    told = shown(ctx=ctx) if shown else ""
    return PLAIN.get(told.strip("<>").split()[0], told) if told and told.startswith("<") else told


app = typer.Typer(
    name="driftbandits",
    cls=_ReadableGroup,
    help="Sequential decisions in a drifting world: serve decisions, evaluate a log, compare algorithms, print theorems as numbers.",
    epilog="Exit codes: 0 success; 2 error, explained in one line; 130 interrupted.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
)

REFUSED = 2  # exit code of an error


def command(panel: str, name: str | None = None) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Turn a function into a subcommand under this heading of --help, with the common reporting of errors."""

    def register(function: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(function)
        def told(*args: Any, **options: Any) -> None:
            with readable_errors():
                function(*args, **options)

        app.command(name, cls=_ReadableHelp, rich_help_panel=panel)(told)
        return told

    return register


@contextmanager
def readable_errors() -> Iterator[None]:
    """Report an error in one line and exit with 2; report an interrupt and exit with 130. Warnings are one line too."""
    interrupt_in_order()
    try:
        with warnings.catch_warnings():
            warnings.showwarning = lambda message, *_: say_error(f"warning: {message}")
            yield
    except DriftBanditsError as problem:
        _refuse(str(problem))
    except BrokenPipeError:  # the reader of our output has closed it: Typer ends quietly
        raise
    except OSError as problem:
        place = "" if problem.filename is None else f"{problem.filename}: "
        _refuse(f"{place}{problem.strerror or problem}")
    except MemoryError:
        _refuse("this machine does not have enough memory for it")
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
