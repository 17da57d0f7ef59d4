"""What is saved is what is read, and the summary says the same."""

import json

import numpy as np
import pytest

import small_experiment as small
from driftbandits.experiment import Published, load, publish
from driftbandits.experiment.analyse.panel_results import Verdict, counted_verdicts
from driftbandits.experiment.analyse.panel_results import load as load_outcome


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
    assert [list(c) for c in panel["claims"]] == [["claim", "holds", "verdict", "margin"]] * 2
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


def test_claims_that_fail_are_counted_apart_from_those_that_are_undecided() -> None:
    shown = Verdict("a < b", True, 0.3, 0.001, "", contrary=0.999)
    refuted = Verdict("a < b", False, -0.3, 0.999, "", contrary=0.001)
    neither = Verdict("a < b", True, 0.1, 0.2, "", contrary=0.8)
    told = counted_verdicts([shown, refuted, neither, neither])
    assert told == "Of 4 claims, 1 holds on these trials, 1 fails and 2 are undecided."
    assert counted_verdicts([shown]) == "Of 1 claim, 1 holds on these trials, 0 fail and 0 are undecided."
