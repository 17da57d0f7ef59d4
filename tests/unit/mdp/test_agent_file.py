"""Saved episodic agents: they go on as if never saved, and a file that does not fit is refused."""

import numpy as np
import pytest

import driftbandits as db
from driftbandits.errors import CannotRead, DriftBanditsError
from driftbandits.io import saving

H = 3


def learners():
    models = np.random.default_rng(0).dirichlet(np.ones(4), size=(2, 4, 2))
    moves = db.mdp.logit(lambda s, a, t: [float(t - s), float(a)] if abs(t - s) <= 1 else None, states=4, actions=2)
    yield "table, unknown drift", db.zoo.weight_ucrl(), db.mdp.tabular(4, 2)
    yield "table, window", db.zoo.sw_ucrl(window=2), db.mdp.tabular(4, 2)
    yield "mixture", db.zoo.weight_ucrl(half_life=3.0), db.mdp.mixture_of(list(models))
    yield "logit, window", db.zoo.mnl_sw_ucrl(window=2), moves
    yield "blocks", db.zoo.bob_ucrl(db.zoo.weight_ucrl(gamma=0.9), episodes=20, block=2), db.mdp.tabular(4, 2)


LEARNERS = {name: (strategy, features) for name, strategy, features in learners()}


def made(name):
    strategy, features = LEARNERS[name]
    return db.EpisodicAgent(strategy, features, horizon=H, reward_range=(-1.0, 2.0), seed=5)


def play(agent, episodes, rng, *, stop_in_the_middle=False):
    """Episodes with chance of their own; returns what the agent did and planned."""
    seen = []
    for k in range(episodes):
        seen.append(agent.begin_episode())
        s = 0
        for h in range(H):
            if stop_in_the_middle and k == episodes - 1 and h == 1:
                return seen
            a = agent.act(h, s)
            reachable = agent.features.reachable
            options = np.arange(4) if reachable is None else np.flatnonzero(reachable[s, a])
            successor = int(rng.choice(options[options < 3]))  # state 3 is an end
            end = bool(h == 1 and successor == 2 and reachable is None)
            agent.observe(h, s, a, float(rng.uniform(-1, 2)), 3 if end else successor, terminated=end)
            seen.append(a)
            s = successor
            if end:
                break
    return seen


@pytest.mark.interpreted
@pytest.mark.parametrize("name", LEARNERS)
def test_a_loaded_agent_goes_on_bit_for_bit(name, tmp_path):
    agent = made(name)
    play(agent, 6, np.random.default_rng(1), stop_in_the_middle=True)
    agent.save(tmp_path / "agent")
    twin = db.EpisodicAgent.load(tmp_path / "agent")
    assert repr(twin) == repr(agent)
    assert twin.reward_range == agent.reward_range
    for h in (1, 2):
        for one in (agent, twin):
            one.observe(h, 0, 1, 0.25, 1 if name == "logit, window" else 2)
    one, other = (play(a, 6, np.random.default_rng(2)) for a in (agent, twin))
    for mine, its in zip(one, other, strict=True):
        np.testing.assert_array_equal(mine, its)


def damaged(about, arrays, name, value):
    """The file with one thing changed, its checksum right."""
    if name in about:
        about = about | {name: value}
    else:
        array = arrays[name].copy()
        array[...] = value
        arrays = arrays | {name: array}
    return saving.to_bytes("EpisodicAgent", about, arrays)


@pytest.mark.interpreted
@pytest.mark.parametrize(
    ("name", "field", "value"),
    [
        ("table, unknown drift", "horizon", 10**9),
        ("table, unknown drift", "states", 10**9),
        ("table, unknown drift", "stage", 7),
        ("table, unknown drift", "reward_range", [1.0, 0.0]),
        ("table, unknown drift", "strategy", {"part": "os.system"}),
        ("table, unknown drift", "strategy", 3),
        ("table, unknown drift", "successors", 10**8),
        ("table, unknown drift", "state.book.policy", 2),
        ("table, unknown drift", "state.book.ended", 9),
        ("table, unknown drift", "state.of_reward.leader", 99),
        ("table, unknown drift", "state.transition.successor", 4),
        ("table, unknown drift", "state.transition.used", 5),
        ("table, window", "state.transition.history.slot", 10**6),
        ("table, window", "state.reward.history.slot", -2),
        ("blocks", "state.bandit.option", -1),
        ("logit, window", "state.transition.choices.used", 9),
        ("mixture", "state.transition.successor", 4),
        ("logit, window", "state.transition.choices.kind", 99),
        ("logit, window", "moves.psi", np.nan),
        ("mixture", "actions", 3),
        ("mixture", "moves.used", 0),
    ],
)
def test_a_file_that_points_outside_its_arrays_is_refused(name, field, value, tmp_path):
    agent = made(name)
    play(agent, 2, np.random.default_rng(0))
    (tmp_path / "file").write_bytes(damaged(*agent.pack(), field, value))
    with pytest.raises(DriftBanditsError, match="cannot be loaded") as caught:
        db.EpisodicAgent.load(tmp_path / "file")
    assert "\n" not in str(caught.value)


def test_a_bandits_file_is_not_an_episodic_agents(tmp_path):
    db.Agent(db.zoo.oful(lam=1, S=1, L=1, R=1, delta=0.1), dim=2, compile="never").save(tmp_path / "bandit")
    with pytest.raises(CannotRead, match="it holds an Agent, not an EpisodicAgent"):
        db.EpisodicAgent.load(tmp_path / "bandit")


def test_more_candidates_than_a_memory_has_room_for_are_refused():
    """A file of 14 kB that says 10⁷ candidates took 6.9 GB."""
    with pytest.raises(db.DriftBanditsError, match=r"candidates = 1e\+07 is not allowed|candidates = 10000000"):
        db.mdp.adaptive.Candidates(size=1e7).check()
