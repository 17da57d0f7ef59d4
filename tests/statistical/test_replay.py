"""Off-policy estimates on logs whose truth is known: no bias, and intervals that hold it as often as they say."""

import json
import pathlib
import sys

import numpy as np
import pytest

import driftbandits as db
import logs

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "experiments"))
import replay_study

TRUTH = {"threshold": logs.value(logs.threshold), "soft": logs.value(logs.soft)}


def check(errors, lows, highs, *, most=2.0, covered=(0.92, 0.98)):
    """Bias within so many standard errors, coverage within a range; everything is relative to the truth, 0."""
    errors = np.array(errors)
    z = errors.mean() / (errors.std(ddof=1) / np.sqrt(len(errors)))
    coverage = np.mean((np.array(lows) <= 0.0) & (np.array(highs) >= 0.0))
    print(f"bias {errors.mean():+.5f}, {z:+.2f} standard errors; coverage {coverage:.3f}")
    assert abs(z) <= most
    assert covered[0] <= coverage <= covered[1]


def collect(found, truth, into):
    for name, estimator in into:
        e = found.estimate(name, estimator)
        into[name, estimator].append((e.value - truth[name], e.low - truth[name], e.high - truth[name]))


def test_fixed_policies_small():
    """Twenty-five logs of 300 rows, so the margins are wide: 3 standard errors, and at least 20 of 25 intervals."""
    into = {(name, e): [] for name in TRUTH for e in ("replay", "ips", "snips")}
    for seed in range(25):
        policies = {"threshold": logs.threshold, "soft": logs.soft}
        found = db.replay(policies, logs.log(300, seed, uniform=True), estimators=("replay", "ips", "snips"))
        collect(found, TRUTH, into)
    for rows in into.values():
        check(*zip(*rows, strict=True), most=3.0, covered=(0.8, 1.0))


@pytest.mark.slow
@pytest.mark.compiled
@pytest.mark.parametrize("study", replay_study.KINDS)
def test_two_hundred_logs(study):
    """The logs of docs/replay.md: 1000 rows, 600 for a `Bandit`; policies that stay, and policies that learn while the world drifts."""
    for row in replay_study.summary(study, [replay_study.errors_of(study, seed) for seed in range(200)]):
        print(row)
        assert abs(row["in_standard_errors"]) <= 2.0
        assert 0.92 <= row["coverage"] <= 0.98


def test_what_is_kept_of_the_two_hundred_logs_holds():
    """docs/results/replay.json: no bias beyond two standard errors, coverage of 92 to 98 %."""
    rows = json.loads((replay_study.ROOT / "docs" / "results" / "replay.json").read_text())["estimates"]
    assert {row["logs"] for row in rows} == {200}
    assert max(abs(row["in_standard_errors"]) for row in rows) <= 2.0
    assert all(0.92 <= row["coverage"] <= 0.98 for row in rows)


def test_a_bias_and_intervals_that_are_too_narrow_are_seen():
    """The summary itself: errors around 1 are a bias of many standard errors, and intervals beside 0 do not cover."""
    found = [{"bandit": {"ips": (1.0 + 0.1 * k, 0.5, 1.5)}} for k in range(10)]
    (row,) = replay_study.summary("bandit", found)
    assert row["bias"] == pytest.approx(1.45)
    assert row["in_standard_errors"] > 10.0
    assert row["coverage"] == 0.0
