"""Figures as in the paper: curves of mean ± 1 standard deviation, bars of running time, log-log scaling; PDF and PNG.

Drawn without pyplot, so that threads, notebooks and missing displays do not matter.
"""

import pathlib
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from .outcome import Panel
from .panels import Collection
from .style import DASHES, MARKERS, RC, colour_of

WIDTH = 3.5  # inches: one column of a two-column paper
HEIGHT = 2.5
LEGEND_ROW = 0.16
DPI = 200


def figures(panels: list[Panel], collection: Collection | None = None) -> dict[str, Callable[[], Any]]:
    """All figures by name, each made when it is called; the largest, which shows the panels side by side, is the first."""
    answer: dict[str, Callable[[], Any]] = {}
    if collection is not None:
        found = {panel.name: panel for panel in panels}
        rows = [[(found[p], found[p].environments[0]) for p in row if p in found] for row in collection.layout]
        rows = [row for row in rows if row]
        if sum(map(len, rows)) > 1:
            answer[collection.name] = partial(_grid, rows)
    for panel in panels:
        rows = _rows(panel, panel.environments if panel.figure == "regret" else [""])
        if panel.figure == "scaling":
            answer[panel.name] = partial(_scaling, panel)
        elif panel.figure != "none":
            answer[panel.name] = partial(_grid, rows)
        if panel.figure == "regret" and any(c.memory for c in panel.shown()):
            answer[f"{panel.name}-memory"] = partial(_grid, rows, memory=True)
    return answer


def _rows(panel: Panel, places: list[str]) -> list[list[tuple[Panel, str]]]:
    columns = {1: 1, 2: 2, 4: 2}.get(len(places), 3)
    return [[(panel, e) for e in places[i : i + columns]] for i in range(0, len(places), columns)]


