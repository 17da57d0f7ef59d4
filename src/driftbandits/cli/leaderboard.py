"""`driftbandits leaderboard`: a page and LaTeX tables from submissions to DriftBench."""

import pathlib
from typing import Annotated

import typer

from .app import EXPERIMENTS, command
from .console import out


@command(EXPERIMENTS)
def leaderboard(
    folder: Annotated[
        pathlib.Path, typer.Argument(metavar="DIR", help="Folder with one JSON per learner, as bench-suite writes it.")
    ],
    to: Annotated[
        pathlib.Path | None, typer.Option("--out", help="Folder for the results. [dim]Default: DIR.[/]")
    ] = None,
) -> None:
    """Write DIR/leaderboard.html, sortable and offline, and tables in LaTeX (booktabs) and Markdown per track.

    [b]driftbandits leaderboard results/driftbench[/]
    """
    from ..driftbench.leaderboard import write

    for file in write(folder, to):
        out.print(str(file))
