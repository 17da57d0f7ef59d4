"""LaTeX source: escaping, tables, pgfplots."""

import pathlib
import re

import numpy as np
import pytest

import manuscript
from driftbandits.plots import Axis, Plot, Series
from driftbandits.plots.latex import escaped, pgfplots, tabular

PANELS = pathlib.Path(__file__).parents[3] / "experiments"


def test_nothing_that_tex_would_interpret_is_left():
    assert escaped("a_b 50 % $x$ {} \\ ~ ^ # &") == (
        r"a\_b 50 \% \$x\$ \{\} \textbackslash{} \textasciitilde{} \textasciicircum{} \# \&"
    )
    assert escaped("γ ≤ Δ") == r"$\gamma$ $\le$ $\Delta$"
    assert escaped("Ṽ of ‖θ̂₁‖") == r"$\tilde{V}$ of $\Vert$$\hat{\theta}$$_{1}$$\Vert$"
    assert escaped("Pál") == "Pál"  # Latin letters are text


def test_names_of_every_panel_can_be_set(tmp_path):
    """What the specifications call worlds and strategies has no letter that TeX lacks, and compiles if LaTeX is here."""
    import tomllib

    found = [tomllib.loads(file.read_text(encoding="utf-8")) for file in PANELS.glob("*.toml")]
    names = sorted(
        {each["name"] for spec in found for kind in ("strategy", "environment") for each in spec.get(kind, ())}
    )
    assert len(names) > 50
    for name in names:
        manuscript.structure(escaped(name))
    assert not manuscript.problems(tmp_path, [escaped(name) for name in names], 2)


def test_a_narrow_table_keeps_its_letters_and_spaces_to_itself():
    text = tabular(["a", "b"], [["part"], ["1", "2"]], comment="c", size="footnotesize")
    manuscript.structure(text)
    assert r"\multicolumn{2}{l}{part} \\" in text
    assert text.index("begingroup") < text.index("tabcolsep") < text.index("endgroup")


def test_a_table_has_one_line_per_row_and_as_many_cells():
    text = tabular(["a", "b"], [["1", "2"], ["3", "4"]], comment="c", rules=[1])
    lines = [line for line in text.splitlines() if line.endswith(r"\\")]
    assert lines == [r"a & b \\", r"1 & 2 \\", r"3 & 4 \\"]
    assert text.index("\\midrule\n3") > 0
    assert "{lr}" in text


@pytest.mark.parametrize("log", [False, True])
def test_a_plot_becomes_pgfplots(log):
    x = [1.0, 10.0, 100.0]
    band = Series("LB_Weight", "#C44E00", x, [1.0, 2.0, np.nan], low=[0.5, 1.0, 2.0], high=[2.0, 3.0, 4.0])
    bars = Series("OFUL", "#222222", x, [3.0, 2.0, 1.0], "dashed", error=[0.1, 0.2, 0.3], marker="o")
    hidden = Series("bound", "#888888", x, x, hidden=True)
    axis = Axis("rounds T", log=log, ticks=(1.0, 10.0, 100.0) if log else (), low=1.0, high=100.0)
    text = pgfplots(Plot("t", axis, Axis("regret", low=0.0), (band, bars, hidden)), width=3.25, height=2.2)
    assert text.count("\\addplot") == 5  # the ends of the band, its area, two curves
    assert text.count("\\addlegendentry") == 2
    assert "(100,nan)" in text
    assert "+- (0,0.2)" in text
    assert r"LB\_Weight" in text
    assert "{bound}" not in text
    assert ("xmode=log" in text) == log
    for opening, closing in (("{", "}"), ("[", "]"), ("\\begin", "\\end")):
        assert text.count(opening) == text.count(closing)
    assert re.findall(r"definecolor\{(\w+)\}\{HTML\}\{(\w+)\}", text) == [("drift0", "C44E00"), ("drift1", "222222")]
