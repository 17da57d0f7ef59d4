"""Whoever decides can be asked: bandits, strategies, objects, functions; and stays as it was."""

import numpy as np
import pandas as pd
import pytest

import driftbandits as db
import logs
from driftbandits.bandit.saving import digest
from driftbandits.errors import InvalidState, InvalidValue
from driftbandits.replay.policies import BanditPolicy, policy_of
from driftbandits.zoo.record import records


def walk(policy, log, hear=lambda asked, row: True):
    for t, row in enumerate(log):
        asked = policy.ask(t, row)
        assert sum(asked.p.values()) == pytest.approx(1.0)
        if hear(asked, row):
            policy.tell(t, row)
        else:
            policy.skip(t)
    return policy


def test_a_bandit_told_of_its_own_choices_is_the_bandit_that_made_them():
    log, bandit = logs.log(60, 0), db.Bandit(reward="click", seed=3)
    policy = policy_of("b", bandit, log, foreign=False)
    for t, row in enumerate(log):
        d = bandit.decide(row.items, row.context, at=row.at)
        asked = policy.ask(t, row)
        assert (asked.item, asked.p) == (d.item, d.propensities)
        if asked.item == row.item:  # both learn, or neither
            policy.tell(t, row)
            bandit.reward(d.id, row.reward)
        else:
            policy.skip(t)
            del bandit._pending.open[d.id]
    assert digest(policy.bandit) == digest(bandit)


def test_a_bandit_learns_a_choice_of_the_log_as_if_it_were_its_own():
    """Features and names alike: after the same rewards of the same items, estimates agree with `observe`."""
    log, other = logs.log(80, 1), db.Bandit(reward="click")
    policy = walk(policy_of("b", db.Bandit(reward="click"), log, foreign=True), log)
    for row in log:
        other.observe(row.item, row.context, reward=row.reward, at=row.at)
    for x in (-1.0, 0.5):
        mine, its = (b.estimate(list(logs.ITEMS), {"x": x}) for b in (policy.bandit, other))
        assert {k: e.mean for k, e in mine.items()} == pytest.approx({k: e.mean for k, e in its.items()}, abs=0.02)
    assert policy.memory() == pytest.approx(80.0)


def test_the_callers_bandit_is_not_changed_and_what_it_knows_is_used():
    log, bandit = logs.log(40, 0), db.Bandit(reward="click")
    for k in range(50):
        d = bandit.decide(["a", "b"], at=float(k))
        bandit.reward(d.id, float(d.item == "b"))
    before = digest(bandit)
    copy = policy_of("b", bandit, log, foreign=True)
    assert isinstance(copy, BanditPolicy)
    assert digest(copy.bandit) == before
    walk(copy, log)
    assert digest(bandit) == before
    assert digest(copy.bandit) != before


@pytest.mark.interpreted
def test_a_strategy_of_the_zoo_sees_every_feature_of_the_log():
    rng = np.random.default_rng(0)
    rows = [{"item": "ab"[k % 2], "r": rng.normal(), "land": "s" if k < 20 else "n"} for k in range(40)]
    log = db.Log.read(pd.DataFrame(rows), item="item", reward="r", context=["land"])
    strategy = db.zoo.lb_weight_ucb(gamma=0.99, lam=1.0, S=2.0, L=4.0, R=1.0, delta=0.1)
    policy = walk(policy_of("ucb", strategy, log, foreign=True), log)
    assert policy.bandit._learner.agent.dim == 2 + 2 + 4  # names, lands, their products
    assert policy.bandit.info()["rewards"] == 40


def test_strategies_that_learn_from_their_own_choices_are_not_told_of_others():
    log = logs.log(20, 0)
    bob = next(record for record in records() if record.name == "bob").build()
    with pytest.raises(InvalidState, match="learns from its own choices only"):
        policy_of("bob", bob, log, foreign=True)


def test_what_is_no_policy_is_refused():
    log = logs.log(5, 0)
    with pytest.raises(InvalidValue, match="is of type int"):
        policy_of("p", 3, log, foreign=True)
    with pytest.raises(InvalidValue, match="is the class dict"):
        policy_of("p", dict, log, foreign=True)
    bare = db.Log.read(logs.frame(5, 0), item="item", reward="r", propensity="p")
    with pytest.raises(InvalidValue, match="forgets by the clock, and the log has no time"):
        policy_of("p", db.Bandit(half_life="3d"), bare, foreign=True)


def test_the_seed_is_of_the_draws_for_a_policy_that_answers_with_probabilities():
    """Many logs replayed with one seed share their coins and draws, so a study of many logs gives each its own."""
    log = logs.log(60, 0)

    def drawn(seed):
        policy = policy_of("soft", logs.soft, log, foreign=True, seed=seed)
        return [policy.ask(t, row).item for t, row in enumerate(log)]

    assert drawn(0) == drawn(0)
    assert drawn(0) != drawn(1)
    policies, even = {"soft": logs.soft}, logs.log(300, 0, uniform=True)
    values = {db.replay(policies, even, estimators="replay", seed=seed).estimate("soft").value for seed in (0, 0, 1)}
    assert len(values) == 2
