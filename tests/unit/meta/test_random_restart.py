"""Random restarts: a restarted base is a fresh one, and restarts come at the stated rate."""

import numpy as np
import pytest

import driftbandits as db

OFUL = {"lam": 1.0, "S": 1.0, "L": 1.0, "R": 0.3, "delta": 0.01}


@pytest.mark.interpreted
def test_after_a_restart_the_base_knows_only_what_followed():
    arms, rng = db.env.unit_arms(6, dim=2, seed=0), np.random.default_rng(1)
    agent = db.Agent(db.zoo.random_restart(db.zoo.oful(**OFUL), period=15), dim=2, seed=2, compile="never")
    X, rewards = [], []
    for _ in range(120):
        x = arms[agent.select(arms)]
        r = float(x[0] + 0.3 * rng.normal())
        agent.update(r)
        X.append(x)
        rewards.append(r)
    epoch = agent.info()["epoch"]
    assert agent.info()["restarts"] > 2
    assert 0 < epoch < 120
    fresh = db.Agent(db.zoo.oful(**OFUL), dim=2, compile="never")
    for x, r in zip(X[-epoch:], rewards[-epoch:], strict=True):
        fresh.update(r, x=x)
    np.testing.assert_allclose(agent.theta, fresh.theta, rtol=1e-12)


@pytest.mark.interpreted
def test_restarts_come_at_the_stated_rate():
    """4000 rounds at rate 1/10: 400 ± 19 (one standard deviation); 80 is more than four of them."""
    world = db.env.linear(np.eye(2), db.env.static(4000), noise=0.1)
    run = db.simulate(db.zoo.random_restart(db.zoo.oful(**OFUL), period=10), world, seed=0, checkpoints=2)
    assert abs(run.info["restarts"] - 400) < 80


@pytest.mark.interpreted
def test_never_restarting_is_the_base():
    world = db.env.linear(db.env.unit_arms(5, dim=2, seed=0), db.env.rotating(200), noise=0.3)
    never = db.meta.RandomRestart(base=db.zoo.oful(**OFUL), rate=0.0)
    assert db.simulate(never, world, seed=3).regret.tolist() == pytest.approx(
        db.simulate(db.zoo.oful(**OFUL), world, seed=3).regret.tolist()
    )


def test_what_is_refused():
    with pytest.raises(db.errors.InvalidValue, match="mean number of rounds"):
        db.zoo.random_restart(db.zoo.oful(**OFUL), period=0)
