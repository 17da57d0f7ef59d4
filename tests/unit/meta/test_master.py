"""MASTER: its schedule, its stack of instances, its tests and its restarts, against the oracle and the equations."""

import math

import naive
import numpy as np
import pytest
from numba import config

import driftbandits as db
from driftbandits.meta.master import Master

INTERPRETED = bool(config.DISABLE_JIT)
LB = {"lam": 2.0, "S": 1.0, "L": 1.0, "R": 1.0, "delta": 0.01}


def master(T, **options):
    return db.zoo.master(db.zoo.oful(**LB), horizon=T, **options)


def world(T, seed=0, n=10, dim=2):
    return db.env.linear(db.env.unit_arms(n, dim=dim, seed=seed), db.env.rotating(T, dim=dim))


def instances_of(info, t):
    """The oracle's instances (m, s, e) of the block of round t, and the block's first round."""
    start = max(int(first) for first, _ in info["blocks"] if first <= t)
    return [(int(m), int(s) - start + 1, int(s) - start + 2**m) for s, m in info["instances"] if s >= start], start


# --- schedule ------------------------------------------------------------------------------------------------------
@pytest.mark.interpreted
def test_blocks_double():
    T = 200
    info = db.simulate(master(T), world(T)).info
    assert info["blocks"].tolist() == [list(block) for block in naive.master_blocks(T, 0)]
    info = db.simulate(master(T, first_order=6), world(T)).info
    assert info["blocks"].tolist() == [[1, 6], [65, 7], [193, 8]]


@pytest.mark.interpreted
def test_every_block_has_one_instance_of_its_own_order_and_all_are_aligned():
    T = 1000
    info = db.simulate(master(T), world(T), seed=3).info
    for start, n in info["blocks"]:
        orders = info["instances"][(info["instances"][:, 0] >= start) & (info["instances"][:, 0] < start + 2**n)]
        assert orders[orders[:, 1] == n].tolist() == [[start, n]]
        assert ((orders[:, 0] - start) % 2 ** orders[:, 1] == 0).all()
        assert (orders[:, 1] <= n).all()
    assert len(np.unique(info["instances"], axis=0)) == len(info["instances"])


@pytest.mark.interpreted
def test_instances_appear_with_the_published_frequency():
    # 2^(n−m) slots of order m, each taken with probability 2^(−(n−m)/2): counts within 5 standard deviations
    n, blocks = (5, 8) if INTERPRETED else (9, 60)
    counts = np.zeros(n + 1)
    for seed in range(blocks):
        orders = db.simulate(master(2**n, first_order=n), world(2**n), seed=seed).info["instances"][:, 1]
        counts += np.bincount(orders, minlength=n + 1)
    assert counts[n] == blocks
    for m in range(n):
        p, slots = naive.master_probability(n, m, lambda t: t**-0.5), blocks * 2 ** (n - m)
        assert p == pytest.approx(2 ** (-(n - m) / 2))
        assert abs(counts[m] - slots * p) < 5 * math.sqrt(slots * p * (1 - p))


@pytest.mark.slow
@pytest.mark.compiled
def test_expected_number_of_instances_of_the_paper():
    # experiments §1: 225.5 instances expected within T = 6000 in one block of order 13; sd ≈ 13, 20 runs
    T = 6000
    runs = db.trials(master(T, first_order=13), lambda i: world(T, seed=i), trials=20)
    assert np.mean([len(run.info["instances"]) for run in runs]) == pytest.approx(225.5, abs=12)


# --- stack ---------------------------------------------------------------------------------------------------------
def play(agent, arms, theta, T, seed=0):
    """One run by hand; everything the oracle needs to recompute it."""
    rng = np.random.default_rng(seed)
    seen = []
    for t in range(1, T + 1):
        scores = agent.scores(arms)
        active = agent.info()["active_order"]
        k = agent.select(arms)
        r = arms[k] @ theta(t) + 0.3 * rng.standard_normal()
        agent.update(r)
        seen.append((scores, active, k, r))
    return seen


@pytest.mark.parametrize("first_order", [0, 4])
def test_active_instance_is_the_shortest_and_knows_only_its_own_rounds(first_order):
    T, arms = 90, db.env.unit_arms(6, dim=2, seed=1)
    agent = db.Agent(master(T, first_order=first_order), dim=2, seed=5)
    seen = play(agent, arms, lambda t: np.array([1.0, 0.0]), T)
    info = agent.info()
    for t, (scores, active, k, _) in enumerate(seen, start=1):
        instances, start = instances_of(info, t)
        instances = [i for i in instances if i[1] + start - 1 <= t]  # the later ones are not drawn yet
        shortest = naive.master_active(instances, t - start + 1)
        assert active == shortest[0]
        own = [start + tau - 1 for tau in naive.master_rounds(instances, shortest, t - start + 1)]
        X = np.array([arms[seen[s - 1][2]] for s in own]).reshape(-1, 2)
        r = np.array([seen[s - 1][3] for s in own])
        np.testing.assert_allclose(scores, naive.oful(X, r, arms, **LB), rtol=1e-9)
        assert scores[k] >= scores.max() - 1e-9 * (1 + abs(scores.max()))


def test_memory_is_logarithmic():
    from driftbandits.protocol import Setting, start

    for T in (100, 10_000, 10**6):
        state = start(master(T), Setting(2, np.zeros((2, 0)), 0), np.random.default_rng(0))
        assert len(state.instances.beta) <= math.log2(T) + 2


# --- tests and restarts --------------------------------------------------------------------------------------------
def rho(T, delta=None, dim=2):
    """c/√t with c = β√(d log(T/δ))/(2LS), the radius β being OFUL's after T rounds."""
    beta = naive.beta_trace(T, d=dim, **{k: LB[k] for k in ("lam", "S", "R", "L", "delta")})
    c = beta * math.sqrt(dim * math.log(T / (delta or 1 / T))) / 2
    return lambda t: c / math.sqrt(t)


