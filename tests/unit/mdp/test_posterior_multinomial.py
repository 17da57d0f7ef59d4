"""Multinomial mixtures whose bonus is measured, against the oracle."""

import naive
import numpy as np
import pytest

import driftbandits as db

pytestmark = pytest.mark.interpreted


def test_plans_equal_the_oracle():
    world = db.mdp.random_mnl(states=4, actions=2, dim=3, dim_theta=2, horizon=2, successors=3, episodes=10, seed=1)
    run = db.simulate_mdp(db.zoo.mnl_weight_ucrl(gamma=0.8, bonus="measured"), world, seed=3, record=True)
    past = run.states[:-1], run.actions[:-1], run.rewards[:-1]
    first = world.reachable.argmax(axis=2)
    rows, columns = np.indices(first.shape)
    psi = np.where(world.reachable[..., None], world.psi - world.psi[rows, columns, first][:, :, None], 0.0)
    tau = 2.0 / np.linalg.norm(world.psi[world.reachable], axis=-1).max()
    plans = naive.measured_plans(world.phi, psi, *past, gamma=0.8, reachable=world.reachable, tau=tau)
    np.testing.assert_allclose(run.Q, plans, atol=1e-7, rtol=0)
    assert run.info["saturation"] < 0.5
    assert run.info["certificate"] < 1e-3


def test_no_kappa_is_needed():
    """Features so large that κ is below 1e-9: nothing of it enters, and the plan is finite."""
    world = db.mdp.random_mnl(states=5, actions=2, horizon=3, dim=3, successors=3, S_w=10.0, episodes=15)
    run = db.simulate_mdp(db.zoo.mnl_weight_ucrl(), world, seed=0)
    assert np.isfinite(run.regret).all()
    assert run.info["transition_radius"] == 0.3
