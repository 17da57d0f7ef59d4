"""The style of all figures, in files, in reports, on the site and in the lab: each colour stands for a role.

=====================  ==================================  ========================
role (`zoo.roles`)     colour                              others of the same role
=====================  ==================================  ========================
never forgets          black (light on a dark page)
fixed forgetting       red                                 orange, brown, yellow
tuning-free            blue                                sky
detection              purple
baseline               grey
=====================  ==================================  ========================

The five colours stay apart for readers with protanopia, deuteranopia and tritanopia, and each has a contrast of at least 4.5 with the
page, so that a label may have the colour of its curve; tests/unit/plots/test_style.py simulates both.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..zoo.roles import Role

PALETTE = {
    "red": "#C44E00",
    "blue": "#0072B2",
    "green": "#007A59",
    "orange": "#996600",
    "sky": "#007F99",
    "purple": "#8A2BE2",
    "black": "#222222",
    "grey": "#6E6E6E",
    "yellow": "#7A7000",
    "brown": "#7F4F24",
}
DARK = {  # the same on a dark page
    "red": "#FF8A3D",
    "blue": "#5FC0F5",
    "green": "#3CC79A",
    "orange": "#F0B840",
    "sky": "#8FDFE8",
    "purple": "#AC66FF",
    "black": "#E6EAF0",
    "grey": "#8D949C",
    "yellow": "#D9CC3A",
    "brown": "#C8956B",
}
ROLE_COLOURS = {  # the first is the role's own; the others tell apart several learners of the role
    "never forgets": ("black",),
    "fixed forgetting": ("red", "orange", "brown", "yellow"),
    "tuning-free": ("blue", "sky"),
    "detection": ("purple",),
    "baseline": ("grey",),
}
ORDER = ("red", "blue", "green", "purple", "black", "orange", "sky", "grey", "brown", "yellow")
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


def role_colour(role: "Role", position: int = 0) -> str:
    """The colour of a role, or of another learner of it.

    Examples
    --------
    >>> role_colour("tuning-free") == PALETTE["blue"], role_colour("tuning-free", 1) == PALETTE["sky"]
    (True, True)
    """
    return PALETTE[ROLE_COLOURS[role][position]]


def colour_of(name: str, position: int) -> str:
    """The colour a strategy asked for, or the next one."""
    return PALETTE[name or ORDER[position % len(ORDER)]]


def stylesheet() -> str:
    """The colours as CSS variables, and of each role: `--role-tuning-free`; dark under `data-theme="dark"`."""

    def block(selector: str, colours: dict[str, str]) -> str:
        roles = {f"role-{role.replace(' ', '-')}": colours[names[0]] for role, names in ROLE_COLOURS.items()}
        return f"{selector} {{ " + " ".join(f"--{name}: {value};" for name, value in (colours | roles).items()) + " }\n"

    return block(":root", PALETTE) + block(':root[data-theme="dark"]', DARK)
