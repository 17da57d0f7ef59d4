"""Plots as data, independent of the library that draws them: paper.py (matplotlib) or interactive.py (plotly)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

Numbers = Sequence[float] | NDArray[Any]

MOST_TICKS = 7  # of a logarithmic axis


@dataclass(frozen=True)
class Axis:
    """An axis: its label, scale and range. The ticks of a logarithmic axis are set here, so that there are few enough to read."""

    label: str
    log: bool = False
    ticks: tuple[float, ...] = ()
    low: float | None = None
    high: float | None = None
    names: tuple[str, ...] = ()  # of the ticks, where their numbers are not what a reader wants
    time: bool = False  # whether the values are seconds since 1970


@dataclass(frozen=True)
class Series:
    """A line, perhaps with a band around it, or with points and their error bars."""

    name: str
    colour: str
    x: Numbers
    y: Numbers
    line: str = "solid"
    low: Numbers | None = None  # the band
    high: Numbers | None = None
    error: Numbers | None = None
    marker: str = ""
    thin: bool = False
    hidden: bool = False  # shown on request on a page, never in a file


@dataclass(frozen=True)
class Bar:
    """A horizontal bar with an error bar; its name stands on the axis."""

    name: str
    colour: str
    value: float
    error: float


@dataclass(frozen=True)
class Heat:
    """A heat map of values[row][column]."""

    x: Numbers
    values: Sequence[Numbers] | NDArray[Any]


@dataclass(frozen=True)
class Plot:
    """One pair of axes with series, bars or a heat map on it. Series are listed worst first: the legend, from top to bottom."""

    title: str
    x: Axis
    y: Axis
    series: tuple[Series, ...] = ()
    bars: tuple[Bar, ...] = ()  # from bottom to top
    heat: Heat | None = None
    legend_title: str = ""
    legend: bool = True


def log_ticks(low: float, high: float, most: int = MOST_TICKS) -> tuple[float, ...]:
    """Round numbers within a range, few enough to stand beside each other: 1-2-5 or powers of ten, or every other one, ….

    Examples
    --------
    >>> log_ticks(30, 900)
    (50.0, 100.0, 200.0, 500.0)
    >>> log_ticks(1, 1e9)
    (1.0, 100.0, 10000.0, 1000000.0, 100000000.0)
    """
    if not 0.0 < low <= high < math.inf:
        return ()
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    for digits, step in (((1, 2, 5), 1), ((1, 3), 1), *(((1,), step) for step in range(1, 400))):
        powers = range(first - first % step, last + 1, step)
        ticks = tuple(float(f"{d}e{p}") for p in powers for d in digits if low <= float(f"{d}e{p}") <= high)
        if len(ticks) <= most:
            return ticks
    return ()


def thinned(values: Sequence[float], least: float = 0.11) -> tuple[float, ...]:
    """A subset of the values whose distances on a logarithmic axis are at least a share of its length; it contains the largest.

    Examples
    --------
    >>> thinned([1000, 1900, 2000, 4000, 8000])
    (1000, 2000, 4000, 8000)
    """
    ordered = sorted(set(values), reverse=True)
    span = math.log(ordered[0] / ordered[-1]) if len(ordered) > 1 else 0.0
    kept = ordered[:1]
    for value in ordered[1:]:
        if math.log(kept[-1] / value) >= least * span:
            kept.append(value)
    return tuple(reversed(kept))


def tick_text(value: float) -> str:
    """A number as a tick label.

    Examples
    --------
    >>> [tick_text(v) for v in (0.05, 2000.0, 1e7, 1234.5)]
    ['0.05', '2000', '1e7', '1234.5']
    """
    text = f"{value:.5g}"
    return text.replace("e+0", "e").replace("e+", "e").replace("e-0", "e-")
