"""Environments whose states and actions are tuples, several numbers or intervals; and strategies, vectors, evaluation in `run`."""

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

import driftbandits as db
from driftbandits.mdp.spaces import numbering


class Env(gymnasium.Env):
    """Spaces, and observations that are given."""

    def __init__(self, observation_space, action_space=None):
        self.observation_space = observation_space
        self.action_space = action_space or spaces.Discrete(2)
        self.played = []

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        if seed is not None:
            self.observation_space.seed(seed)
        return self.observation_space.sample(), {}

    def step(self, action):
        assert self.action_space.contains(action)
        self.played.append(action)
        return self.observation_space.sample(), 0.5, False, False, {}


SPACES = {
    "Discrete": (spaces.Discrete(5, start=-2), None, 5),
    "MultiDiscrete": (spaces.MultiDiscrete([2, 3, 4]), None, 24),
    "MultiBinary": (spaces.MultiBinary(3), None, 8),
    "Tuple": (spaces.Tuple((spaces.Discrete(4), spaces.MultiDiscrete([2, 2]))), None, 16),
    "Dict": (spaces.Dict({"a": spaces.Discrete(3), "b": spaces.Box(0.0, 1.0, (2,))}), 4, 48),
    "Box": (spaces.Box(-1.0, 1.0, (2,)), [3, np.array([-1.0, 0.0, 0.5, 1.0])], 9),
}


@pytest.mark.parametrize("kind", SPACES)
def test_every_element_has_a_number_and_every_number_an_element(kind):
    space, bins, size = SPACES[kind]
    found = numbering(space, "observation_space", bins)
    assert found.size == size
    assert [found.number(found.element(n)) for n in range(size)] == list(range(size))
    space.seed(0)
    seen = {found.number(space.sample()) for _ in range(600)}
    assert seen <= set(range(size))
    assert len(seen) > 0.8 * size
    if "Box" not in kind:
        assert all(space.contains(found.element(n)) for n in range(size))


def test_cells_of_a_box():
    cells = numbering(spaces.Box(0.0, 1.0, (1,)), "observation_space", 4)
    values = [-5.0, 0.0, 0.2499, 0.25, 0.6, 1.0, 7.0]
    assert [cells.number(np.array([x])) for x in values] == [0, 0, 0, 1, 2, 3, 3]
    with pytest.raises(db.DriftBanditsError, match="NaN"):
        cells.number(np.array([np.nan]))


def test_actions_are_played_as_the_environment_has_them():
    env = Env(spaces.Discrete(2), spaces.Tuple((spaces.Discrete(2, start=5), spaces.Box(-1.0, 1.0, (1,)))))
    found = db.mdp.discretise(env, action_bins=3)
    found.reset(seed=0)
    for a in range(6):
        found.step(a)
    assert [(int(x), round(float(y[0]), 3)) for x, y in env.played] == [
        (x, y) for x in (5, 6) for y in (-0.667, 0.0, 0.667)
    ]


@pytest.mark.parametrize(
    ("env", "options", "message"),
    [
        (Env(spaces.Box(0.0, 1.0, (2,))), {}, "say how to cut it: bins=10"),
        (Env(spaces.Box(0.0, np.inf, (2,))), {"bins": 5}, r"give its edges: bins=\[…, np.linspace\(-3, 3, 6\)"),
        (Env(spaces.Box(0.0, 1.0, (2,))), {"bins": [3]}, "has 1 entries; observation_space has 2 coordinates"),
        (Env(spaces.Box(0.0, 1.0, (1,))), {"bins": [[1.0, 0.0]]}, "edges that increase"),
        (Env(spaces.Box(0.0, 1.0, (8,))), {"bins": 10}, "has 100000000 cells"),
        (Env(spaces.Text(3)), {}, r"discretise\(env, features=f, states=n\)"),
        (Env(spaces.Discrete(2), spaces.Box(0.0, 1.0, (1,))), {}, "action_bins=10"),
        (Env(spaces.Text(3)), {"features": len}, "with states=n"),
        (Env(spaces.Discrete(2)), {"states": 4}, "states belongs to features="),
        ("CartPole-v1", {}, "needs a Gymnasium environment"),
    ],
)
def test_what_cannot_be_numbered_is_refused(env, options, message):
    with pytest.raises(db.DriftBanditsError, match=message):
        db.mdp.discretise(env, **options)


