"""DAL's numbers are those that the learner uses."""

import math

import numpy as np
import pytest

import driftbandits as db
from driftbandits.errors import InvalidValue
from driftbandits.meta.dal import Dal
from driftbandits.meta.detectors import LikelihoodRatio, blank_watch, refuted
from driftbandits.protocol import Setting, start
from driftbandits.theory import dal_exploration, glr_threshold


def test_the_rate_of_exploration():
    assert dal_exploration(T=6000, N=2, epoch=3) == pytest.approx(math.sqrt(3 * 2 * math.log(6000) / 6000), rel=1e-14)
    assert dal_exploration(T=2, N=5) == 1.0
    base = db.zoo.oful(lam=1.0, S=1.0, L=1.0, R=1.0, delta=0.1)
    strategy = db.zoo.dal(base, detector="glr", horizon=6000, cover=np.eye(2))
    assert isinstance(strategy, Dal)
    state = start(strategy, Setting(dim=2, arms=np.zeros((2, 0)), horizon=0), np.random.default_rng(0))
    assert state.rate[0] == dal_exploration(T=6000, N=2)


@pytest.mark.interpreted
@pytest.mark.parametrize("summed", [False, True])
@pytest.mark.parametrize("published", [False, True])
def test_an_alarm_is_raised_at_the_threshold(summed, published):
    """One arm, n − 1 rewards of 0, then one so large that the statistic (n−1)/n·r²/2 is just below or just above."""
    n = 12
    threshold = glr_threshold(n=n, delta=0.05, summed=summed, published=published)
    for nearly, alarm in ((0.98, 0), (1.02, 1)):
        detector = LikelihoodRatio(noise=1.0, delta=0.05, summed=float(summed), published=float(published))
        watch = blank_watch(detector, 1, np.ones((1, 1)))
        told = [refuted(detector, watch, np.ones(1), 1.0, 0.0, 1.0) for _ in range(n - 1)]
        assert told == [0] * (n - 1)

        def statistic(r):
            splits = [s * (n - s) / n * (r / (n - s)) ** 2 / 2 for s in range(1, n)]
            return float(np.logaddexp.reduce(splits)) if summed else max(splits)

        low, high = 0.0, 100.0
        for _ in range(80):
            r = (low + high) / 2
            low, high = (r, high) if statistic(r) < nearly * threshold else (low, r)
        assert refuted(detector, watch, np.ones(1), 1.0, r, 1.0) == alarm


def test_refuses():
    with pytest.raises(InvalidValue, match="N = 0"):
        dal_exploration(T=10, N=0)
    with pytest.raises(InvalidValue, match="epoch = 0"):
        dal_exploration(T=10, N=1, epoch=0)
    with pytest.raises(InvalidValue, match="delta = 0"):
        glr_threshold(n=10, delta=0.0)
