"""dLinUCB slave by slave against its equations, in a world that jumps."""

import naive.neighbours as naive
import numpy as np
import pytest

import driftbandits as db

KNOWN = {"lam": 1.0, "S": 1.0, "L": 1.0, "R": 0.2, "delta": 0.05}
SIZES = {"tau": 12, "delta1": 0.05, "delta2": 0.2, "bad": 0.05}


def played(strategy, thetas, arms, seed):
    agent = db.Agent(strategy, dim=arms.shape[1], seed=seed, compile="never")
    rng = np.random.default_rng(seed)
    X, rewards, states = [], [], []
    for theta in thetas:
        x = arms[agent.select(arms)]
        r = float(x @ theta + 0.2 * rng.normal())
        agent.update(r)
        X.append(x)
        rewards.append(r)
        states.append(agent.info())
    return agent, np.array(X), np.array(rewards), states


@pytest.mark.interpreted
def test_slaves_follow_the_equations():
    """Two jumps: slaves are made, dropped and chosen as the replay from the whole history says, in every round."""
    thetas = np.repeat([[1.0, 0.0], [-1.0, 0.2], [0.0, 1.0]], 40, axis=0)
    arms = db.env.unit_arms(7, dim=2, seed=3)
    strategy = db.zoo.dlin_ucb(**KNOWN, **SIZES)
    agent, X, rewards, states = played(strategy, thetas, arms, seed=5)
    options = {**KNOWN, "slack": strategy.slack, "tau": 12, "delta2": 0.2, "good": 0.05, "bad": 0.05}
    for t in (10, 39, 45, 60, 85, 100, 119):
        slaves, made, dropped = naive.dlin_ucb_slaves(X[: t + 1], rewards[: t + 1], **options)
        assert (states[t]["slaves"], states[t]["made"], states[t]["dropped"]) == (len(slaves), made, dropped)
        expected = sorted(naive.dlin_ucb_badness(s, 12, 0.2)[0] for s in slaves)
        np.testing.assert_allclose(sorted(states[t]["badness"]), expected, atol=1e-12)
    assert states[-1]["made"] > 1
    assert states[-1]["dropped"] > 0
    slaves, *_ = naive.dlin_ucb_slaves(X, rewards, **options)
    agent.scores(arms)  # chooses the slave of the next round
    player = naive.dlin_ucb_player(slaves, 12, 0.2)
    theta, V, beta = naive.dlin_ucb_estimate(player, X, rewards, **KNOWN)
    np.testing.assert_allclose(agent.theta, theta, rtol=1e-9, atol=1e-12)
    widths = np.sqrt(np.einsum("ni,ij,nj->n", arms, np.linalg.inv(V), arms))
    np.testing.assert_allclose(agent.scores(arms), arms @ theta + beta * widths, rtol=1e-9)


@pytest.mark.interpreted
def test_a_full_pool_replaces_its_worst():
    strategy = db.zoo.dlin_ucb(**KNOWN | {"R": 0.001}, tau=4, slaves=2, bad=1.0)
    agent = db.Agent(strategy, dim=2, seed=0, compile="never")
    rng = np.random.default_rng(0)
    for _ in range(60):
        agent.select(np.eye(2))
        agent.update(float(rng.normal()))  # nothing predicts this
    assert agent.info()["slaves"] <= 2
    assert agent.info()["made"] > 3


def test_what_is_refused():
    with pytest.raises(db.errors.InvalidValue, match="slaves are linear"):
        db.meta.DLinUCB(base=db.zoo.glm_ucb(lam=1, S=1, L=1, delta=0.1), slack=1, tau=5, delta2=0.1, good=0, bad=0.1)
    with pytest.raises(db.errors.InvalidValue, match="good"):
        db.zoo.dlin_ucb(**KNOWN, good=0.5, bad=0.1)
    with pytest.raises(db.errors.InvalidValue, match=r"^slaves = 0"):
        db.zoo.dlin_ucb(**KNOWN, slaves=0)
