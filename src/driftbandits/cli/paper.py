"""`driftbandits paper`: tables, tests and figures of a finished experiment, for a manuscript."""

import pathlib
from typing import Annotated, Literal

import typer

from .app import EXPERIMENTS, command
from .console import out


@command(EXPERIMENTS)
def paper(
    folder: Annotated[
        pathlib.Path,
        typer.Argument(metavar="DIR", help="A folder that run or reproduce has filled.", show_default=False),
    ],
    columns: Annotated[
        int,
        typer.Option(min=1, max=2, help="Width of figures: 1 is a column of a two-column paper, 2 the whole width."),
    ] = 1,
    figures: Annotated[
        Literal["both", "pdf", "pgf"], typer.Option(help="Figures as PDF, as source for pgfplots, or both.")
    ] = "both",
    baseline: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Strategy that the others are tested against. [dim]Default: that of largest mean regret.[/]",
        ),
    ] = None,
    to: Annotated[pathlib.Path | None, typer.Option("--out", help="Folder. [dim]Default: DIR/paper.[/]")] = None,
) -> None:
    """Write DIR/paper: LaTeX tables (booktabs), paired tests with Holm's correction and effect sizes, figures as PDF and pgfplots.

    [b]driftbandits paper results/mine --columns 2 --baseline OFUL[/]
    """
    from ..experiment.write.for_paper import write
    from ..experiment.write.publish import need

    need("pyarrow", "matplotlib")
    width: Literal[1, 2] = 1 if columns == 1 else 2
    formats: tuple[Literal["pdf", "pgf"], ...] = ("pdf", "pgf") if figures == "both" else (figures,)
    for file in write(folder, to or folder / "paper", columns=width, formats=formats, baseline=baseline):
        out.print(str(file))
