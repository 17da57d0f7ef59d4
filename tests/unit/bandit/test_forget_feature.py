"""A feature that one wrong request made a string for ever has a way back."""

import copy
import pickle

import pytest

import driftbandits as db
from driftbandits.bandit.saving import digest

pytestmark = pytest.mark.xdist_group("bandit")


def test_a_way_back(tmp_path):
    with db.Bandit.open(tmp_path / "x.bandit") as bandit:
        bandit.decide({"a": {"price": "x"}})
        with pytest.raises(db.DriftBanditsError, match=r"forget_feature\('price'\)"):
            bandit.decide({"a": {"price": 3.0}})
        bandit.forget_feature("price")
        d = bandit.decide({"a": {"price": 3.0}, "b": {"price": 4.0}})
        bandit.reward(d.id, 1.0)
        with pytest.raises(db.DriftBanditsError, match="was a number before"):
            bandit.decide({"a": {"price": "x"}})
        bandit.forget_feature("price")
        bandit.reward(bandit.decide({"a": {"price": "x"}}).id, 1.0)
        with pytest.raises(db.DriftBanditsError, match="no feature 'weight' has been seen"):
            bandit.forget_feature("weight")
        expected = digest(bandit)
        bandit._store.close()  # killed
        bandit._held.close()
        bandit._held = None
    with db.Bandit.open(tmp_path / "x.bandit") as again:
        assert digest(again) == expected


def test_bandits_are_copied_and_pickled(tmp_path):
    bandit = db.Bandit(seed=3)
    for t in range(9):
        bandit.reward(bandit.decide({"a": {"x": 1.0 * t}, "b": None}, at=float(t)).id, 1.0)
    for other in (copy.deepcopy(bandit), pickle.loads(pickle.dumps(bandit))):
        assert digest(other) == digest(bandit)
        assert (
            other.decide(["a", "b"], at=9.0).propensities
            == copy.deepcopy(bandit).decide(["a", "b"], at=9.0).propensities
        )
    with db.Bandit.open(tmp_path / "x.bandit") as durable, db.Bandit.follow(tmp_path / "x.bandit") as follower:
        for one in (durable, follower):
            with pytest.raises(db.DriftBanditsError, match="cannot be copied or pickled"):
                copy.deepcopy(one)
    agent = db.Agent(db.zoo.lb_weight_ucb(gamma=0.9, lam=1.0, S=1.0, L=1.0, R=0.1, delta=0.1), dim=2)
    agent.update(0.5, x=[1.0, 0.0])
    assert (pickle.loads(pickle.dumps(agent)).theta == agent.theta).all()
