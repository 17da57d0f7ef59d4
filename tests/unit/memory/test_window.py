"""Memories over long runs."""

import numpy as np
import pytest
from conftest import INTERPRETED

import driftbandits as db
from driftbandits.kernel import entry
from driftbandits.protocol import Moments, blank_history, remember

ROUNDS = 3_000 if INTERPRETED else 1_000_000


@entry
def _feed(memory, history, sums, X, r):
    for t in range(X.shape[0]):
        remember(memory, history, sums, X[t], r[t], -1)


def fresh_sums(d):
    return Moments(n=np.zeros(2), A=np.zeros((d, d)), A2=np.zeros((d, d)), b=np.zeros(d))


@pytest.mark.parametrize("W", [1, 7, 1000])
def test_window_sums_do_not_drift_over_a_million_rounds(W):
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
