"""`driftbandits backup`: a consistent copy of a durable bandit that is in use."""

import pathlib
from typing import Annotated

import typer

from .app import OWN_DATA, command


@command(OWN_DATA)
def backup(
    source: Annotated[
        pathlib.Path, typer.Argument(metavar="FILE", help="The file of a durable bandit.", show_default=False)
    ],
    target: Annotated[pathlib.Path, typer.Argument(metavar="COPY", help="Where the copy goes.", show_default=False)],
) -> None:
    """Write a consistent copy of the file of a durable bandit, even while the bandit is in use."""
    from ..bandit.sqlite_store import copy_database, reading

    with reading(source) as db:
        copy_database(db, str(source), target)
    typer.echo(target)
