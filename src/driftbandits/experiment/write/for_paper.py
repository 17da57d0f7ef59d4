"""From a finished experiment to a manuscript: LaTeX tables, paired tests, figures of one or two columns."""

import math
import pathlib
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np

from ...io.files import make_folder, write_atomically
from ...plots.latex import escaped, minus, pgfplots, tabular
from ...plots.paper import save
from ...util.spelling import did_you_mean
from ..analyse.panel_results import Curve, Panel, load
from ..analyse.statistics import describe as sample
from ..analyse.statistics import holm, p_differ
from ..spec.source import SpecError
from . import describe
from .figures import figures

WIDTHS = {
    1: 3.25,
    2: 6.75,
}  # inches: one column, or the text width, of a two-column paper (ICML, NeurIPS, JMLR differ by ≤ 0.25)
ASPECT = 0.68
SIZES = {1: "footnotesize", 2: ""}  # of the letters of a table
Format = Literal["pdf", "pgf"]


class Comparison(NamedTuple):
    """A strategy against the baseline in the same trials."""

    environment: str
    strategy: str
    difference: float  # of final regret, baseline − strategy: positive if the strategy is better
    half_width: float  # of its 95 % confidence interval (Student)
    effect: float  # Cohen's d_z: mean of the paired differences / their standard deviation
    wins: int  # trials in which the strategy has less regret
    trials: int
    p: float  # two-sided paired t-test, corrected for all comparisons of the panel (Holm)


def comparisons(panel: Panel, baseline: str | None = None) -> list[Comparison]:
    """Every strategy against the baseline, environment by environment; by default against the strategy of largest mean regret.

    All strategies of a trial share its arms and noise, so the tests are paired.
    """
    pairs: list[tuple[Curve, Curve]] = []
    for environment in panel.environments:
        curves = panel.shown(environment)
        base = _baseline(curves, baseline)
        pairs += [(base, curve) for curve in curves if curve is not base]
    corrected = holm([p_differ(curve.final, base.final) for base, curve in pairs])
    return [_compared(base, curve, p) for (base, curve), p in zip(pairs, corrected, strict=True)]


def _baseline(curves: list[Curve], name: str | None) -> Curve:
    if name is None:
        return max(curves, key=lambda curve: float(curve.final.mean()))
    for curve in curves:
        if curve.strategy == name:
            return curve
    known = [curve.strategy for curve in curves]
    hint = did_you_mean(name, known) or f"; there are {', '.join(known)}"
    raise SpecError(f"no strategy '{name}'{hint}")


def _compared(base: Curve, curve: Curve, p: float) -> Comparison:
    apart = base.final - curve.final
    found = sample(apart)
    effect = found.mean / found.std if found.std > 0.0 else math.nan
    wins = int((apart > 0.0).sum())
    return Comparison(curve.environment, curve.strategy, found.mean, found.high - found.mean, effect, wins, found.n, p)


def final_table(panel: Panel, size: str = "") -> str:
    """Mean final regret ± half of its 95 % interval, strategies × environments; the best of each environment in bold."""
    names = list(dict.fromkeys(curve.strategy for curve in panel.shown()))
    found = {(c.environment, c.strategy): sample(c.final) for c in panel.shown()}
    best = {e: min(s.mean for (where, _), s in found.items() if where == e) for e in panel.environments}

    def cell(environment: str, name: str) -> str:
        s = found.get((environment, name))
        if s is None:
            return "--"
        number = f"{s.mean:.1f}"
        return (f"\\textbf{{{number}}}" if s.mean == best[environment] else number) + f" $\\pm$ {s.high - s.mean:.1f}"

    rows = [[escaped(name), *(cell(environment, name) for environment in panel.environments)] for name in names]
    comment = (
        f"final regret after {panel.horizon} {panel.unit}s, mean and half of the 95 % interval of {panel.trials} trials"
    )
    return tabular(["learner", *map(escaped, panel.environments)], rows, comment=comment, size=size)


def comparison_table(panel: Panel, baseline: str | None = None, size: str = "") -> str:
    """The paired comparisons: difference with its interval, effect size, wins, corrected p-value."""
    found = comparisons(panel, baseline)
    rows, rules = list[list[str]](), list[int]()
    for environment in panel.environments:
        if len(panel.environments) > 1:
            rules.append(len(rows))
            rows.append([escaped(environment)])
        rows += [_cells(c) for c in found if c.environment == environment]
    against = baseline or "the strategy of largest mean regret"
    comment = f"regret saved against {against}; paired t-tests, two-sided, Holm-corrected over {len(found)} comparisons"
    return tabular(["learner", "saved", "$d_z$", "wins", "$p$"], rows, comment=comment, rules=rules[1:], size=size)


def _cells(c: Comparison) -> list[str]:
    return [
        escaped(c.strategy),
        f"{minus(f'{c.difference:+.1f}')} $\\pm$ {c.half_width:.1f}",
        "--" if math.isnan(c.effect) else minus(f"{c.effect:+.2f}"),
        f"{c.wins}/{c.trials}",
        _p(c.p),
    ]


def _p(p: float) -> str:
    if math.isnan(p):
        return "--"
    if p >= 1e-3:
        return f"{p:.3f}"
    return f"$<10^{{{math.ceil(math.log10(max(p, 1e-300)))}}}$"


def write(
    root: pathlib.Path,
    out: pathlib.Path,
    *,
    columns: Literal[1, 2] = 1,
    formats: tuple[Format, ...] = ("pdf", "pgf"),
    baseline: str | None = None,
) -> list[pathlib.Path]:
    """Tables and figures of a folder that `run` or `reproduce` has filled."""
    panels, _ = load(root)
    if not any(panel.shown() for panel in panels):
        raise SpecError(f"{root} has no strategy to show")
    texts = {}
    for panel in panels:
        if baseline is not None and all(c.strategy != baseline for c in panel.shown()) and len(panels) > 1:
            continue
        texts[f"{panel.name}-final.tex"] = final_table(panel, SIZES[columns])
        texts[f"{panel.name}-tests.tex"] = comparison_table(panel, baseline, SIZES[columns])
        if "pgf" in formats and panel.figure == "regret":
            for i, environment in enumerate(panel.environments):
                plot = describe.regret(panel, environment)
                name = panel.name if len(panel.environments) == 1 else f"{panel.name}-{i + 1}"
                texts[f"{name}.pgf"] = pgfplots(plot, width=WIDTHS[columns], height=ASPECT * WIDTHS[1])
    make_folder(out)
    files = []
    for name, text in texts.items():
        write_atomically(out / name, text)
        files.append(out / name)
    if "pdf" in formats:
        for name, make in figures(panels).items():
            save(partial(_sized, make, WIDTHS[columns]), out / name)
            files.append(out / f"{name}.pdf")
    return files


def _sized(make: Any, width: float) -> Any:
    """The figure at the width of the column; its text keeps its size, the height follows the number of rows."""
    figure = make()
    old, height = figure.get_size_inches()
    plots_across = max(round(float(old) / 3.5), 1)
    scale = width / plots_across / 3.5
    figure.set_size_inches(width, height * float(np.clip(scale, 0.75, 1.0)))
    return figure
