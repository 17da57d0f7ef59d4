"""The panels of the paper, and those beyond it: TOML files in experiments/, and inside the installed package."""

import pathlib

from ...util.spelling import did_you_mean
from .schema import Collection, read_collection
from .source import Source, SpecError


def folder() -> pathlib.Path:
    """Where the panels are."""
    here = pathlib.Path(__file__).resolve().parent
    for place in (here.parent / "toml", here.parents[3] / "experiments"):
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
    return read_collection(Source.read(folder() / "paper.toml"))
