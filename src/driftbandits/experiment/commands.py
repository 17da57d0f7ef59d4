"""The commands: reproduce, run, report, tune, list, cite."""

import json
import os
import pathlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer

from .. import __version__
from ..errors import DriftBanditsError
from . import panels as panel_files
from .console import Reporter, out, say_error, show_published
from .publish import Published, publish, this_command
from .source import SpecError
from .spec import Experiment, load

app = typer.Typer(
    name="driftbandits",
    help="Sequential decisions in a drifting world: reproduce the paper, compare strategies, read theory as numbers.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
)

BAD_SPEC = 2
INTERRUPTED = 130

Trials = Annotated[
    int | None,
    typer.Option(
        "--trials",
        min=1,
        help="Independent trials; each has arms and noise of its own. [dim]Default: as the file says (paper: 20).[/]",
    ),
]
Horizon = Annotated[
    int | None,
    typer.Option("--horizon", min=2, help="Rounds T of a trial. [dim]Default: as the file says (paper: 6000).[/]"),
]
Seed = Annotated[
    int | None,
    typer.Option(
        "--seed",
        min=0,
        help="Same seed, same numbers, whatever --jobs or --cluster. [dim]Default: as the file says (0).[/]",
    ),
]
Jobs = Annotated[int | None, typer.Option("--jobs", "-j", min=1, help="Trials at a time. [dim]Default: all cores.[/]")]
Cluster = Annotated[
    str,
    typer.Option(
        "--cluster", metavar="ADDRESS", help="Run on Dask: local:N for N processes here, tcp://host:8786 for a cluster."
    ),
]
Tiny = Annotated[
    bool, typer.Option("--tiny", help="The test-size twin: a few short trials, to see that everything works.")
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but errors.")]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


@contextmanager
def readable_errors() -> Iterator[None]:
    """Our own errors are one line and exit code 2; an interrupt is told and exits with 130."""
    try:
        yield
    except DriftBanditsError as problem:
        say_error(str(problem))
        raise typer.Exit(BAD_SPEC) from None
    except KeyboardInterrupt:
        say_error("stopped; what is finished is kept, and the same command resumes")
        raise typer.Exit(INTERRUPTED) from None


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


@app.command()
def reproduce(
    panels: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[PANEL]...",
            help="Panels; see [b]driftbandits list panels[/]. Default: all six of the paper.",
            show_default=False,
            autocompletion=lambda: panel_files.names(),
        ),
    ] = None,
    trials: Trials = None,
    horizon: Horizon = None,
    seed: Seed = None,
    jobs: Jobs = None,
    folder: Annotated[
        pathlib.Path, typer.Option("--out", help="Folder for results, figures and report.")
    ] = pathlib.Path("results/paper"),
    theta_norm: Annotated[
        str,
        typer.Option(
            "--theta-norm",
            metavar="NORM",
            help="Length of θ_t, at most S of the panel; the other reading of S=5 is --theta-norm 5 (or S).",
        ),
    ] = "",
    cluster: Cluster = "",
    tiny: Tiny = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Reproduce the experiments of the paper, panel by panel, and test every claim it makes about them.

    Writes summary.json, results.parquet, tables, figures (PDF and PNG) and report.html into --out. Finished trials are
    kept as they come: stop it at any time, the same command resumes.

    [b]driftbandits reproduce[/]   [dim]all six panels[/]
    [b]driftbandits reproduce glb-s5 scb-s5 --theta-norm 5 --out results/norm-5[/]
    [b]driftbandits reproduce piecewise scaling mdp-linear mdp-mnl adaptive --out results/beyond[/]
    """
    with readable_errors():
        collection = panel_files.paper()
        wanted = list(dict.fromkeys(panels or collection.panels))
        constants = {"theta_norm": _number_or_formula(theta_norm)} if theta_norm else {}
        experiments = []
        for name in wanted:
            path = panel_files.file(name)
            experiments.append(
                _load(path, trials, horizon, seed, constants, tiny, forgiving=bool(constants) and len(wanted) > 1)
            )
        _publish(collection.name, experiments, folder, jobs, cluster, quiet, as_json, collection)


@app.command()
def run(
    file: Annotated[
        pathlib.Path,
        typer.Argument(
            metavar="EXPERIMENT.toml",
            help="The comparison to run; see docs/command.md for the format.",
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
    cluster: Cluster = "",
    tiny: Tiny = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Run a comparison of your own: environments × strategies × trials × parameter grids, from a TOML file.

    A bad file is refused with its line, exit code 2, and nothing is written.
    """
    with readable_errors():
        experiment = _load(file, trials, horizon, seed, dict(map(_assignment, set_ or [])), tiny)
        _publish(
            experiment.name,
            [experiment],
            folder or pathlib.Path("results") / experiment.name,
            jobs,
            cluster,
            quiet,
            as_json,
            None,
        )


@app.command()
def report(
    folder: Annotated[
        pathlib.Path,
        typer.Argument(metavar="DIR", help="A folder that reproduce or run has filled.", show_default=False),
    ],
) -> None:
    """Write DIR/report.html: one self-contained page with interactive curves, tables, claims, bounds and settings."""
    from .publish import need
    from .report import write_report

    with readable_errors():
        need("pyarrow", "plotly")
        out.print(str(write_report(folder)))


def _load(
    path: pathlib.Path,
    trials: int | None,
    horizon: int | None,
    seed: int | None,
    constants: dict[str, Any],
    tiny: bool,
    forgiving: bool = False,
) -> Experiment:
    """Load; `forgiving` ignores constants that this file does not have but another of the same command may."""
    if forgiving:
        known = load(path).constants
        constants = {name: value for name, value in constants.items() if name in known}
    return load(path, trials=trials, horizon=horizon, seed=seed, constants=constants, tiny=tiny)


def _publish(
    name: str,
    experiments: list[Experiment],
    folder: pathlib.Path,
    jobs: int | None,
    cluster: str,
    quiet: bool,
    as_json: bool,
    collection: Any,
) -> Published:
    with Reporter(quiet or as_json) as reporter:
        done = publish(
            name,
            experiments,
            folder,
            jobs=jobs or os.cpu_count(),
            cluster=cluster,
            progress=reporter,
            collection=collection,
            command=this_command(),
        )
    if as_json:
        typer.echo(json.dumps(done.summary, indent=1))
    elif not quiet:
        show_published(done, reporter.seconds)
    return done


def _assignment(text: str) -> tuple[str, Any]:
    name, sign, value = text.partition("=")
    if not sign or not name.strip():
        raise SpecError(f"--set {text}: it must be NAME=VALUE")
    return name.strip(), _number_or_formula(value.strip())


def _number_or_formula(text: str) -> Any:
    try:
        return float(text)
    except ValueError:
        return text
