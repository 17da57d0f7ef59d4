"""Off-policy estimates on logs whose truth is known: no bias, and intervals that hold it as often as they say."""

import numpy as np
import pytest

import driftbandits as db
import logs

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
def test_fixed_policies():
    """Two hundred logs of 1000 rows, not uniform."""
    into = {(name, e): [] for name in TRUTH for e in ("replay", "ips", "snips", "dr")}
    for seed in range(200):
        found = db.replay({"threshold": logs.threshold, "soft": logs.soft}, logs.log(1000, seed))
        collect(found, TRUTH, into)
    for key, rows in into.items():
        print(key, end=": ")
        check(*zip(*rows, strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("history", ["log", "own"])
def test_a_policy_that_learns(history):
    """Two hundred logs of 1000 rows with drift; the truth is what the very policies of the walk would have earned, row by row."""
    estimators = ("ips", "snips", "dr") if history == "log" else ("replay", "ips", "snips")
    into = {("learner", e): [] for e in estimators}
    for seed in range(200):
        logs.Learner.noted.clear()
        log = logs.log(1000, seed, drift=True)
        found = db.replay({"learner": logs.Learner(drift=True, rows=1000)}, log, estimators=estimators, history=history)
        assert len(logs.Learner.noted) == 1000
        collect(found, {"learner": np.mean(logs.Learner.noted)}, into)
    for key, rows in into.items():
        print(history, key, end=": ")
        check(*zip(*rows, strict=True))


class Noted:
    """A bandit that notes what it would have earned."""

    def __init__(self, noted):
        self.bandit, self.noted, self.t = db.Bandit(reward="click"), noted, 0

    def __deepcopy__(self, memo):
        return self  # one log, one walk: no copy is needed

    def decide(self, items, context, at):
        d = self.bandit.decide(items, context, at=at)
        truth = (p * logs.mean(item, context["x"], self.t / 600, True) for item, p in d.propensities.items())
        self.noted.append(sum(truth))
        self.t += 1
        return d

    def reward(self, item, reward, context, at):
        self.bandit.observe(item, context, reward=reward, at=at)


@pytest.mark.slow
@pytest.mark.compiled
def test_a_bandit():
    """Two hundred logs of 600 rows with drift."""
    into = {("bandit", e): [] for e in ("snips", "dr")}
    for seed in range(200):
        noted: list[float] = []
        log = logs.log(600, seed, drift=True)
        found = db.replay({"bandit": Noted(noted)}, log, estimators=("snips", "dr"))
        collect(found, {"bandit": np.mean(noted)}, into)
    for key, rows in into.items():
        print(key, end=": ")
        check(*zip(*rows, strict=True))
