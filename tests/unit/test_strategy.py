"""What an optimistic strategy, and those that wrap one, tell of their confidence."""

import numpy as np
import pytest

import driftbandits as db
from driftbandits.protocol import ellipsoid

pytestmark = pytest.mark.interpreted  # five compositions, for a picture
SIZES = {"lam": 2.0, "S": 1.0, "L": 1.0, "R": 0.5, "delta": 0.01}
OFUL = db.zoo.oful(**SIZES)
STRATEGIES = {
    "one matrix": db.zoo.lb_weight_ucb(gamma=0.9, **SIZES),
    "two matrices": db.zoo.d_lin_ucb(gamma=0.9, **SIZES),
    "master": db.zoo.master(OFUL, horizon=40),
    "bob": db.zoo.bob(horizon=40, dim=3, **SIZES),
    "adaptive": db.zoo.adaptive_weight_ucb(**SIZES),
}


@pytest.mark.parametrize("name", STRATEGIES)
def test_the_ellipsoid_is_the_bonus(name):
    """In every direction x: score = xᵀθ̂ + √(xᵀCx)."""
    agent = db.Agent(STRATEGIES[name], dim=3, seed=0, horizon=40)
    rng = np.random.default_rng(0)
    arms = db.env.unit_arms(6, dim=3, seed=1)
    for _ in range(15):
        k = agent.select(arms)
        agent.update(float(arms[k] @ [0.3, -0.5, 0.1] + 0.5 * rng.standard_normal()))
    scores = agent.scores(arms)  # makes what the next decision needs: a fresh instance of MASTER has no estimate yet
    theta, C = ellipsoid(agent.strategy, agent._state)
    bonus = np.sqrt(np.einsum("ni,ij,nj->n", arms, C, arms))
    np.testing.assert_allclose(scores, arms @ theta + bonus, rtol=1e-9)
    np.testing.assert_array_equal(theta, agent.theta)
    assert (bonus > 0.05).all()


def test_before_the_first_estimate_there_is_no_ellipsoid():
    agent = db.Agent(STRATEGIES["one matrix"], dim=3)
    assert not ellipsoid(agent.strategy, agent._state)[1].any()
