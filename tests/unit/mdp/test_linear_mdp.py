"""OPT-WLSVI against weighted least squares from all episodes; its special cases LSVI-UCB and D-LinUCB."""

import naive.neighbours as naive
import numpy as np
import pytest

import driftbandits as db
from driftbandits.mdp.protocol import Task, experience, miss, open_book, plan, report


def task(S, A, H):
    return Task(states=S, actions=A, phi=None, moves=None, multinomial=False, successors=S, horizon=H, episodes=0)


def lived(strategy, S, A, H, episodes, seed):
    """Its state after random episodes, and the episodes."""
    rng, state, told = np.random.default_rng(seed), open_book(strategy, task(S, A, H)), []
    for _ in range(episodes):
        plan(strategy, state, rng)
        s, episode = 0, []
        for h in range(H):
            a, after, r = int(rng.integers(A)), int(rng.integers(S)), float(rng.random())
            episode.append((s, a, r, after))
            experience(strategy, state, h, s * A + a, r, after)
            s = after
        told.append(episode)
    plan(strategy, state, rng)
    return state, told


@pytest.mark.interpreted
@pytest.mark.parametrize("eta", [0.8, 1.0])
@pytest.mark.parametrize("one_hot", [True, False])
def test_values_are_those_of_the_whole_history(eta, one_hot):
    """η = 1 is LSVI-UCB: Σ̃ = Σ, and the width is ‖φ‖_{Σ⁻¹}."""
    S, A, H = 4, 2, 3
    phi = np.eye(S * A).reshape(S, A, -1) if one_hot else np.random.default_rng(1).normal(size=(S, A, 3))
    strategy = db.zoo.opt_wlsvi(gamma=eta, beta=0.2, lam=0.7, features=None if one_hot else phi)
    state, episodes = lived(strategy, S, A, H, 12, seed=2)
    expected = naive.weighted_lsvi(episodes, phi, eta=eta, lam=0.7, beta=0.2, H=H)
    np.testing.assert_allclose(state.book.Q.reshape(H, S, A), expected, rtol=1e-9, atol=1e-12)
    assert np.mean((expected > 0) & (expected < H)) > 0.05  # not all clipped
    greedy = np.take_along_axis(expected, state.book.policy[:, :, None], axis=2)[:, :, 0]
    np.testing.assert_allclose(greedy, expected.max(axis=2), rtol=1e-9)


@pytest.mark.interpreted
def test_one_stage_is_d_lin_ucb():
    """H = 1, one state: actions are arms, and Q is D-LinUCB's index with a constant β, clipped to [0, 1]."""
    arms = 0.4 * db.env.unit_arms(5, dim=2, seed=0)
    strategy = db.zoo.opt_wlsvi(gamma=0.9, beta=0.3, lam=1.5, features=arms[None])
    state, episodes = lived(strategy, 1, 5, 1, 20, seed=3)
    agent = db.Agent(db.zoo.d_lin_ucb(gamma=0.9, lam=1.5, S=1.0, L=1.0, R=1.0, delta=0.5), dim=2, compile="never")
    for ((_, a, r, _),) in episodes:
        agent.update(r, x=arms[a])
    mean = arms @ agent.theta
    width = (agent.scores(arms) - mean) / agent.info()["radius"]
    np.testing.assert_allclose(state.book.Q[0], np.clip(mean + 0.3 * width, 0.0, 1.0), rtol=1e-9)


@pytest.mark.interpreted
def test_a_stage_that_was_not_reached_ages_too():
    strategy = db.zoo.opt_wlsvi(gamma=0.5, beta=0.1)
    state, rng = open_book(strategy, task(2, 1, 2)), np.random.default_rng(0)
    for h in range(2):
        experience(strategy, state, h, 0, 1.0, 1)
    experience(strategy, state, 0, 0, 1.0, 1)
    miss(strategy, state, 1)
    plan(strategy, state, rng)
    assert state.sums.A[0, 0, 0] == 1.5
    assert state.sums.A[1, 0, 0] == 0.5
    assert state.sums.A2[1, 0, 0] == 0.25


@pytest.mark.interpreted
def test_it_learns():
    """RiverSwim that stands still, 60 episodes of 5 stages: less than half of what a uniformly random policy loses."""
    world = db.mdp.riverswim(episodes=60, horizon=5, drift="static")
    run = db.simulate_mdp(db.zoo.opt_wlsvi(gamma=1.0, beta=0.2, lam=0.1), world, seed=0)
    assert run.regret[-1] < 0.5 * db.mdp.uniform_regret(world)[:60].sum()


def test_what_is_refused():
    with pytest.raises(db.errors.InvalidShape, match=r"must be \(6, 2, d\)"):
        db.simulate_mdp(
            db.zoo.opt_wlsvi(gamma=0.9, beta=1.0, features=np.zeros((2, 2, 3))), db.mdp.riverswim(episodes=3)
        )
    with pytest.raises(db.errors.InvalidValue, match="gamma"):
        db.zoo.opt_wlsvi(gamma=1.5, beta=1.0)


@pytest.mark.interpreted
def test_before_the_first_plan_no_bonus_has_a_share():
    strategy = db.zoo.opt_wlsvi(gamma=0.9, beta=0.2)
    state = open_book(strategy, task(2, 2, 2))
    assert report(strategy, state)["bonus_share"] == 0.0
    plan(strategy, state, np.random.default_rng(0))
    assert report(strategy, state)["bonus_share"] == 1.0  # nothing was observed: optimism is all there is
