"""The figures of an experiment, on paper: each panel alone, and all side by side."""

from collections.abc import Callable
from functools import partial
from typing import Any

from ...plots.paper import sheet
from ...plots.plot import Plot
from ..analyse.panel_results import Panel
from ..spec.schema import Collection
from . import describe


def figures(panels: list[Panel], collection: Collection | None = None) -> dict[str, Callable[[], Any]]:
    """All figures by name, each made when it is called; the largest, which shows the panels side by side, is the first."""
    answer: dict[str, Callable[[], Any]] = {}
    if collection is not None:
        found = {panel.name: panel for panel in panels}
        rows = [[found[name] for name in row if name in found] for row in collection.layout]
        rows = [row for row in rows if row]
        if sum(map(len, rows)) > 1:
            answer[collection.name] = lambda: sheet([[_overview(panel) for panel in row] for row in rows])
    for panel in panels:
        if panel.figure != "none":
            answer[panel.name] = partial(_figure, panel)
        if panel.figure in ("regret", "time") and panel.has_added:
            answer[f"{panel.name}-added"] = partial(_added, panel)
        if panel.figure == "regret" and any(c.memory for c in panel.shown()):
            answer[f"{panel.name}-memory"] = partial(_figure, panel, memory=True)
    return answer


def _overview(panel: Panel) -> Plot:
    """A panel among others."""
    plot = describe.running_time if panel.figure == "time" else describe.regret
    return plot(panel, panel.environments[0])


def _added(panel: Panel) -> Any:
    """A panel with the curves that its source does not show."""
    return sheet([[plot] for e in panel.environments if (plot := describe.with_added(panel, e)) is not None])


def _figure(panel: Panel, memory: bool = False) -> Any:
    """A panel alone: all its environments, or all quantities its regret scales with."""
    if panel.figure == "scaling":
        return sheet([[describe.scaling(panel, label) for label in dict.fromkeys(fit.label for fit in panel.fits)]])
    if panel.figure == "time":
        return sheet([[_overview(panel)]])
    draw = describe.memory if memory else describe.regret
    plots = [plot for e in panel.environments if (plot := draw(panel, e)) is not None]
    columns = {1: 1, 2: 2, 4: 2}.get(len(plots), 3)
    rows = [plots[i : i + columns] for i in range(0, len(plots), columns)]
    return sheet(rows, titles=panel.environments if len(plots) > 1 else None)
