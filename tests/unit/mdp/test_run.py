"""Gymnasium environments as they are."""

import gymnasium
import matplotlib
import numpy as np
import pytest

import driftbandits as db
import driftbandits.integrations.gymnasium


def agent_for(env, horizon, **options):
    features = db.mdp.tabular(env.observation_space.n, env.action_space.n)
    return db.EpisodicAgent(db.zoo.weight_ucrl(), features, horizon=horizon, seed=0, **options)


def test_frozen_lake_is_crossed():
    env = gymnasium.make("FrozenLake-v1", is_slippery=False)
    agent, seen = agent_for(env, 20), []
    played = db.run(agent, env, episodes=40, seed=0, progress=lambda k, got: seen.append((k, got)))
    assert played.returns[-10:].mean() == 1.0  # nothing is random once the way is known
    assert 6 <= played.lengths[-1] <= 20  # any way to the goal is as good
    assert played.terminated[-1]
    assert seen[-1] == (40, 1.0)
    assert set(agent.info()["ended"]) <= {5, 7, 11, 12, 15}  # the holes and the goal
    assert "40 episodes" in repr(played)


@pytest.mark.compiled  # too long without the compiler
def test_a_cliff_is_avoided():
    env = gymnasium.make("CliffWalking-v1")
    played = db.run(agent_for(env, 40, reward_range=(-100, 0)), env, episodes=60, seed=0)
    assert played.returns[-10:].mean() == -13.0  # the shortest way


@pytest.mark.compiled  # too long without the compiler
def test_a_taxi_is_driven():
    env = gymnasium.make("Taxi-v4")
    agent = agent_for(env, 15, reward_range=(-10, 20))
    played = db.run(agent, env, episodes=20, seed=0)
    assert agent.info()["observations"] == 20 * 15  # stages that an episode did not reach pass, too
    assert played.lengths.max() == 15  # Gymnasium's own limit is 200


@pytest.mark.slow
def test_a_taxi_finds_its_way():
    """The optimum is 7.95 on average; with a tenth of an imagined visit to the best state it was at −92 after 900 episodes."""
    env = gymnasium.make("Taxi-v4")
    agent = db.EpisodicAgent(db.zoo.weight_ucrl(), db.mdp.tabular(500, 6), horizon=30, reward_range=(-10, 20), seed=0)
    assert db.run(agent, env, episodes=900, seed=0).returns[-300:].mean() > 7.0


def test_an_end_of_its_own():
    """An environment in which the same state ends some episodes and not others needs a state for the end."""

    class Coin:
        observation_space, action_space = gymnasium.spaces.Discrete(2), gymnasium.spaces.Discrete(2)

        def reset(self, seed=None):
            return 0, {}

        def step(self, action):  # action 1 pays and ends, in the state in which it was taken
            return 0, float(action), bool(action), False, {}

    agent = db.EpisodicAgent(db.zoo.weight_ucrl(), db.mdp.tabular(3, 2), horizon=4, seed=0)
    played = db.run(agent, Coin(), episodes=30)
    assert played.returns[-10:].mean() == 1.0
    assert list(agent.info()["ended"]) == [2]
    with pytest.raises(db.DriftBanditsError, match="a state of its own"):
        db.run(db.EpisodicAgent(db.zoo.weight_ucrl(), db.mdp.tabular(2, 2), horizon=4), Coin(), episodes=30)


def test_what_does_not_fit_is_refused():
    env = gymnasium.make("FrozenLake-v1")
    with pytest.raises(db.DriftBanditsError, match=r"mdp\.tabular\(16, 4\)"):
        db.run(db.EpisodicAgent(db.zoo.weight_ucrl(), db.mdp.tabular(9, 4), horizon=4), env, episodes=1)
    with pytest.raises(db.DriftBanditsError, match="Discrete"):
        db.run(agent_for(env, 4), gymnasium.make("CartPole-v1"), episodes=1)


class Plain:
    """No Gymnasium: a shelf of two places; ordering pays once."""

    def reset(self):
        return 0, {}

    def step(self, action):
        return action, float(action), False, False, {}


