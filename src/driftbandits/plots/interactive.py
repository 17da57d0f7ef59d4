"""Plots as plotly figures, which are plain data, for HTML pages. Names are shown as text and never interpreted as markup."""

import datetime
import html
import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from .plot import Axis, Plot, Series, tick_text
from .style import PLOTLY_DASHES, PLOTLY_MARKERS

HEIGHT = 420
SMALL = 190  # the height of a heat map
FONT = {"family": "system-ui, sans-serif", "size": 13, "color": "#222222"}


def figure(plot: Plot) -> dict[str, Any]:
    """Data and layout of a plotly figure."""
    data = [trace for s in plot.series for trace in _series(s, plot.x.time)]
    if plot.bars:
        data = [_bars(plot)]
    if plot.heat:
        data = [_heat(plot)]
    layout: dict[str, Any] = {
        "xaxis": _axis(plot.x),
        "yaxis": _axis(plot.y),
        "margin": {"l": 60, "r": 20, "t": 20, "b": 45},
        "height": SMALL if plot.heat else HEIGHT,
        "paper_bgcolor": "white",
        "plot_bgcolor": "white",
        "font": FONT,
        "showlegend": plot.legend,
        "legend": {"x": 1.02, "y": 1, "groupclick": "togglegroup", "title": {"text": _text(plot.legend_title)}},
    }
    if plot.heat:
        layout["title"] = {"text": _text(plot.title), "font": {"size": 12}, "y": 0.97, "yanchor": "top"}
        layout["margin"] = {"l": 34, "r": 8, "t": 26, "b": 34}
        layout["font"] = {**FONT, "size": 10}
        layout["yaxis"] |= {"showticklabels": False, "ticks": "", "showgrid": False}
    return {"data": data, "layout": layout}


def _series(s: Series, time: bool) -> Iterable[dict[str, Any]]:
    """A line, below it its band; an entry of the legend switches both."""
    x = [_moment(v) for v in s.x] if time else _short(s.x)
    if s.low is not None and s.high is not None:
        yield {
            "legendgroup": s.name,
            "showlegend": False,
            "hoverinfo": "skip",
            "mode": "lines",
            "line": {"width": 0},
            "x": [*x, *x[::-1]],
            "y": [*_short(s.high), *_short(s.low)[::-1]],
            "fill": "toself",
            "fillcolor": _faint(s.colour),
        }
    trace: dict[str, Any] = {
        "legendgroup": s.name,
        "name": _text(s.name),
        "x": x,
        "y": _short(s.y),
        "mode": "lines+markers" if s.marker else "lines",
        "line": {"color": s.colour, "dash": PLOTLY_DASHES[s.line], "width": 1.5 if s.thin else 2},
        "hovertemplate": "%{y:.4g} after %{x}<extra>%{fullData.name}</extra>",
    }
    if s.marker:
        trace |= {"marker": {"symbol": PLOTLY_MARKERS[s.marker], "size": 7}}
    if s.marker or time:
        trace |= {"hovertemplate": "%{y:.4g} at %{x}<extra>%{fullData.name}</extra>"}
    if s.error is not None:
        trace |= {"error_y": {"type": "data", "array": _short(s.error)}}
    if s.hidden:
        trace["visible"] = "legendonly"
    yield trace


def _bars(plot: Plot) -> dict[str, Any]:
    return {
        "type": "bar",
        "orientation": "h",
        "y": [f"{_text(bar.name)}  <b>{bar.value:.2f}</b>" for bar in plot.bars],
        "x": _short(bar.value for bar in plot.bars),
        "error_x": {"type": "data", "array": _short(bar.error for bar in plot.bars), "thickness": 1},
        "marker": {"color": [bar.colour for bar in plot.bars]},
        "hovertemplate": "%{x:.3f}<extra></extra>",
    }


def _heat(plot: Plot) -> dict[str, Any]:
    assert plot.heat is not None
    return {
        "type": "heatmap",
        "x": _short(plot.heat.x),
        "z": np.asarray(plot.heat.values, float).round(3).tolist(),
        "zmin": 0,
        "colorscale": [[0, "#ffffff"], [0.25, "#9ecae1"], [1, "#08306b"]],
        "showscale": False,
        "hovertemplate": "arm %{y}: %{z:.0%} of the plays until %{x}<extra></extra>",
    }


def _axis(axis: Axis) -> dict[str, Any]:
    answer: dict[str, Any] = {
        "gridcolor": "#e6e6e6",
        "zerolinecolor": "#cccccc",
        "automargin": True,
        "title": {"text": _text(axis.label), "standoff": 8},
    }
    if axis.time:
        answer["type"] = "date"
    elif axis.log:
        names = [_text(name) for name in axis.names] or [tick_text(t) for t in axis.ticks]
        answer |= {"type": "log", "tickvals": list(axis.ticks), "ticktext": names}
    elif axis.low == 0.0 and axis.high is None:
        answer["rangemode"] = "tozero"
    elif axis.low is not None and axis.high is not None:
        answer["range"] = [axis.low, axis.high]
    return answer


def _text(name: str) -> str:
    """Escape a name for plotly, which interprets a few HTML tags and does not know the entity for quotes."""
    return html.escape(name, quote=False)


def _faint(colour: str) -> str:
    r, g, b = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({r},{g},{b},0.16)"


def _moment(seconds: float) -> str | None:
    """Seconds since 1970 as plotly reads times; in UTC."""
    if math.isnan(seconds):
        return None
    return datetime.datetime.fromtimestamp(seconds, datetime.UTC).strftime("%Y-%m-%d %H:%M:%S")


def _short(values: Iterable[float]) -> list[float | None]:
    """Numbers shortened to six digits, which draw the same line; NaN becomes None, a gap in the line, because JSON has no NaN."""
    short = [float(f"{v:.6g}") for v in values]
    return [None if math.isnan(v) else int(v) if v.is_integer() else v for v in short]
