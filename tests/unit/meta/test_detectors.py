"""Detectors, observation by observation, against statistics computed from the whole epoch."""

import naive
import numpy as np
import pytest

from driftbandits.links import Logistic
from driftbandits.meta.detectors import (
    BERNOULLI,
    GAUSSIAN,
    PLACES,
    POISSON,
    ChiSquare,
    LikelihoodRatio,
    Linked,
    _ratio,
    blank_watch,
    forget,
    refuted,
)


def alarms(detector, X, y, cover=None, h=None):
    """What the detector says after each observation; it forgets at an alarm."""
    watch = blank_watch(detector, X.shape[1], np.zeros((0, X.shape[1])) if cover is None else cover)
    said = []
    for t in range(len(y)):
        said.append(refuted(detector, watch, X[t], 1.0 if h is None else h[t], y[t], 1.0))
        if said[-1]:
            forget(watch)
    return said


def oracle(X, y, *, R, delta, h=None):
    said, first = [], 0
    for t in range(len(y)):
        now = slice(first, t + 1)
        said.append(naive.chi2_alarm(X[now], y[now], R=R, delta=delta, h=None if h is None else h[now]))
        if said[-1]:
            first = t + 1
    return said


def jump(T=420, d=3, at=200, seed=0, R=0.3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(T, d))
    X[at - 60 : at - 20] *= [1.0, 1.0, 0.0]  # blocks that do not span all directions
    theta = np.where(np.arange(T)[:, None] < at, [1.0, 0.0, 0.5], [0.0, 1.0, 0.5])
    return X, (X * theta).sum(axis=1) + R * rng.normal(size=T)


@pytest.mark.parametrize("seed", range(3))
def test_chi_square_follows_the_oracle(seed):
    X, r = jump(seed=seed)
    said = alarms(ChiSquare(0.3, 0.05), X, r)
    assert said == oracle(X, r, R=0.3, delta=0.05)
    first = next(t for t, m in enumerate(said) if m)
    assert 200 <= first < 232  # within two of the shortest blocks


def test_chi_square_of_weighted_sums_follows_the_oracle():
    X, r = jump(seed=4)
    h = np.random.default_rng(1).uniform(0.05, 0.25, len(r))
    y = h * (X @ [0.2, 0.1, 0.0]) + r - 0.5
    assert alarms(Linked(Logistic(), 1.0, 0.05), X, y, h=h) == oracle(X, y, R=1.0, delta=0.05, h=h)


def test_chi_square_does_not_depend_on_the_units_of_the_arms():
    X, r = jump(seed=2)
    expected = alarms(ChiSquare(0.3, 0.05), X, r)
    for unit in (1e-3, 1e4):
        assert alarms(ChiSquare(0.3, 0.05), unit * X, r) == expected


def test_chi_square_is_quiet_for_designs_fixed_in_advance():
    """20 runs of 600 observations that do not change: at most δ of them alarm in theory; here none does."""
    false = 0
    for seed in range(20):
        rng = np.random.default_rng(100 + seed)
        X = rng.normal(size=(600, 4))
        false += sum(map(bool, alarms(ChiSquare(0.5, 0.05), X, X @ np.ones(4) + 0.5 * rng.normal(size=600))))
    assert false == 0


LAWS = {"gaussian": GAUSSIAN, "bernoulli": BERNOULLI, "poisson": POISSON}


def rewards(law, n, rng, change=0):
    mean = np.where(np.arange(n) < (change or n), 0.2, 0.9)
    if law == "bernoulli":
        return (rng.random(n) < mean).astype(float)
    return rng.poisson(mean).astype(float) if law == "poisson" else mean + 0.5 * rng.normal(size=n)


@pytest.mark.parametrize("summed", [False, True])
@pytest.mark.parametrize("law", LAWS)
def test_likelihood_ratios_follow_the_oracle(law, summed):
    rng = np.random.default_rng(3)
    r = rewards(law, 120, rng, change=70)
    detector = LikelihoodRatio(noise=0.5, law=LAWS[law], delta=0.05, summed=summed)
    x = np.array([1.0, 0.0])
    watch = blank_watch(detector, 2, x[None])
    for n in range(1, len(r) + 1):
        said = refuted(detector, watch, x, 1.0, r[n - 1], 1.0)
        if n >= 2:
            stats = naive.ratio_statistics(r[:n], law, 0.5)
            expected = np.log(np.exp(stats).sum()) if summed else stats.max()
            assert _ratio(detector, watch, 0) == pytest.approx(expected, rel=1e-9, abs=1e-9)
        assert bool(said) == naive.ratio_alarm(r[:n], law=law, sigma=0.5, delta=0.05, summed=summed)


def test_published_thresholds_follow_the_oracle():
    r = rewards("gaussian", 160, np.random.default_rng(5), change=80)
    r[80:] += 1.0
    detector = LikelihoodRatio(noise=0.5, delta=0.05, published=True)
    said = alarms(detector, np.ones((160, 1)), r, cover=np.ones((1, 1)))
    first = next(
        n for n in range(1, 161) if naive.ratio_alarm(r[:n], law="gaussian", sigma=0.5, delta=0.05, theory=True)
    )
    assert said.index(1) + 1 == first


def test_many_rewards_are_thinned_and_still_tell():
    rng = np.random.default_rng(6)
    detector = LikelihoodRatio(noise=0.5)
    x = np.ones(1)
    watch = blank_watch(detector, 1, x[None])
    r = rewards("gaussian", 4 * PLACES, rng)
    for value in r:
        assert refuted(detector, watch, x, 1.0, value, 1.0) == 0
    assert watch.used[0] < PLACES
    every = naive.ratio_statistics(r, "gaussian", 0.5)
    step = int(watch.step[0])
    assert _ratio(detector, watch, 0) == pytest.approx(every[step - 1 :: step].max(), rel=1e-9)
    later = [refuted(detector, watch, x, 1.0, 1.5 + value, 1.0) for value in 0.5 * rng.normal(size=30)]
    assert any(later)


def test_other_arms_are_not_watched():
    detector = LikelihoodRatio(noise=0.1)
    X = np.tile([[1.0, 0.5]], (50, 1))
    assert not any(alarms(detector, X, np.repeat([0.0, 5.0], 25), cover=np.array([[1.0, 0.25]])))
