"""DAL: alarms restart the base, covering arms are played in their turn, late rewards and files."""

import naive
import numpy as np
import pytest

import driftbandits as db
from driftbandits.meta.dal import LOG, spanning

OFUL = {"lam": 1.0, "S": 1.0, "L": 1.0, "R": 0.3, "delta": 0.01}


def played(strategy, thetas, arms, seed=0, noise=0.3, horizon=None):
    """An agent after a run in which θ of round t is thetas[t]; its choices and rewards."""
    agent = db.Agent(strategy, dim=arms.shape[1], seed=seed, compile="now", horizon=horizon)
    rng = np.random.default_rng(seed)
    choices, rewards = [], []
    for theta in thetas:
        k = agent.select(arms)
        choices.append(k)
        rewards.append(float(arms[k] @ theta) + noise * rng.normal())
        agent.update(rewards[-1])
    return agent, np.array(choices), np.array(rewards)


@pytest.mark.interpreted
def test_an_alarm_restarts_the_base():
    arms = db.env.unit_arms(8, dim=2, seed=0)
    thetas = np.repeat([[1.0, 0.0], [-1.0, 0.0]], 150, axis=0)
    agent, choices, rewards = played(db.zoo.dal(db.zoo.oful(**OFUL)), thetas, arms)
    info = agent.info()
    (round_, block), *others = info["restarts"]
    assert not others
    assert 150 < round_ <= 150 + 48
    assert info["epoch"] == 300 - round_
    assert info["observations"] == 300
    # the alarm is the oracle's, and from there on the base is a fresh one
    X = arms[choices]
    expected = [naive.chi2_alarm(X[:t], rewards[:t], R=0.3, delta=0.05) for t in range(1, round_ + 1)]
    assert expected == [0] * (round_ - 1) + [block]
    fresh = db.Agent(db.zoo.oful(**OFUL), dim=2, compile="never")
    for x, r in zip(X[round_:], rewards[round_:], strict=True):
        fresh.update(r, x=x)
    np.testing.assert_allclose(agent.theta, fresh.theta, rtol=1e-12)
    np.testing.assert_allclose(agent.scores(arms), fresh.scores(arms), rtol=1e-12)


@pytest.mark.interpreted
def test_generalized_bases_are_watched_through_their_link():
    base = db.zoo.glm_ucb(lam=2.0, S=3.0, L=1.0, delta=0.05, bonus_scale=0.1)
    agent = db.Agent(db.zoo.dal(base), dim=2, seed=0)
    arms, rng = db.env.unit_arms(6, dim=2, seed=0), np.random.default_rng(0)
    X, y, h = [], [], []
    for t in range(400):
        theta = np.array([3.0, 0.0]) if t < 200 else np.array([-3.0, 0.0])
        before = agent.theta
        k = agent.select(arms)
        r = float(rng.random() < 1 / (1 + np.exp(-arms[k] @ theta)))
        z = float(arms[k] @ before)
        mu = 1 / (1 + np.exp(-z))
        X.append(arms[k]), h.append(mu * (1 - mu)), y.append(h[-1] * z + r - mu)
        agent.update(r)
        if agent.info()["restarts"]:
            break
    else:
        pytest.fail("no restart in 200 rounds after θ became −θ")
    (round_, block) = agent.info()["restarts"][0]
    assert round_ == t + 1 > 200
    assert block == naive.chi2_alarm(np.array(X), np.array(y), R=1.0, delta=0.05, h=np.array(h))


@pytest.mark.interpreted
@pytest.mark.parametrize("detector", ["glr", "gsr"])
def test_covering_arms_are_played_in_their_turn_and_tell(detector):
    T, arms = 400, db.env.unit_arms(8, dim=2, seed=1)
    base = db.zoo.oful(**OFUL)
    strategy = db.zoo.dal(base, detector=detector, forced=0.2)
    world = db.env.linear(arms, db.env.piecewise(T, values=[[1, 0], [0, -1]], changes=1), noise=0.1)
    run = db.simulate(db.zoo.dal(base, detector=detector, forced=0.2, noise=0.1), world, seed=0, checkpoints="all")
    cover = naive.cover(arms)
    np.testing.assert_array_equal(spanning(arms.T), arms[cover])
    restarts = [row[0] for row in run.info["restarts"].tolist()]
    assert restarts
    assert 200 < restarts[0] < 260
    first, epoch = 1, 1
    for t in range(1, T + 1):
        due = naive.forced_round(t, first, len(cover), 0.2, epoch)
        if due is not None:
            assert run.choices[t - 1] == cover[due]
        if t in restarts:
            first, epoch = t + 1, epoch + 1
    with pytest.raises(db.DriftBanditsError, match="plays arms that recur: give them with cover"):
        db.Agent(strategy, dim=2)


