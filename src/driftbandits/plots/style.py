"""One look for all figures: colours that colour-blind readers can tell apart (Okabe and Ito 2008), and line styles."""

from typing import Any

PALETTE = {
    "red": "#D55E00",
    "blue": "#0072B2",
    "green": "#009E73",
    "orange": "#E69F00",
    "sky": "#56B4E9",
    "purple": "#CC79A7",
    "black": "#222222",
    "grey": "#7A7A7A",
    "yellow": "#C9B400",
    "brown": "#7F4F24",
}
ORDER = ("red", "blue", "green", "orange", "sky", "purple", "black", "grey", "brown", "yellow")
DASHES = {"solid": "-", "dashed": (0, (5, 2)), "dotted": (0, (1, 1.4)), "dashdot": (0, (6, 1.6, 1.2, 1.6))}
PLOTLY_DASHES = {
    "solid": "solid",
    "dashed": "dash",
    "dotted": "dot",
    "dashdot": "dashdot",
    "longdash": "longdash",
}
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "*")
PLOTLY_MARKERS = {
    "o": "circle",
    "s": "square",
    "^": "triangle-up",
    "D": "diamond",
    "v": "triangle-down",
    "P": "cross",
    "X": "x",
    "<": "triangle-left",
    ">": "triangle-right",
    "*": "star",
}

RC: dict[str, Any] = {
    "font.size": 8.0,
    "axes.titlesize": 8.5,
    "axes.labelsize": 8.0,
    "legend.fontsize": 7.0,
    "xtick.labelsize": 7.0,
    "ytick.labelsize": 7.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#DDDDDD",
    "grid.linewidth": 0.5,
    "axes.axisbelow": True,
    "axes.linewidth": 0.7,
    "lines.linewidth": 1.4,
    "legend.frameon": False,
    "pdf.fonttype": 42,  # text stays text
    "figure.dpi": 100,
}


def colour_of(name: str, position: int) -> str:
    """The colour a strategy asked for, or the next one."""
    return PALETTE[name or ORDER[position % len(ORDER)]]