def test_features_number_what_they_meet():
    found = db.mdp.discretise(Env(spaces.Box(0.0, 9.0, (2,))), features=lambda x: int(x[0]) // 4, states=2)
    met = found.states
    assert [met.number(np.array([x, 0.0])) for x in (5.0, 6.0, 1.0, 4.0)] == [0, 0, 1, 0]
    with pytest.raises(db.DriftBanditsError, match=r"a state no\. 3; there is room for states = 2"):
        met.number(np.array([9.0, 0.0]))
    with pytest.raises(db.DriftBanditsError, match="must be hashable"):
        db.mdp.discretise(Env(spaces.Discrete(2)), features=lambda x: [x], states=2).reset()


def test_errors_of_run_say_what_to_call():
    agent = db.EpisodicAgent(db.zoo.weight_ucrl(), db.mdp.tabular(4, 2), horizon=4, compile="never")
    for env, message in (
        (Env(spaces.Box(0.0, 1.0, (2,))), r"db.mdp.discretise\(env, bins=10\)"),
        (Env(spaces.MultiDiscrete([2, 2])), r"db.mdp.discretise\(env\)"),
        (Env(spaces.Tuple((spaces.Discrete(2), spaces.Box(0.0, 1.0, (1,))))), r"db.mdp.discretise\(env, bins=10\)"),
        (Env(spaces.Dict(a=spaces.Discrete(2))), r"db.mdp.discretise\(env\)"),
        (Env(spaces.Discrete(4), spaces.Box(0.0, 1.0, (1,))), r"db.mdp.discretise\(env, action_bins=10\)"),
    ):
        with pytest.raises(db.DriftBanditsError, match=message):
            db.run(agent, env, episodes=1)


# ------------------------------------------------------------------------------------------------ strategies in place of agents


@pytest.mark.interpreted
def test_a_strategy_is_enough():
    env = gymnasium.make("FrozenLake-v1", is_slippery=False)
    played = db.run(db.zoo.weight_ucrl(), env, episodes=40, horizon=15, seed=0)
    assert played.returns[-10:].mean() == 1.0
    assert (played.agent.states, played.agent.horizon, played.agent.reward_range) == (16, 15, (0.0, 1.0))
    cliff = db.run(db.zoo.weight_ucrl(), gymnasium.make("CliffWalking-v1"), episodes=1, horizon=5, seed=0)
    assert cliff.agent.reward_range == (-100.0, -1.0)
    limit = db.run(db.zoo.weight_ucrl(), gymnasium.make("FrozenLake-v1", max_episode_steps=7), episodes=1)
    assert limit.agent.horizon == 7


@pytest.mark.interpreted
def test_what_a_strategy_still_needs_is_asked_for():
    plain = Env(spaces.Discrete(3))
    for call, message in (
        (lambda: db.run(db.zoo.weight_ucrl(), plain, episodes=1), "no time limit; say .* horizon=100"),
        (lambda: db.run(db.zoo.weight_ucrl(), plain, episodes=1, horizon=5), r"reward_range=\(-1, 0\)"),
        (lambda: db.run(db.zoo.weight_ucrl, plain, episodes=1, horizon=5, reward_range=(0, 1)), r"call it: weight_ucrl\(\)"),
        (lambda: db.run(db.EpisodicAgent(db.zoo.weight_ucrl(), db.mdp.tabular(3, 2), horizon=4, compile="never"), plain,
                        episodes=1, horizon=5), "horizon belongs to the agent"),
        (lambda: db.run("ucrl", plain, episodes=1), "plays no episodes"),
    ):  # fmt: skip
        with pytest.raises(db.DriftBanditsError, match=message):
            call()


@pytest.mark.interpreted
def test_blackjack_by_discretise():
    env = db.mdp.discretise(gymnasium.make("Blackjack-v1"))
    learner = db.mdp.baselines.QLearning(states=705, actions=2, horizon=6, reward_range=(-1, 1), seed=0)
    played = db.run(learner, env, episodes=60, seed=0)
    assert set(played.returns) == {-1.0, 0.0, 1.0}


# ------------------------------------------------------------------------------------------------------------------ evaluation


@pytest.mark.interpreted
def test_evaluation_learns_nothing():
    env = gymnasium.make("FrozenLake-v1", is_slippery=False)
    agent = db.run(db.zoo.weight_ucrl(), env, episodes=30, horizon=15, seed=0).agent
    before = agent.pack()
    played = agent.evaluate(env, 5, seed=1)
    about, arrays = agent.pack()
    assert about == before[0]
    assert all(np.array_equal(arrays[name], before[1][name], equal_nan=True) for name in before[1])
    assert played.returns.mean() == 1.0
    agent.begin_episode()  # what was evaluated is what is played next
    s, total = env.reset(seed=1)[0], 0.0
    for h in range(15):
        s, reward, over, *_ = env.step(agent.act(h, s))
        total += reward
        if over:
            break
    assert total == played.returns[0]


@pytest.mark.interpreted
def test_evaluation_checks_the_environment():
    agent = db.EpisodicAgent(db.zoo.weight_ucrl(), db.mdp.tabular(3, 2), horizon=4, compile="never")
    with pytest.raises(db.DriftBanditsError, match="has 16 states"):
        agent.evaluate(gymnasium.make("FrozenLake-v1"), 1)
    assert agent.evaluate(Env(spaces.Discrete(3)), 2).lengths.tolist() == [4, 4]


# ------------------------------------------------------------------------------------------------------------ several at once


@pytest.mark.interpreted
@pytest.mark.parametrize("mode", ["NEXT_STEP", "SAME_STEP"])
def test_a_vector_environment_is_learned_as_one(mode):
    mode = gymnasium.vector.AutoresetMode[mode]
    many = gymnasium.vector.SyncVectorEnv([lake] * 3, autoreset_mode=mode)
    played = db.run(db.zoo.weight_ucrl(), many, episodes=60, horizon=15, seed=0)
    assert len(played.returns) == 60
    assert played.agent.reward_range == (0.0, 1.0)
    assert played.returns[-20:].mean() > 0.8  # the plan of an episode is two episodes older than the newest
    assert set(played.agent.info()["ended"]) <= {5, 7, 11, 12, 15}


def lake():
    return gymnasium.make("FrozenLake-v1", is_slippery=False, max_episode_steps=15)


@pytest.mark.interpreted
def test_one_environment_in_a_vector_is_that_environment():
    def agent():
        return db.EpisodicAgent(db.zoo.weight_ucrl(), db.mdp.tabular(17, 4), horizon=15, seed=3, compile="never")

    one = db.run(agent(), lake(), episodes=25, seed=3)
    other = db.run(agent(), gymnasium.vector.SyncVectorEnv([lake]), episodes=25, seed=3)
    assert one.returns.any()
    np.testing.assert_array_equal(one.lengths, other.lengths)
    np.testing.assert_array_equal(one.returns, other.returns)


@pytest.mark.interpreted
def test_long_episodes_are_learned_in_pieces():
    vector = gymnasium.vector.SyncVectorEnv([lambda: Env(spaces.Discrete(3))] * 2)
    played = db.run(db.zoo.weight_ucrl(), vector, episodes=7, horizon=4, reward_range=(0, 1), seed=0)
    assert played.lengths.tolist() == [4] * 7
    np.testing.assert_allclose(played.returns, 2.0)


def test_a_vector_that_does_not_reset_itself_is_refused():
    vector = gymnasium.vector.SyncVectorEnv(
        [lambda: Env(spaces.Discrete(3))], autoreset_mode=gymnasium.vector.AutoresetMode.DISABLED
    )
    with pytest.raises(db.DriftBanditsError, match="autoreset_mode is DISABLED"):
        db.run(db.zoo.weight_ucrl(), vector, episodes=1, horizon=4, reward_range=(0, 1))


class Parts(gymnasium.Env):
    """Observations and actions made of parts; it pays 1 if both parts of the action are what the observation said."""

    observation_space = spaces.Dict({"hint": spaces.Discrete(2), "place": spaces.Box(0.0, 1.0, (1,))})
    action_space = spaces.Tuple((spaces.Discrete(2), spaces.Box(-1.0, 1.0, (1,))))

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.step_number = 0
        return self._see(), {}

    def _see(self):
        self.hint, self.place = int(self.np_random.integers(2)), self.np_random.random(1)
        return {"hint": self.hint, "place": self.place.astype(np.float32)}

    def step(self, action):
        assert self.action_space.contains(action)
        right = action[0] == self.hint and (action[1][0] > 0) == (self.place[0] > 0.5)
        self.step_number += 1
        return self._see(), float(right), False, self.step_number >= 5, {}


@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
def test_copies_are_discretised_alike(mode):
    mode = gymnasium.vector.AutoresetMode(mode)
    copies = gymnasium.vector.SyncVectorEnv([Parts] * 3, autoreset_mode=mode)
    env = db.mdp.discretise(copies, bins=2, action_bins=2)
    assert (env.single_observation_space.n, env.single_action_space.n, env.num_envs) == (4, 4, 3)
    states, _ = env.reset(seed=0)
    one = db.mdp.discretise(Parts(), bins=2, action_bins=2)
    assert [one.reset(seed=i)[0] for i in range(3)] == states.tolist()  # Gymnasium seeds copy i with seed + i
    after, rewards, *_ = env.step([0, 3, 2])
    one.reset(seed=0)
    assert one.step(0)[:2] == (after[0], rewards[0])
    played = db.run(db.zoo.weight_ucrl(), env, episodes=150, horizon=5, reward_range=(0, 1), seed=0)
    assert (played.lengths == 5).all()
    assert played.returns[-50:].mean() > 4.5  # knows hint and place; random play 1.25
    assert played.agent.evaluate(env, episodes=6).returns.shape == (6,)


def test_the_state_in_which_a_copy_ended_is_numbered_too():
    env = db.mdp.discretise(
        gymnasium.vector.SyncVectorEnv([Parts] * 2, autoreset_mode=gymnasium.vector.AutoresetMode.SAME_STEP),
        bins=2,
        action_bins=2,
    )
    env.reset(seed=0)
    for _ in range(4):
        assert "final_obs" not in env.step([0, 0])[-1]
    assert [0 <= state < 4 for state in env.step([0, 0])[-1]["final_obs"]] == [True, True]


def test_copies_may_end_in_a_state_in_which_others_go_on():
    copies = gymnasium.make_vec("CartPole-v1", num_envs=3)
    env = db.mdp.discretise(copies, features=lambda o: (o[2] > 0, o[3] > 0), states=4)
    played = db.run(db.zoo.weight_ucrl(), env, episodes=12, reward_range=(0, 1), horizon=30, seed=0)
    assert played.agent.states == 5  # the end is a state of its own
    assert played.terminated.any()


def test_a_time_limit_around_an_environment_is_its_horizon():
    limited = gymnasium.wrappers.TimeLimit(Parts(), 4)
    found = db.mdp.discretise(limited, bins=2, action_bins=2)
    played = db.run(db.zoo.weight_ucrl(), found, episodes=2, reward_range=(0, 1))
    assert played.agent.horizon == 4
    copies = db.mdp.discretise(gymnasium.vector.SyncVectorEnv([lambda: limited]), bins=2, action_bins=2)
    assert db.run(db.zoo.weight_ucrl(), copies, episodes=2, reward_range=(0, 1)).agent.horizon == 4


class Bare:
    """Reset and step, and nothing else."""

    def reset(self):
        return 0, {}

    def step(self, action):
        return 1, 0.5, False, False, {}


def test_a_strategy_in_an_environment_without_spaces_needs_features():
    with pytest.raises(db.DriftBanditsError, match=r"does not say how many.*features=db.mdp.tabular"):
        db.run(db.zoo.weight_ucrl(), Bare(), episodes=2, horizon=3, reward_range=(0, 1))
    table = db.mdp.tabular(2, 1)
    played = db.run(db.zoo.weight_ucrl(), Bare(), episodes=2, horizon=3, reward_range=(0, 1), features=table)
    assert played.returns.tolist() == [1.5, 1.5]


def test_two_edges_are_one_interval():
    cells = numbering(spaces.Box(0.0, 1.0, (2,)), "observation_space", [[0.0, 1.0], [0.0, 0.25, 1.0]])
    assert cells.size == 2
    assert [cells.number(np.array([0.9, x])) for x in (0.1, 0.9)] == [0, 1]
    np.testing.assert_allclose(cells.element(1), [0.5, 0.625])
