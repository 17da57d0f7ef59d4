"""How objects show themselves in a notebook: a small table, a line chart, nested boxes, as plain HTML and SVG; and `run.plot()`.

Every text is escaped. Text and frames have the colour of the surrounding page, and the curves colours that light and dark pages show.
"""

import html
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InvalidValue

T = TypeVar("T", bound=type)
COLOURS = ("#0072B2", "#C44E00", "#007A59", "#8A2BE2", "#6E6E6E")
WIDTH, HEIGHT = 320, 90
MOST_FIELDS = 12  # of a box; the rest is counted


def card(title: str, rows: Mapping[str, Any], figure: str = "") -> str:
    """A title, a table of names and values, and a figure below it."""
    cells = "".join(
        f'<tr><th style="text-align:left;font-weight:normal;opacity:.75">{html.escape(str(name))}</th>'
        f'<td style="text-align:left">{html.escape(str(value))}</td></tr>'
        for name, value in rows.items()
    )
    return f'<div><strong>{html.escape(title)}</strong><table style="margin:.2em 0">{cells}</table>{figure}</div>'


def lines(x: ArrayLike, series: Sequence[ArrayLike], caption: str) -> str:
    """A small chart of some curves over x, with its smallest and largest values; nothing where nothing is finite."""
    at = np.asarray(x, float)
    values = [np.asarray(y, float) for y in series]
    finite = np.concatenate([y[np.isfinite(y)] for y in values] or [np.zeros(0)])
    if not len(finite) or not len(at):
        return ""
    low, high = float(finite.min()), float(finite.max())
    across, up = max(float(at[-1] - at[0]), 1e-300), max(high - low, 1e-300)
    curves = ""
    for y, colour in zip(values, COLOURS, strict=False):
        keep = np.isfinite(y)
        xs, ys = WIDTH * (at[keep] - at[0]) / across, HEIGHT * (1.0 - (y[keep] - low) / up)
        points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(xs, ys, strict=True))
        curves += f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="1.6"/>'
    return (
        f'<figure style="margin:.3em 0"><svg role="img" aria-label="{html.escape(caption)}" width="{WIDTH}" height="{HEIGHT}" '
        f'viewBox="-2 -2 {WIDTH + 4} {HEIGHT + 4}" style="overflow:visible">'
        f'<path d="M0 0V{HEIGHT}H{WIDTH}" fill="none" stroke="currentColor" opacity=".35"/>{curves}</svg>'
        f'<figcaption style="font-size:smaller;opacity:.75">{html.escape(caption)}: {low:.4g} to {high:.4g}</figcaption></figure>'
    )


def boxes(thing: Any, label: str = "") -> str:
    """A composition as nested boxes: numbers in their part's box, parts as boxes inside it."""
    name = f"{label}: {type(thing).__name__}" if label else type(thing).__name__
    inner, numbers = "", []
    for field, value in zip(thing._fields, thing, strict=True):
        if hasattr(value, "_fields"):
            inner += boxes(value, field)
        else:
            numbers.append(f"{field} = {_short(value)}")
    if len(numbers) > MOST_FIELDS:
        numbers = [*numbers[:MOST_FIELDS], f"and {len(numbers) - MOST_FIELDS} more"]
    said = f'<div style="font-size:smaller;opacity:.85">{html.escape(", ".join(numbers))}</div>' if numbers else ""
    nested = f'<div style="display:flex;flex-wrap:wrap;gap:.4em;margin-top:.3em">{inner}</div>' if inner else ""
    return (
        '<div style="border:1px solid;border-radius:.4em;padding:.3em .6em;display:inline-block;max-width:32em;vertical-align:top">'
        f"<strong>{html.escape(name)}</strong>{said}{nested}</div>"
    )


def shown_as_boxes(cls: T) -> T:
    """A named tuple whose objects show themselves as `boxes`; a part has this from `core.kernel.part`."""
    cls._repr_html_ = boxes  # type: ignore[attr-defined]
    return cls


def _short(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    text = " ".join(repr(value).split())
    return text if len(text) <= 60 else f"{text[:57]}…"


def draw_regret(x: Any, regret: Any, time: str, ax: Any, label: str | None) -> Any:
    """Draw a regret curve on the given matplotlib axes, or on new ones; returns the axes."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise InvalidValue("plot needs matplotlib; install driftbandits[command]") from None
    axes = plt.subplots()[1] if ax is None else ax
    axes.plot(x, regret, color=COLOURS[len(axes.lines) % len(COLOURS)], label=label)
    axes.set(xlabel=time, ylabel="regret")
    if label is not None:
        axes.legend(frameon=False)
    return axes
