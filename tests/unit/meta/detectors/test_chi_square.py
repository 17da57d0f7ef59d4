"""The χ² of blocks, observation by observation, against statistics computed from the whole epoch."""

import naive
import numpy as np
import pytest

from driftbandits.links import Logistic
from driftbandits.meta.detectors import ChiSquare, Linked, blank_watch, forget, refuted


def alarms(detector, X, y, h=None):
    """What the detector says after each observation; it forgets at an alarm."""
    watch = blank_watch(detector, X.shape[1], np.zeros((0, X.shape[1])))
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
