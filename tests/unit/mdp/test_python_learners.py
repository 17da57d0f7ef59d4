"""A learner in plain Python in a world of the library: the same chance and the same exact regret as a strategy."""

import numpy as np
import pytest

import driftbandits as db

WORLD = db.mdp.riverswim(episodes=12, horizon=4, drift="abrupt", noise=0.01)
STRATEGY = db.zoo.weight_ucrl(gamma=0.9, reward_noise=0.01)
pytestmark = pytest.mark.interpreted  # what is compiled here is compiled in other tests


class Fixed:
    """Plays the same policy for ever, and remembers what it saw."""

    def __init__(self, policy):
        self.policy, self.seen, self.begun = policy, [], 0

    def begin_episode(self):
        self.begun += 1

    def observe(self, *what):
        self.seen.append(what)


def test_an_agent_and_its_strategy_are_the_same_learner():
    run = db.simulate_mdp(STRATEGY, WORLD, seed=3, record=True)
    ties = np.random.SeedSequence(3).spawn(3)[1]
    features = db.mdp.features_of(WORLD.phi, WORLD.psi)
    agent = db.EpisodicAgent(STRATEGY, features, horizon=4, seed=ties, compile="never")
    own = db.simulate_mdp(agent, WORLD, seed=3, record=True)
    np.testing.assert_allclose(own.regret, run.regret, atol=1e-12)
    for name in ("states", "actions"):
        np.testing.assert_array_equal(getattr(own, name), getattr(run, name))
    np.testing.assert_allclose(own.rewards, run.rewards, atol=1e-12)
    assert own.info["observations"] == run.info["observations"]


def test_what_a_learner_sees_and_loses():
    policy = np.ones((4, 6), int)
    learner = Fixed(policy)
    run = db.simulate_mdp(learner, WORLD, seed=1, record=True)
    lost = [
        WORLD.optimal[k] - db.mdp.policy_evaluation(WORLD.kernel(k), WORLD.rewards(k), policy)[0, WORLD.start[k]]
        for k in range(12)
    ]
    np.testing.assert_allclose(run.regret, np.cumsum(lost))
    assert learner.begun == 12
    assert [what[0] for what in learner.seen] == [0, 1, 2, 3] * 12
    for n, (h, s, a, reward, s_next) in enumerate(learner.seen):
        k = n // 4
        assert (s, a, s_next) == (run.states[k, h], 1, run.states[k, h + 1])
        assert reward == run.rewards[k, h]
        assert WORLD.kernel(k)[h, s, a, s_next] > 0.0
    assert db.simulate_mdp(Fixed(policy), WORLD, episodes=5, seed=1).regret == pytest.approx(run.regret[:5])


def test_chance_in_the_policy_is_the_regret_of_random_play():
    run = db.simulate_mdp(Fixed(np.full((4, 6, 2), 0.5)), WORLD, seed=1, record=True)
    np.testing.assert_allclose(run.regret, db.mdp.uniform_regret(WORLD))
    assert 0.2 < run.actions.mean() < 0.8


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        (np.ones((4, 5), int), "policy has shape"),
        (np.full((4, 6), 2), "actions 0..1"),
        (np.ones((4, 6, 2)), "probabilities"),
        ([["left"] * 6] * 4, "policy holds strings"),
    ],
)
def test_a_policy_that_is_none_is_refused(policy, message):
    with pytest.raises(db.DriftBanditsError, match=message):
        db.simulate_mdp(Fixed(policy), WORLD)


def test_features_are_not_for_learners_of_ones_own():
    with pytest.raises(db.DriftBanditsError, match="a learner of your own knows"):
        db.simulate_mdp(Fixed(np.ones((4, 6), int)), WORLD, features=db.mdp.tabular(6, 2))
    with pytest.raises(db.DriftBanditsError, match="no learner of episodic MDPs; call it"):
        db.simulate_mdp(Fixed, WORLD)


def test_trials_make_a_fresh_learner_each():
    policy, made = np.ones((4, 6), int), []

    def fresh(trial):
        made.append(Fixed(policy))
        return made[-1]

    runs = db.mdp.trials_mdp(fresh, lambda _: WORLD, trials=3, jobs=1, record=True)
    assert [learner.begun for learner in made] == [12] * 3
    assert not np.array_equal(runs[0].states, runs[1].states)  # each trial has chance of its own
    with pytest.raises(db.DriftBanditsError, match="every trial needs a fresh one"):
        db.mdp.trials_mdp(Fixed(policy), lambda _: WORLD, trials=2)
