"""Claims over seeds and readings."""

import json
import pathlib

import numpy as np
import pytest

import small_experiment as small
from command_line import call, refused
from driftbandits.experiment import load, plan
from driftbandits.experiment.analyse import robustness
from driftbandits.experiment.analyse.analysis import analyse
from driftbandits.experiment.analyse.panel_results import UnderReading
from driftbandits.experiment.analyse.statistics import holm, p_less
from driftbandits.experiment.run.cells import Result

CLAIMS = """
[[claim]]
text = "always"
left = "OFUL"
right = "LB-WeightUCB"

[[claim]]
text = "at the own reading"
left = "OFUL"
right = "LB-WeightUCB"
factor = 1.5

[[claim]]
text = "never"
left = "LB-WeightUCB"
right = "OFUL"

[[reading]]
name = "other"
constants = { delta = 0.05 }

[tiny]
trials = 2
horizon = 20
"""


def made_up(cells, factor_elsewhere: float, noise: float) -> dict[str, Result]:
    """LB-WeightUCB has twice OFUL's regret of about 10; under the other δ, `factor_elsewhere` times it, and noise of its own."""
    results = {}
    for cell in cells:
        rng = np.random.default_rng(cell.spec["seed"])
        own = cell.spec["strategy"]["delta"] != 0.05
        size = 1.0 if cell.strategy == "OFUL" else 2.0 if own else factor_elsewhere
        regret = size * np.array([5.0, 10.0]) * (1.0 + 0.01 * rng.standard_normal())
        regret *= 1.0 + (noise * rng.standard_normal() if cell.strategy != "OFUL" else 0.0)
        results[cell.key] = Result(np.array([30, 60]), regret, 0.1)
    return results


def judged(tmp_path: pathlib.Path, factor_elsewhere: float, trials: int = 4, noise: float = 0.0):
    experiment = load(small.write(tmp_path, small.TEXT.partition("[[claim]]")[0] + CLAIMS), trials=trials)
    p = plan(experiment)
    rows = [(v.reading, plan(v.experiment)) for v in robustness.variants(experiment)]
    cells = [cell for each in (p, *(q for _, q in rows)) for cell in each.cells]
    results = made_up(cells, factor_elsewhere, noise)
    return robustness.judged([analyse(p, results, [])], [rows], results)[0].claims


def test_the_three_verdicts(tmp_path: pathlib.Path) -> None:
    claims = judged(tmp_path, 1.3)
    assert [v.robust for v in claims] == ["holds", "depends on the reading", "fails"]
    found = [[r.verdict for r in v.readings] for v in claims]
    assert found == [["holds", "holds"], ["holds", "fails"], ["fails", "fails"]]
    assert [v.readings[0].times for v in claims] == ["8 of 8", "8 of 8", "0 of 8"]
    assert [r.reading for r in claims[0].readings] == ["paper", "other"]


def test_every_reading_is_tested_on_as_many_trials_and_fresh_seeds(tmp_path: pathlib.Path) -> None:
    """A reading tried on fewer trials would fail for want of trials; the experiment's own seed found the claim and does not confirm it."""
    experiment = load(small.write(tmp_path, small.TEXT.partition("[[claim]]")[0] + CLAIMS))
    seeds = [v.experiment.seeds for v in robustness.variants(experiment)]
    assert seeds == [tuple(range(1, 1 + robustness.REPLICATIONS))] * 2
    assert not set(experiment.seeds) & set(seeds[0])
    own, other = judged(tmp_path, 2.0)[0].readings
    assert own.p == pytest.approx(other.p, rel=1e-9)  # the made-up results do not depend on δ here