@pytest.mark.interpreted
def test_an_environment_needs_no_spaces():
    agent = db.EpisodicAgent(db.zoo.weight_ucrl(), db.mdp.tabular(2, 2), horizon=4, seed=0, compile="never")
    assert db.run(agent, Plain(), episodes=15).returns[-5:].mean() == 4.0


@pytest.mark.interpreted
@pytest.mark.parametrize(
    ("env", "message"),
    [
        ("FrozenLake-v1", r"gymnasium.make\('FrozenLake-v1'\) makes one"),
        (None, "it must have the methods reset and step"),
        (
            type("Bare", (Plain,), {"reset": lambda self: 0})(),
            r"env.reset\(\) returned 0; it must return \(state, info\)",
        ),
        (
            type("Old", (Plain,), {"step": lambda self, a: (0, 0.0, False, {})})(),
            r"env.step\(action\) returned \(0, 0.0",
        ),
        (type("Far", (Plain,), {"step": lambda self, a: (9, 0.0, False, False, {})})(), "state = 9"),
        (type("Word", (Plain,), {"step": lambda self, a: (0, 0.0, "no", False, {})})(), "terminated = 'no'"),
    ],
)
def test_what_is_no_environment_is_refused(env, message):
    agent = db.EpisodicAgent(db.zoo.weight_ucrl(), db.mdp.tabular(2, 2), horizon=4, compile="never")
    with pytest.raises(db.DriftBanditsError, match=message):
        db.run(agent, env, episodes=2)


@pytest.mark.interpreted
class Lost(gymnasium.Env):
    """Four states, of which it names the ones it is given, one after another."""

    observation_space, action_space = gymnasium.spaces.Discrete(4), gymnasium.spaces.Discrete(2)

    def __init__(self, *states):
        self.states = [*states, *[0] * 20]

    def reset(self, *, seed=None, options=None):
        return self.states.pop(0), {}

    def step(self, action):
        return self.states.pop(0), 0.5, False, False, {}


@pytest.mark.interpreted
@pytest.mark.parametrize("states", [(4,), (0, 4), (0, -1), (0, 1.5), (0, None), (0, "a")])
def test_a_state_that_the_environment_does_not_have_is_refused(states):
    """The fifth state of the agent is the end of an episode; −1 would be taken for the last one by a policy that is only played."""
    bad = repr(states[-1])
    agent = db.EpisodicAgent(db.zoo.weight_ucrl(), db.mdp.tabular(5, 2), horizon=3, seed=0)
    with pytest.raises(db.DriftBanditsError, match=f"state = {bad} "):
        db.run(agent, Lost(*states), episodes=1)
    assert agent.info()["observations"] == 0
    with pytest.raises(db.DriftBanditsError, match=f"state = {bad} "):
        agent.evaluate(Lost(*states), episodes=1)
    with pytest.raises(db.DriftBanditsError, match=f"state = {bad} "):
        db.run(db.mdp.ContinuingAgent(db.zoo.weight_ucrl(), db.mdp.tabular(5, 2), lookahead=2), Lost(*states), steps=2)


class LostTwice:
    """A vector environment of one copy."""

    num_envs, metadata = 1, {}
    single_observation_space, single_action_space = gymnasium.spaces.Discrete(4), gymnasium.spaces.Discrete(2)
    observation_space = action_space = None

    def reset(self, *, seed=None):
        return np.array([0]), {}

    def step(self, actions):
        return np.array([-1]), np.array([0.5]), np.array([False]), np.array([False]), {}


@pytest.mark.interpreted
def test_copies_of_an_environment_may_not_name_states_that_do_not_exist_either():
    agent = db.EpisodicAgent(db.zoo.weight_ucrl(), db.mdp.tabular(4, 2), horizon=3, seed=0)
    with pytest.raises(db.DriftBanditsError, match="-1"):
        db.run(agent, LostTwice(), episodes=1)


