"""Claims over seeds and readings."""

import json
import pathlib

import numpy as np
import pytest

import small_experiment as small
from command_line import call
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


def made_up(cells, factor_elsewhere: float) -> dict[str, Result]:
    """LB-WeightUCB has twice OFUL's regret of about 10; under the other δ, `factor_elsewhere` times it."""
    results = {}
    for cell in cells:
        rng = np.random.default_rng(cell.spec["seed"])
        own = cell.spec["strategy"]["delta"] != 0.05
        size = 1.0 if cell.strategy == "OFUL" else 2.0 if own else factor_elsewhere
        regret = size * np.array([5.0, 10.0]) * (1.0 + 0.01 * rng.standard_normal())
        results[cell.key] = Result(np.array([30, 60]), regret, 0.1)
    return results


def judged(tmp_path: pathlib.Path, factor_elsewhere: float, trials: int = 4):
    experiment = load(small.write(tmp_path, small.TEXT.partition("[[claim]]")[0] + CLAIMS), trials=trials)
    p = plan(experiment)
    rows = [(v.reading, plan(v.experiment)) for v in robustness.variants(experiment)]
    cells = [cell for each in (p, *(q for _, q in rows)) for cell in each.cells]
    results = made_up(cells, factor_elsewhere)
    return robustness.judged([analyse(p, results, [])], [rows], results)[0].claims


def test_the_three_verdicts(tmp_path: pathlib.Path) -> None:
    claims = judged(tmp_path, 1.3)
    assert [v.robust for v in claims] == ["holds", "holds at the paper's reading only", "does not hold"]
    assert [[r.holds for r in v.readings] for v in claims] == [[True, True], [True, False], [False, False]]
    assert [v.readings[0].times for v in claims] == ["8 of 8", "8 of 8", "0 of 8"]
    assert [r.reading for r in claims[0].readings] == ["paper", "other"]


def test_replications_are_pooled_and_counted(tmp_path: pathlib.Path) -> None:
    """The source's reading is tested on all trials of all seeds: 8 × 4 of them leave far less doubt than 4."""
    claim = judged(tmp_path, 2.0)[0]
    assert claim.readings[0].p < 1e-6 * claim.readings[1].p


def test_p_values_of_a_reading_are_corrected_together(tmp_path: pathlib.Path) -> None:
    claims = judged(tmp_path, 1.52)  # "at the own reading" just holds elsewhere, too
    alone = [v.p for v in claims]
    assert alone[0] < 0.01
    other = [v.readings[1].p for v in claims]
    # Holm: the smallest of three is tripled, the next doubled
    rng = [np.random.default_rng([0, i]).standard_normal() for i in range(4)]
    left = 10.0 * (1.0 + 0.01 * np.array(rng))
    right = 1.52 * left
    expected = holm([p_less(left, right), p_less(1.5 * left, right), p_less(right, left)])
    assert other == pytest.approx(expected, rel=1e-6)


def test_a_single_trial_has_no_p_value(tmp_path: pathlib.Path) -> None:
    claims = judged(tmp_path, 1.3, trials=1)
    assert np.isnan(claims[0].readings[1].p)
    assert [v.robust for v in claims] == ["holds", "holds at the paper's reading only", "does not hold"]


def test_the_source_decides() -> None:
    own, other = UnderReading("paper", False, 0.1, 0.2), UnderReading("other", True, 0.3, 0.001)
    assert robustness.verdict([own, other]) == robustness.FAILS


def test_the_matrix_is_everywhere_it_is_told(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(robustness, "REPLICATIONS", 2)
    text = small.TEXT.partition("[[claim]]")[0].replace('"1/(2*T)"', "0.01") + CLAIMS
    file, out = small.write(tmp_path, text), tmp_path / "out"
    printed = call("run", str(file), "--tiny", "--robust", "--out", str(out))
    assert "Claims over seeds and readings" in printed
    summary = json.loads((out / "summary.json").read_text())
    claims = summary["panels"]["small"]["claims"]
    assert set(claims[0]) == {"claim", "holds", "margin", "robust", "replications", "readings"}
    assert list(claims[0]["readings"]) == ["paper", "other"]
    rows = (out / "tables" / "robustness.csv").read_text().splitlines()
    assert rows[0] == "experiment,claim,verdict,replications,paper,other"
    assert len(rows) == 4
    page = (out / "report.html").read_text()
    call("report", str(out))
    for text in (page, (out / "report.html").read_text()):  # also from what was saved
        assert 'id="robustness"' in text
        assert text.count("of 2</td>") == 3
