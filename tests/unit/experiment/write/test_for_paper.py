"""Tables, tests and figures for a manuscript."""

import pathlib
import re

import numpy as np
import pytest

import manuscript
from command_line import call, refused
from driftbandits.experiment.analyse.panel_results import Curve, Panel, load
from driftbandits.experiment.write.for_paper import comparison_table, comparisons, final_table
from driftbandits.plots.latex import minus

PAGE = pathlib.Path(__file__).parents[4] / "docs" / "paper.md"


def panel(finals, environments=("e",)):
    curves = [
        Curve(e, name, np.array([10]), np.array(values, float)[:, None], [1.0] * len(values), 10, {})
        for e in environments
        for name, values in finals.items()
    ]
    trials = len(next(iter(finals.values())))
    return Panel("p", "P", "", "regret", "round", trials, 10, [0], list(environments), curves)


def test_comparisons_are_paired_and_corrected():
    """Against scipy's paired t-test and Holm by hand."""
    from scipy.stats import ttest_rel

    a, b, c = [10.0, 12.0, 11.0, 13.0], [9.0, 11.5, 10.0, 12.2], [10.0, 11.0, 12.0, 12.5]
    found = comparisons(panel({"a": a, "b": b, "c": c}), "a")
    p = [ttest_rel(x, a).pvalue for x in (b, c)]
    assert [x.strategy for x in found] == ["b", "c"]
    assert found[0].p == pytest.approx(2 * p[0])  # the smaller one of two
    assert found[1].p == pytest.approx(max(2 * p[0], p[1]))
    apart = np.subtract(a, b)
    assert found[0].difference == pytest.approx(apart.mean())
    assert found[0].effect == pytest.approx(apart.mean() / apart.std(ddof=1))
    assert (found[0].wins, found[0].trials) == (4, 4)
    assert comparisons(panel({"a": a, "b": b, "c": c}))[0].strategy == "b"  # a has the largest mean


def test_tables_say_who_is_best():
    made = panel({"OFUL": [10.0, 12.0], "γ_1": [1.0, 2.0]}, ("x", "y"))
    final = final_table(made)
    assert final.count("\\textbf{1.5}") == 2
    assert r"$\gamma$\_1" in final
    tests = comparison_table(made, "OFUL")
    assert tests.count("2/2") == 2
    assert "Holm-corrected over 2 comparisons" in tests
    worse = comparison_table(panel({"OFUL": [10.0, 12.0], "γ_1": [11.0, 14.0]}), "OFUL")
    assert "$-$1.5 $\\pm$" in worse  # a minus, not the hyphen that TeX sets in running text
    assert " -" not in worse.replace("--", "")


def test_the_page_runs_from_specification_to_figure(tmp_path, monkeypatch):
    """The lines of docs/paper.md, at the tiny size."""
    monkeypatch.chdir(tmp_path)
    text = PAGE.read_text(encoding="utf-8")
    specification = re.search(r"```toml\n(.*?)```", text, re.DOTALL)[1]
    commands = re.search(r"```console\n(.*?)```", text, re.DOTALL)[1].splitlines()
    latex = re.search(r"```latex\n(.*?)```", text, re.DOTALL)[1]
    lines = [line for block in (specification, latex) for line in block.splitlines() if line.strip()] + commands
    assert len(lines) <= 45
    assert len([x for x in specification.splitlines() if x.strip()]) + len(commands) <= 40
    pathlib.Path("mine.toml").write_text(specification)
    for line in commands:
        words = line.split()[1:]
        words = [*words[:2], "--tiny", "-j", "1"] if words[0] == "run" else words
        call(*words)
    made = sorted(path.name for path in pathlib.Path("results/mine/paper").iterdir())
    named = {"mine-final.tex", "mine-tests.tex", "mine.pdf", "mine.png", "mine-1.pgf", "mine-2.pgf"}
    assert named <= set(made)
    for name in named:
        assert name in text
    box = re.search(rb"/MediaBox \[ ?0 0 ([\d.]+)", pathlib.Path("results/mine/paper/mine.pdf").read_bytes())
    assert float(box[1]) == pytest.approx(3.25 * 72, abs=0.5)
    found, _ = load(pathlib.Path("results/mine"))
    saved = comparisons(found[0], "OFUL")[0].difference
    assert f"{minus(f'{saved:+.1f}')} $\\pm$" in pathlib.Path("results/mine/paper/mine-tests.tex").read_text()
    for name in named:
        if name.endswith(("tex", "pgf")):
            manuscript.structure(pathlib.Path("results/mine/paper", name).read_text())
    shown = [line.partition("%")[0] for line in latex.splitlines() if line.startswith(r"\begin")]
    assert len(shown) == 3
    pgf = [rf"\input{{results/mine/paper/mine-{i}.pgf}}" for i in (1, 2)]
    assert not manuscript.problems(tmp_path, [*shown, *pgf], 1)
    call("paper", "results/mine", "--columns", "2", "--baseline", "OFUL")
    assert not manuscript.problems(tmp_path, [*shown, *pgf], 2)
    assert "no strategy 'OFULL'" in refused("paper", "results/mine", "--baseline", "OFULL")
    assert "holds no finished experiment" in refused("paper", "nowhere")
