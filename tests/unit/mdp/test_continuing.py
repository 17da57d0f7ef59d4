"""Tasks without episodes: weights per step, the worlds and their gains, saving, errors, and the baselines beside it."""

import numpy as np
import pytest

import driftbandits as db
from driftbandits.errors import InvalidValue
from driftbandits.mdp.tasks import Task, best_gain

TASKS = {name: getattr(db.mdp.tasks, name) for name in ("queue", "warehouse", "servers")}


def agent_for(task, strategy=None, **options):
    S, A = task.observation_space.n, task.action_space.n
    options = {"lookahead": 20, "seed": 0, "compile": "never"} | options
    return db.mdp.ContinuingAgent(strategy or db.zoo.weight_ucrl(), db.mdp.tabular(S, A), **options)


@pytest.mark.interpreted
def test_weights_are_over_steps():
    """With γ = 0.9 the step of age i counts 0.9^i, whichever pair was visited."""
    task = db.mdp.tasks.queue(steps=40)
    agent = agent_for(task, db.zoo.weight_ucrl(gamma=0.9))
    db.run(agent, task, steps=40, seed=1)
    assert agent.info()["effective_memory"] == pytest.approx((1 - 0.9**40) / 0.1)
    assert agent.info()["observations"] == 40


@pytest.mark.interpreted
@pytest.mark.parametrize("discount", [None, 0.8])
def test_the_plan_is_that_of_the_tables(discount):
    """After T steps the plan is backward induction over the lookahead with weighted counts, as the table's equations have it."""
    task = db.mdp.tasks.queue(steps=60, capacity=3)
    agent = agent_for(task, db.zoo.weight_ucrl(gamma=0.95), replan=1, discount=discount)
    rng, ahead = np.random.default_rng(2), discount or 1.0
    history, s = [], 0
    task.reset(seed=3)
    for _ in range(60):
        a = int(rng.integers(3))
        s_next, reward, *_ = task.step(a)
        agent.observe(s, a, reward, s_next)
        history.append((s, a, reward, s_next))
        s = s_next
    agent._since = 1
    agent.act(0)
    N, R, R2 = np.zeros((4, 3, 4)), np.zeros((4, 3)), np.zeros((4, 3))
    for age, (s, a, r, to) in enumerate(reversed(history)):
        N[s, a, to] += 0.95**age
        R[s, a] += 0.95**age * r
        R2[s, a] += 0.95**age * r * r
    n, rho, c = N.sum(axis=2), 0.1, 0.1

    def upper(total, squares, top):
        mean = (total + rho * top) / (n + rho)
        return mean + c * np.sqrt(np.maximum((squares + rho * top**2) / (n + rho) - mean**2, 0.0) / (n + rho))

    V = np.zeros(4)
    for h in range(19, -1, -1):
        following = ahead * V
        Q = upper(R, R2, 1.0) + upper(N @ following, N @ following**2, following.max())
        Q = np.clip(Q, 0.0, sum(ahead**i for i in range(20 - h)))
        V = Q.max(axis=1)
    np.testing.assert_allclose(agent._agent._state.book.Q[0].reshape(4, 3), Q, atol=1e-9)
    assert (Q[np.arange(4), agent.policy] >= V - 1e-9).all()


@pytest.mark.interpreted
@pytest.mark.parametrize(("discount", "action"), [(0.5, 0), (None, 1)])
def test_a_discount_prefers_what_comes_soon(discount, action):
    """Action 0 pays 0.3 at once; action 1 pays nothing on a way of three steps that ends with 1 and starts again."""
    agent = db.mdp.ContinuingAgent(
        db.zoo.weight_ucrl(gamma=1.0), db.mdp.tabular(3, 2), discount=discount, seed=0, compile="never"
    )
    assert agent.discount == discount
    for _ in range(300):
        for s in range(3):
            agent.observe(s, 0, 0.3 if s == 0 else 0.0, s)
            agent.observe(s, 1, 1.0 if s == 2 else 0.0, (s + 1) % 3)
    agent._since = agent.replan
    assert agent.act(0) == action
    assert agent.lookahead == (7 if discount else 50)
    assert 0.3 <= agent.info()["gain"] <= 0.65


