"""Gymnasium environments: the official checker, seeds, the drift, exact values, and one RL algorithm."""

import importlib.util
import pathlib
import subprocess
import sys

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import driftbandits as db
from driftbandits.integrations.gymnasium import WORLDS, DriftingMDP, register

EXAMPLES = pathlib.Path(__file__).parents[3] / "examples"


def make(name, **arguments):
    return gymnasium.make(f"driftbandits/{name}-v0", disable_env_checker=True, **arguments)


@pytest.mark.parametrize("name", WORLDS)
def test_passes_the_checker(name):
    check_env(make(name, episodes=5).unwrapped, skip_render_check=True)
    check_env(make(name, episodes=5, observe_stage=True, drift="abrupt").unwrapped, skip_render_check=True)


def test_gymnasium_makes_it_without_warnings():
    env = gymnasium.make("driftbandits/RiverSwim-v0", episodes=5, horizon=4)
    env.reset(seed=1)
    for _ in range(4):
        _, _, terminated, truncated, _ = env.step(env.action_space.sample())
    assert terminated
    assert not truncated
    register()  # a second registration has no effect


def test_gymnasium_imports_us_by_name():
    """`module:id` in a process that has not imported us."""
    code = """
import warnings; warnings.simplefilter("error")
import gymnasium
env = gymnasium.make("driftbandits.integrations.gymnasium:driftbandits/MNLRiverSwim-v0", episodes=2)
assert env.reset(seed=0)[1] == {"episode_index": 0, "stage": 0}
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_seeds_repeat_a_trajectory():
    def trajectory(seed):
        env = make("MNLRiverSwim", episodes=10)
        seen = [env.reset(seed=seed)[0]]
        for k in range(3):
            seen.extend(env.step(1)[0] for _ in range(8))
            if k < 2:
                seen.append(env.reset()[0])
        return seen

    assert trajectory(3) == trajectory(3)
    assert trajectory(3) != trajectory(4)


def test_the_episode_index_drives_the_drift():
    env = make("RiverSwim", episodes=11, horizon=3).unwrapped
    assert isinstance(env, DriftingMDP)
    rewards = []
    for _ in range(13):
        _, info = env.reset()
        env._state = 0
        rewards.append(env.step(0)[1])
    assert info["episode_index"] == 10  # the drift stands still after the last episode
    expected = [float(env.world.theta[min(k, 10), 0, 0]) for k in range(13)]
    np.testing.assert_allclose(rewards, expected)
    assert env.reset(options={"episode": 5})[1]["episode_index"] == 5
    assert env.reset()[1]["episode_index"] == 6
    assert env.reset(seed=0)[1]["episode_index"] == 0


def test_statistics_wrappers_work():
    """`info["episode"]` belongs to Gymnasium's and Stable-Baselines' loggers; we must not use it."""
    env = gymnasium.wrappers.RecordEpisodeStatistics(make("RiverSwim", episodes=5, horizon=3))
    env.reset(seed=0)
    for _ in range(3):
        info = env.step(1)[-1]
    assert info["episode"]["l"] == 3


def test_transition_frequencies():
    """1000 moves from state 2 with action 1 of static RiverSwim: within 4 standard deviations of P."""
    env = make("RiverSwim", episodes=2, horizon=1, drift="static").unwrapped
    env.reset(seed=0)
    counts = np.zeros(6)
    for _ in range(1000):
        env.reset(options={"episode": 0})
        counts[env.step(1)[0]] += 1
    p = env.world.kernel(0)[0, 2, 1]
    assert (np.abs(counts - 1000 * p) <= 4 * np.sqrt(1000 * p * (1 - p)) + 1e-9).all()


def test_exact_values_and_rendering():
    env = make("Inventory", episodes=5, render_mode="ansi").unwrapped
    with pytest.raises(db.DriftBanditsError, match="reset first"):
        env.step(0)
    env.reset(seed=0)
    _, Q = db.mdp.backward_induction(env.world.kernel(0), env.world.rewards(0))
    assert env.value_of(Q.argmax(axis=2)) == pytest.approx(env.best_value)
    assert "stage 0/12" in env.render()
    with pytest.raises(db.DriftBanditsError, match="action = 9"):
        env.step(9)
    with pytest.raises(db.DriftBanditsError, match="render_mode"):
        make("Inventory", episodes=5, render_mode="human")


def test_agent_controls_a_gymnasium_environment():
    """The shop learns its season: the regret of the last episodes is far below that of the first."""
    env = make("Inventory", episodes=40, horizon=6, capacity=5, largest_order=3, drift="static").unwrapped
    world = env.world
    scales = {"transition_bonus_scale": 0.02, "reward_bonus_scale": 0.2}
    strategy = db.zoo.weight_ucrl(gamma=0.99, lam_theta=0.1, lam_w=1, delta=0.01, **scales, **world.bounds)
    agent = db.EpisodicAgent(strategy, phi=world.phi, psi=world.psi, horizon=6, seed=0)
    regret = []
    s, _ = env.reset(seed=0)
    for _ in range(40):
        agent.begin_episode()
        regret.append(env.best_value - env.value_of(agent.policy))
        for h in range(6):
            a = agent.act(h, s)
            successor, r, done, _, _ = env.step(a)
            agent.observe(h, s, a, r, successor)
            s = successor
        assert done
        s, _ = env.reset()
    assert min(regret) >= -1e-9
    assert np.mean(regret[-10:]) < 0.3 * regret[0]


def test_import_driftbandits_does_not_import_gymnasium():
    code = "import sys, driftbandits; assert 'gymnasium' not in sys.modules"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.skipif(
    importlib.util.find_spec("stable_baselines3") is None, reason="optional: stable-baselines3 needs torch"
)
def test_the_stable_baselines_example_runs():
    command = [sys.executable, str(EXAMPLES / "stable_baselines.py"), "--episodes", "60"]
    assert subprocess.run(command, check=False).returncode == 0
