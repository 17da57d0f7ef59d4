"""The discounted memory over long runs."""

import numpy as np

import driftbandits as db
from driftbandits.core.kernel import entry
from driftbandits.protocol import Moments, blank_history, remember


@entry
def _feed(memory, history, sums, X, r):
    for t in range(X.shape[0]):
        remember(memory, history, sums, X[t], r[t], -1)


def fresh_sums(d):
    return Moments(n=np.zeros(2), A=np.zeros((d, d)), A2=np.zeros((d, d)), b=np.zeros(d))


def test_what_has_faded_is_zero_not_denormal():
    memory = db.memory.Discounted(gamma=0.5)
    history, sums = blank_history(memory, 1), fresh_sums(1)
    _feed(memory, history, sums, np.ones((1, 1)), np.ones(1))
    _feed(memory, history, sums, np.zeros((1200, 1)), np.zeros(1200))
    assert sums.A[0, 0] == 0.0
    assert sums.b[0] == 0.0
