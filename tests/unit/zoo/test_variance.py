"""Restarted WeightedOFUL⁺: its weights from the definition, its special case, and that less noise costs less."""

import math

import numpy as np
import pytest

import driftbandits as db

KNOWN = {"lam": 0.8, "S": 1.0, "L": 1.0, "delta": 0.05}


@pytest.mark.interpreted
def test_weights_are_those_of_the_definition():
    """V = λI + Σ xxᵀ/σ̄², σ̄² = max{σ², c²‖x‖_{V⁻¹}} in the order in which they came; V′ = σ²V, κ = σ/c²."""
    sigma, R, d, period = 0.3, 0.9, 3, 15
    strategy = db.zoo.restart_weighted_oful(period=period, dim=d, sigma=sigma, R=R, **KNOWN)
    agent = db.Agent(strategy, dim=d, compile="never")
    rng = np.random.default_rng(0)
    lam, c2 = KNOWN["lam"] / sigma**2, R / math.sqrt(d)  # in the units of the definition
    V, b, down = lam * np.eye(d), np.zeros(d), 0
    for _ in range(period - 1):
        x = rng.normal(size=d)
        x /= 1.2 * np.linalg.norm(x)
        r = float(rng.normal())
        width = math.sqrt(x @ np.linalg.inv(V) @ x)
        bar = max(sigma**2, c2 * width)
        down += bar > sigma**2
        V += np.outer(x, x) / bar
        b += r * x / bar
        agent.update(r, x=x)
        np.testing.assert_allclose(agent.theta, np.linalg.solve(V, b), rtol=1e-9)
    assert 0 < down < period - 1
    agent.update(1.0, x=np.ones(d) / 2)  # the restart
    assert not agent.theta.any()


@pytest.mark.interpreted
def test_without_doubt_it_is_restart_ucb():
    world = db.env.linear(db.env.unit_arms(6, dim=2, seed=0), db.env.rotating(200), noise=0.3)
    plain = db.zoo.restart_ucb(period=40, R=0.3, **KNOWN)
    same = db.zoo.restart_weighted_oful(period=40, dim=2, sigma=0.3, R=0.3, trust=math.inf, **KNOWN)
    assert plain == same
    cautious = db.zoo.restart_weighted_oful(period=40, dim=2, sigma=0.3, R=0.3, trust=1e9, **KNOWN)
    runs = [db.simulate(s, world, seed=1).regret for s in (plain, cautious)]
    np.testing.assert_allclose(runs[0], runs[1], rtol=1e-9)


@pytest.mark.interpreted
def test_regret_falls_with_the_noise():
    """The same world with noise 1 and 0.1, of which the learner knows: summed over 3 seeds, 400 rounds."""

    def lost(sigma):
        total = 0.0
        for seed in range(3):
            world = db.env.linear(db.env.unit_arms(10, dim=2, seed=seed), db.env.rotating(400), noise=sigma)
            strategy = db.zoo.restart_weighted_oful(period=80, dim=2, sigma=sigma, R=1.0, **KNOWN | {"lam": sigma**2})
            total += float(db.simulate(strategy, world, seed=seed, checkpoints=2).regret[-1])
        return total

    assert lost(0.1) < 0.7 * lost(1.0)


def test_what_is_refused():
    with pytest.raises(db.errors.InvalidValue, match="R bounds the noise"):
        db.zoo.restart_weighted_oful(period=10, dim=2, sigma=2.0, R=1.0, **KNOWN)
