"""Random restarts of planners: fresh after a restart, as often as said, and what wraps what."""

import numpy as np
import pytest
from conftest import INTERPRETED

import driftbandits as db
from driftbandits.errors import InvalidValue


def plays(strategy, episodes=40, seed=0):
    world = db.mdp.riverswim(episodes=episodes, horizon=4, drift="abrupt")
    return db.simulate_mdp(strategy, world, seed=seed)


@pytest.mark.interpreted
def test_a_restart_in_every_episode_is_a_period_of_one():
    """No random number is drawn for a tie here, so that both meet the same world."""
    fresh, each = plays(db.zoo.restart_ucrl(period=1)), plays(db.zoo.random_restart(db.zoo.ucrl_vtr(), period=1))
    np.testing.assert_allclose(each.regret, fresh.regret, rtol=1e-9)
    assert each.info["restarts"] == 39
    assert each.info["epoch"] == 1


@pytest.mark.interpreted
def test_without_a_restart_it_is_the_planner():
    plain, never = plays(db.zoo.ucrl_vtr()), plays(db.zoo.random_restart(db.zoo.ucrl_vtr(), period=10**9))
    np.testing.assert_allclose(never.regret, plain.regret, rtol=1e-9)
    assert never.info["restarts"] == 0
    assert never.info["epoch"] == 40


@pytest.mark.interpreted
def test_restarts_come_as_often_as_said():
    """Of 399 episodes each restarts with probability 1/5: mean 80, standard deviation 8; 4 of them."""
    run = plays(db.zoo.random_restart(db.zoo.opt_wlsvi(gamma=1.0, beta=0.1), period=5), episodes=400)
    assert abs(run.info["restarts"] - 399 / 5) < 4 * np.sqrt(399 * 0.2 * 0.8)


@pytest.mark.skipif(INTERPRETED, reason="about the compiler")
def test_it_compiles():
    assert plays(db.zoo.random_restart(db.zoo.opt_wlsvi(gamma=1.0, beta=0.1), period=5)).info["restarts"] > 0


@pytest.mark.interpreted
@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: db.zoo.random_restart("oful", period=10), "random_restart wraps a bandit strategy"),
        (lambda: db.zoo.random_restart(db.zoo.oful, period=10), r"call it: oful\(…\)"),
        (lambda: db.zoo.dal("oful"), "dal wraps a bandit strategy"),
        (lambda: db.zoo.dal(db.zoo.ucrl_vtr()), "learners of MDPs play in db.simulate_mdp"),
        (lambda: db.zoo.on_features(db.zoo.ucrl_vtr(), frequencies=3), "on_features wraps a bandit strategy"),
        (lambda: db.zoo.master_ucrl(3, episodes=10), "master_ucrl wraps a learner of MDPs"),
        (
            lambda: db.zoo.detect_ucrl(db.zoo.oful(lam=1, S=1, L=1, R=1, delta=0.1)),
            "bandit strategies play in db.simulate",
        ),
    ],
)
def test_a_base_of_the_other_kind_is_refused_when_it_is_given(make, told):
    with pytest.raises(InvalidValue, match=told) as problem:
        make()
    assert "\n" not in str(problem.value)
