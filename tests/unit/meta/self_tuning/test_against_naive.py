"""Every number of the self-tuning learner against the oracle that recomputes it from the whole history."""

import numpy as np
import pytest
from naive.self_tuning import SelfTuning

import driftbandits as db

pytestmark = pytest.mark.xdist_group("self_tuning")


@pytest.mark.interpreted
@pytest.mark.parametrize("items", [0, 4])
@pytest.mark.parametrize("seed", [0, 1])
def test_a_run_with_a_jump(items, seed):
    rng = np.random.default_rng(seed)
    d, n, T = 3, 5, 110
    agent = db.Agent(
        db.zoo.self_tuning(features="disjoint" if items else "shared"), dim=d, items=items or None, seed=seed
    )
    oracle = SelfTuning(d, items)
    theta = rng.standard_normal((items or 1, d))
    for t in range(T):
        offer = rng.uniform(-1, 2, (d,) if items else (n, d))
        if items and t < 2:  # a spread from the start: nothing is clipped
            offer = np.full(d, 3.0 * t - 1.0)
        p = agent.propensities(offer)
        np.testing.assert_allclose(oracle.look(offer), p, atol=2e-4)
        k = agent.select(offer)
        x, own = (offer, theta[k]) if items else (offer[k], theta[0])
        r = float(2 + x @ own * (1 if t < 75 else -1) + 0.1 * rng.standard_normal())
        agent.update(r)
        oracle.play(offer, k, r)
        state = agent._state
        np.testing.assert_allclose(state.evidence.weight, oracle.weight, rtol=1e-6, atol=1e-12)
        np.testing.assert_allclose(state.evidence.noise, oracle.noise, rtol=1e-7)
        np.testing.assert_allclose(state.duel.rho, oracle.rho, rtol=1e-3)
        oracle.duel, oracle.rho = state.duel.sums.copy(), state.duel.rho.copy()  # p is integrated on a grid
        assert (state.evidence.current == oracle.current).all()
    assert agent.info()["refuted"] > 0
    for m in range(oracle.M):
        for block in range(oracle.blocks):
            ours, P = oracle.estimate(m, block)
            np.testing.assert_allclose(state.models.theta[m, block], ours, rtol=1e-6, atol=1e-8)
            np.testing.assert_allclose(state.models.P[m, block], P, rtol=1e-6, atol=1e-9)
