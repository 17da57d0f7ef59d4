"""Tables against the oracle: every pair by itself, from weighted counts."""

import numpy as np
import pytest
from naive.tables import table_plan

import driftbandits as db

S, A, H, K = 4, 2, 3, 12
MEMORIES = {
    ("discounted", 0.8): lambda **o: db.zoo.weight_ucrl(gamma=0.8, **o),
    ("window", 4): lambda **o: db.zoo.sw_ucrl(window=4, **o),
    ("everything",): lambda **o: db.zoo.ucrl_vtr(**o),
    ("restart", 5): lambda **o: db.zoo.restart_ucrl(period=5, **o),
}
FIRST = ("discounted", 0.8)
ALL = [m if m == FIRST else pytest.param(m, marks=pytest.mark.interpreted) for m in MEMORIES]  # compile one of them


def play(agent, seed):
    """Random play in a random world; returns the history and the plan after it."""
    rng = np.random.default_rng(seed)
    P, pay = rng.dirichlet(np.ones(S), (S, A)), rng.random((S, A))
    states, actions, rewards = np.zeros((K, H + 1), int), np.zeros((K, H), int), np.zeros((K, H))
    for k in range(K):
        agent.begin_episode()
        for h in range(H):
            s, a = states[k, h], rng.integers(A)
            states[k, h + 1], actions[k, h] = rng.choice(S, p=P[s, a]), a
            rewards[k, h] = float(rng.random() < pay[s, a])
            agent.observe(h, s, a, rewards[k, h], states[k, h + 1])
    return (states, actions, rewards), agent.begin_episode()


@pytest.mark.parametrize("share_stages", [True, False], ids=["pooled", "by stage"])
@pytest.mark.parametrize("memory", ALL, ids=lambda m: m[0])
def test_plans_equal_the_oracle(memory, share_stages):
    strategy = MEMORIES[memory](
        imagined_visits=0.4, reward_bonus_scale=0.7, transition_bonus_scale=0.7, share_stages=share_stages
    )
    agent = db.EpisodicAgent(strategy, db.mdp.tabular(S, A), horizon=H)
    history, Q = play(agent, seed=1)
    expected, V = table_plan(S, A, H, *history, memory=memory, imagined=0.4, scale=0.7, share_stages=share_stages)
    np.testing.assert_allclose(Q, expected, atol=1e-12)
    np.testing.assert_allclose(agent.values, V, atol=1e-12)
    assert (np.array([3, 2, 1])[:, None, None] - 1e-6 > Q).any()  # not all of it is clipped


def test_ends_are_worth_nothing():
    agent = db.EpisodicAgent(db.zoo.weight_ucrl(gamma=0.8), db.mdp.tabular(S, A), horizon=H)
    agent.begin_episode()
    agent.observe(0, 0, 1, 0.5, 2, terminated=True)
    Q = agent.begin_episode()
    # The two stages that were not reached passed without observation: their pairs are unknown, and the clock is the episode's.
    states, actions, rewards = np.full((1, H + 1), -1), np.full((1, H), -1), np.zeros((1, H))
    states[0, :2], actions[0, 0], rewards[0, 0] = [0, 2], 1, 0.5
    options = {"memory": ("discounted", 0.8), "imagined": 0.1, "scale": 0.1, "ended": (2,)}
    np.testing.assert_allclose(Q, table_plan(S, A, H, states, actions, rewards, **options)[0], atol=1e-12)


def test_room_for_successors():
    agent = db.EpisodicAgent(db.zoo.weight_ucrl(gamma=0.8), db.mdp.tabular(S, A, successors=2), horizon=H)
    for successor in (1, 2, 1):
        agent.begin_episode()
        agent.observe(0, 0, 0, 0.0, successor)
    agent.begin_episode()
    before = agent.info()
    with pytest.raises(db.DriftBanditsError, match="successors=4"):
        agent.observe(0, 0, 0, 0.0, 3)
    assert agent.info()["observations"] == before["observations"]
    assert before["successors"] == 2
