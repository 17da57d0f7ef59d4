"""Several memories of a table, against the oracle: who leads, and what is planned."""

import numpy as np
import pytest
from naive.table_memories import adaptive_table_plans

import driftbandits as db
from driftbandits.mdp.protocol import forecast
from driftbandits.mdp.value_targeted import DOUBT

S, A, H, K = 4, 2, 3, 24


def history_and_plans(agent, seed):
    """Random play where moves are almost certain; half-way the states change their places."""
    rng = np.random.default_rng(seed)
    P, pay = rng.dirichlet(np.full(S, 0.1), (S, A)), rng.random((S, A))
    states, actions, rewards = np.zeros((K, H + 1), int), np.zeros((K, H), int), np.zeros((K, H))
    plans = [(agent.begin_episode(), agent.info())]
    for k in range(K):
        if k == K // 2:
            P, pay = P[::-1].copy(), pay[::-1].copy()
        for h in range(H):
            s, a = states[k, h], rng.integers(A)
            states[k, h + 1], actions[k, h], rewards[k, h] = rng.choice(S, p=P[s, a]), a, pay[s, a]
            agent.observe(h, s, a, rewards[k, h], states[k, h + 1])
        plans.append((agent.begin_episode(), agent.info()))
    return (states, actions, rewards), plans


def test_leaders_and_plans_equal_the_oracle():
    agent = db.EpisodicAgent(db.zoo.weight_ucrl(), db.mdp.tabular(S, A), horizon=H)
    history, plans = history_and_plans(agent, seed=1)
    gammas = plans[0][1]["gamma"]
    lengths = [None if gamma == 1.0 else pytest.approx(1.0 / (1.0 - gamma)) for gamma in gammas]
    leaders = set()
    for (Q, told), (expected, payer, mover) in zip(plans, adaptive_table_plans(S, A, H, history, gammas), strict=True):
        assert told["memory_of_rewards"] == lengths[payer]
        assert told["memory_of_transitions"] == lengths[mover]
        np.testing.assert_allclose(Q, expected, atol=1e-7)  # √ of differences of squares
        leaders |= {(payer, mover)}
    assert len({payer for payer, _ in leaders}) > 1  # the history is one in which leaders change
    assert len({mover for _, mover in leaders}) > 1


@pytest.mark.interpreted
def test_what_was_explored_long_ago_is_not_explored_again():
    """A pair tried 30 times long ago, next to one whose successor alternates every 20 episodes, so that a short memory leads."""
    agent = db.EpisodicAgent(db.zoo.weight_ucrl(), db.mdp.tabular(3, 2), horizon=1, seed=0)
    for k in range(300):
        agent.begin_episode()
        agent.observe(0, 0, 0 if k < 30 else 1, 0.5, 0 if k < 30 else 1 + k // 20 % 2)
    agent.begin_episode()
    assert agent.info()["memory_of_transitions"] < 50
    told = agent._state.blend.N.reshape(3, 2, 3)[0, 0]
    assert told[0] == pytest.approx(30.0)  # visits, all of them where they went
    assert told.sum() == pytest.approx(30.0)


@pytest.mark.interpreted
def test_forecasts_add_counts_to_one_visit_of_the_next_longer_memory():
    """p_i(s') = (N_i(s') + p_{i+1}(s')) / (n_i + 1) from the longest memory down, below which all successors are equally likely."""
    agent = db.EpisodicAgent(db.zoo.weight_ucrl(), db.mdp.tabular(S, A), horizon=H)
    history_and_plans(agent, seed=3)
    state = agent._state.transition
    memories, U = state.used.shape[0], state.successor.shape[2]
    for h, pair in ((0, 0), (1, 3), (2, 7)):
        N = state.sums.N[:, h % state.radius.shape[1], pair * U : (pair + 1) * U]
        known = state.successor[-1, pair, : state.used[-1, pair]].tolist()
        for successor in range(S):
            p, expected = 1.0 / U, np.zeros(memories)
            for i in reversed(range(memories)):
                seen = N[i, known.index(successor)] if successor in known else 0.0
                p = (seen + p) / (N[i, : len(known)].sum() + 1.0)
                expected[i] = np.log(max(p, DOUBT))
            out = np.zeros(memories)
            forecast(agent.strategy.base.transition, state, h, pair, successor, out)
            np.testing.assert_allclose(out, expected, rtol=1e-12)
