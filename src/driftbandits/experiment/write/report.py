"""One HTML file that tells what an experiment found: interactive and self-contained, without requests to the network."""

import pathlib
from typing import Any

from ...errors import CannotWrite
from ...io.files import write_atomically
from ...plots.page import Figures, render
from ...zoo.citations import cite
from ..analyse.panel_results import Panel, counted_verdicts, load, refuse_unfinished
from ..analyse.robustness import VERDICTS
from ..run.store import publishing
from . import describe
from .report_tables import bound_table, claim_table, exponent_table, final_table, robust_table, settings_table

TEMPLATE = pathlib.Path(__file__).with_name("templates") / "report.html"


def write_report(root: pathlib.Path) -> pathlib.Path:
    """Write OUT/report.html from what is in OUT."""
    refuse_unfinished(root)
    with publishing(root):
        return write_page(*load(root), root)


def write_page(panels: list[Panel], settings: dict[str, Any], root: pathlib.Path) -> pathlib.Path:
    """Write OUT/report.html; the caller holds the lock of OUT."""
    path = root / "report.html"
    if path.is_symlink():  # the folder may be another's, and the link may point to any file of ours
        raise CannotWrite(str(path), OSError("it is a symbolic link; remove it"))
    write_atomically(path, page(panels, settings))
    return path


def page(panels: list[Panel], settings: dict[str, Any]) -> str:
    """The whole page."""
    figures = Figures()
    claims = [v for p in panels for v in p.claims]
    used = [name for p in panels for c in p.curves for name in _names(c.parameters)]
    alone = len(panels) == 1  # its title is that of the page
    return render(
        TEMPLATE,
        figures,
        title=settings["title"],
        text=panels[0].text if alone else "",
        claims=counted_verdicts(claims) if claims else "",
        smoke=any(p.smoke for p in panels),
        robust=robust_table(panels),
        verdicts=[(word, sum(v.robust == word for v in claims)) for word in VERDICTS],
        sections=[_section(panel, figures, alone) for panel in panels],
        settings=settings_table(settings),
        specifications=settings["specifications"],
        cite=cite(*dict.fromkeys(used)),
    )


def _names(parameters: dict[str, Any]) -> list[str]:
    """Zoo names used by a strategy and its bases; a table without `use` is of values (`features` of a kernel)."""
    bases = [value for value in parameters.values() if isinstance(value, dict) and "use" in value]
    return [parameters["use"], *(name for base in bases for name in _names(base))]


def _section(panel: Panel, figures: Figures, alone: bool) -> dict[str, Any]:
    """What the template tells about a panel."""
    labels = dict.fromkeys(fit.label for fit in panel.fits) if panel.figure == "scaling" else {}
    places = panel.environments if panel.figure in ("regret", "time") else []
    return {
        "name": panel.name,
        "title": "" if alone else panel.title,
        "text": "" if alone else panel.text,
        "unit": panel.unit,
        "claims": claim_table(panel) if panel.claims else None,
        "scaling": [figures.add(describe.scaling(panel, label)) for label in labels],
        "exponents": exponent_table(panel),
        "places": [_place(panel, environment, figures) for environment in places],
    }


def _further(panel: Panel, environment: str, figures: Figures, timed: bool) -> list[dict[str, str]]:
    """Figures below the main one, each with a title and a line of text; a further one is a line here and a function of `describe`."""
    drawn = [
        ("With what was added", "The curves above, and those that the source does not show.", describe.with_added),
        ("Reward", f"Mean reward of the arms played, per {panel.unit}; dotted: of the best arm.", describe.reward),
        ("Memory", "", describe.memory),
    ]
    keys = [(title, text, figures.add(plot(panel, environment))) for title, text, plot in drawn[: 1 if timed else None]]
    return [{"title": title, "text": text, "key": key} for title, text, key in keys if key]


def _place(panel: Panel, environment: str, figures: Figures) -> dict[str, Any]:
    """What the template tells about an environment of a panel."""
    timed = panel.figure == "time"
    main = describe.running_time if timed else describe.regret
    arms = [] if timed else describe.arms(panel, environment)
    return {
        "title": environment if len(panel.environments) > 1 else "",
        "main": figures.add(main(panel, environment)),
        "further": _further(panel, environment, figures, timed),
        "arms": [figures.add(plot) for plot in arms],
        "trials": max((c.plays["trials"] for c in panel.shown(environment) if c.plays), default=0),
        "finals": final_table(panel, environment),
        "bounds": bound_table(panel, environment),
    }
