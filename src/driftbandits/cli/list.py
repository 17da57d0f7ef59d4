"""`driftbandits list`: the names that may be used in an experiment file."""

import json
from typing import Annotated

import typer
from rich.text import Text

from ..experiment.spec import panels
from ..experiment.spec.catalog import Kind, links, names, summary
from ..experiment.spec.source import Source, SpecError
from ..util.spelling import did_you_mean
from ..zoo.record import records
from ..zoo.roles import ROLES, role_of
from .app import ALGORITHMS, command
from .console import out
from .options import Json

KINDS = ("strategies", "environments", "links", "panels")
HEADERS = {  # of groups whose name does not say enough
    "tuning-free": "Tuning-free: they find out from the data how fast to forget",
    "fixed forgetting": "Fixed forgetting: you set a discount factor, a window or a restart period",
    "detection": "Detection: they keep everything until a test finds a change",
    "never forgets": "Never forgets: for worlds that do not change",
    "environment": "Environments",
    "arms": "Arms of an environment",
    "path": "Paths of the parameter",
}


@command(ALGORITHMS, name="list")
def list_(
    what: Annotated[
        str,
        typer.Argument(
            metavar="WHAT",
            help="strategies, environments, links or panels.",
            autocompletion=lambda: list(KINDS),
        ),
    ] = "strategies",
    as_json: Json = False,
) -> None:
    """List the names that an experiment file may use: strategies, environments (with arms and paths), links, panels."""
    rows = listing(what)
    if as_json:
        typer.echo(json.dumps(rows, ensure_ascii=False, indent=1))
    else:
        show_listing(rows)


def listing(what: str) -> list[dict[str, str]]:
    """Rows of kind, name, a one-line description and, for strategies, the group; the tuning-free ones come first."""
    if what == "strategies":
        ordered = sorted(records(), key=lambda record: ROLES.index(role_of(record.name)))
        return [
            {"kind": "strategy", "name": record.name, "text": record.summary, "group": role_of(record.name)}
            for record in ordered
        ]
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
    """As lines, aligned, with a header above each group."""
    width = max(len(row["name"]) for row in rows)
    groups = [row.get("group", row["kind"]) for row in rows]
    for i, (row, group) in enumerate(zip(rows, groups, strict=True)):
        if len(set(groups)) > 1 and group not in groups[:i]:
            out.print(Text.assemble("\n" if i else "", (HEADERS.get(group, group.capitalize()), "bold")))
        out.print(Text.assemble(f"  {row['name']:<{width}}  ", (row["text"], "dim")))
