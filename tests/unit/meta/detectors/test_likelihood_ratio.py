"""Likelihood ratios, observation by observation, against statistics computed from the whole epoch."""

import naive
import numpy as np
import pytest

from driftbandits.meta.detectors import (
    BERNOULLI,
    GAUSSIAN,
    POISSON,
    LikelihoodRatio,
    blank_watch,
    forget,
    refuted,
)
from driftbandits.meta.detectors.likelihood_ratio import PLACES, _ratio


def alarms(detector, X, y, cover):
    """What the detector says after each observation; it forgets at an alarm."""
    watch = blank_watch(detector, X.shape[1], cover)
    said = []
    for t in range(len(y)):
        said.append(refuted(detector, watch, X[t], 1.0, y[t], 1.0))
        if said[-1]:
            forget(watch)
    return said


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
    said = alarms(detector, np.ones((160, 1)), r, np.ones((1, 1)))
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
    assert not any(alarms(detector, X, np.repeat([0.0, 5.0], 25), np.array([[1.0, 0.25]])))
