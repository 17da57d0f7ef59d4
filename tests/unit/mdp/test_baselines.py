"""Q-learning, UCBVI and PSRL: their updates by hand, exact plans, ends of episodes, and what they reach."""

import gymnasium
import numpy as np
import pytest

import driftbandits as db

SIZES = {"states": 3, "actions": 2, "horizon": 4}
ALL = {name: getattr(db.mdp.baselines, name) for name in ("QLearning", "UCBVI", "PSRL")}


def test_a_step_of_q_learning():
    learner = db.mdp.baselines.QLearning(step=0.5, epsilon=0.0, **SIZES)
    np.testing.assert_array_equal(learner.Q[:, 0, 0], [4.0, 3.0, 2.0, 1.0])
    learner.observe(1, 0, 1, 0.2, 2)
    assert learner.Q[1, 0, 1] == pytest.approx(0.5 * 3.0 + 0.5 * (0.2 + 2.0))
    learner.observe(3, 0, 1, 0.2, 2)  # nothing comes after the last stage
    assert learner.Q[3, 0, 1] == pytest.approx(0.5 * 1.0 + 0.5 * 0.2)
    learner.begin_episode()
    assert learner.policy[1, 0].tolist() == [1.0, 0.0]
    assert learner.policy[1, 1].tolist() == [0.5, 0.5]


def test_q_learning_with_one_table_keeps_the_scale_of_rewards():
    learner = db.mdp.baselines.QLearning(
        step=0.5, epsilon=0.2, discount=0.9, share_stages=True, start=0.0, reward_range=(-10, 20), **SIZES
    )
    learner.observe(0, 0, 1, -10.0, 2)
    assert learner.Q[0, 0, 1] == pytest.approx(-5.0)
    learner.Q[0, 1] = [3.0, 7.0]
    learner.observe(3, 0, 1, 20.0, 1)
    assert learner.Q[0, 0, 1] == pytest.approx(-2.5 + 0.5 * (20.0 + 0.9 * 7.0))
    learner.observe(2, 0, 0, 20.0, 1, terminated=True)
    assert learner.Q[0, 0, 0] == pytest.approx(10.0)
    learner.begin_episode()
    np.testing.assert_allclose(learner.policy[2, 1], [0.1, 0.9])


def test_a_plan_of_ucbvi():
    """Backward induction with the empirical world and c(H−h)/√n, clipped at the stages left; then the counts fade."""
    rng = np.random.default_rng(0)
    learner = db.mdp.baselines.UCBVI(scale=0.1, fade=0.9, **SIZES)
    N, R = np.zeros((3, 2, 3)), np.zeros((3, 2))
    for _ in range(40):
        s, a, to, r = rng.integers(3), rng.integers(2), rng.integers(3), rng.random()
        learner.observe(0, s, a, r, to)
        N[s, a, to] += 1
        R[s, a] += r
    learner.begin_episode()
    n, V = N.sum(axis=2), np.zeros(3)
    for h in (3, 2, 1, 0):
        Q = np.array([[min(R[s, a] / n[s, a] + N[s, a] @ V / n[s, a] + (4 - h) * 0.1 / np.sqrt(n[s, a]), 4 - h)
                       for a in range(2)] for s in range(3)])  # fmt: skip
        np.testing.assert_array_equal(learner.policy[h].argmax(axis=1), Q.argmax(axis=1))
        V = Q.max(axis=1)
    np.testing.assert_allclose(learner.N, 0.9 * N)


def test_posterior_draws_of_psrl():
    """4000 draws: Dirichlet means and variances of a pair that was visited 8 times, within four standard errors."""
    learner = db.mdp.baselines.PSRL(prior=1.5, seed=1, **SIZES)
    for to in (0, 0, 0, 0, 0, 1, 1, 2):
        learner.observe(0, 1, 0, 0.5, to)
    drawn = [learner.model() for _ in range(4000)]
    P, pay = np.array([P[1, 0] for P, _, _ in drawn]), np.array([r[1, 0] for _, r, _ in drawn])
    alpha = np.array([5.5, 2.5, 1.5])
    mean = alpha / alpha.sum()
    deviation = np.sqrt(mean * (1 - mean) / (alpha.sum() + 1))
    np.testing.assert_allclose(P.mean(axis=0), mean, atol=4 * deviation.max() / 4000**0.5)
    np.testing.assert_allclose(P.std(axis=0), deviation, rtol=0.1)
    assert abs(pay.mean() - (4.0 + 1.5) / 9.5) < 4 * 0.1 / 3 / 4000**0.5
    assert pay.std() == pytest.approx(0.1 / 3, rel=0.1)


@pytest.mark.parametrize("name", ALL)
def test_all_are_learners_of_simulations(name):
    """UCBVI and PSRL have less than half of the regret of random play, mean of two seeds; Q-learning, which is slower, less than it."""
    world = db.mdp.riverswim(episodes=250, horizon=8, drift="static")
    regret = [
        db.simulate_mdp(ALL[name](states=6, actions=2, horizon=8, seed=seed), world, seed=seed).regret[-1]
        for seed in (0, 1)
    ]
    assert np.mean(regret) < (0.95 if name == "QLearning" else 0.5) * db.mdp.uniform_regret(world)[-1]


@pytest.mark.parametrize("name", ALL)
def test_all_cross_the_lake(name):
    """Ends pay nothing, and the goal is found: more than half of the last 50 of 150 episodes reach it, of random play 1 in 70."""
    env = gymnasium.make("FrozenLake-v1", is_slippery=False)
    tuned = (
        {"step": 1.0, "epsilon": 0.0, "discount": 0.95, "share_stages": True, "start": 1.0}
        if name == "QLearning"
        else {}
    )
    learner = ALL[name](states=17, actions=4, horizon=15, seed=0, **tuned)
    played = db.run(learner, env, episodes=150, seed=0)
    assert learner.ended.nonzero()[0].tolist() == [16]
    assert played.returns[-50:].mean() > 0.5


def test_what_cannot_be_is_refused():
    for name, options, message in (
        ("QLearning", {"step": 0.0}, "step = 0.0"),
        ("QLearning", {"epsilon": 2.0}, "epsilon = 2.0"),
        ("UCBVI", {"fade": 1.5}, "fade = 1.5"),
        ("PSRL", {"prior": 0.0}, "prior = 0.0"),
        ("PSRL", {"reward_range": (1, 1)}, "reward_range"),
    ):
        with pytest.raises(db.DriftBanditsError, match=message):
            ALL[name](**SIZES, **options)
    learner = db.mdp.baselines.UCBVI(**SIZES)
    with pytest.raises(db.DriftBanditsError, match=r"reward = 2\.0 is not in reward_range"):
        learner.observe(0, 0, 0, 2.0, 1)
    assert learner.N.sum() == 0
