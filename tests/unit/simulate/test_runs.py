"""The loop: determinism, checkpoints, shared noise, lazy scores, threads, bad input."""

import subprocess
import sys

import numpy as np
import pytest
from conftest import INTERPRETED
from hypothesis import given, settings
from hypothesis import strategies as st

import driftbandits as db
from driftbandits.core.kernel import entry
from driftbandits.protocol import Setting, act, learn, start
from driftbandits.simulate import world_blocks
from driftbandits.simulate.runs import watch_nothing

T = 60 if INTERPRETED else 600
OFUL = db.zoo.oful(lam=2, S=1, L=1, R=1, delta=0.001)
WEIGHT = db.zoo.lb_weight_ucb(gamma=0.95, lam=2, S=1, L=1, R=1, delta=0.001)


def world(seed=0, n=20, dim=2, horizon=T, noise=1.0):
    return db.env.linear(db.env.unit_arms(n, dim=dim, seed=seed), db.env.rotating(horizon, dim=dim), noise=noise)


def test_same_seed_same_run_bit_for_bit():
    one, two = (db.simulate(WEIGHT, world(), seed=3, checkpoints="all") for _ in range(2))
    other = db.simulate(WEIGHT, world(), seed=4, checkpoints="all")
    assert (one.choices == two.choices).all()
    assert (one.regret == two.regret).all()
    assert (one.regret != other.regret).any()


def test_the_caller_s_seed_sequence_is_left_alone():
    seed = np.random.SeedSequence([1, 2])
    one = db.simulate(WEIGHT, world(), seed=seed)
    two = db.simulate(WEIGHT, world(), seed=seed)
    assert (one.regret == two.regret).all()


def test_trials_do_not_depend_on_the_number_of_threads():
    one, two = (db.trials(WEIGHT, world, trials=6, seed=1, jobs=jobs) for jobs in (1, 4))
    assert all((a.regret == b.regret).all() for a, b in zip(one, two, strict=True))
    assert one[0].regret[-1] != one[1].regret[-1]


def test_regret_is_what_the_choices_cost():
    run = db.simulate(WEIGHT, world(), seed=0, checkpoints="all")
    arms, theta = db.env.unit_arms(20, dim=2, seed=0), db.env.rotating(T).to_array()
    means = theta @ arms.T
    expected = np.cumsum(means.max(axis=1) - means[np.arange(T), run.choices])
    np.testing.assert_allclose(run.regret, expected, rtol=1e-12)
    assert (np.diff(run.regret) >= -1e-12).all()