def _grid(rows: list[list[tuple[Panel, str]]], memory: bool = False) -> Any:
    """Axes on a grid, each with its legend below; regret, or the effective memory of those that adapt it."""
    from matplotlib.figure import Figure

    columns = max(map(len, rows))
    shared = len({id(panel) for row in rows for panel, _ in row}) == 1 and columns > 1
    entries = max(len(panel.shown(e)) for row in rows for panel, e in row)
    below = LEGEND_ROW * -(-entries // 2) + 0.1
    height = HEIGHT if shared else HEIGHT + below
    figure = Figure(figsize=(WIDTH * columns, height * len(rows) + (below if shared else 0.0)), layout="constrained")
    engine: Any = figure.get_layout_engine()
    engine.set(w_pad=0.06, h_pad=0.05)
    handles: list[Any] = []
    for r, row in enumerate(rows):
        for c, (panel, environment) in enumerate(row):
            axes = figure.add_subplot(len(rows), columns, r * columns + c + 1)
            if panel.figure == "time":
                _bars(axes, panel)
                continue
            handles = (_memories if memory else _curves)(axes, panel, environment)
            axes.set_title(environment if shared else panel.title)
            if not shared:
                axes.legend(
                    handles=handles,
                    loc="upper center",
                    bbox_to_anchor=(0.5, -0.2),
                    ncols=2,
                    handlelength=2.4,
                    columnspacing=1.2,
                )
    if shared:
        figure.legend(handles=handles, loc="outside lower center", ncols=min(4, len(handles)), handlelength=2.4)
    return figure


def _curves(axes: Any, panel: Panel, environment: str) -> list[Any]:
    """Mean ± 1 std of every strategy; the legend lists them as the curves end, worst first."""
    drawn = []
    for position, curve in enumerate(panel.shown(environment)):
        colour = colour_of(curve.colour, position)
        mean, std = (
            curve.regret.mean(axis=0),
            curve.regret.std(axis=0, ddof=1) if len(curve.regret) > 1 else np.zeros(len(curve.rounds)),
        )
        axes.fill_between(curve.rounds, mean - std, mean + std, color=colour, alpha=0.18, linewidth=0)
        (line,) = axes.plot(curve.rounds, mean, color=colour, linestyle=DASHES[curve.line], label=curve.strategy)
        drawn.append((mean[-1], line))
    axes.set_xlim(0, max(c.horizon for c in panel.shown(environment)))
    axes.set_ylim(bottom=0)
    axes.set_xlabel(panel.unit)
    axes.set_ylabel("cumulative regret")
    return [line for _, line in sorted(drawn, key=lambda pair: -pair[0])]


def _memories(axes: Any, panel: Panel, environment: str) -> list[Any]:
    """Effective memory of every strategy that adapts it: geometric mean, and a factor of one std."""
    drawn = []
    for position, curve in enumerate(panel.shown(environment)):
        if curve.memory:
            x, mean, low, high = (np.asarray(curve.memory[key]) for key in ("round", "mean", "low", "high"))
            colour = colour_of(curve.colour, position)
            axes.fill_between(x, low, high, color=colour, alpha=0.18, linewidth=0)
            drawn += axes.plot(x, mean, color=colour, linestyle=DASHES[curve.line], label=curve.strategy)
    axes.set_yscale("log")
    axes.set_xlim(0, max(c.horizon for c in panel.shown(environment)))
    axes.set_xlabel(panel.unit)
    axes.set_ylabel(f"effective memory ({panel.unit}s)")
    return drawn


def _bars(axes: Any, panel: Panel) -> None:
    """Milliseconds a run; the error bar is 1 std over trials."""
    curves = sorted(panel.shown(panel.environments[0]), key=lambda c: float(c.microseconds.mean()), reverse=True)
    order = {c.strategy: i for i, c in enumerate(panel.shown(panel.environments[0]))}
    values = [np.asarray(c.seconds) * 1e3 for c in curves]
    names = [c.strategy for c in curves]
    axes.barh(
        names,
        [v.mean() for v in values],
        xerr=[v.std() for v in values],
        color=[colour_of(c.colour, order[c.strategy]) for c in curves],
        height=0.62,
        error_kw={"elinewidth": 0.8, "ecolor": "#444444"},
    )
    for i, v in enumerate(values):
        axes.annotate(
            f"{v.mean():.2f}",
            (v.mean() + v.std(), i),
            xytext=(3, 0),
            textcoords="offset points",
            va="center",
            fontsize=6.5,
        )
    axes.margins(x=0.16)
    axes.set_xlim(left=0)
    axes.grid(axis="y", visible=False)
    axes.set_xlabel(f"milliseconds a run of {curves[0].horizon} {panel.unit}s")
    axes.set_title(panel.title)


def _scaling(panel: Panel) -> Any:
    """Final regret on log axes, one axis a quantity, with fitted exponents and the theorem's slope."""
    from matplotlib.figure import Figure

    labels = list(dict.fromkeys(fit.label for fit in panel.fits))
    count = len({fit.strategy for fit in panel.fits})
    figure = Figure(
        figsize=(WIDTH * max(1, len(labels)), HEIGHT + 0.3 + LEGEND_ROW * (count + 1)), layout="constrained"
    )
    styles = {c.strategy: (c.colour, c.line) for c in panel.curves}
    for column, label in enumerate(labels):
        axes = figure.add_subplot(1, len(labels), column + 1)
        fits = [fit for fit in panel.fits if fit.label == label]
        for position, fit in enumerate(fits):
            name, line = styles[fit.strategy]
            axes.errorbar(
                fit.x,
                fit.mean,
                yerr=fit.std,
                color=colour_of(name, position),
                linestyle=DASHES[line],
                marker=MARKERS[position % len(MARKERS)],
                markersize=3.5,
                capsize=2,
                label=f"{fit.strategy}: {fit.exponent:.2f} ± {fit.exponent_std:.2f}",
            )
        slope = fits[0].theorem
        if slope is not None:
            x = np.array([min(fits[0].x), max(fits[0].x)])
            top = 1.35 * max(max(fit.mean) for fit in fits)
            axes.plot(
                x,
                top * (x / x[-1]) ** slope,
                color="#888888",
                linewidth=1.0,
                linestyle=(0, (2, 2)),
                label=f"theorem: {slope:.2f}",
            )
        _log_axes(axes, fits[0].x)
        axes.set_xlabel(label)
        if column == 0:
            axes.set_ylabel("final regret")
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), title="fitted exponent", title_fontsize=7.0)
    return figure


def _log_axes(axes: Any, x: list[float]) -> None:
    from matplotlib.ticker import LogLocator, NullFormatter, NullLocator, ScalarFormatter

    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xticks(x, [f"{v:.5g}" for v in x])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.yaxis.set_major_formatter(ScalarFormatter())
    axes.yaxis.set_minor_formatter(NullFormatter())


def save(make: Callable[[], Any], stem: pathlib.Path) -> None:
    """Make a figure and write it, as PDF and PNG."""
    import matplotlib

    with matplotlib.rc_context(RC):  # type: ignore[arg-type]
        figure = make()
        with warnings.catch_warnings():  # a figure too small for its labels is still a figure
            warnings.filterwarnings("ignore", "constrained_layout not applied", UserWarning)
            figure.get_layout_engine().execute(figure)
        figure.set_layout_engine("none")  # found once for both files
        stem.parent.mkdir(parents=True, exist_ok=True)
        _write(figure, stem)


def _write(figure: Any, stem: pathlib.Path) -> None:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.backends.backend_pdf import FigureCanvasPdf

    files = [stem.with_name(f"{stem.name}.{ending}") for ending in ("pdf", "png")]
    parts = [file.with_name(f"{file.name}.part") for file in files]
    pdf: Any = FigureCanvasPdf(figure)
    pdf.print_pdf(parts[0], metadata={"CreationDate": None})  # `print_…` draws once where `savefig` draws twice
    figure.set_dpi(DPI)  # a PDF has 72, and leaves them behind
    png: Any = FigureCanvasAgg(figure)
    png.print_png(parts[1])
    for part, file in zip(parts, files, strict=True):
        part.replace(file)
