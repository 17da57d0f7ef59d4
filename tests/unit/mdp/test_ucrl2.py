"""UCRL2, UCRL2-CW and SWUCRL2-CW against the oracle, which solves a linear program for every pair."""

import numpy as np
import pytest
from naive import ucrl2 as oracle

import driftbandits as db
from driftbandits.mdp.ucrl2 import best_next, extended_value_iteration

S, A = 3, 2


def played(agent, steps, seed=0):
    """The history of an agent in a random world, and the Q of each of its policies."""
    rng = np.random.default_rng(seed)
    P, pay = rng.dirichlet(np.ones(S), (S, A)), rng.random((S, A))
    history, made, s = [], [], 0
    for t in range(steps):
        due = agent.due
        a = agent.act(s)
        if due:
            confidence = agent.confidence()
            made.append((t, extended_value_iteration(*confidence, 1.0 / np.sqrt(max(1, t)))[1]))
        s_next = int(rng.choice(S, p=P[s, a]))
        agent.observe(s, a, pay[s, a], s_next)
        history.append((s, a, pay[s, a], s_next))
        s = s_next
    return history, made


@pytest.mark.parametrize(
    ("window", "widening"), [(None, 0.0), (None, 0.1), (25, 0.1)], ids=["UCRL2", "UCRL2-CW", "SWUCRL2-CW"]
)
def test_policies_equal_the_oracle(window, widening):
    agent = db.mdp.baselines.UCRL2(states=S, actions=A, window=window, widening=widening, scale=0.2)
    history, made = played(agent, 60)
    expected = oracle.policies(history, S=S, A=A, window=window, widening=widening, delta=0.05, scale=0.2)
    expected = [(t, Q) for t, Q in expected if t < 60]
    assert [t for t, _ in made] == [t for t, _ in expected]
    assert len(made) > 5
    for (_, Q), (_, other) in zip(made, expected, strict=True):
        np.testing.assert_allclose(Q, other, atol=1e-7)


def test_a_window_that_holds_everything_without_widening_is_ucrl2():
    one, other = (db.mdp.baselines.UCRL2(states=S, actions=A, window=w, widening=0.0, scale=0.1) for w in (None, 10**6))
    assert played(one, 200)[0] == played(other, 200)[0]


def test_the_best_distribution_of_a_ball():
    rng = np.random.default_rng(1)
    for _ in range(30):
        p, radius, u = rng.dirichlet(np.ones(5)), rng.uniform(0, 2.2), rng.random(5)
        found = best_next(p[None, None], np.array([[radius]]), u)[0, 0]
        assert found == pytest.approx(oracle.optimistic(p, radius, u), abs=1e-8)


def test_the_window_forgets():
    agent = db.mdp.baselines.UCRL2(states=S, actions=A, window=10)
    for t in range(57):
        agent.observe(t % S, 0, 0.5, (t + 1) % S)
    assert agent.N.sum() == 10
    assert agent.R.sum() == pytest.approx(5.0)
    assert len(agent.recent) <= 21


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"window": 0}, "window = 0"),
        ({"widening": -0.1}, "widening = -0.1"),
        ({"delta": 2.0}, "delta = 2.0"),
        ({"reward_range": (1, 0)}, "reward_range"),
    ],
)
def test_what_is_no_learner_is_refused(options, message):
    with pytest.raises(db.DriftBanditsError, match=message):
        db.mdp.baselines.UCRL2(states=S, actions=A, **options)


def test_a_reward_outside_its_range_is_refused():
    agent = db.mdp.baselines.UCRL2(states=S, actions=A)
    with pytest.raises(db.DriftBanditsError, match=r"reward = 3\.0 is not in reward_range"):
        agent.observe(0, 0, 3.0, 1)
    assert agent.t == 0


def test_rewards_at_the_ends_of_their_range_are_rewards():
    agent = db.mdp.baselines.UCRL2(states=2, actions=2, reward_range=(-1.0, 3.0))
    for reward in (-1.0, 3.0, 3.0 + 1e-7):  # up to rounding
        agent.observe(0, 0, reward, 1)
    for reward in (-1.1, 3.1, np.nan):
        with pytest.raises(db.DriftBanditsError, match="reward_range"):
            agent.observe(0, 0, reward, 1)
    assert agent.R[0, 0] == pytest.approx(2.0)
