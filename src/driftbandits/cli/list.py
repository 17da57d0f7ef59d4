"""`driftbandits list`: what an experiment may name."""

import json
from typing import Annotated

import typer
from rich.text import Text

from ..experiment.spec import panels
from ..experiment.spec.catalog import Kind, links, names, summary
from ..experiment.spec.source import Source, SpecError, did_you_mean
from ..zoo.record import records
from .app import QUESTIONS, command
from .console import out
from .options import Json

KINDS = ("strategies", "environments", "links", "panels")


@command(QUESTIONS, name="list")
def list_(
    what: Annotated[
        str,
        typer.Argument(
            metavar="WHAT",
            help="strategies, environments, links or panels.",
            autocompletion=lambda: ["strategies", "environments", "links", "panels"],
        ),
    ] = "strategies",
    as_json: Json = False,
) -> None:
    """List what an experiment may name: strategies, environments (with arms and paths), links, panels."""
    rows = listing(what)
    if as_json:
        typer.echo(json.dumps(rows, ensure_ascii=False, indent=1))
    else:
        show_listing(rows)


def listing(what: str) -> list[dict[str, str]]:
    """Rows of kind, name and a one-line description."""
    if what == "strategies":
        return [{"kind": "strategy", "name": record.name, "text": record.summary} for record in records()]
    if what == "environments":
        kinds: tuple[Kind, ...] = ("environment", "arms", "path")
        return [{"kind": kind, "name": name, "text": summary(f)} for kind in kinds for name, f in names(kind).items()]
    if what == "links":
        return [{"kind": "link", "name": name, "text": summary(type(link))} for name, link in links().items()]
    if what == "panels":
        return [{"kind": "panel", "name": name, "text": _title(name)} for name in panels.names()]
    raise SpecError(f"there is no list of '{what}'{did_you_mean(what, KINDS) or '; there are ' + ', '.join(KINDS)}")


def _title(panel: str) -> str:
    return str(Source.read(panels.file(panel)).data["experiment"]["title"])


def show_listing(rows: list[dict[str, str]]) -> None:
    """As lines, aligned."""
    width = max(len(row["name"]) for row in rows)
    kind = ""
    for row in rows:
        if len({r["kind"] for r in rows}) > 1 and row["kind"] != kind:
            kind = row["kind"]
            out.print(f"[b]{kind}[/]")
        out.print(Text.assemble(f"{row['name']:<{width}}  ", (row["text"], "dim")))
