"""Any strategy of the zoo behind names."""

import numpy as np
import pytest

import driftbandits as db

pytestmark = pytest.mark.xdist_group("bandit")
ARMS = {"a": [1.0, 0.0], "b": [0.0, 1.0], "c": [0.6, 0.6]}


def strategy():
    return db.zoo.lb_weight_ucb(gamma=0.9, lam=1.0, S=1.0, L=1.0, R=0.1, delta=0.01)


def test_the_floor_makes_propensities_valid():
    bandit = db.Bandit(strategy=strategy(), features="item", explore=0.3)
    counts = dict.fromkeys(ARMS, 0)
    for _ in range(300):
        d = bandit.decide(ARMS)
        assert min(d.propensities.values()) == pytest.approx(0.1)
        assert sum(d.propensities.values()) == pytest.approx(1.0)
        assert d.propensity == d.propensities[d.item]
        counts[d.item] += d.propensity < 0.5
    others = sum(counts.values())
    assert 300 * 0.2 - 4 * 7 < others < 300 * 0.2 + 4 * 7  # two of three items are not the strategy's: 0.2 of the time


@pytest.mark.parametrize("late", [False, True])
def test_late_rewards_are_exact(late):
    rng = np.random.default_rng(0)
    bandit = db.Bandit(strategy=strategy(), features="item")
    xs = rng.uniform(-0.7, 0.7, (40, 2))
    rs = 0.1 * rng.normal(size=40)
    made = [bandit.decide({"only": x}) for x in xs] if late else []
    for t in rng.permutation(40) if late else range(40):
        d = made[t] if late else bandit.decide({"only": xs[t]})
        bandit.reward(d.id, rs[t])
    w = 0.9 ** np.arange(39, -1, -1)
    theta = np.linalg.solve(xs.T @ (w[:, None] * xs) + np.eye(2), xs.T @ (w * rs))
    assert bandit._learner.agent.theta == pytest.approx(theta, rel=1e-9)


def test_names_alone_and_what_is_new():
    bandit = db.Bandit(strategy=strategy())
    d = bandit.decide(["a", "b"])
    bandit.reward(d.id, 0.5)
    with pytest.raises(db.DriftBanditsError, match="is new"):
        bandit.decide(["a", "z"])
    with pytest.raises(db.DriftBanditsError, match="must be 'item', 'interact' or a function"):
        db.Bandit(strategy=strategy(), features="hybrid")


def play(bandit, rounds, seed):
    """Items drawn; every third reward waits for the next round."""
    rng, waiting, drawn = np.random.default_rng(seed), [], []
    for t in range(rounds):
        d = bandit.decide(ARMS)
        drawn.append((d.item, d.propensity))
        for id_ in [*waiting, *([] if t % 3 == 0 else [d.id])]:
            bandit.reward(id_, float(rng.uniform(0, 0.5)))
        waiting = [d.id] if t % 3 == 0 else []
    return drawn


@pytest.mark.interpreted
@pytest.mark.parametrize("make", [strategy, lambda: db.zoo.self_tuning()])
def test_saved_with_its_strategy(tmp_path, make):
    bandit = db.Bandit(strategy=make(), features="item", seed=3)
    bandit.save(tmp_path / "fresh")
    assert db.Bandit.load(tmp_path / "fresh").info()["decisions"] == 0
    play(bandit, 16, 0)
    bandit.save(tmp_path / "b")
    again = db.Bandit.load(tmp_path / "b")
    assert again._learner.strategy == make()
    assert again.info() == bandit.info()
    assert play(again, 25, 1) == play(bandit, 25, 1)
    assert again._learner.pack()[0] == bandit._learner.pack()[0]


def test_another_strategy_is_refused(tmp_path):
    bandit = db.Bandit(strategy=strategy(), features="item")
    bandit.save(tmp_path / "b")
    assert db.Bandit.load(tmp_path / "b", strategy=strategy()).info()["decisions"] == 0
    other = db.zoo.lb_weight_ucb(gamma=0.8, lam=1.0, S=1.0, L=1.0, R=0.1, delta=0.01)
    with pytest.raises(db.DriftBanditsError, match="it was made with strategy="):
        db.Bandit.load(tmp_path / "b", strategy=other)
    db.Bandit().save(tmp_path / "default")
    with pytest.raises(db.DriftBanditsError, match="without strategy"):
        db.Bandit.load(tmp_path / "default", strategy=other)


def test_durable_with_a_strategy(tmp_path):
    with db.Bandit.open(tmp_path / "b", strategy=strategy(), features="item") as bandit:
        play(bandit, 10, 0)
        known = bandit.info()
    with db.Bandit.open(tmp_path / "b") as again:
        assert again.info() == known
        play(again, 5, 1)


def test_a_strategy_with_a_model_per_item_is_refused_before_the_first_decision():
    with pytest.raises(
        db.DriftBanditsError, match=r"use self_tuning\(features='shared'\), or Bandit\(features='disjoint'\)"
    ):
        db.Bandit(strategy=db.zoo.self_tuning(features="disjoint"))
