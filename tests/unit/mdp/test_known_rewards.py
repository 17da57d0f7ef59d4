"""Known rewards: planned with from the first episode, in the user's units, saved with the agent."""

import numpy as np
import pytest

import driftbandits as db
from driftbandits.errors import DriftBanditsError

REWARDS = np.array([[0.0, 10.0], [-5.0, 0.0], [2.5, 2.5]])


def made(strategy, **given):
    features = db.mdp.tabular(3, 2, known_rewards=REWARDS)
    return db.EpisodicAgent(strategy, features, horizon=1, reward_range=(-5.0, 15.0), seed=0, **given)


@pytest.mark.interpreted
@pytest.mark.parametrize(
    "strategy", [db.zoo.weight_ucrl(), db.zoo.weight_ucrl(half_life=3.0), db.zoo.sw_ucrl(window=4)]
)
def test_with_one_stage_left_the_value_is_the_reward(strategy, tmp_path):
    agent = made(strategy)
    for _ in range(3):
        np.testing.assert_allclose(agent.begin_episode()[0], (REWARDS + 5.0) / 20.0, atol=1e-15)
        agent.observe(0, 0, 0, 14.0, 1)  # what is paid changes nothing
    agent.save(tmp_path / "agent")
    np.testing.assert_array_equal(db.EpisodicAgent.load(tmp_path / "agent").begin_episode(), agent.begin_episode())


@pytest.mark.interpreted
def test_transitions_are_still_learned():
    features = db.mdp.tabular(3, 2, known_rewards=REWARDS)
    agent = db.EpisodicAgent(db.zoo.weight_ucrl(half_life=50.0), features, horizon=2, reward_range=(-5, 15), seed=0)
    for _ in range(60):
        agent.begin_episode()
        a = agent.act(0, 2)
        s = 0 if a == 1 else 1  # action 1 leads to the state that pays 10
        agent.observe(0, 2, a, 2.5, s)
        agent.observe(1, s, agent.act(1, s), REWARDS[s].max(), 2)
    agent.begin_episode()
    assert agent.act(0, 2) == 1
    assert agent.act(1, 0) == 1


def test_they_are_refused_where_they_cannot_be_right():
    with pytest.raises(DriftBanditsError, match=r"span \[-5, 10\].*reward_range"):
        db.EpisodicAgent(db.zoo.weight_ucrl(), db.mdp.tabular(3, 2, known_rewards=REWARDS), horizon=1, compile="never")
    with pytest.raises(DriftBanditsError, match=r"known_rewards has \(3, 2\) rows; it must have \(2, 3\)"):
        db.mdp.tabular(2, 3, known_rewards=REWARDS)
    with pytest.raises(DriftBanditsError, match="not both"):
        db.mdp.mixture_of([np.full((2, 1, 2), 0.5)], rewards=[np.zeros((2, 1))], known_rewards=np.zeros((2, 1)))
    with pytest.raises(DriftBanditsError, match="NaN"):
        db.mdp.tabular(3, 2, known_rewards=np.where(REWARDS == 10.0, np.nan, REWARDS))
