"""Realistic mistakes that once went unnoticed by all tests; each of these fails when one of them is made."""

import naive
import numpy as np
import pytest
from naive.generalized import Likelihood, qmle
from scipy import stats

import driftbandits as db
from driftbandits.core.checks import check_arms
from driftbandits.core.linalg import scale_vector
from driftbandits.errors import InvalidValue
from driftbandits.protocol import capacity

LINEAR = {"lam": 1.0, "S": 1.0, "L": 1.0, "R": 0.5, "delta": 0.05}


def test_ties_are_broken_evenly():
    """In round 1 all arms of one norm tie; 400 seeds, four arms: χ² with 3 degrees of freedom, one failure in 10⁴ if fair."""
    arms = [[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]]
    counts = np.zeros(4)
    agent = db.Agent(db.zoo.oful(**LINEAR), dim=2, seed=0)
    for seed in range(400):
        agent._rng = np.random.default_rng(seed)  # a new agent each time would only be slower
        counts[agent.select(arms)] += 1
    assert stats.chisquare(counts).pvalue > 1e-4


def test_optimistic_values_are_clipped_at_what_can_be_earned():
    """The bonuses of the theorem are far larger than that when nothing is known."""
    world = db.mdp.riverswim(episodes=2, horizon=4)
    strategy = db.zoo.weight_ucrl(gamma=0.8, lam_theta=1.0, lam_w=8.0, delta=0.01, **world.bounds)
    Q = db.EpisodicAgent(strategy, horizon=4, phi=world.phi, psi=world.psi, seed=0).begin_episode()
    assert Q.max() == 4.0
    assert Q.min() >= 0.0


@pytest.mark.interpreted
@pytest.mark.parametrize("front", ["bandit", "mdp"])
def test_noise_and_strategy_draw_from_streams_of_their_own(front, monkeypatch):
    """All strategies see the same noise under the same seed, whatever they draw themselves."""
    streams = []
    make = np.random.default_rng

    def recorded(seed=None):
        streams.append(tuple(seed.spawn_key))
        return make(seed)

    if front == "bandit":
        monkeypatch.setattr(np.random, "default_rng", recorded)
        world = db.env.linear([[1.0, 0.0]], np.tile([1.0, 0.0], (50, 1)), noise=1.0)
        totals = [
            db.simulate(s, world, seed=5).reward[-1]
            for s in (db.zoo.oful(**LINEAR), db.zoo.d_lin_ts(gamma=0.9, **LINEAR))
        ]
        assert totals[0] == totals[1]
        assert streams == [(0,), (1,)] * 2
    else:
        monkeypatch.setattr(np.random, "default_rng", recorded)
        db.simulate_mdp(db.zoo.weight_ucrl(), db.mdp.riverswim(episodes=2, horizon=3), seed=5)
        assert len(streams) == len(set(streams)) >= 3


def test_a_window_makes_its_sums_anew():
    """An error in the sums, however it came there, is gone after one turn of the ring."""
    W = 7
    agent = db.Agent(db.zoo.sw_ucb(window=W, **LINEAR), dim=3, seed=0)
    rng = np.random.default_rng(0)
    X, r = rng.uniform(-0.5, 0.5, (5 * W, 3)), rng.standard_normal(5 * W)
    for s in range(5 * W):
        agent.update(r[s], x=X[s])
        if s == 3 * W:
            agent._state.sums.b[:] += 1.0
            agent._state.sums.A[:] += np.eye(3)
    np.testing.assert_allclose(agent.theta, naive.theta_hat(X[-W:], r[-W:], np.ones(W), 1.0), rtol=1e-12)


def test_an_arm_may_exceed_its_norm_by_rounding_and_no_more():
    x = np.array([0.6, 0.8])[None, :, None]
    check_arms(x * (1 + 5e-10), 1.0, "error")
    for excess in (1e-8, 1e-3, 0.049):
        with pytest.raises(InvalidValue, match="> L = 1"):
            check_arms(x * (1 + excess), 1.0, "error")


@pytest.mark.interpreted
def test_what_a_ring_has_overwritten_weighs_less_than_1e_12():
    gamma = 0.5
    room = capacity(db.memory.Discounted(gamma=gamma), 0)
    assert gamma ** (room - 1) <= 1e-12 < gamma ** (room - 3)
    base = db.zoo.glb_weight_ucb(gamma=gamma, lam=2.0, S=1.0, L=1.0, delta=0.05)
    agent = db.Agent(base._replace(model=base.model._replace(projection=db.model.Unprojected())), dim=2, seed=0)
    rng = np.random.default_rng(0)
    X, r = rng.uniform(-0.7, 0.7, (3 * room, 2)), rng.integers(0, 2, 3 * room).astype(float)
    for x, reward in zip(X, r, strict=True):
        agent.update(reward, x=x)
    w = gamma ** np.arange(len(X) - 1.0, -1.0, -1.0)
    exact = qmle(Likelihood(X, r, w, "logistic", base.model.lam, base.model.c_mu))
    np.testing.assert_allclose(agent.theta, exact, atol=1e-9)


def test_only_what_means_nothing_fades_to_zero():
    x = np.array([1e-100, 1e-190, 1e-250])
    scale_vector(x, 0.5)
    np.testing.assert_array_equal(x, [5e-101, 5e-191, 0.0])


def test_scores_belong_to_the_caller():
    agent = db.Agent(db.zoo.oful(**LINEAR), dim=2, seed=0)
    first = agent.scores(np.eye(2))
    kept = first.copy()
    agent.update(1.0, x=[1.0, 0.0])
    agent.scores(np.eye(2))
    np.testing.assert_array_equal(first, kept)
