"""Plots drawn by matplotlib in the style of the paper, as PDF and PNG.

pyplot is not used, so that drawing works in threads, in notebooks and without a display.
"""

import io
import math
import pathlib
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..io.files import make_folder, write_atomically
from .plot import Axis, Plot, Series, tick_text
from .style import DASHES, RC

if TYPE_CHECKING:  # matplotlib is an optional dependency
    from matplotlib.axes import Axes
    from matplotlib.container import ErrorbarContainer
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    Handle = Line2D | ErrorbarContainer

WIDTH = 3.5  # inches: one column of a two-column paper
HEIGHT = 2.5
LEGEND_ROW = 0.16
DPI = 200

Rows = list[list[Plot]]


def sheet(rows: Rows, titles: list[str] | None = None) -> "Figure":
    """Plots on a grid, each with its legend below; with `titles`, all plots share one legend."""
    from matplotlib.figure import Figure

    columns, shared = max(map(len, rows)), titles is not None
    entries = max((len(_legend(plot)) for row in rows for plot in row), default=0)
    below = LEGEND_ROW * -(-entries // (4 if shared else 2)) + 0.1 if entries else 0.0
    height = HEIGHT if shared else HEIGHT + below
    figure = Figure(figsize=(WIDTH * columns, height * len(rows) + (below if shared else 0.0)), layout="constrained")
    engine: Any = figure.get_layout_engine()
    engine.set(w_pad=0.06, h_pad=0.05)
    handles: "list[Handle]" = []
    for r, row in enumerate(rows):
        for c, plot in enumerate(row):
            axes = figure.add_subplot(len(rows), columns, r * columns + c + 1)
            handles = draw(axes, plot)
            axes.set_title(plain(titles[r * columns + c] if titles else plot.title))
            if plot.legend and not shared:
                title = {"title": plot.legend_title, "title_fontsize": 7.0} if plot.legend_title else {}
                axes.legend(
                    handles=handles,
                    loc="upper center",
                    bbox_to_anchor=(0.5, -0.2),
                    ncols=1 if plot.legend_title else 2,
                    handlelength=2.4,
                    columnspacing=1.2,
                    **title,
                )
    if shared:
        figure.legend(handles=handles, loc="outside lower center", ncols=min(4, len(handles)), handlelength=2.4)
    return figure


def _legend(plot: Plot) -> list[Series]:
    shown = [s for s in plot.series if not s.hidden] if plot.legend else []
    return shown + shown[: len(shown) if plot.legend_title else 0]  # with a title they stand below each other


def draw(axes: "Axes", plot: Plot) -> "list[Handle]":
    """Draw a plot; the handles of its legend."""
    if plot.bars:
        _bars(axes, plot)
    handles = [_series(axes, s, plot.x.time) for s in plot.series if not s.hidden]
    _axis(axes, "x", plot.x)
    _axis(axes, "y", plot.y)
    return handles


def _series(axes: "Axes", s: Series, time: bool) -> "Handle":
    x = [_moment(v) for v in s.x] if time else s.x
    style: dict[str, Any] = {  # keywords of matplotlib, of several types
        "color": s.colour,
        "linestyle": DASHES[s.line],
        "label": plain(s.name),
        "linewidth": 1.0 if s.thin else 1.4,
    }
    if s.low is not None and s.high is not None:
        axes.fill_between(x, s.low, s.high, color=s.colour, alpha=0.18, linewidth=0)
    if s.error is not None:
        return axes.errorbar(x, s.y, yerr=s.error, marker=s.marker, markersize=3.5, capsize=2, **style)
    return axes.plot(x, s.y, marker=s.marker or None, markersize=3.5, **style)[0]


def _moment(seconds: float) -> np.datetime64:
    """Seconds since 1970 as matplotlib reads times; in UTC."""
    return np.datetime64("NaT") if math.isnan(seconds) else np.datetime64(round(seconds * 1e3), "ms")


def _bars(axes: "Axes", plot: Plot) -> None:
    axes.barh(
        [plain(bar.name) for bar in plot.bars],
        [bar.value for bar in plot.bars],
        xerr=[bar.error for bar in plot.bars],
        color=[bar.colour for bar in plot.bars],
        height=0.62,
        error_kw={"elinewidth": 0.8, "ecolor": "#444444"},
    )
    for i, bar in enumerate(plot.bars):
        place: dict[str, Any] = {"xytext": (3, 0), "textcoords": "offset points", "va": "center", "fontsize": 6.5}
        axes.annotate(f"{bar.value:.2f}", (bar.value + bar.error, i), **place)
    axes.margins(x=0.16)
    axes.grid(axis="y", visible=False)


def _axis(axes: "Axes", which: str, axis: Axis) -> None:
    from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator

    if axis.log:
        getattr(axes, f"set_{which}scale")("log")
        line = getattr(axes, f"{which}axis")
        line.set_minor_locator(NullLocator())
        line.set_major_locator(FixedLocator(list(axis.ticks)))
        line.set_major_formatter(FixedFormatter(list(axis.names) or [tick_text(tick) for tick in axis.ticks]))
    if axis.time:
        from matplotlib import dates

        locator: Any = dates.AutoDateLocator(maxticks=6)  # type: ignore[no-untyped-call]
        formatter: Any = dates.ConciseDateFormatter(locator)  # type: ignore[no-untyped-call]
        getattr(axes, f"{which}axis").set_major_locator(locator)
        getattr(axes, f"{which}axis").set_major_formatter(formatter)
    limits = {name: float(v) for name, v in zip(_ENDS[which], (axis.low, axis.high), strict=True) if v is not None}
    getattr(axes, f"set_{which}lim")(**limits)
    getattr(axes, f"set_{which}label")(plain(axis.label))


_ENDS = {"x": ("left", "right"), "y": ("bottom", "top")}


def plain(text: str) -> str:
    r"""Text with dollar signs escaped, because matplotlib interprets text between two of them as a formula.

    Examples
    --------
    >>> plain("$x^{$")
    '\\$x^{\\$'
    """
    return text.replace("$", r"\$")


def save(make: "Callable[[], Figure]", stem: pathlib.Path) -> None:
    """Make a figure and write it, as PDF and PNG."""
    import matplotlib

    with matplotlib.rc_context(RC):  # type: ignore[arg-type]
        figure = make()
        with warnings.catch_warnings():  # a figure too small for its labels is still written
            warnings.filterwarnings("ignore", "constrained_layout not applied", UserWarning)
            if (engine := figure.get_layout_engine()) is not None:
                engine.execute(figure)
        figure.set_layout_engine("none")  # found once for both files
        make_folder(stem.parent)
        _write(figure, stem)


def _write(figure: "Figure", stem: pathlib.Path) -> None:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.backends.backend_pdf import FigureCanvasPdf

    pdf_data, png_data = io.BytesIO(), io.BytesIO()
    pdf: Any = FigureCanvasPdf(figure)
    pdf.print_pdf(pdf_data, metadata={"CreationDate": None})  # `print_…` draws once where `savefig` draws twice
    figure.set_dpi(DPI)  # a PDF has 72, and leaves them behind
    png: Any = FigureCanvasAgg(figure)
    png.print_png(png_data)
    for ending, data in (("pdf", pdf_data), ("png", png_data)):
        write_atomically(stem.with_name(f"{stem.name}.{ending}"), data.getbuffer())
