"""What a theorem assumes is checked before anything runs, in one line each."""

import numpy as np
import pytest

import driftbandits as db
from driftbandits.errors import InvalidValue

BALL = {"lam": 20.0, "delta": 0.05}
SELF_CONCORDANT = {
    "log_ucb1": {},
    "scb_weight_ucb": {"gamma": 0.95},
    "scb_restart_ucb": {"period": 10},
    "sc_d_glm_ucb": {"gamma": 0.95},
    "scb_pw_weight_ucb": {"gamma": 0.95},
    "ofu_log": {},
}


@pytest.mark.parametrize("name", SELF_CONCORDANT)
def test_self_concordant_bandits(name):
    def make(**options):
        return getattr(db.zoo, name)(**SELF_CONCORDANT[name] | BALL | {"S": 1.0, "L": 1.0} | options)

    with pytest.raises(InvalidValue, match=r"L = 2\.0 is not allowed; it must be ≤ 1: .* divide the arms by L"):
        make(L=2.0)
    with pytest.raises(InvalidValue, match=r"L·S = 5\.0 is not allowed; it must be ≤ 1 with Probit"):
        make(link="probit", S=5.0)
    with pytest.raises(InvalidValue, match="m must be given with Poisson: self-concordant bandits need rewards in"):
        make(link="poisson")
    make(L=0.5)
    make(link="probit", S=1.0)
    make(link="poisson", m=10.0)


def test_rewards_outside_the_range_of_the_strategy():
    arms, path = db.env.unit_arms(5, dim=2, seed=0), db.env.rotating(20)
    counts = db.env.generalized(arms, path, link="poisson")
    learner = db.zoo.scb_weight_ucb(link="poisson", gamma=0.95, m=10.0, S=1.0, L=1.0, **BALL)
    with pytest.raises(
        InvalidValue, match=r"rewards of this world are in \[0, inf\]; the strategy needs them in \[0, 10\]"
    ):
        db.simulate(learner, counts)
    with pytest.raises(InvalidValue, match=r"rewards of this world are in \[-inf, inf\]"):
        db.simulate(db.zoo.log_ucb1(S=1.0, L=1.0, **BALL), db.env.linear(arms, path))
    short = db.zoo.log_ucb1(S=1.0, L=1.0, m=0.5, **BALL)
    with pytest.raises(InvalidValue, match=r"in \[0, 1\]; the strategy needs them in \[0, 0\.5\]"):
        db.simulate(short, db.env.generalized(arms, path))


def test_master_needs_the_same_arms_in_every_round():
    strategy = db.zoo.master(db.zoo.oful(S=1.0, L=1.0, R=1.0, **BALL), horizon=20)
    world = db.env.linear(db.env.redrawn_arms(5, dim=2, seed=0), db.env.rotating(20))
    with pytest.raises(InvalidValue, match="the arms change from round to round; the tests of Master compare rounds"):
        db.simulate(strategy, world)
    assert np.isfinite(db.simulate(strategy, world, check="off").regret).all()


def test_an_agent_of_master_needs_the_same_arms_in_every_decision(tmp_path):
    strategy = db.zoo.master(db.zoo.oful(S=1.0, L=1.0, R=1.0, **BALL), horizon=20)
    arms = db.env.unit_arms(4, dim=2, seed=0)
    agent = db.Agent(strategy, dim=2, seed=0)
    for offered in (arms, arms, arms[[2, 0, 3, 1]]):  # the order does not matter
        agent.select(offered)
        agent.update(0.5)
    agent.save(tmp_path / "agent")
    others = (arms[:3], db.env.unit_arms(4, dim=2, seed=1), np.vstack([arms, arms[:1]]))
    for held in (agent, db.Agent.load(tmp_path / "agent")):
        before = held.pack()[0]
        for offered in others:
            with pytest.raises(InvalidValue, match=r"the arms on offer are not those of round 1; .*check='off'"):
                held.select(offered)
        assert held.pack()[0] == before
        assert np.isfinite(held.scores(others[0])).all()  # looking is no decision
    free = db.Agent(strategy, dim=2, seed=0, check="off")
    for offered in (arms, *others):
        assert 0 <= free.select(offered) < len(offered)
        free.update(0.5)


def test_the_bonus_factor_of_master_is_not_in_its_tests():
    """Wei and Luo's factor 2 widens the bonus; ρ(t) is that of the base's own radius."""
    from driftbandits.meta.master import _rate
    from driftbandits.protocol import Setting, start

    base = db.zoo.oful(S=1.0, L=1.0, R=1.0, **BALL)
    rates = []
    for factor in (1.0, 2.0):
        strategy = db.zoo.master(base, horizon=500, bonus_factor=factor)
        state = start(strategy.base, Setting(2, np.zeros((2, 0)), 500), np.random.default_rng(0))
        rates.append(_rate(strategy, 2, state))
    assert rates[0] > 1.0  # not the least rate allowed
    assert rates[1] == pytest.approx(rates[0], rel=1e-12)
    assert strategy.base.radius.scale == 2.0