def test_p_values_of_a_reading_are_corrected_together(tmp_path: pathlib.Path) -> None:
    claims = judged(tmp_path, 1.52)  # "at the own reading" just holds elsewhere, too
    alone = [v.p for v in claims]
    assert alone[0] < 0.01
    # Holm: the smallest of three is tripled, the next doubled
    seeds = range(1, 1 + robustness.REPLICATIONS)
    rng = [np.random.default_rng([seed, i]).standard_normal() for seed in seeds for i in range(4)]
    left = 10.0 * (1.0 + 0.01 * np.array(rng))
    right = 1.52 * left
    expected = holm([p_less(left, right), p_less(1.5 * left, right), p_less(right, left)])
    assert [v.readings[1].p for v in claims] == pytest.approx(expected, rel=1e-6)
    contrary = holm([p_less(right, left), p_less(right, 1.5 * left), p_less(left, right)])
    assert [v.readings[1].contrary for v in claims] == pytest.approx(contrary, rel=1e-6)


def test_trials_that_show_neither_leave_it_undecided(tmp_path: pathlib.Path) -> None:
    """Equal regrets: the claim "less than" is neither shown nor refuted, whatever the sign of the margin."""
    for factor in (1.0001, 0.9999, 1.0):
        assert judged(tmp_path, factor, noise=0.01)[0].readings[1].verdict == "undecided"


def test_a_single_trial_has_no_p_value(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(robustness, "REPLICATIONS", 1)
    claims = judged(tmp_path, 1.3, trials=1)
    assert np.isnan(claims[0].readings[1].p)
    assert [v.robust for v in claims] == ["holds", "depends on the reading", "fails"]


@pytest.mark.parametrize(
    ("own", "other", "word"),
    [
        ("holds", "holds", "holds"),
        ("holds", "fails", "depends on the reading"),
        ("holds", "undecided", "undecided"),
        ("fails", "holds", "fails"),
        ("undecided", "holds", "undecided"),
        ("undecided", "fails", "undecided"),
    ],
)
def test_over_all_readings(own: str, other: str, word: str) -> None:
    numbers = {"holds": (0.3, 0.001, 0.999), "fails": (-0.3, 0.999, 0.001), "undecided": (0.1, 0.2, 0.8)}
    assert robustness.verdict([UnderReading("paper", *numbers[own]), UnderReading("other", *numbers[other])]) == word


def test_a_smoke_test_judges_nothing(tmp_path: pathlib.Path) -> None:
    file, out = small.write(tmp_path), tmp_path / "out"
    printed = call("run", str(file), "--tiny", "--out", str(out))
    assert "smoke test" in printed
    assert "✓" not in printed
    assert "✗" not in printed
    summary = json.loads((out / "summary.json").read_text())
    assert summary["smoke_test"] is True
    assert summary["panels"]["small"]["claims"] == []
    page = (out / "report.html").read_text()
    assert "smoke test" in page
    assert "on these trials" not in page
    assert "leave one of them out" in refused("run", str(file), "--tiny", "--robust", "--out", str(out))


def test_the_matrix_is_everywhere_it_is_told(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(robustness, "REPLICATIONS", 2)
    text = small.TEXT.partition("[[claim]]")[0].replace('"1/(2*T)"', "0.01") + CLAIMS
    file, out = small.write(tmp_path, text), tmp_path / "out"
    printed = call("run", str(file), "--trials", "2", "--horizon", "20", "--robust", "--out", str(out))
    assert "Claims over seeds and readings" in printed
    summary = json.loads((out / "summary.json").read_text())
    claims = summary["panels"]["small"]["claims"]
    assert set(claims[0]) == {"claim", "holds", "verdict", "margin", "robust", "replications", "readings"}
    assert list(claims[0]["readings"]) == ["paper", "other"]
    rows = (out / "tables" / "robustness.csv").read_text().splitlines()
    assert rows[0] == "experiment,claim,verdict,replications,paper,other"
    assert len(rows) == 4
    page = (out / "report.html").read_text()
    call("report", str(out))
    for text in (page, (out / "report.html").read_text()):  # also from what was saved
        assert 'id="robustness"' in text
        assert text.count("of 2</td>") == 3
