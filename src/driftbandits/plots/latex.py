r"""Text, tables and plots as LaTeX source, so that a paper's own fonts and sizes apply.

Tables need \usepackage{booktabs}; plots need \usepackage{pgfplots} with \pgfplotsset{compat=1.18} and \usepgfplotslibrary{fillbetween}.
"""

import math
import re
import unicodedata
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
SIGNS |= {"→": r"$\to$", "⁺": "$^{+}$", "≈": r"$\approx$", "·": r"$\cdot$", "…": r"\dots{}", "°": r"$^{\circ}$"}  # fmt: skip
SIGNS |= {"÷": r"$\div$", "‖": r"$\Vert$", "′": "$'$", "∈": r"$\in$", "≠": r"$\ne$", "ℓ": r"$\ell$"}
SIGNS |= {"½": r"$\frac12$", "¼": r"$\frac14$"}
SIGNS |= {low: f"$_{{{i}}}$" for i, low in enumerate("₀₁₂₃₄₅₆₇₈₉")} | {
    high: f"$^{{{i}}}$" for i, high in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")
}
SIGNS |= {
    "⁻": "$^{-}$",
    "ⁿ": "$^{n}$",
    "ᵀ": r"$^{\top}$",
    "–": "--",
    "—": "---",
    "µ": r"$\mu$",
    "Ξ": r"$\Xi$",
    "Π": r"$\Pi$",
}
SIGNS |= {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": "$<$", ">": "$>$"}
ACCENTS = {"\u0302": "hat", "\u0303": "tilde", "\u0304": "bar"}  # of a letter of a formula, such as θ̂
BESIDE, BELOW = 0.85, 0.5  # inches that the labels of the axes take; left to itself, pgfplots exceeds the width by them
NARROW = {"footnotesize": "3pt", "scriptsize": "1.5pt"}  # half of the space between two columns
DASHES = {"solid": "solid", "dashed": "dashed", "dotted": "dotted", "dashdot": "dash dot", "longdash": "loosely dashed"}
MARKS = {"o": "*", "s": "square*", "^": "triangle*", "D": "diamond*", "v": "triangle*", "P": "+", "X": "x"}


def escaped(text: str) -> str:
    r"""Plain text for LaTeX: special characters escaped, Greek letters and signs as formulas.

    Examples
    --------
    >>> print(escaped("LB_WeightUCB, γ = 0.99 & 50 %"))
    LB\_WeightUCB, $\gamma$ = 0.99 \& 50 \%
    """
    apart = "".join(map(_decomposed, text))
    return "".join(_letter(*found.groups()) for found in re.finditer(f"(.)([{''.join(ACCENTS)}])?", apart, re.DOTALL))


def minus(number: str) -> str:
    """A number for running text: a hyphen in front of it becomes a minus sign.

    Examples
    --------
    >>> minus("-0.036"), minus("+1.5")
    ('$-$0.036', '+1.5')
    """
    return f"$-${number[1:]}" if number.startswith("-") else number


def _decomposed(c: str) -> str:
    """Ṽ is V and a tilde; Latin letters that text may have (é, Õ) stay as they are."""
    parts = unicodedata.normalize("NFD", c)
    return parts if ord(c) > 255 and parts[-1] in ACCENTS else c


def _letter(c: str, accent: str | None) -> str:
    if accent is None:
        return _character(c)
    return f"$\\{ACCENTS[accent]}{{{_character(c).strip('$')}}}$"


def _character(c: str) -> str:
    if c in GREEK:
        return f"$\\{GREEK[c]}$"
    return SIGNS.get(c, f"\\{c}" if c in "&%$#_{}" else c)


def tabular(
    head: Sequence[str], rows: Sequence[Sequence[str]], *, comment: str, rules: Sequence[int] = (), size: str = ""
) -> str:
    r"""A table in the style of booktabs, the first column left, the others right; cells are LaTeX already.

    Parameters
    ----------
    rows
        A row of one cell is as wide as the table: a heading of those below it.
    rules
        Numbers of the rows before which a thin rule stands.
    size
        "footnotesize" or "scriptsize" for a table that has to be narrow: smaller letters, and columns closer together.

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
    lines = [f"% {comment}; needs \\usepackage{{booktabs}}"]
    lines += [f"\\begingroup\\{size}\\setlength{{\\tabcolsep}}{{{NARROW[size]}}}%"] if size else []
    lines += [f"\\begin{{tabular}}{{l{'r' * (len(head) - 1)}}}", "\\toprule"]
    lines += [" & ".join(head) + r" \\", "\\midrule"]
    for i, row in enumerate(rows):
        whole = len(row) == 1 < len(head)
        cells = [f"\\multicolumn{{{len(head)}}}{{l}}{{{row[0]}}}"] if whole else row
        lines += ["\\midrule"] * (i in rules) + [" & ".join(cells) + r" \\"]
    lines += ["\\bottomrule", "\\end{tabular}", *(["\\endgroup"] if size else [])]
    return "\n".join([*lines, ""])


def pgfplots(plot: Plot, *, width: float, height: float) -> str:
    r"""A plot as a `tikzpicture` of pgfplots, with its bands and legend; sizes in inches, labels included.

    Bars and heat maps are not drawn: figures of regret and scaling are series.
    """
    shown = [s for s in plot.series if not s.hidden]
    colours = {s.colour: f"drift{i}" for i, s in enumerate(shown)}
    lines = [f"\\definecolor{{{name}}}{{HTML}}{{{colour.lstrip('#').upper()}}}" for colour, name in colours.items()]
    options = [
        f"scale only axis, width={width - BESIDE:.2f}in, height={height - BELOW:.2f}in",
        *_axis("x", plot.x),
        *_axis("y", plot.y),
        "unbounded coords=jump, max space between ticks=45pt",
        "axis lines=left",
        "grid=major, grid style={black!12}",
        "label style={font=\\small}, tick label style={font=\\footnotesize}",
        "legend style={font=\\footnotesize, draw=none, fill=none, at={(0.5,-0.28)}, anchor=north}",
        "legend columns=2, legend cell align=left, /tikz/every even column/.append style={column sep=6pt}",
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
