"""The arm that becomes best while nobody looks: only the floor of `explore` can find it."""

import numpy as np
import pytest

import driftbandits as db

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("bandit")]


@pytest.mark.parametrize("seed", range(5))
def test_an_arm_that_becomes_best_is_found(seed):
    """Four fixed arms, gap .5, noise .05; from round 10,000 on another one is best. It is found by round 20,000."""
    bandit, rng = db.Bandit(seed=seed), np.random.default_rng([seed, 99])
    mean = {"a": 1.0, "b": 0.5, "c": 0.5, "d": 0.5}
    late = 0
    for t in range(20_000):
        if t == 10_000:
            mean["c"] = 1.5
        d = bandit.decide([*mean])
        bandit.reward(d.id, mean[d.item] + 0.05 * rng.normal())
        late += t >= 19_900 and d.item == "c"
    assert late > 90
