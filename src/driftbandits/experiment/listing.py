"""What there is to name in a specification."""

from . import panels
from .catalog import Kind, links, names, summary
from .console import _plain, out
from .source import Source, SpecError, did_you_mean

KINDS = ("strategies", "environments", "links", "panels")


def listing(what: str) -> list[dict[str, str]]:
    """Rows of kind, name and a one-line description."""
    if what == "strategies":
        return [{"kind": "strategy", "name": name, "text": summary(f)} for name, f in names("strategy").items()]
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
        out.print(f"{row['name']:<{width}}  [dim]{_plain(row['text'])}[/]")
