"""Summary, claims, statistics, figures."""

import json
import math
import sys
from typing import Any

import numpy as np
import pytest
import small
from scipy import stats as scipy_stats

from driftbandits.experiment import Published, load, publish
from driftbandits.experiment.claims import compare, judge
from driftbandits.experiment.drawing import artist, draw
from driftbandits.experiment.helper import DIED, FAILED, Helper
from driftbandits.experiment.outcome import Curve
from driftbandits.experiment.outcome import load as load_outcome
from driftbandits.experiment.questions import Claim
from driftbandits.experiment.stats import describe, exponents, holm, p_differ, p_less


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Published:
    folder = tmp_path_factory.mktemp("outcome")
    return publish("small", [load(small.write(folder))], folder / "out", with_report=False)


def test_summary_has_exactly_the_promised_keys(done: Published) -> None:
    summary = json.loads((done.root / "summary.json").read_text())
    assert summary == done.summary
    assert list(summary) == ["version", "seed", "trials", "horizon", "panels"]
    assert (summary["seed"], summary["trials"], summary["horizon"]) == (0, 4, 60)
    panel = summary["panels"]["small"]
    assert list(panel) == ["policies", "claims"]
    for policy in panel["policies"]:
        assert list(policy) == ["name", "final_regret_mean", "final_regret_std", "microseconds_per_round"]
        assert all(isinstance(v, float) for v in list(policy.values())[1:])
    assert [p["name"] for p in panel["policies"]] == ["LB-WeightUCB", "OFUL"]
    assert [list(c) for c in panel["claims"]] == [["claim", "holds", "margin"]] * 2
    assert [c["holds"] for c in panel["claims"]] == [True, False]
    assert panel["claims"][1]["margin"] < 0 < panel["claims"][0]["margin"]


def test_summary_agrees_with_the_table(done: Published) -> None:
    import pyarrow.parquet as pq

    table = pq.read_table(done.root / "results.parquet")
    assert table.column_names == ["experiment", "environment", "strategy", "trial", "round", "regret"]
    rows = [r for r in table.to_pylist() if r["strategy"] == "OFUL" and r["round"] == 60]
    policy = done.summary["panels"]["small"]["policies"][1]
    assert policy["final_regret_mean"] == pytest.approx(np.mean([r["regret"] for r in rows]))
    assert policy["final_regret_std"] == pytest.approx(np.std([r["regret"] for r in rows], ddof=1))


def test_what_is_saved_is_what_is_read(done: Published) -> None:
    panels, settings = load_outcome(done.root)
    assert settings["name"] == "small"
    for mine, theirs in zip(done.panels[0].curves, panels[0].curves, strict=True):
        np.testing.assert_array_equal(mine.regret, theirs.regret)
        assert mine.strategy == theirs.strategy
    assert panels[0].claims == done.panels[0].claims
    assert panels[0].bounds == done.panels[0].bounds


def test_bounds_are_those_of_the_theorem(done: Published) -> None:
    from driftbandits import theory

    bound = done.panels[0].bounds[0]
    P_T = done.panels[0].curves[0].facts["P_T"]
    gamma = done.panels[0].curves[0].parameters["gamma"]
    exact = theory.lb_regret_bound(T=60, d=2, P_T=P_T, gamma=gamma, lam=2.0, delta=1 / 120)
    assert bound.rounds[-1] == 60
    assert bound.values[-1] == pytest.approx(exact.total)
    assert bound.trivial == 120.0


def test_another_process_draws_the_same_figure_and_is_not_missed_when_it_dies(done: Published) -> None:
    files = {file: file.read_bytes() for file in done.figures}
    request = {"root": str(done.root), "collection": None, "name": "small"}
    with artist(wanted=True) as helper:
        assert helper is not None
        for file in files:
            file.unlink()
        assert helper.ask(request) == "done"
        assert {file: file.read_bytes() for file in files} == files
        assert helper.ask({**request, "root": str(done.root / "nothing")}) == FAILED
    with Helper(sys.exit) as dead:
        assert dead.ask(request) == DIED
        for file in files:
            file.unlink()
        assert draw(done.root, done.panels, None, dead) == done.figures
    assert {file: file.read_bytes() for file in files} == files