@pytest.mark.interpreted
@pytest.mark.parametrize("discount", [0.0, 1.0, -0.5])
def test_a_discount_is_a_share(discount):
    with pytest.raises(InvalidValue, match="discount"):
        db.mdp.ContinuingAgent(db.zoo.weight_ucrl(), db.mdp.tabular(3, 2), discount=discount)


@pytest.mark.interpreted
def test_it_learns_a_queue():
    task = db.mdp.tasks.queue(steps=1500, drift="static", capacity=5)
    played = db.run(agent_for(task), task, steps=1500, seed=0)
    assert played.rewards[-500:].mean() > task.gain(0) - 0.03
    assert "1500 steps" in repr(played)
    assert played.agent.info()["gain"] > task.gain(0) - 0.1


@pytest.mark.interpreted
def test_the_gain_of_a_plan_is_the_reward_per_step_where_all_is_known():
    """One state, two actions, rewards without noise: 0.8 in every step, of which nothing is lost by waiting."""
    agent = db.mdp.ContinuingAgent(db.zoo.weight_ucrl(), db.mdp.tabular(1, 2), lookahead=20, seed=0)
    for _ in range(300):
        a = agent.act(0)
        agent.observe(0, a, 0.8 if a else 0.2, 0)
    agent.act(0)
    assert agent.info()["gain"] == pytest.approx(0.8, abs=0.005)


@pytest.mark.interpreted
def test_the_way_to_the_best_state_is_no_part_of_the_gain():
    """Four steps that pay nothing lead to a state that pays 0.8 in every step: 0.72 is the mean of plans of 20 steps from all five."""
    agent = db.mdp.ContinuingAgent(db.zoo.weight_ucrl(gamma=1.0), db.mdp.tabular(5, 1), lookahead=20, seed=0)
    for _ in range(300):
        for s in range(5):
            agent.observe(s, 0, 0.8 if s == 4 else 0.0, min(s + 1, 4))
    agent._since = agent.replan
    agent.act(0)
    assert agent.info()["gain"] == pytest.approx(0.8, abs=0.005)


