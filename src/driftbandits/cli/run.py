"""`driftbandits run`: a comparison defined by the user."""

import os
import pathlib
import sys
from typing import Annotated, Any

import typer

from ..experiment.spec.experiment import load
from ..experiment.spec.source import SpecError
from .app import EXPERIMENTS, command
from .options import AllowCode, Cluster, Horizon, Jobs, Json, Quiet, Robust, Seed, Strict, Tiny, Trials, Yes
from .publishing import number_or_formula, run_and_show


@command(EXPERIMENTS)
def run(
    file: Annotated[
        pathlib.Path,
        typer.Argument(
            metavar="EXPERIMENT.toml",
            help="TOML file that defines the comparison; see docs/command.md for the format.",
            show_default=False,
        ),
    ],
    trials: Trials = None,
    horizon: Horizon = None,
    seed: Seed = None,
    jobs: Jobs = None,
    folder: Annotated[
        pathlib.Path | None,
        typer.Option("--out", help="Folder for results. [dim]Default: results/NAME.[/]", show_default=False),
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="Replace a constant of the file; may be repeated."),
    ] = None,
    robust: Robust = False,
    cluster: Cluster = "",
    tiny: Tiny = False,
    allow_code: AllowCode = False,
    yes: Yes = False,
    strict: Strict = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Run a comparison of your own: environments × strategies × trials × parameter grids, from a TOML file.

    A file with an error is rejected with one line that gives the place and the reason, before anything is written.

    [b]driftbandits run mine.toml --trials 5 --set S=2[/]
    """
    if allow_code:
        _make_importable(file.resolve().parent)
    constants = dict(map(_assignment, set_ or []))
    experiment = load(
        file, trials=trials, horizon=horizon, seed=seed, constants=constants, tiny=tiny, allow_code=allow_code
    )
    out = folder or pathlib.Path("results") / experiment.name
    run_and_show(
        experiment.name,
        [experiment],
        out,
        quiet=quiet,
        as_json=as_json,
        jobs=jobs,
        cluster=cluster,
        yes=yes,
        strict=strict,
        robust=robust,
    )


def _make_importable(folder: pathlib.Path) -> None:
    """Make modules next to the file importable in this process and its child processes."""
    sys.path.insert(0, str(folder))
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (str(folder), os.environ.get("PYTHONPATH"))))


def _assignment(text: str) -> tuple[str, Any]:
    name, sign, value = text.partition("=")
    if not sign or not name.strip():
        raise SpecError(f"--set {text}: it must be NAME=VALUE")
    return name.strip(), number_or_formula(value.strip())
