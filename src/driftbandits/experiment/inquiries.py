"""The commands that answer a question and write nothing: list, cite, tune."""

import json
from typing import Annotated

import typer

from .commands import Json, app, readable_errors

__all__ = ["app", "cite", "list_", "tune"]


@app.command(name="list")
def list_(
    what: Annotated[
        str,
        typer.Argument(
            help="strategies, environments, links or panels.",
            autocompletion=lambda: ["strategies", "environments", "links", "panels"],
        ),
    ] = "strategies",
    as_json: Json = False,
) -> None:
    """List what an experiment may name: strategies, environments (with arms and paths), links, panels."""
    from .listing import listing, show_listing

    with readable_errors():
        rows = listing(what)
        if as_json:
            typer.echo(json.dumps(rows, ensure_ascii=False, indent=1))
        else:
            show_listing(rows)


@app.command()
def cite(
    names: Annotated[
        list[str],
        typer.Argument(
            metavar="NAME...",
            help="Strategies, e.g. lb_weight_ucb d_lin_ucb.",
            show_default=False,
            autocompletion=lambda: _citable(),
        ),
    ],
    as_json: Json = False,
) -> None:
    """Print the BibTeX of the papers behind strategies."""
    from ..citations import BIBTEX, papers

    with readable_errors():
        keys = papers(*names)
        typer.echo(
            json.dumps({key: BIBTEX[key] for key in keys}, indent=1)
            if as_json
            else "\n\n".join(BIBTEX[key] for key in keys)
        )


@app.command()
def tune(
    horizon: Annotated[int, typer.Option(min=2, help="Rounds T.")],
    dim: Annotated[int, typer.Option(min=1, help="Features d.")],
    path_length: Annotated[
        float | None, typer.Option(min=0.0, help="P_T = Σ‖θ_t − θ_{t−1}‖, how far the world moves in all.")
    ] = None,
    changes: Annotated[int | None, typer.Option(min=0, help="Number of abrupt changes Γ_T.")] = None,
    half_life: Annotated[
        float | None,
        typer.Option(
            help="Rounds after which an observation counts half; says what γ that is, and what the bounds are with it."
        ),
    ] = None,
    S: Annotated[float, typer.Option("-S", "--S", help="Bound of ‖θ‖.")] = 1.0,
    L: Annotated[float, typer.Option("-L", "--L", help="Bound of ‖x‖.")] = 1.0,
    R: Annotated[float, typer.Option("-R", "--R", help="Sub-Gaussian constant of linear rewards.")] = 1.0,
    link: Annotated[str, typer.Option(help="Link of the generalized theorems.")] = "logistic",
    variant: Annotated[
        str, typer.Option(help="printed: as in the paper; corrected: with its slips repaired.")
    ] = "printed",
    as_json: Json = False,
) -> None:
    """What each theorem tells you to set, and what it then promises: γ, half-life, λ, W, H and its regret bound.

    [b]driftbandits tune --horizon 6000 --dim 2 --path-length 6.28[/]
    """
    from .advice import advice, show_advice

    with readable_errors():
        rows = advice(
            T=horizon,
            d=dim,
            P_T=path_length,
            changes=changes,
            half_life=half_life,
            S=S,
            L=L,
            R=R,
            link=link,
            variant=variant,
        )
        if as_json:
            typer.echo(json.dumps(rows, ensure_ascii=False, indent=1))
        else:
            show_advice(rows)


def _citable() -> list[str]:
    from ..citations import ZOO

    return list(ZOO)
