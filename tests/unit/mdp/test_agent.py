"""The online front for episodes: same plans as the simulation, readable errors, early ends; and BOB over episodes."""

import naive
import numpy as np
import pytest

import driftbandits as db

WORLD = db.mdp.riverswim(episodes=12, horizon=4)
COMMON = {"lam_theta": 1.0, "lam_w": 8.0, "delta": 0.01, "transition_bonus_scale": 0.1, **WORLD.bounds}
FEATURES = {"phi": WORLD.phi, "psi": WORLD.psi, "horizon": 4}
STRATEGY = db.zoo.weight_ucrl(gamma=0.8, **COMMON)


def test_agent_plans_like_the_simulation():
    run = db.simulate_mdp(STRATEGY, WORLD, seed=0, record=True)
    agent = db.EpisodicAgent(STRATEGY, seed=9, **FEATURES)
    for k in range(12):
        Q = agent.begin_episode()
        assert Q.shape == (4, 6, 2)
        np.testing.assert_allclose(Q, run.Q[k], atol=1e-12)
        np.testing.assert_allclose(agent.values[:-1], Q.max(axis=2))
        for h in range(4):
            s, a = run.states[k, h], run.actions[k, h]
            assert Q[h, s, agent.act(h, s)] == pytest.approx(Q[h, s].max(), abs=1e-9)
            agent.observe(h, s, a, run.rewards[k, h], run.states[k, h + 1])
    info = agent.info()
    assert info["observations"] == 48
    assert info["effective_memory"] == pytest.approx((1 - 0.8**12) / 0.2)


def test_ties_are_broken_by_the_seed_once_for_each_state():
    policies = []
    for seed in range(30):
        agent = db.EpisodicAgent(STRATEGY, seed=seed, **FEATURES)
        agent.begin_episode()
        policies.append(agent.policy)
        assert agent.act(1, 2) == agent.policy[1, 2]
        assert agent.act(1, 2) == agent.act(1, 2)
    share = np.mean([policy[3, 2] for policy in policies])  # stage 3, state 2: no reward, no future: a tie
    assert 0.1 < share < 0.9
    repeat = db.EpisodicAgent(STRATEGY, seed=7, **FEATURES)
    repeat.begin_episode()
    assert np.array_equal(repeat.policy, policies[7])


def test_an_episode_that_ends_early_lets_time_pass():
    """Stages that were not reached fade as if an observation without features had come."""
    agent = db.EpisodicAgent(STRATEGY, **FEATURES)
    agent.begin_episode()
    for h in range(4):
        agent.observe(h, 0, 0, 0.05, 0)
    agent.begin_episode()
    agent.observe(0, 0, 0, 0.05, 0)
    agent.begin_episode()
    sums = agent._state.reward.sums
    np.testing.assert_allclose(sums.n[:, 0], 1.8)
    np.testing.assert_allclose(sums.A[:, 0, 0], [1.8, 0.8, 0.8, 0.8])


@pytest.mark.parametrize("teach", [True, False])
def test_an_end_is_worth_nothing(teach):
    """Staying pays ½ per stage, going ends the episode. Unless told so, the learner believes in the end for ever."""
    phi, psi = np.eye(4).reshape(2, 2, 4), np.eye(8).reshape(2, 2, 2, 8)
    scales = {"reward_bonus_scale": 0.3, "transition_bonus_scale": 0.1}
    bounds = {"S_theta": 1, "S_w": 1, "L_phi": 1, "L_psi": 1}
    strategy = db.zoo.weight_ucrl(gamma=0.99, lam_theta=1, lam_w=1, delta=0.1, **scales, **bounds)
    agent = db.EpisodicAgent(strategy, phi=phi, psi=psi, horizon=6)
    earned = np.zeros(60)
    for k in range(60):
        agent.begin_episode()
        for h in range(6):
            if agent.act(h, 0):
                agent.observe(h, 0, 1, 0.0, 1, terminated=teach, truncated=not teach)
                break
            agent.observe(h, 0, 0, 0.5, 0)
            earned[k] += 0.5
    assert (earned[30:].mean() > 2.8) == teach  # the optimum is 3
    if teach:
        assert list(agent.info()["ended"]) == [1]
        assert (agent.values[:, 1] == 0).all()
        agent.begin_episode()
        with pytest.raises(db.DriftBanditsError, match="ended an episode before"):
            agent.observe(0, 1, 0, 0.0, 0)


def test_after_an_end_a_new_episode_is_due():
    for how in ({"terminated": True}, {"truncated": True}):
        agent = db.EpisodicAgent(STRATEGY, **FEATURES)
        agent.begin_episode()
        agent.observe(0, 0, 0, 0.05, 1, **how)
        with pytest.raises(db.DriftBanditsError, match="begin_episode is due"):
            agent.observe(1, 1, 0, 0.05, 1)
        agent.begin_episode()
        assert (agent.values[:, 1].max() == 0) == ("terminated" in how)