def test_an_episode_that_ends_by_the_clock_says_nothing_of_its_last_state():
    """The library's own environments end after H days, in whatever state the shop is."""
    env = gymnasium.make("driftbandits/Inventory-v0", episodes=12)
    agent = db.EpisodicAgent(db.zoo.weight_ucrl(), db.mdp.tabular(9, 5), horizon=12, compile="never")
    played = db.run(agent, env, episodes=10, seed=0)
    assert played.terminated.all()
    assert len(agent.info()["ended"]) == 0


@pytest.mark.interpreted
def test_a_hole_at_the_last_stage_is_a_hole():
    """With a state of its own for the end: a state in which nobody ever acts is an end at the last stage, too; others end by the clock."""

    class Walk:  # the state counts steps; state 3 is the end
        def reset(self):
            self.s = 0
            return 0, {}

        def step(self, action):
            self.s += 1
            return self.s, 0.0, self.s == 3, False, {}

    agent = db.EpisodicAgent(db.zoo.weight_ucrl(), db.mdp.tabular(5, 1), horizon=3, compile="never")
    Walk.observation_space, Walk.action_space = gymnasium.spaces.Discrete(4), gymnasium.spaces.Discrete(1)
    db.run(agent, Walk(), episodes=3)
    assert list(agent.info()["ended"]) == [4]
    assert agent.info()["successors"] == 3
    clock = gymnasium.make("driftbandits/Inventory-v0", episodes=12)
    agent = db.EpisodicAgent(db.zoo.weight_ucrl(), db.mdp.tabular(10, 5), horizon=12, compile="never")
    db.run(agent, clock, episodes=10, seed=0)
    met = agent._state.transition
    into_the_end = sum(9 in met.successor[0, pair, : met.used[0, pair]] for pair in range(50))
    assert into_the_end <= 2  # of first visits to a state, in the last stage


@pytest.mark.interpreted
def test_progress_is_a_function():
    agent = db.EpisodicAgent(db.zoo.weight_ucrl(), db.mdp.tabular(2, 2), horizon=4, compile="never")
    with pytest.raises(db.DriftBanditsError, match="progress = True"):
        db.run(agent, Plain(), episodes=2, progress=True)
    assert agent.info()["observations"] == 0


def test_the_picture():
    matplotlib.use("Agg")
    played = db.mdp.Played(np.arange(40.0), np.ones(40, int), np.ones(40, bool))
    line = played.plot(window=4).lines[1]
    np.testing.assert_allclose(line.get_ydata()[-1], np.mean([36, 37, 38, 39]))


def test_the_legend_of_the_picture_stands_above_the_curves():
    matplotlib.use("Agg")
    axes = db.mdp.Played(np.arange(40.0)[::-1], np.ones(40, int), np.ones(40, bool)).plot()
    axes.figure.canvas.draw()
    assert axes.get_legend().get_window_extent().y0 >= axes.get_window_extent().y1


@pytest.mark.interpreted
def test_stages_that_differ():
    """A river whose current turns in the middle of the day, through `run`: features for every stage, nothing else is known."""

    class Tide:
        observation_space, action_space = gymnasium.spaces.Discrete(4), gymnasium.spaces.Discrete(2)

        def reset(self, *, seed=None):
            self.rng = np.random.default_rng(seed) if seed is not None else self.rng
            self.h, self.s = 0, 1
            return self.s, {}

        def step(self, a):
            drawn = self.rng.random() < 0.9
            right = (a == 1) == (self.h < 2)  # what is right in the morning is left in the evening
            self.s = int(np.clip(self.s + (1 if right else -1), 0, 3)) if drawn else self.s
            self.h += 1
            return self.s, float(self.s == 3), False, False, {}

    turn = lambda h, s, a, t: [(t - s) * (2 * a - 1) * (1 if h < 2 else -1)] if abs(t - s) <= 1 else None  # noqa: E731
    features = db.mdp.logit(turn, states=4, actions=2, stages=4)
    agent = db.EpisodicAgent(db.zoo.mnl_weight_ucrl(), features, horizon=4, seed=0, compile="never")
    played = db.run(agent, Tide(), episodes=40, seed=0)
    assert played.lengths.min() == 4
    assert played.returns[-20:].mean() > 2.0  # random play has 0.57, the best 2.78