@pytest.mark.parametrize("test_scale", [1e-4, 2e-5])
def test_restarts_follow_both_tests(test_scale):
    T = 90 if INTERPRETED else 160
    arms = db.env.unit_arms(6, dim=2, seed=1)
    agent = db.Agent(master(T, first_order=3, test_scale=test_scale), dim=2, seed=2)
    seen = play(agent, arms, lambda t: np.array([1.0, 0.0]) * (1 if t < T // 2 else -1), T)
    info = agent.info()
    restarts = dict(info["restarts"])
    assert restarts, "the scale is chosen so that tests fail"
    assert info["blocks"] == [list(block) for block in naive.master_blocks(T, 3, restarts)]

    def rho_hat(t):
        return naive.master_rho_hat(t, T, 1 / T, rho(T), test_scale)

    for t in range(1, T + 1):
        instances, start = instances_of(info, t)
        block = seen[start - 1 : t]
        rewards = [naive.master_unit(r, 1, 1) for _, _, _, r in block]
        g = [float(np.clip(naive.master_unit(scores[k], 1, 1), 0, 1)) for scores, _, k, _ in block]
        first, second = naive.master_test_1(instances, rewards, g, rho_hat), naive.master_test_2(rewards, g, rho_hat)
        assert restarts.get(t, 0) == (1 if first else 2 if second else 0)


def test_both_kinds_of_failure_occur():
    # rewards above what seemed possible (test 1), and below what was promised (test 2)
    arms, T = np.array([[1.0, 0.0], [0.0, 1.0]]), 400
    kinds = {}
    for before, after in ((0.0, 1.0), (1.0, -1.0)):
        base = db.zoo.oful(**LB | {"R": 0.1, "lam": 0.1}, bonus_scale=0.1)
        agent = db.Agent(db.zoo.master(base, first_order=9, horizon=T, test_scale=3e-4), dim=2, seed=0)
        for t in range(T):
            agent.select(arms)
            agent.update(before if t < 200 else after)
        restarts = np.asarray(agent.info()["restarts"])
        kinds[after] = restarts[restarts[:, 0] > 200][0].tolist()
    assert kinds[1.0][1] == 1
    assert kinds[-1.0][1] == 2


@pytest.mark.interpreted
def test_published_constants_never_restart():
    # even ρ(t) = 1/√t gives ρ̂(T) ≥ 18 at T = 6000, and every gap is below 1
    T = 300 if INTERPRETED else 6000
    jumps = db.env.piecewise(T, changes=5, seed=0)
    run = db.simulate(master(T), db.env.linear(db.env.unit_arms(10, dim=2), jumps))
    assert len(run.info["restarts"]) == 0
    assert naive.master_rho_hat(6000, 6000, 1 / 6000, lambda t: t**-0.5) > 18


# --- behaviour -----------------------------------------------------------------------------------------------------
def test_scoring_and_selecting_again_change_nothing():
    arms = db.env.unit_arms(6, dim=2, seed=1)
    plain, curious = (db.Agent(master(100), dim=2, seed=3) for _ in range(2))
    for t in range(60):
        assert np.array_equal(curious.scores(arms), curious.scores(arms))
        k = plain.select(arms)
        assert k == curious.select(arms)
        for agent in (plain, curious):
            agent.update(float(np.sin(t + k)))
    assert plain.info()["instances"] == curious.info()["instances"]


def test_an_observation_without_a_decision_teaches_but_is_no_round():
    agent = db.Agent(master(100, first_order=5), dim=2, seed=0)
    agent.update(1.0, x=[1.0, 0.0])
    assert agent.theta == pytest.approx([1 / 3, 0.0])
    assert agent.info()["blocks"] == []
    for _ in range(33):
        agent.select([[1.0, 0.0], [0.0, 1.0]])
        agent.update(0.5)
    assert agent.info()["blocks"] == [[1, 5], [33, 6]]


def test_runs_on_past_the_horizon():
    agent = db.Agent(master(10), dim=2)
    for _ in range(70):
        agent.select([[1.0, 0.0], [0.0, 1.0]])
        agent.update(0.0)
    assert [order for _, order in agent.info()["blocks"]] == [0, 1, 2, 3, 4, 4, 4, 4]


def test_bonus_factor_multiplies_the_bonus():
    strategy = master(100, bonus_factor=2.0)
    assert strategy.base.radius.scale == 2.0
    assert (strategy.low, strategy.span) == (-1.0, 2.0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"horizon": 0}, "horizon = 0 is not allowed"),
        ({"first_order": -1}, "first_order = -1.0 is not allowed"),
        ({"first_order": 1.5}, "first_order = 1.5 is not allowed"),
        ({"first_order": 60}, "first_order = 60.0 is not allowed"),
        ({"delta": 2.0}, "delta = 2.0 is not allowed"),
        ({"test_scale": 0.0}, "test_scale = 0.0 is not allowed"),
        ({"bonus_factor": -1.0}, "bonus_factor = -1.0 is not allowed"),
    ],
)
def test_refuses(options, message):
    with pytest.raises(db.DriftBanditsError, match=message):
        db.zoo.master(db.zoo.oful(**LB), **{"horizon": 100} | options)


def test_refuses_a_base_without_a_range():
    base = db.zoo.d_lin_ts(gamma=0.9, **LB)
    with pytest.raises(db.DriftBanditsError, match="Constant has no bound S"):
        db.zoo.master(base, horizon=100)
    assert isinstance(Master(base, 100, 0, 0.1, -1.0, 2.0), Master)
