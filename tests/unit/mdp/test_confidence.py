"""δ of one stage of one episode, of all of them, and of all there will ever be."""

import math

import numpy as np
import pytest

import driftbandits as db
from driftbandits.mdp.confidence import failure_now, log_failure
from driftbandits.mdp.protocol import settled
from driftbandits.radius.union import ALL, ANYTIME, ONE

WORLD = {"states": 4, "actions": 2, "dim": 3, "dim_theta": 2, "horizon": 2}
CONSTANTS = {
    "lam_theta": 0.7,
    "lam_w": 2.0,
    "S_theta": 1.1,
    "L_phi": 1.2,
    "S_w": 1.0,
    "L_psi": 1.0,
    "reward_noise": 0.3,
}


def test_the_three_kinds():
    task = db.mdp.random_linear_mixture(episodes=7, seed=0, **WORLD).task
    assert log_failure(0.1, ONE, task) == pytest.approx(math.log(10))
    assert log_failure(0.1, ALL, task) == pytest.approx(math.log(7 * 2 / 0.1))
    with pytest.raises(db.errors.InvalidValue, match="uniform_in_time needs the number of episodes"):
        log_failure(0.1, ALL, task._replace(episodes=0))
    unknown = log_failure(0.1, ANYTIME, task._replace(episodes=0))
    for k in (1, 2, 50):
        share = 0.1 / (2 * 2 * k * (1 + math.log(k)) ** 2)
        assert failure_now(ANYTIME, unknown, np.array([k - 1])) == pytest.approx(math.log(1 / share), rel=1e-13)
    assert failure_now(ALL, 3.0, np.array([9])) == 3.0


@pytest.mark.interpreted
@pytest.mark.parametrize("family", ["linear", "multinomial", "one_pass"])
def test_the_radii_of_episode_k_are_those_of_delta_k(family):
    """After k−1 episodes, rewards and transitions alike: the plain learner with δ_k = δ/(2Hk(1+log k)²)."""
    K, delta = 4, 0.05
    share = delta / (2 * 2 * K * (1 + math.log(K)) ** 2)
    if family == "linear":
        world = db.mdp.random_linear_mixture(episodes=K, seed=1, **WORLD)
        make = db.zoo.weight_ucrl
        own = CONSTANTS
    else:
        world = db.mdp.random_mnl(episodes=K, seed=1, successors=3, S_w=1.0, **WORLD)
        make = db.zoo.mnl_weight_ucrl
        own = CONSTANTS | {"kappa": 0.05, "estimator": "exact" if family == "multinomial" else "one_pass"}
    # hardly a bonus: both play the same episodes, and only the radius is looked at
    own = own | {"gamma": 0.9, "transition_bonus_scale": 1e-12, "reward_bonus_scale": 1e-12}
    anytime = db.simulate_mdp(make(delta=delta, uniform_in_time="anytime", **own), world, seed=0).info
    plain = db.simulate_mdp(make(delta=share, **own), world, seed=0).info
    assert anytime["transition_radius"] == pytest.approx(plain["transition_radius"], rel=1e-9)
    assert anytime["reward_radius"] == pytest.approx(plain["reward_radius"], rel=1e-9)


@pytest.mark.interpreted
@pytest.mark.parametrize("family", ["linear", "multinomial"])
def test_learner_and_bound_have_the_same_delta(family):
    """One meaning of δ: that of the learner with the theory's constants is that of its theorem's bound."""
    world = (db.mdp.riverswim if family == "linear" else db.mdp.mnl_riverswim)(episodes=40, horizon=5)
    zoo = db.zoo.weight_ucrl if family == "linear" else db.zoo.mnl_weight_ucrl
    strategy, _ = settled(zoo(gamma=0.9, constants="theory"), world.task)
    sizes = {"K": 40, "H": 5, "d_theta": 2, "P_theta": world.P_theta, "P_w": world.P_w, **world.bounds}
    if family == "linear":
        bound = db.theory.linear_mixture_regret_bound(**sizes)
    else:
        bound = db.theory.mnl_regret_bound(**sizes, U=world.U)
    assert strategy.transition.delta == pytest.approx(bound.delta)
    assert strategy.reward.delta == pytest.approx(bound.delta)