@pytest.mark.interpreted
def test_a_published_rate_needs_a_horizon_and_an_agent_its_covering_arms():
    arms = db.env.unit_arms(5, dim=2, seed=1)
    glr = db.zoo.dal(db.zoo.oful(**OFUL), detector="glr", cover=arms[:2])
    with pytest.raises(db.DriftBanditsError, match="needs the horizon T; give horizon=… or forced=…"):
        db.Agent(glr, dim=2)
    _, choices, _ = played(glr, np.tile([[1.0, 0.0]], (30, 1)), arms, horizon=100)
    period = int(np.ceil(2 / np.sqrt(2 * np.log(100) / 100)))
    for t in range(0, 30, period):
        assert choices[t : t + 2].tolist() == [0, 1]
    free = db.Agent(glr, dim=2, horizon=100, check="off")
    assert free.select(arms[2:]) in (0, 1, 2)  # a covering arm that is not on offer is skipped
    with pytest.raises(db.DriftBanditsError, match=r"cover has shape \(2, 2\); it must be \(N, 3\)"):
        db.Agent(glr, dim=3, horizon=100)


@pytest.mark.interpreted
def test_late_rewards_reach_the_base_unless_they_are_from_before_a_restart():
    agent = db.Agent(db.zoo.dal(db.zoo.oful(**OFUL)), dim=1, seed=0)
    plain = db.Agent(db.zoo.oful(**OFUL), dim=1, seed=0)
    for one in (agent, plain):
        for _ in range(3):
            one.select([[1.0]])
        one.update(1.0, x=[1.0], age=2)
        one.update(0.5, x=[1.0], age=0)
    np.testing.assert_allclose(agent.theta, plain.theta)
    assert agent.info()["observations"] == 2
    for t in range(64):
        agent.select([[1.0]])
        agent.update(1.0 if t < 30 else -1.0, age=0)
    rounds = [row[0] for row in agent.info()["restarts"]]
    assert rounds
    since, before = agent.info()["epoch"], agent.theta
    agent.select([[1.0]])
    agent.update(0.9, x=[1.0], age=since + 5)  # decided before the restart
    np.testing.assert_array_equal(agent.theta, before)


@pytest.mark.interpreted
def test_the_last_restarts_are_kept_oldest_first():
    agent = db.Agent(db.zoo.dal(db.zoo.oful(**OFUL)), dim=1, seed=0)
    clock, rows = agent._state.clock, agent._state.restarts
    rows[:, 0] = np.arange(1, LOG + 1)
    rows[0, 0] = LOG + 1
    clock.restarts[0] = LOG + 1
    told = agent.info()["restarts"]
    assert [told[0][0], told[-1][0], len(told)] == [2, LOG + 1, LOG]


@pytest.mark.parametrize(
    ("words", "given"),
    [
        ("detector = 'cusum' is not allowed", {"detector": "cusum"}),
        ("thresholds = 'loose' is not allowed", {"detector": "glr", "thresholds": "loose"}),
        ("forced = 2.0 is not allowed", {"forced": 2.0}),
        ("noise = 0.0 is not allowed", {"noise": 0.0}),
        ("delta = 1.0 is not allowed", {"delta": 1.0}),
        ("horizon = 0 is not allowed", {"horizon": 0}),
    ],
)
def test_refuses(words, given):
    with pytest.raises(db.DriftBanditsError, match=words):
        db.zoo.dal(db.zoo.oful(**OFUL), **given)


def test_a_base_that_does_not_know_its_noise_needs_it():
    base = db.zoo.self_tuning()
    with pytest.raises(db.DriftBanditsError, match="noise must be given: "):
        db.zoo.dal(base)
    with pytest.raises(db.DriftBanditsError, match=r"R = 0\.0 is not allowed"):
        db.zoo.dal(db.zoo.oful(**(OFUL | {"R": 0.0})))


@pytest.mark.interpreted
def test_the_oldest_round_of_an_epoch_is_learned_and_the_one_before_is_not():
    """A late reward of age `since` − 1 is the first of this epoch; of age `since` it is from before the restart."""
    for behind, learned in ((1, True), (0, False)):
        agent = db.Agent(db.zoo.dal(db.zoo.oful(**OFUL)), dim=1, seed=0, compile="never")
        for t in range(64):
            agent.select([[1.0]])
            agent.update(1.0 if t < 30 else -1.0, age=0)
        assert len(agent.info()["restarts"])
        agent.select([[1.0]])
        agent.update(0.0, age=0)
        before, epoch = agent.info(), agent.info()["epoch"]
        theta = agent.theta
        agent.update(0.9, x=[1.0], age=epoch - behind)
        assert agent.info()["observations"] == before["observations"] + 1
        assert (agent.theta != theta).any() == learned