@pytest.mark.parametrize("name", TASKS)
def test_gains_are_those_of_the_best_policy(name):
    """The gain of every deterministic policy found by iteration from the gain's own values is attained: simulate the stationary law."""
    task = TASKS[name](steps=10, drift="abrupt")
    for q in (0, 64):
        P, pay = (1 - q / 64) * task.kernels[0] + q / 64 * task.kernels[1], task.rewards[q // 64]
        u = np.zeros(len(pay))
        for _ in range(4000):
            Q = pay + 0.9 * (P @ u - u[:, None])
            u += Q.max(axis=1) - Q.max(axis=1).min()
        policy = Q.argmax(axis=1)
        chain, rewards = P[np.arange(len(pay)), policy], pay[np.arange(len(pay)), policy]
        law = np.linalg.lstsq(
            np.vstack([chain.T - np.eye(len(pay)), np.ones(len(pay))]), np.r_[np.zeros(len(pay)), 1.0], rcond=None
        )[0]
        assert task._gain(q) == pytest.approx(law @ rewards, abs=1e-6)


def test_regret_is_the_gain_less_the_rewards():
    task = db.mdp.tasks.servers(steps=30)
    np.testing.assert_allclose(task.regret(np.zeros(30)), np.cumsum([task.gain(t) for t in range(30)]))
    with pytest.raises(db.DriftBanditsError, match="the task has 30 steps"):
        db.run(db.mdp.baselines.UCRL2(states=25, actions=4), task, steps=31)


def test_a_world_in_two_parts_has_no_gain():
    P = np.eye(2)[:, None]
    with pytest.raises(db.DriftBanditsError, match="does not settle"):
        best_gain(P, np.array([[0.0], [1.0]]), sweeps=100)


@pytest.mark.interpreted
def test_saved_and_loaded_it_goes_on(tmp_path):
    pytest.importorskip("safetensors")
    task = db.mdp.tasks.queue(steps=200, capacity=3)
    agent = agent_for(task)
    db.run(agent, task, steps=37, seed=4)
    agent.save(tmp_path / "a")
    other = db.mdp.ContinuingAgent.load(tmp_path / "a", compile="never")
    assert repr(other) == repr(agent)
    for one, two in zip(
        *(db.run(x, TASKS["queue"](steps=200, capacity=3), steps=50, seed=5).rewards for x in (agent, other)),
        strict=True,
    ):
        assert one == two
    with pytest.raises(db.DriftBanditsError, match=r"EpisodicAgent|ContinuingAgent"):
        db.EpisodicAgent.load(tmp_path / "a")


@pytest.mark.interpreted
@pytest.mark.parametrize(
    ("strategy", "message"),
    [
        (db.zoo.sw_ucrl(window=5), "needs weights: give half_life="),
        (db.zoo.restart_ucrl(period=5), "needs weights: give half_life="),
        (db.zoo.weight_ucrl(share_stages=False), "say share_stages=True"),
        (db.zoo.bob_ucrl(db.zoo.weight_ucrl(gamma=0.9), episodes=10), "cuts time into episodes"),
    ],
)
def test_what_needs_episodes_is_refused(strategy, message):
    with pytest.raises(db.DriftBanditsError, match=message):
        agent_for(db.mdp.tasks.queue(steps=5), strategy)


@pytest.mark.interpreted
def test_calls_that_do_not_fit_are_refused():
    task = db.mdp.tasks.queue(steps=9)
    episodic = db.EpisodicAgent(db.zoo.weight_ucrl(), db.mdp.tabular(13, 3), horizon=3, compile="never")
    for call, message in (
        (lambda: db.run(agent_for(task), task), "say either how many episodes"),
        (lambda: db.run(agent_for(task), task, episodes=2), "plays no episodes"),
        (lambda: db.run(episodic, task, steps=2), "this agent plays episodes"),
        (lambda: db.run(db.zoo.weight_ucrl(), task, steps=2), "db.mdp.ContinuingAgent"),
        (lambda: db.run(agent_for(task), task, steps=0), "steps = 0"),
        (
            lambda: Task((np.ones((2, 1, 2)),) * 2, (np.ones((2, 1)),) * 2, np.zeros(3)),
            "kernels must hold distributions",
        ),
    ):
        with pytest.raises(db.DriftBanditsError, match=message):
            call()


@pytest.mark.slow
@pytest.mark.parametrize("name", TASKS)
def test_ahead_of_ucrl2_in_drifting_tasks(name):
    """Three seeds of 8000 steps: less regret than UCRL2 and SWUCRL2-CW with a tenth of their radii."""

    def regret(make):
        found = []
        for seed in range(3):
            task = TASKS[name](steps=8000)
            found.append(task.regret(db.run(make(task, seed), task, steps=8000, seed=seed).rewards)[-1])
        return np.mean(found)

    def rival(**options):
        return lambda task, seed: db.mdp.baselines.UCRL2(
            states=task.observation_space.n, actions=task.action_space.n, scale=0.1, seed=seed, **options
        )

    ours = regret(lambda task, seed: agent_for(task, lookahead=50, seed=seed, compile="now"))
    assert ours < regret(rival())
    assert ours < regret(rival(window=2000, widening=0.02))


@pytest.mark.interpreted
def test_evaluation_learns_nothing():
    task = db.mdp.tasks.queue(steps=400, drift="static", capacity=5)
    agent = agent_for(task)
    db.run(agent, task, steps=300, seed=0)
    before = agent._agent.pack()[1]
    played = agent.evaluate(task, steps=200, seed=1)
    assert played.rewards.shape == (200,)
    assert played.rewards.mean() > task.gain(0) - 0.1  # idle, with all slots taken, pays 0.3 less
    after = agent._agent.pack()[1]
    assert all(np.array_equal(before[name], after[name]) for name in before)
    np.testing.assert_array_equal(agent.evaluate(task, steps=200, seed=1).rewards, played.rewards)
