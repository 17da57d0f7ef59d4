"""`driftbandits cite`: the papers behind strategies."""

import json
from typing import Annotated

import typer

from .app import ALGORITHMS, command
from .options import Json


@command(ALGORITHMS)
def cite(
    names: Annotated[
        list[str],
        typer.Argument(
            metavar="NAME",
            help="Strategies, e.g. lb_weight_ucb d_lin_ucb.",
            show_default=False,
            autocompletion=lambda: _citable(),
        ),
    ],
    as_json: Json = False,
) -> None:
    """Print the BibTeX of the papers behind strategies."""
    from ..zoo.citations import papers
    from ..zoo.papers import BIBTEX

    keys = papers(*names)
    typer.echo(
        json.dumps({key: BIBTEX[key] for key in keys}, indent=1)
        if as_json
        else "\n\n".join(BIBTEX[key] for key in keys)
    )


def _citable() -> list[str]:
    from ..zoo.record import RECORDS

    return list(RECORDS)
