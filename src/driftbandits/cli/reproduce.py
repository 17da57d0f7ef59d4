"""`driftbandits reproduce`: the panels of the paper, and those beyond it."""

import pathlib
from typing import Annotated

import typer

from ..experiment.spec import panels as panel_files
from ..experiment.spec.experiment import load
from ..experiment.spec.source import Source
from .app import EXPERIMENTS, command
from .list import listing, show_listing
from .options import Cluster, Horizon, Jobs, Json, Quiet, Robust, Seed, Strict, Tiny, Trials, Yes
from .publishing import number_or_formula, run_and_show


@command(EXPERIMENTS)
def reproduce(
    panels: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="PANEL",
            help="Names of panels, see [b]driftbandits list panels[/]. [dim]Default: the six panels of the paper.[/]",
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
            help="Norm of θ_t, at most S of the panel. [dim]The other reading of the paper's S = 5 is --theta-norm 5.[/]",
        ),
    ] = "",
    list_panels: Annotated[
        bool, typer.Option("--list", help="List the panels, the paper's first, and run nothing.")
    ] = False,
    robust: Robust = False,
    cluster: Cluster = "",
    tiny: Tiny = False,
    yes: Yes = False,
    strict: Strict = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Reproduce the experiments of the paper, panel by panel, and test every claim it makes about them.

    Writes summary.json, results.parquet, tables, figures and report.html into --out.

    Finished trials are kept: you can stop the command at any time, and running it again resumes.

    [b]driftbandits reproduce[/]   [dim]all six panels of the paper[/]
    [b]driftbandits reproduce --robust[/]   [dim]with every claim × every reading[/]
    [b]driftbandits reproduce glb-s5 scb-s5 --theta-norm 5 --out results/norm-5[/]
    [b]driftbandits reproduce piecewise scaling mdp-linear mdp-mnl adaptive --out results/beyond[/]
    [b]driftbandits reproduce russac --out results/russac[/]   [dim]experiments of other papers: russac, kim, faury, cheung[/]
    [b]driftbandits reproduce --list[/]
    """
    if list_panels:
        show_listing(listing("panels"))
        return
    collection = panel_files.paper()
    wanted = list(dict.fromkeys(panels or collection.panels))
    constants = {"theta_norm": number_or_formula(theta_norm)} if theta_norm else {}
    experiments = []
    for path in map(panel_files.file, wanted):
        has = Source.read(path).data.get("constants", {})
        own = {name: value for name, value in constants.items() if name in has or len(wanted) == 1}
        experiments.append(load(path, trials=trials, horizon=horizon, seed=seed, constants=own, tiny=tiny))
    run_and_show(
        collection.name,
        experiments,
        folder,
        quiet=quiet,
        as_json=as_json,
        jobs=jobs,
        cluster=cluster,
        collection=collection,
        yes=yes,
        strict=strict,
        robust=robust,
    )
