"""`zoo.self_tuning` and `db.Bandit` are one learner: the same offers, draws and rewards give the same decisions, to the last bit."""

import numpy as np
import pytest
from conftest import INTERPRETED, sized

import driftbandits as db
from driftbandits.bandit import deciding

pytestmark = pytest.mark.xdist_group("self_tuning")
OWN = {"E", "own_M", "own_S", "own_t", "own_R", "last", "Kap", "Kinv"}
ROUNDS = sized(80, 150) if INTERPRETED else 600


@pytest.fixture
def draws(monkeypatch):
    """The draws of both: a decision's is the next number of a generator."""
    rng = np.random.default_rng(5)
    monkeypatch.setattr(deciding, "uniform", lambda *_: rng.random())


def same_states(agent, bandit):
    """Every array of the engine that both have: rows of an array have no names, so that a bandit's own effects stay empty."""
    for one, other in (
        (agent._state.engine, bandit._learner.model.state),
        (agent._state.items, bandit._learner.model.items),
        (agent._state.context, bandit._learner.model.context),
    ):
        for name, mine in one._asdict().items():
            theirs = getattr(other, name)[: len(mine)]  # a bandit has room for items to come
            if name not in OWN or mine.size:
                assert mine.tobytes() == np.ascontiguousarray(theirs).tobytes(), name


@pytest.mark.parametrize("explore", [0.0, 0.05])
def test_of_arms_as_vectors(draws, explore):
    """Features of other units, one constant at first, extreme values; the world changes at half time."""
    rng = np.random.default_rng(1)
    agent = db.Agent(db.zoo.self_tuning(explore=explore), dim=4, seed=5, compile="now")
    bandit = db.Bandit(features="item", explore=explore)
    theta, unit = rng.normal(size=(2, 4)), np.array([1.0, 100.0, 0.01, 1.0])
    chosen = set()
    for t in range(ROUNDS):
        Z = rng.standard_t(3, size=(6, 4))
        Z[:, 3] = Z[:, 3] if t > 40 else 2.0
        p = agent.propensities(Z * unit)
        k = agent.select(Z * unit)
        made = bandit.decide(Z * unit)
        assert made.item == k
        assert [made.propensities[a] for a in range(6)] == p.tolist()
        r = float(Z[k] @ theta[t * 2 // ROUNDS] + 0.3 * rng.normal())
        agent.update(r)
        bandit.reward(made.id, r)
        chosen.add(k)
    assert len(chosen) > 3
    same_states(agent, bandit)


def test_of_items_in_a_context(draws):
    rng = np.random.default_rng(2)
    agent = db.Agent(db.zoo.self_tuning(features="disjoint"), dim=3, items=5, seed=5, compile="now")
    bandit = db.Bandit(features="disjoint", explore=0.0)
    names, theta = [f"item {k}" for k in range(5)], rng.normal(size=(2, 5, 3))
    chosen = set()
    for t in range(ROUNDS):
        context = rng.normal(size=3)
        k = agent.select(context)
        made = bandit.decide(names, context)
        assert made.item == names[k]
        r = float(theta[t * 2 // ROUNDS, k] @ context + 0.5 * rng.normal())
        agent.update(r)
        bandit.reward(made.id, r)
        chosen.add(k)
    assert len(chosen) > 3
    same_states(agent, bandit)


@pytest.mark.interpreted
def test_of_a_simulation(draws, monkeypatch):
    """`simulate` decides as the bandit does, too."""
    rng = np.random.default_rng(3)
    X, theta = rng.normal(size=(80, 5, 3)), rng.normal(size=3)
    R = X @ theta + 0.2 * rng.normal(size=(80, 5))
    run = db.simulate(db.zoo.self_tuning(), db.env.from_rewards(X, R), seed=4, checkpoints="all")
    own = np.random.default_rng(np.random.SeedSequence(4).spawn(2)[1])
    monkeypatch.setattr(deciding, "uniform", lambda *_: own.random())
    bandit = db.Bandit(features="item", explore=0.0)
    for t in range(80):
        made = bandit.decide(X[t])
        assert made.item == run.choices[t], t
        bandit.reward(made.id, float(R[t, made.item]))
