"""Bandits over Bandits: constants, blocks, losses and resets, against the oracle."""

import naive
import numpy as np
import pytest
from numba import config

import driftbandits as db
from driftbandits.meta import Bob, Exp3IX

INTERPRETED = bool(config.DISABLE_JIT)
pytestmark = pytest.mark.interpreted  # LB-WeightUCB, its base, is compiled by its own tests
LB = {"lam": 2.0, "S": 1.0, "L": 1.0, "R": 1.0}


@pytest.mark.interpreted
@pytest.mark.parametrize(("T", "d"), [(6000, 2), (1000, 10), (777, 3)])
def test_constants_are_the_papers(T, d):
    expected = naive.bob_constants(T, d)
    strategy = db.zoo.bob(horizon=T, dim=d, **LB)
    assert strategy.block == expected["block"]
    assert (strategy.exp3.options, strategy.exp3.plays) == (expected["N"], expected["M"])
    assert strategy.base.radius.delta == pytest.approx(expected["delta"])
    assert strategy.base.memory.gamma == pytest.approx(expected["gammas"][-1])
    info = db.Agent(strategy, dim=d).info()
    np.testing.assert_allclose(info["candidates"], expected["gammas"], rtol=1e-12)


def test_in_one_dimension_no_candidate_is_zero():
    info = db.Agent(db.zoo.bob(horizon=100, dim=1, **LB), dim=1).info()
    assert info["candidates"][0] == 0.01


def test_blocks_losses_and_resets_follow_the_oracle():
    # T = 100, d = 2: blocks of 20, the last of which is cut to make T = 90
    T, arms = 90, db.env.unit_arms(5, dim=2, seed=1)
    constants = naive.bob_constants(T, 2)
    agent = db.Agent(db.zoo.bob(horizon=T, dim=2, **LB), dim=2, seed=4)
    rng = np.random.default_rng(0)
    block, losses, choices, rows, rewards = constants["block"], [], [], [], []
    for t in range(T):
        if t % block == 0 and t:
            losses.append(naive.bob_loss(rewards, T, L=1, S=1, R=1))
            rows, rewards = [], []
        scores = agent.scores(arms)
        info = agent.info()
        if t % block == 0:
            choices.append(int(info["choices"][-1]))
            expected = naive.exp3ix_probabilities(choices[:-1], losses, N=constants["N"], M=constants["M"])
            np.testing.assert_allclose(info["probabilities"], expected, rtol=1e-10)
        gamma = constants["gammas"][choices[-1]]
        assert info["gamma"] == pytest.approx(gamma)
        X, r = np.array(rows).reshape(-1, 2), np.array(rewards)
        fresh = naive.lb_weight_ucb(X, r, arms, gamma=gamma, delta=constants["delta"], **LB)
        np.testing.assert_allclose(scores, fresh, rtol=1e-9)
        k = agent.select(arms)
        reward = float(arms[k, 0] + rng.standard_normal())
        agent.update(reward)
        rows.append(arms[k])
        rewards.append(reward)
    losses.append(naive.bob_loss(rewards, T, L=1, S=1, R=1))  # the short last block counts with its own length
    assert [len(rewards)] == constants["lengths"][-1:] != [block]
    np.testing.assert_allclose(agent.info()["losses"], losses, rtol=1e-12)
    assert agent.info()["choices"] == choices


def test_losses_of_nonnegative_rewards():
    base = db.zoo.lb_weight_ucb(gamma=0.99, delta=0.01, **LB)
    agent = db.Agent(Bob(base, Exp3IX(3, 2), 20, 2, 10, 1.0, 1.0, top=2.0), dim=2)
    for t in range(20):
        agent.select([[1.0, 0.0], [0.0, 1.0]])
        agent.update(2.0 if t < 5 else 0.5)
    expected = [naive.bob_loss_nonnegative([2.0] * 5 + [0.5] * 5, 2.0), naive.bob_loss_nonnegative([0.5] * 10, 2.0)]
    np.testing.assert_allclose(agent.info()["losses"], expected)


def test_losses_are_clipped():
    agent = db.Agent(db.zoo.bob(horizon=50, dim=1, **LB), dim=1)
    for t in range(16):
        agent.select([[1.0]])
        agent.update(1e6 if t < 8 else -1e6)
    assert agent.info()["losses"][:2] == [0.0, 1.0]


def test_runs_on_past_the_horizon():
    agent = db.Agent(db.zoo.bob(horizon=30, dim=2, **LB), dim=2)
    for _ in range(100):
        agent.select([[1.0, 0.0], [0.0, 1.0]])
        agent.update(0.3)
    info = agent.info()
    assert len(info["choices"]) == 3
    assert np.isfinite(info["losses"]).all()


def test_an_observation_without_a_decision_is_no_round():
    agent = db.Agent(db.zoo.bob(horizon=30, dim=2, **LB), dim=2)
    agent.update(1.0, x=[1.0, 0.0])
    assert agent.info()["choices"] == []
    assert agent.theta[0] == pytest.approx(1 / 3)
    agent.select([[1.0, 0.0]])
    assert agent.theta[0] == pytest.approx(1 / 3)


@pytest.mark.interpreted
def test_simulation_is_reproducible():
    T = 120 if INTERPRETED else 1000
    world = db.env.linear(db.env.unit_arms(8, dim=2, seed=0), db.env.rotating(T))
    first, second = (db.simulate(db.zoo.bob(horizon=T, dim=2, **LB), world, seed=5) for _ in range(2))
    assert np.array_equal(first.regret, second.regret)
    assert np.array_equal(first.info["choices"], second.info["choices"])


def test_refuses():
    with pytest.raises(db.DriftBanditsError, match="made for dim = 2, the arms have 3 features"):
        db.Agent(db.zoo.bob(horizon=30, dim=2, **LB), dim=3)
    with pytest.raises(db.DriftBanditsError, match="horizon = 0 is not allowed"):
        db.zoo.bob(horizon=0, dim=2, **LB)