@pytest.mark.interpreted
@pytest.mark.parametrize("strategy", [db.zoo.weight_ucrl(gamma=1.0), db.zoo.opt_wlsvi(gamma=0.9, beta=0.2)], ids=repr)
def test_rewards_of_another_range(strategy):
    """Rewards −1 for each stage until the end: mapped to [0, 1], an episode that ended earns what a reward of 0 is there."""
    agent = db.EpisodicAgent(strategy, db.mdp.tabular(2, 2), horizon=5, reward_range=(-1.0, 1.0))
    agent.begin_episode()
    agent.observe(0, 0, 0, -1.0, 1, terminated=True)
    agent.begin_episode()
    np.testing.assert_allclose(agent.values[:, 1], [2.5, 2.0, 1.5, 1.0, 0.5, 0.0])
    with pytest.raises(db.DriftBanditsError, match="reward_range"):
        agent.observe(0, 0, 0, 1000.0, 0)


@pytest.mark.interpreted
@pytest.mark.parametrize("options", [{}, {"gamma": 0.9}], ids=["adaptive", "discounted"])
def test_announced_noise_may_leave_the_range(options):
    agent = db.EpisodicAgent(db.zoo.weight_ucrl(reward_noise=0.1, **options), **FEATURES)
    agent.begin_episode()
    agent.observe(0, 0, 0, -0.3, 0)
    with pytest.raises(db.DriftBanditsError, match="reward_range"):
        agent.observe(1, 0, 0, -1.0, 0)
    assert agent.info()["observations"] == 1


def test_errors_come_before_any_change():
    agent = db.EpisodicAgent(STRATEGY, **FEATURES)
    with pytest.raises(db.DriftBanditsError, match="call begin_episode first"):
        agent.act(0, 0)
    agent.begin_episode()
    bad = [
        ((1, 0, 0, 0.0, 0), "stage 0 is due"),
        ((0, 6, 0, 0.0, 0), "s = 6"),
        ((0, 0, 2, 0.0, 0), "a = 2"),
        ((0, 0, 0, np.nan, 0), "reward = nan"),
        ((0, 0, 0, 0.0, -1), "s_next = -1"),
        ((4, 0, 0, 0.0, 0), "h = 4"),
        ((0, 0.5, 0, 0.0, 0), "s = 0.5"),
        ((0, 0, 0, "1", 0), "reward = '1' is a text"),
        ((0, 0, 0, -0.1, 0), "reward_range"),
    ]
    for arguments, message in bad:
        with pytest.raises(db.DriftBanditsError, match=message):
            agent.observe(*arguments)
    for flag in ("terminated", "truncated"):
        with pytest.raises(db.DriftBanditsError, match=f"{flag} = 'no' is not allowed; it must be True or False"):
            agent.observe(0, 0, 0, 0.0, 0, **{flag: "no"})
    assert agent.info()["observations"] == 0
    for h in range(4):
        agent.observe(h, 0, 0, 0.0, 0)
    with pytest.raises(db.DriftBanditsError, match="begin_episode is due"):
        agent.observe(0, 0, 0, 0.0, 0)


@pytest.mark.interpreted
def test_what_no_model_allows_is_refused():
    """It would pull every weight of the mixture to 0."""
    models = [np.broadcast_to(np.eye(3)[to], (3, 2, 3)) for to in (0, 1)]
    agent = db.EpisodicAgent(db.zoo.weight_ucrl(), db.mdp.mixture_of(models), horizon=2, compile="never")
    agent.begin_episode()
    with pytest.raises(db.DriftBanditsError, match=r"s_next = 2 is not reachable .* no model gives it a probability"):
        agent.observe(0, 0, 0, 0.5, 2)
    agent.observe(0, 0, 0, 0.5, 1)
    assert agent.info()["observations"] == 1


@pytest.mark.interpreted
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"seed": -1}, "seed = -1"),
        ({"seed": 1.5}, "seed = 1.5"),
        ({"reward_range": (0, 1, 2)}, r"reward_range = \(0, 1, 2\)"),
        ({"reward_range": 5}, "reward_range = 5"),
        ({"reward_range": "01"}, "reward_range = '01'"),
        ({"features": db.mdp.tabular(10**12, 4)}, "more memory than there is"),
    ],
)
def test_what_it_is_made_from_is_checked(options, message):
    made = {"features": db.mdp.tabular(2, 2), "horizon": 3, "compile": "never"} | options
    with pytest.raises(db.DriftBanditsError, match=message):
        db.EpisodicAgent(db.zoo.weight_ucrl(), **made)


