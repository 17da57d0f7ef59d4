"""The panels of the paper, and those beyond it: TOML files in experiments/, and inside the installed package."""

import pathlib
from dataclasses import dataclass

from .source import Source, SpecError, did_you_mean
from .tables import Table


@dataclass(frozen=True)
class Collection:
    """Panels that belong together."""

    name: str
    title: str
    layout: list[list[str]]

    @property
    def panels(self) -> list[str]:
        """Column by column, as the paper tells them."""
        columns = max(map(len, self.layout))
        return [row[c] for c in range(columns) for row in self.layout if c < len(row)]


def folder() -> pathlib.Path:
    """Where the panels are."""
    here = pathlib.Path(__file__).resolve().parent
    for place in (here / "toml", here.parents[2] / "experiments"):
        if (place / "paper.toml").is_file():
            return place
    raise SpecError("the panels of the paper are not installed with this copy of driftbandits")


def names() -> list[str]:
    """All panels: the paper's first."""
    first = paper().panels
    others = sorted(p.stem for p in folder().glob("*.toml") if p.stem not in ("paper", *first))
    return [*first, *others]


def file(panel: str) -> pathlib.Path:
    """The specification of a panel."""
    known = names()
    if panel not in known:
        raise SpecError(f"unknown panel '{panel}'{did_you_mean(panel, known) or '; known: ' + ', '.join(known)}")
    return folder() / f"{panel}.toml"


def paper() -> Collection:
    """The paper's own panels and how they stand in its figure."""
    source = Source.read(folder() / "paper.toml")
    head = Table(source.data, source, ()).table("collection")
    layout = head.get("layout", "any")
    return Collection(head.get("name", "text"), head.get("title", "text"), layout)