def test_figures_and_tables_are_there(done: Published) -> None:
    files = sorted(p.name for p in (done.root / "figures").iterdir())
    assert files == ["small.pdf", "small.png"]
    assert (done.root / "figures" / "small.png").read_bytes().startswith(b"\x89PNG")
    assert (done.root / "figures" / "small.pdf").read_bytes().startswith(b"%PDF")
    assert sorted(p.name for p in (done.root / "tables").iterdir()) == ["claims.csv", "final_regret.csv"]


def test_paired_t_test_is_scipys() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=15), rng.normal(size=15) + 0.4
    assert p_less(a, b) == pytest.approx(scipy_stats.ttest_rel(a, b, alternative="less").pvalue)
    assert p_differ(a, b) == pytest.approx(scipy_stats.ttest_rel(a, b).pvalue)
    sample = describe(a)
    low, high = scipy_stats.t.interval(0.95, 14, loc=a.mean(), scale=a.std(ddof=1) / math.sqrt(15))
    assert [sample.low, sample.high] == pytest.approx([low, high])


def test_statistics_at_the_edges() -> None:
    assert math.isnan(p_less([1.0], [2.0]))
    assert p_less([1.0, 1.0], [2.0, 2.0]) == 0.0
    assert p_less([2.0, 2.0], [1.0, 1.0]) == 1.0
    assert p_less([1.0, 2.0], [1.0, 2.0]) == 0.5
    assert describe([3.0]).std == 0.0
    assert holm([0.01]) == [0.01]
    np.testing.assert_allclose(exponents([1, 2, 4, 8], [[3 * v**0.75 for v in (1, 2, 4, 8)]]), [0.75])


def curve(name: str, final: Any, environment: str = "world", horizon: int = 10) -> Curve:
    values = np.asarray(final, float)
    return Curve(
        environment, name, np.array([horizon]), values[:, None], [1e-3] * len(values), horizon, {"use": "oful"}
    )


def claim(**changes: Any) -> Claim:
    given: dict[str, Any] = {"text": "c", "left": ("a",), "relation": "<", "right": ("b",), "line": 1}
    return Claim(**{**given, **changes})


def test_a_difference_within_the_noise_does_not_hold() -> None:
    noisy, other = np.array([1.0, 5.0, 2.0, 6.0]), np.array([4.0, 2.0, 5.0, 4.0])
    result = compare(claim(), "a", noisy, "b", other)
    assert result.margin > 0
    assert not result.holds


def test_pairing_sees_through_common_noise() -> None:
    common = np.array([0.0, 50.0, 100.0, 20.0])
    assert compare(claim(), "a", 100 + common, "b", 101 + common + [0.0, 0.1, 0.0, 0.1]).holds


def test_a_claim_about_many_is_one_about_every_pair() -> None:
    curves = [curve("a", [1, 1.1]), curve("b", [2, 2.2]), curve("c", [0.5, 0.6])]
    both = judge(claim(right=("b", "c")), curves, ["world"], {}, [])
    assert both is not None
    assert not both.holds
    assert both.margin == pytest.approx((0.55 - 1.05) / 0.55)
    assert "2 comparisons" in both.detail
    assert judge(claim(right=("nobody",)), curves, ["world"], {}, []) is None


def test_about_the_same() -> None:
    curves = [curve("a", [100, 101, 102]), curve("b", [103, 104, 105])]
    close = judge(claim(relation="about", tolerance=0.15), curves, ["world"], {}, [])
    far = judge(claim(relation="about", tolerance=0.01), curves, ["world"], {}, [])
    assert close is not None
    assert far is not None
    assert close.holds
    assert not far.holds


def test_other_environments_time_and_exponents() -> None:
    curves = [curve("a", [1, 1.1], "easy"), curve("a", [10, 11], "hard"), curve("b", [5, 5.5], "hard")]
    across = judge(claim(left=("a @ easy",), right=("a @ hard",), factor=2.0), curves, ["hard"], {}, [])
    assert across is not None
    assert across.holds
    assert "factor of 10" in across.detail
    time = judge(claim(quantity="time"), curves, ["hard"], {}, [])
    assert time is not None
    assert not time.holds
    slope = judge(
        claim(quantity="exponent", right=(), value=1.2, axis="x"),
        curves,
        [],
        {"easy": 1.0, "hard": 10.0},
        ["easy", "hard"],
    )
    assert slope is not None
    assert slope.margin == pytest.approx(0.2 / 1.2, abs=1e-6)