def test_one_stage_is_a_bandit():
    """H = 1, one-hot features of one state: the optimistic reward is that of a linear bandit."""
    phi = np.eye(3)[None]
    psi = np.ones((1, 3, 1, 1))
    strategy = db.zoo.weight_ucrl(
        gamma=0.9, lam_theta=2.0, lam_w=1.0, S_theta=0.7, S_w=1.0, L_phi=1.0, L_psi=1.0, delta=0.1, cap="stage"
    )
    agent = db.EpisodicAgent(strategy, phi=phi, psi=psi, horizon=1)
    rewards = [0.3, 0.1, 0.4]
    for a in range(3):
        agent.begin_episode()
        agent.observe(0, 0, a, rewards[a], 0)
    weight = np.array([0.81, 0.9, 1.0])
    V = naive.V(np.eye(3), weight, 2.0)
    mean = naive.theta_hat(np.eye(3), np.array(rewards), weight, 2.0)
    expected = mean + np.sqrt(2.0) * 0.7 * np.sqrt(np.diag(np.linalg.inv(V)))
    np.testing.assert_allclose(agent.begin_episode()[0, 0], np.minimum(expected, 1.0), atol=1e-12)


@pytest.mark.interpreted
def test_bob_over_episodes():
    bob = db.zoo.bob_ucrl(db.zoo.weight_ucrl(gamma=0.9, **COMMON), episodes=60, block=6, candidates=3)
    agent = db.EpisodicAgent(bob, seed=0, **FEATURES)
    chosen = set()
    for k in range(60):
        agent.begin_episode()
        info = agent.info()
        chosen.add(info["chosen"])
        assert info["effective_memory"] <= k % 6  # every block starts with a fresh learner
        for h in range(4):
            agent.observe(h, 0, 0, 0.05 if info["chosen"] else 1.0, 0)  # γ = ½ pays best in this world
    np.testing.assert_allclose(info["gamma"], [0.5, 0.75, 0.875])
    assert info["probability"].sum() == pytest.approx(1.0)
    assert info["probability"].argmax() == 0
    assert len(chosen) > 1
    with pytest.raises(db.DriftBanditsError, match="discounted base"):
        db.zoo.bob_ucrl(db.zoo.ucrl_vtr(**COMMON), episodes=60)


@pytest.mark.interpreted
def test_bob_with_one_candidate_is_the_base_restarted():
    """γ = ½ only, one block: the same plans as the base learner."""
    world = db.mdp.riverswim(episodes=20, horizon=4)
    bob = db.zoo.bob_ucrl(db.zoo.weight_ucrl(gamma=0.9, **COMMON), episodes=20, block=20, candidates=1)
    base = db.zoo.weight_ucrl(gamma=0.5, **COMMON)
    agents = [db.EpisodicAgent(s, **FEATURES) for s in (bob, base)]
    rng = np.random.default_rng(0)
    for _ in range(20):
        Q = [agent.begin_episode() for agent in agents]
        np.testing.assert_allclose(Q[0], Q[1], atol=1e-12)
        s = 2
        for h in range(4):
            a, successor = int(rng.integers(2)), int(rng.choice(6, p=world.kernel(0)[0, s, 1]))
            for agent in agents:
                agent.observe(h, s, a, 0.05, successor)
            s = successor


@pytest.mark.interpreted
def test_nothing_is_read_past_the_end_of_an_array():
    """Whatever made an array of the state too short, or a move too large: it is said before compiled code sees it."""
    agent = db.EpisodicAgent(STRATEGY, seed=0, compile="never", **FEATURES)
    agent.begin_episode()
    whole, book = agent._state, agent._state.book
    for name in ("Q", "V", "policy", "ended"):
        agent._state = whole._replace(book=book._replace(**{name: getattr(book, name)[..., :-1]}))
        for call in (agent.begin_episode, lambda: agent.observe(0, 0, 0, 0.5, 0), agent._coming_policy):
            with pytest.raises(db.errors.InvalidShape, match=f"book.{name} is"):
                call()
    agent._state = whole
    for move in ((1, 4, 0, 0.0, 0), (1, 0, 12, 0.0, 0), (1, 0, 0, 0.0, 6), (1, -1, 0, 0.0, 0)):
        with pytest.raises(db.errors.InvalidShape, match="not all in this problem"):
            agent._check_fit(whole, move)
    agent.observe(0, 0, 0, 0.5, 0)
    assert agent.begin_episode().shape == (4, 6, 2)


@pytest.mark.interpreted
@pytest.mark.parametrize("strategy", [db.zoo.weight_ucrl(gamma=0.9), db.zoo.weight_ucrl()], ids=["one memory", "many"])
def test_a_successor_for_which_there_is_no_room_is_refused_and_changes_nothing(strategy):
    agent = db.EpisodicAgent(strategy, db.mdp.tabular(4, 2, successors=2), horizon=3)
    agent.begin_episode()
    for h, successor in enumerate((1, 2, 1)):
        agent.observe(h, 0, 0, 0.5, successor)
    agent.begin_episode()
    before = agent.pack()
    with pytest.raises(db.DriftBanditsError, match=r"successor no\. 3 of a pair with room for 2"):
        agent.observe(0, 0, 0, 0.5, 3)
    about, arrays = agent.pack()
    assert about == before[0]
    for name, array in arrays.items():
        np.testing.assert_array_equal(array, before[1][name], err_msg=name)
    agent.observe(0, 0, 0, 0.5, 2)
