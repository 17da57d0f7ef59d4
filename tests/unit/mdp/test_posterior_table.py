"""Tables whose imagined visits are measured, against the oracle."""

import numpy as np
import pytest
from naive.table_memories import measured_noise, measured_table_plan, novelty

import driftbandits as db

S, A, H, K = 4, 2, 3, 12


def play(agent, seed):
    """Random play in a world of few successors and noisy rewards; returns the history and the plan after it."""
    rng = np.random.default_rng(seed)
    P, pay = rng.dirichlet(np.full(S, 0.4), (S, A)), rng.random((S, A))
    states, actions, rewards = np.zeros((K, H + 1), int), np.zeros((K, H), int), np.zeros((K, H))
    for k in range(K):
        agent.begin_episode()
        for h in range(H):
            s, a = states[k, h], rng.integers(A)
            states[k, h + 1], actions[k, h] = rng.choice(S, p=P[s, a]), a
            rewards[k, h] = np.clip(pay[s, a] + 0.1 * rng.standard_normal(), 0, 1)
            agent.observe(h, s, a, rewards[k, h], states[k, h + 1])
    return (states, actions, rewards), agent.begin_episode()


@pytest.mark.interpreted
@pytest.mark.parametrize("gamma", [0.8, 1.0])
def test_plans_equal_the_oracle(gamma):
    agent = db.EpisodicAgent(db.zoo.weight_ucrl(gamma=gamma, bonus="measured"), db.mdp.tabular(S, A), horizon=H)
    history, Q = play(agent, seed=1)
    np.testing.assert_allclose(
        Q, measured_table_plan(S, A, H, history, gamma), atol=1e-8
    )  # √ of differences of squares
    told = agent.info()
    assert told["imagined_visits"] == pytest.approx(novelty(history), rel=1e-12)
    assert told["measured_noise"] == pytest.approx(measured_noise(history, gamma) ** 0.5, rel=1e-9)
    assert (np.array([3, 2, 1])[:, None, None] - 1e-6 > Q).all()  # nothing is clipped


@pytest.mark.interpreted
def test_certain_moves_are_soon_believed_and_draws_are_not():
    """After 20 visits to each of 4 pairs: Σ 1/n = 4(1 + 1/2 + … + 1/19) visits could have shown something new, none or four did."""
    chances = 4 * (1.0 / np.arange(1, 20)).sum()
    for certain, new in ((True, 0), (False, 4)):
        agent = db.EpisodicAgent(
            db.zoo.weight_ucrl(gamma=1.0, bonus="measured"), db.mdp.tabular(4, 1), horizon=4, seed=0
        )
        for k in range(20):
            agent.begin_episode()
            for h in range(4):
                agent.observe(h, h, 0, 0.0, min(h + 1, 3) if certain else (h + k) % 2)
        agent.begin_episode()
        assert agent.info()["imagined_visits"] == pytest.approx((1 + new) / (1 + chances))


@pytest.mark.interpreted
def test_a_first_visit_says_nothing_about_noise():
    agent = db.EpisodicAgent(db.zoo.weight_ucrl(gamma=1.0, bonus="measured"), db.mdp.tabular(3, 1), horizon=3)
    agent.begin_episode()
    for h in range(3):
        agent.observe(h, h, 0, 1.0, min(h + 1, 2))
    agent.begin_episode()
    assert agent.info()["measured_noise"] == pytest.approx(0.05**0.5)


@pytest.mark.interpreted
def test_what_is_given_is_not_measured():
    def parts(**given):
        strategy = db.EpisodicAgent(db.zoo.weight_ucrl(**given), db.mdp.tabular(3, 2), horizon=2).strategy
        planner = getattr(strategy, "base", strategy)
        return planner.reward, planner.transition

    assert [type(part).__name__ for part in parts()] == ["MeasuredRewardTable", "MeasuredTransitionTable"]
    for given in (
        {"imagined_visits": 0.2},
        {"bonus": "fixed", "imagined_visits": 0.2},
        {"gamma": 0.9, "imagined_visits": 0.2},
    ):
        assert [part.imagined for part in parts(**given)] == [0.2, 0.2]
    assert [part.imagined for part in parts(bonus="fixed")] == [0.1, 0.1]
    assert [part.scale for part in parts()] == [0.1, 1.0]
    assert [part.scale for part in parts(reward_bonus_scale=0.5, transition_bonus_scale=0.7)] == [0.5, 0.7]
    with pytest.raises(db.DriftBanditsError, match="transition_bonus_scale"):
        parts(transition_bonus_scale=-1.0)


@pytest.mark.interpreted
def test_states_that_nobody_reaches_are_not_looked_for():
    """A corridor of certain moves in a table with room for ten times as many states: it is walked to its end, which pays, from then on."""
    agent = db.EpisodicAgent(db.zoo.weight_ucrl(), db.mdp.tabular(50, 2), horizon=8, seed=0)
    returns = []
    for _ in range(60):
        agent.begin_episode()
        s, total = 0, 0.0
        for h in range(8):
            a = agent.act(h, s)
            to = min(s + 1, 4) if a == 1 else max(s - 1, 0)
            r = 1.0 if s == 4 and a == 1 else 0.1 if s == 0 and a == 0 else 0.0
            agent.observe(h, s, a, r, to)
            total, s = total + r, to
        returns.append(total)
    assert returns[-30:] == [4.0] * 30


@pytest.mark.interpreted
def test_an_end_that_is_worth_the_same_now_and_later_is_walked_to_now():
    """A corridor of certain moves whose end, four steps away, pays once."""
    strategy = db.zoo.weight_ucrl(gamma=1.0, bonus="measured")
    agent = db.EpisodicAgent(strategy, db.mdp.tabular(5, 2), horizon=12, replan=True, seed=0)
    lengths = []
    for _ in range(60):
        agent.begin_episode()
        s = 0
        for h in range(12):
            a = agent.act(h, s)
            to = s + 1 if a == 1 else max(s - 1, 0)
            agent.observe(h, s, a, float(to == 4), to, terminated=to == 4)
            s = to
            if to == 4:
                break
        lengths.append(h + 1)
    assert lengths[-40:] == [4] * 40


@pytest.mark.interpreted
def test_a_new_successor_is_hoped_for_near_by():
    """Two states that are seen and pay nothing, 20 that are not and might pay 8: what 60 visits to each pair have shown is believed."""
    agent = db.EpisodicAgent(db.zoo.weight_ucrl(gamma=1.0, bonus="measured"), db.mdp.tabular(22, 2), horizon=8, seed=0)
    rng, states = np.random.default_rng(0), [0] * 9
    for _ in range(30):
        agent.begin_episode()
        for h in range(8):
            states[h + 1] = int(rng.integers(2))
            agent.observe(h, states[h], int(rng.integers(2)), 0.0, states[h + 1])
    hoped = agent.begin_episode()[0, :2].max()
    assert hoped < 0.08  # 0.14 if a new successor were the best state there is


def test_the_far_end_of_a_river_is_found():
    """A state that nobody has entered keeps the value of the best one; else half of the runs stay on the near shore, at 1 an episode."""
    world, table = db.mdp.riverswim(episodes=60, horizon=10, drift="static"), db.mdp.tabular(6, 2)
    runs = [db.simulate_mdp(db.zoo.weight_ucrl(), world, seed=seed, features=table) for seed in range(8)]
    assert sum(run.regret[-1] > 30.0 for run in runs) <= 2
