"""`driftbandits report`: the HTML report of a folder of results."""

import pathlib
from typing import Annotated

import typer

from .app import EXPERIMENTS, command


@command(EXPERIMENTS)
def report(
    folder: Annotated[
        pathlib.Path,
        typer.Argument(metavar="DIR", help="A folder that reproduce or run has filled.", show_default=False),
    ],
) -> None:
    """Write DIR/report.html: one self-contained page with interactive curves, tables, claims, bounds and settings."""
    from ..experiment.write.publish import need
    from ..experiment.write.report import write_report

    need("pyarrow", "plotly", "jinja2")
    typer.echo(write_report(folder))
