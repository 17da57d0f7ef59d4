"""Memories over long runs."""

import numpy as np
import pytest
from conftest import INTERPRETED

import driftbandits as db
from driftbandits.core.kernel import entry
from driftbandits.protocol import Moments, blank_history, remember

ROUNDS = 3_000 if INTERPRETED else 200_000


@entry
def _feed(memory, history, sums, X, r):
    for t in range(X.shape[0]):
        remember(memory, history, sums, X[t], r[t], -1)


def fresh_sums(d):
    return Moments(n=np.zeros(2), A=np.zeros((d, d)), A2=np.zeros((d, d)), b=np.zeros(d))


@pytest.mark.parametrize("W", [1, 7, 100 if INTERPRETED else 1000])
def test_window_sums_do_not_drift_over_many_rounds(W):
    rng = np.random.default_rng(1)
    d = 3
    X = rng.standard_normal((ROUNDS, d)) * 10.0 ** rng.uniform(
        -6, 3, (ROUNDS, 1)
    )  # a wide range makes subtraction lose digits
    r = rng.standard_normal(ROUNDS)
    memory = db.memory.Window(W=W)
    history, sums = blank_history(memory, d), fresh_sums(d)
    for stop in (W // 2, W, W + 1, ROUNDS):
        done = int(history.clock[0])
        _feed(memory, history, sums, X[done:stop], r[done:stop])
        tail, reward = X[max(0, stop - W) : stop], r[max(0, stop - W) : stop]
        scale = max(1.0, float((X[max(0, stop - 2 * W) : stop] ** 2).sum()))
        np.testing.assert_allclose(sums.A, tail.T @ tail, atol=1e-9 * scale)
        np.testing.assert_allclose(sums.b, tail.T @ reward, atol=1e-9 * scale)
        assert sums.n[0] == len(tail)


def powers_fed(W, X, r):
    """A window of one feature after observations x, r; all are powers of two, so that sizes are exact."""
    memory = db.memory.Window(W=W)
    history, sums = blank_history(memory, 1), fresh_sums(1)
    _feed(memory, history, sums, np.array(X, float)[:, None], np.array(r, float))
    return memory, history, sums


def test_the_usual_size_is_a_mean_of_powers_of_two():
    """Of all so far, then with weight 1/W for the newest; an observation of zero says nothing about sizes."""
    X, r = [1.0, 4.0, 0.5, 2.0], [1.0, -8.0, 4.0, 0.25]  # powers of x²: 1, 5, −1, 3; of |xr|: 1, 6, 2, 0
    for t, (xx, rx) in enumerate([(1, 1), (3, 3.5), (5 / 3, 3), (2, 2.25)], start=1):
        np.testing.assert_allclose(powers_fed(4, X[:t], r[:t])[1].usual, (xx, rx), rtol=1e-15)
    np.testing.assert_allclose(powers_fed(4, [*X, 16.0], [*r, 0.0])[1].usual, (2 + (9 - 2) / 4, 2.25), rtol=1e-15)
    np.testing.assert_allclose(powers_fed(4, [*X, 0.0], [*r, 16.0])[1].usual, (2, 2.25), rtol=1e-15)


@pytest.mark.parametrize("unit", [1.0, 2.0**-20])
@pytest.mark.parametrize(
    ("x", "r", "outlier"), [(1.0, 2.0**15, False), (1.0, 2.0**16, True), (2.0**9, 0.0, True), (2.0**7, 0.0, False)]
)
def test_sums_are_made_anew_when_an_outlier_leaves_and_once_per_turn(x, r, outlier, unit):
    """W = 5, all others of one size: the outlier's power must exceed the usual, which it is part of, by more than 13."""
    X = unit * np.array([1.0, x, 1.0, 1.0, 1.0, 1.0])
    memory, history, sums = powers_fed(5, X, [1.0, r, 1.0, 1.0, 1.0, 1.0])
    sums.b[0] += unit  # an error, to see when it goes
    for place in (1, 2, 3, 4):  # whose observations leave
        _feed(memory, history, sums, np.full((1, 1), unit), np.ones(1))
        assert (sums.b[0] == 5.0 * unit) == (outlier or place == 4), place