def test_reward_and_plays_are_those_of_the_choices():
    every = db.simulate(WEIGHT, world(), seed=0, checkpoints="all")
    run = db.simulate(WEIGHT, world(), seed=0, checkpoints=7, plays=True)
    arms, theta = db.env.unit_arms(20, dim=2, seed=0), db.env.rotating(T).to_array()
    means = theta @ arms.T
    gained = np.cumsum(means[np.arange(T), every.choices])
    np.testing.assert_allclose(run.reward, gained[run.rounds - 1], rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(run.reward + run.regret, np.cumsum(means.max(axis=1))[run.rounds - 1], rtol=1e-12)
    counts = [np.bincount(every.choices[:t], minlength=20) for t in run.rounds]
    np.testing.assert_array_equal(run.plays, counts)
    assert every.plays is None


@pytest.mark.parametrize("checkpoints", [1, 7, 10**6, [1, 5, 6], [T]])
def test_checkpoints_are_rounds_of_the_full_curve(checkpoints):
    full = db.simulate(WEIGHT, world(), seed=0, checkpoints="all")
    run = db.simulate(WEIGHT, world(), seed=0, checkpoints=checkpoints)
    assert run.rounds[-1] == T
    assert (np.diff(run.rounds) > 0).all()
    assert (run.regret == full.regret[run.rounds - 1]).all()


@pytest.mark.parametrize("checkpoints", [0, "some", [3, 2], [0, 1], [T + 1], []])
def test_bad_checkpoints(checkpoints):
    with pytest.raises(db.DriftBanditsError, match="checkpoints"):
        db.simulate(WEIGHT, world(), checkpoints=checkpoints)


@entry
def _noise_seen(strategy, state, arms, draws, rng, score, x, seen):
    for t in range(draws.shape[0]):
        k = act(strategy, state, arms, score, rng)
        for i in range(x.shape[0]):
            x[i] = arms[i, k]
        learn(strategy, state, x, draws[t], k)
        seen[t] = k


@pytest.mark.interpreted  # four compositions
def test_noise_is_shared_by_all_algorithms_of_a_trial():
    """With one arm every algorithm sees the same rewards, so all end with the same estimate."""
    env = db.env.linear([[0.6, 0.8]], db.env.rotating(T), noise=1.0)
    static = {"lam": 1, "S": 1, "L": 1, "R": 1, "delta": 0.1}
    runs = [db.simulate(s, env, seed=9) for s in (db.zoo.oful(**static), db.zoo.sw_ucb(window=10**4, **static))]
    assert runs[0].info["effective_memory"] == runs[1].info["effective_memory"]
    assert all(run.regret[-1] == 0.0 for run in runs)
    agent_theta = []
    for strategy in (db.zoo.oful(**static), db.zoo.lb_weight_ucb(gamma=1.0, **static)):
        noise = np.random.default_rng(np.random.SeedSequence(9).spawn(2)[0]).standard_normal(T)
        agent = db.Agent(strategy, dim=2)
        for z, u in zip(db.env.rotating(T).to_array() @ [0.6, 0.8], noise, strict=True):
            agent.select([[0.6, 0.8]])
            agent.update(z + u)
        agent_theta.append(agent.theta)
    np.testing.assert_allclose(agent_theta[0], agent_theta[1], rtol=1e-12)


def lazy_and_full(strategy, dim, n, rounds, seed):
    """Choices of lazy scoring (arms known beforehand) and of scoring every arm, on the same rewards."""
    rng = np.random.default_rng(seed)
    arms = rng.standard_normal((dim, n))
    arms /= np.maximum(1.0, np.linalg.norm(arms, axis=0))
    arms[:, : n // 5] = arms[:, n // 2 : n // 2 + n // 5]  # repeated arms tie exactly
    arms[:, n // 3] = 0.0
    draws = rng.standard_normal(rounds)
    seen = []
    for known in (arms, np.zeros((dim, 0))):
        generator = np.random.default_rng(0)
        state = start(strategy, Setting(dim, known, rounds), generator)
        assert state.work.bound.shape[0] == known.shape[1]
        out = np.zeros(rounds, np.int64)
        _noise_seen(strategy, state, arms, draws, generator, np.zeros(n), np.zeros(dim), out)
        seen.append(out)
    return seen


STRATEGIES = {
    "oful": lambda lam: db.zoo.oful(lam=lam, S=1, L=1, R=1, delta=0.01),
    "lb_weight_ucb": lambda lam: db.zoo.lb_weight_ucb(gamma=0.97, lam=lam, S=1, L=1, R=1, delta=0.01),
    "d_lin_ucb": lambda lam: db.zoo.d_lin_ucb(gamma=0.97, lam=lam, S=1, L=1, R=1, delta=0.01),
    "sw_ucb": lambda lam: db.zoo.sw_ucb(window=30, lam=lam, S=1, L=1, R=1, delta=0.01),
    "restart_ucb": lambda lam: db.zoo.restart_ucb(period=30, lam=lam, S=1, L=1, R=1, delta=0.01),
    "d_rand_lin_ucb": lambda lam: db.zoo.d_rand_lin_ucb(gamma=0.97, lam=lam, S=1, L=1, R=1, delta=0.01),
    "domd_glb": lambda lam: db.zoo.domd_glb(gamma=0.97, lam=lam, S=1, L=1, delta=0.01),
    "one_pass": lambda lam: db.zoo.glb_weight_ucb(
        gamma=0.97, lam=lam, S=1, L=1, delta=0.01, estimator="one_pass", bonus_scale=0.1
    ),
}
#: One norm and two are compiled. The others choose lazily by the same code.
COMPILED = {"lb_weight_ucb", "d_lin_ucb"}


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=() if n in COMPILED else pytest.mark.interpreted) for n in STRATEGIES]
)
@settings(max_examples=3 if INTERPRETED else 20)
@given(
    dim=st.integers(10, 12 if INTERPRETED else 24),
    n=st.integers(6, 60),
    exponent=st.floats(-3, 4),
    seed=st.integers(0, 2**32 - 1),
)
def test_lazy_scores_choose_what_scoring_every_arm_chooses(name, dim, n, exponent, seed):
    lazy, full = lazy_and_full(STRATEGIES[name](10.0**exponent), dim, n, 30 if INTERPRETED else 400, seed)
    assert (lazy == full).all()


