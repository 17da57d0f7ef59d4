r"""Text, tables and plots as LaTeX source, so that a paper's own fonts and sizes apply.

Tables need \usepackage{booktabs}; plots need \usepackage{pgfplots} with \pgfplotsset{compat=1.18} and \usepgfplotslibrary{fillbetween}.
"""

import math
from collections.abc import Sequence

from .plot import Axis, Numbers, Plot, Series, tick_text

GREEK = dict(
    zip(
        "αβγδεζηθκλμνξπρστφχψωΓΔΘΛΣΦΨΩ",
        [
            "alpha",
            "beta",
            "gamma",
            "delta",
            "varepsilon",
            "zeta",
            "eta",
            "theta",
            "kappa",
            "lambda",
            "mu",
            "nu",
            "xi",
            "pi",
            "rho",
            "sigma",
            "tau",
            "varphi",
            "chi",
            "psi",
            "omega",
            "Gamma",
            "Delta",
            "Theta",
            "Lambda",
            "Sigma",
            "Phi",
            "Psi",
            "Omega",
        ],
        strict=True,
    )
)
SIGNS = {
    "±": r"$\pm$",
    "≤": r"$\le$",
    "≥": r"$\ge$",
    "×": r"$\times$",
    "∞": r"$\infty$",
    "√": r"$\sqrt{\,}$",
    "−": "$-$",
}
SIGNS |= {"→": r"$\to$", "⁺": "$^{+}$", "²": "$^{2}$", "≈": r"$\approx$", "·": r"$\cdot$", "…": r"\dots{}", "°": r"$^{\circ}$"}  # fmt: skip
SIGNS |= {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": "$<$", ">": "$>$"}
DASHES = {"solid": "solid", "dashed": "dashed", "dotted": "dotted", "dashdot": "dash dot", "longdash": "loosely dashed"}
MARKS = {"o": "*", "s": "square*", "^": "triangle*", "D": "diamond*", "v": "triangle*", "P": "+", "X": "x"}


def escaped(text: str) -> str:
    r"""Plain text for LaTeX: special characters escaped, Greek letters and signs as formulas.

    Examples
    --------
    >>> print(escaped("LB_WeightUCB, γ = 0.99 & 50 %"))
    LB\_WeightUCB, $\gamma$ = 0.99 \& 50 \%
    """
    return "".join(_character(c) for c in text)


def minus(number: str) -> str:
    """A number for running text: a hyphen in front of it becomes a minus sign.

    Examples
    --------
    >>> minus("-0.036"), minus("+1.5")
    ('$-$0.036', '+1.5')
    """
    return f"$-${number[1:]}" if number.startswith("-") else number


def _character(c: str) -> str:
    if c in GREEK:
        return f"$\\{GREEK[c]}$"
    return SIGNS.get(c, f"\\{c}" if c in "&%$#_{}" else c)


def tabular(head: Sequence[str], rows: Sequence[Sequence[str]], *, comment: str, rules: Sequence[int] = ()) -> str:
    r"""A table in the style of booktabs, the first column left, the others right; cells are LaTeX already.

    Parameters
    ----------
    rules
        Numbers of the rows before which a thin rule stands.

    Examples
    --------
    >>> print(tabular(["learner", "regret"], [["OFUL", "12.3"]], comment="made by hand"), end="")
    % made by hand; needs \usepackage{booktabs}
    \begin{tabular}{lr}
    \toprule
    learner & regret \\
    \midrule
    OFUL & 12.3 \\
    \bottomrule
    \end{tabular}
    """
    lines = [
        f"% {comment}; needs \\usepackage{{booktabs}}",
        f"\\begin{{tabular}}{{l{'r' * (len(head) - 1)}}}",
        "\\toprule",
    ]
    lines += [" & ".join(head) + r" \\", "\\midrule"]
    for i, row in enumerate(rows):
        lines += ["\\midrule"] * (i in rules) + [" & ".join(row) + r" \\"]
    return "\n".join([*lines, "\\bottomrule", "\\end{tabular}", ""])


def pgfplots(plot: Plot, *, width: float, height: float) -> str:
    r"""A plot as a `tikzpicture` of pgfplots, with its bands and legend; sizes in inches.

    Bars and heat maps are not drawn: figures of regret and scaling are series.
    """
    shown = [s for s in plot.series if not s.hidden]
    colours = {s.colour: f"drift{i}" for i, s in enumerate(shown)}
    lines = [f"\\definecolor{{{name}}}{{HTML}}{{{colour.lstrip('#').upper()}}}" for colour, name in colours.items()]
    options = [
        f"width={width:.2f}in",
        f"height={height:.2f}in",
        *_axis("x", plot.x),
        *_axis("y", plot.y),
        "unbounded coords=jump",
        "axis lines=left",
        "grid=major, grid style={black!12}",
        "label style={font=\\small}, tick label style={font=\\footnotesize}",
        "legend style={font=\\footnotesize, draw=none, fill=none, at={(0.5,-0.28)}, anchor=north}",
        "legend columns=2, legend cell align=left",
    ]
    lines += ["\\begin{tikzpicture}", "\\begin{axis}[", *(f"  {option}," for option in options), "]"]
    for i, s in enumerate(shown):
        lines += _series(i, s, colours[s.colour], legend=plot.legend)
    return "\n".join([*lines, "\\end{axis}", "\\end{tikzpicture}", ""])


def _axis(which: str, axis: Axis) -> list[str]:
    options = [f"{which}label={{{escaped(axis.label)}}}"]
    options += [f"{which}min={axis.low:g}"] if axis.low is not None else []
    options += [f"{which}max={axis.high:g}"] if axis.high is not None else []
    if axis.log:
        names = axis.names or tuple(tick_text(tick) for tick in axis.ticks)
        options += [f"{which}mode=log", f"{which}tick={{{','.join(f'{tick:g}' for tick in axis.ticks)}}}"]
        options += [f"{which}ticklabels={{{','.join(f'{{{escaped(name)}}}' for name in names)}}}"]
    return options


def _series(i: int, s: Series, colour: str, *, legend: bool) -> list[str]:
    lines = []
    if s.low is not None and s.high is not None:
        for end, values in (("low", s.low), ("high", s.high)):
            lines.append(f"\\addplot[name path={end}{i}, draw=none, forget plot] {_points(s.x, values)};")
        lines.append(
            f"\\addplot[{colour}, fill opacity=0.18, draw=none, forget plot] fill between[of=low{i} and high{i}];"
        )
    style = [colour, DASHES[s.line], f"line width={0.7 if s.thin else 1.0}pt"]
    style += [f"mark={MARKS.get(s.marker, '*')}, mark size=1.4pt"] if s.marker else ["mark=none"]
    if s.error is not None:
        style.append("error bars/.cd, y dir=both, y explicit")
        pairs = zip(s.x, s.y, s.error, strict=True)
        points = "coordinates {" + " ".join(f"({_n(x)},{_n(y)}) +- (0,{_n(e)})" for x, y, e in pairs) + "}"
    else:
        points = _points(s.x, s.y)
    lines.append(f"\\addplot[{', '.join(style)}] {points};")
    return [*lines, *([f"\\addlegendentry{{{escaped(s.name)}}}"] if legend else [])]


def _points(x: Numbers, y: Numbers) -> str:
    return "coordinates {" + " ".join(f"({_n(a)},{_n(b)})" for a, b in zip(x, y, strict=True)) + "}"


def _n(value: float) -> str:
    """Six digits; what is not finite leaves a gap in the curve."""
    return f"{float(value):.6g}" if math.isfinite(value) else "nan"