def test_changing_arm_sets_given_and_redrawn():
    rng = np.random.default_rng(0)
    arms = rng.standard_normal((T, 5, 3))
    arms /= np.linalg.norm(arms, axis=2, keepdims=True)
    path = db.env.random_walk(T, dim=3, seed=1)
    run = db.simulate(WEIGHT, db.env.linear(arms, path, noise=0.1), checkpoints="all")
    means = np.einsum("tnd,td->tn", arms, path.to_array())
    np.testing.assert_allclose(run.regret[-1], (means.max(axis=1) - means[np.arange(T), run.choices]).sum(), rtol=1e-9)
    redrawn = [db.simulate(WEIGHT, db.env.linear(db.env.redrawn_arms(5, dim=3, seed=2), path)) for _ in range(2)]
    assert redrawn[0].regret[-1] == redrawn[1].regret[-1] > 0


def test_watching_changes_nothing_and_tells_what_it_saw():
    plain = db.simulate(WEIGHT, world(), seed=1, checkpoints="all")
    rounds: list[float] = []

    def watch(strategy, state):
        rounds.append(float(state.history.clock[0]))
        return {"theta": state.est.theta.copy(), "beta": state.beta[0]}

    seen = db.simulate(WEIGHT, world(), seed=1, checkpoints="all", watch=watch)
    np.testing.assert_array_equal(seen.regret, plain.regret)
    assert plain.trace == {}
    assert seen.trace["round"].tolist() == rounds
    assert rounds[-1] == T
    assert seen.trace["theta"].shape == (len(rounds), 2)
    assert seen.trace["beta"][-1] == seen.info["radius"]
    assert db.simulate(WEIGHT, world(), seed=1, watch=watch_nothing).trace == {}


def test_block_borders_do_not_matter(monkeypatch):
    env = db.env.linear(db.env.redrawn_arms(5, dim=2, seed=2), db.env.random_walk(T, seed=3))
    one = db.simulate(WEIGHT, env, seed=0)
    monkeypatch.setattr(world_blocks, "BLOCK", 7)
    two = db.simulate(WEIGHT, env, seed=0)
    monkeypatch.setattr(world_blocks, "BLOCK_NUMBERS", 23)
    three = db.simulate(WEIGHT, env, seed=0)
    assert (one.regret == two.regret).all()
    assert (one.regret == three.regret).all()


def test_long_arms_are_refused_warned_of_or_ignored():
    env = db.env.linear([[2.0, 0.0], [0.0, 1.0]], db.env.rotating(T))
    with pytest.raises(db.DriftBanditsError, match=r"norm 2 > L = 1"):
        db.simulate(WEIGHT, env)
    with pytest.warns(UserWarning, match=r"norm 2 > L = 1"):
        db.simulate(WEIGHT, env, check="warn")
    assert db.simulate(WEIGHT, env, check="off").regret[-1] > 0
    with pytest.raises(db.DriftBanditsError, match="check"):
        db.simulate(WEIGHT, env, check="maybe")


def test_what_is_no_strategy_is_said_in_one_line():
    with pytest.raises(db.DriftBanditsError, match="has no method for str; it knows"):
        db.simulate("oful", world())


LONG = """
import pathlib, sys
import driftbandits as db
T = int(sys.argv[1])
for path in (db.env.rotating(T), db.env.random_walk(T), db.env.piecewise(T), db.env.static(T)):
    strategy = db.zoo.lb_weight_ucb(gamma=0.99, lam=2, S=1, L=1, R=1, delta=0.001)
    db.simulate(strategy, db.env.linear(db.env.unit_arms(10, dim=2), path))
peak = next(line for line in pathlib.Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
print(peak.split()[1])  # not ru_maxrss, which begins with what the parent process had
"""


@pytest.mark.slow
@pytest.mark.compiled
def test_memory_does_not_grow_with_the_horizon():
    """Ten million rounds in less than 300 MB, in a process that finds its code in the cache: compiling takes memory of its own."""
    kilobytes = [
        int(subprocess.run([sys.executable, "-c", LONG, T], capture_output=True, text=True, check=True).stdout)
        for T in ("1000", "10000000")
    ]
    assert kilobytes[1] < 300 * 1024
