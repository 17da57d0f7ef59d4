"""Linear bandits: kernels (compiled, or interpreted by `make interpreted`) against the naive oracles."""

import naive
import numpy as np
import pytest
from conftest import INTERPRETED
from hypothesis import given
from hypothesis import strategies as st
from problems import assert_close, fed, problems

import driftbandits as db
from driftbandits.experiment.spec.catalog import find

RADII = st.sampled_from(["trace", "det"])
RADIUS = RADII if INTERPRETED else st.just("trace")  # each radius is compiled for itself: both, for one memory
ONLY_INTERPRETED = pytest.mark.interpreted  # the same parts in another combination
NUMBERS = {"S": 1.3, "L": 1.1, "R": 0.7, "delta": 0.02}


def constants(problem, radius="trace", scale=1.0):
    return {**NUMBERS, "lam": problem.lam, "radius": radius, "bonus_scale": scale}


def road(strategy, problem):
    agent = fed(db.Agent(strategy, dim=problem.dim, horizon=1000), problem)
    return agent.scores(problem.arms), agent.theta, agent.info()["radius"]


@given(problems(), RADII, st.sampled_from([1.0, 0.3, 0.0]))
def test_lb_weight_ucb(problem, radius, scale):
    options = constants(problem, radius, scale)
    scores, theta, beta = road(db.zoo.lb_weight_ucb(gamma=problem.gamma, **options), problem)
    w = naive.weights(("discounted", problem.gamma), len(problem.r) + 1)
    assert_close(scores, naive.lb_weight_ucb(problem.X, problem.r, problem.arms, gamma=problem.gamma, **options))
    assert_close(theta, naive.theta_hat(problem.X, problem.r, w, problem.lam))
    assert_close(beta, scale * naive.beta(problem.X, w, radius=radius, lam=problem.lam, **NUMBERS))


@given(problems(), RADIUS)
def test_squared_weights_in_the_radius(problem, radius):
    options = {**constants(problem, radius), "radius_n": "w2"}
    scores, _, _ = road(db.zoo.lb_weight_ucb(gamma=problem.gamma, **options), problem)
    assert_close(scores, naive.lb_weight_ucb(problem.X, problem.r, problem.arms, gamma=problem.gamma, **options))


@given(problems(), RADIUS)
def test_d_lin_ucb(problem, radius):
    options = constants(problem, radius)
    scores, _, _ = road(db.zoo.d_lin_ucb(gamma=problem.gamma, **options), problem)
    assert_close(scores, naive.d_lin_ucb(problem.X, problem.r, problem.arms, gamma=problem.gamma, **options))


@ONLY_INTERPRETED
@given(problems())
def test_d_lin_ucb_public_code(problem):
    options = {key: value for key, value in constants(problem).items() if key != "radius"}
    scores, _, _ = road(find("strategy", "public_code:d_lin_ucb_public_code")(gamma=problem.gamma, **options), problem)
    oracle = naive.d_lin_ucb_public_code(problem.X, problem.r, problem.arms, gamma=problem.gamma, **options)
    assert_close(scores, oracle)


@ONLY_INTERPRETED
def test_the_public_code_plays_the_arm_of_largest_score_also_where_widths_are_scored_lazily():
    """Its Ṽ may exceed V, so bounds in the norm V⁻¹ would be too small from d = 10 on, where fixed arms are scored lazily."""
    arms = db.env.unit_arms(60, dim=12, seed=3)
    options = {**NUMBERS, "L": 1.0, "lam": 1.0}
    strategy = find("strategy", "public_code:d_lin_ucb_public_code")(gamma=0.9, **options)
    path = db.env.rotating(25, dim=12)
    run = db.simulate(strategy, db.env.linear(arms, path, noise=0.0), seed=0, checkpoints="all")
    X = arms[run.choices]
    r = (X * path.to_array()).sum(axis=1)
    for t, k in enumerate(run.choices):
        assert k in naive.best_arms(naive.d_lin_ucb_public_code(X[:t], r[:t], arms, gamma=0.9, **options), 1e-9)


@given(problems(), RADIUS)
def test_oful(problem, radius):
    options = constants(problem, radius)
    scores, _, _ = road(db.zoo.oful(**options), problem)
    assert_close(scores, naive.oful(problem.X, problem.r, problem.arms, **options))


@given(problems(), RADIUS)
def test_sw_ucb(problem, radius):
    options = constants(problem, radius)
    scores, _, _ = road(db.zoo.sw_ucb(window=problem.memory, **options), problem)
    assert_close(scores, naive.sw_ucb(problem.X, problem.r, problem.arms, W=problem.memory, **options))


@ONLY_INTERPRETED
@given(problems(), RADIUS)
def test_restart_ucb(problem, radius):
    options = constants(problem, radius)
    scores, _, _ = road(db.zoo.restart_ucb(period=problem.memory, **options), problem)
    assert_close(scores, naive.restart_ucb(problem.X, problem.r, problem.arms, H=problem.memory, **options))


@ONLY_INTERPRETED
@given(problems(max_dim=5), RADIUS)
def test_uniform_in_time_is_a_union_bound_over_the_horizon(problem, radius):
    options = constants(problem, radius)
    strategy = db.zoo.lb_weight_ucb(gamma=problem.gamma, uniform_in_time=True, **options)
    scores, _, _ = road(strategy, problem)
    oracle = naive.lb_weight_ucb(
        problem.X, problem.r, problem.arms, gamma=problem.gamma, uniform_in_time=True, T=1000, **options
    )
    assert_close(scores, oracle)


@ONLY_INTERPRETED
@given(problems(), st.booleans())
def test_d_rand_lin_ucb(problem, optimistic):
    options = constants(problem)
    strategy = db.zoo.d_rand_lin_ucb(gamma=problem.gamma, a=0.8, optimistic=optimistic, **options)
    agent = fed(db.Agent(strategy, dim=problem.dim, seed=5), problem)
    scores = agent.scores(problem.arms)
    z = np.random.default_rng(5).standard_normal()
    del options["bonus_scale"]
    oracle = naive.d_rand_lin_ucb(
        problem.X, problem.r, problem.arms, z, gamma=problem.gamma, a=0.8, optimistic=optimistic, **options
    )
    assert_close(scores, oracle)


@given(problems(), st.sampled_from([1.0, 0.5, None] if INTERPRETED else [1.0, 0.5]))
def test_d_lin_ts(problem, a):
    options = constants(problem)
    strategy = db.zoo.d_lin_ts(gamma=problem.gamma, a=a, **options)
    agent = db.Agent(strategy, dim=problem.dim, seed=5)
    for _ in range(problem.dim):  # the first d decisions are uniform: every arm scores alike
        assert not agent.scores(problem.arms).any()
        agent.select(problem.arms)  # rounds without a reward pass, and nothing is there yet to fade
    fed(agent, problem)
    generator = agent._rng.bit_generator.state
    scores = agent.scores(problem.arms)
    replay = np.random.default_rng()
    replay.bit_generator.state = generator
    w = naive.weights(("discounted", problem.gamma), len(problem.r) + 1)
    size = naive.beta(problem.X, w, lam=problem.lam, radius_n="w2", **NUMBERS) if a is None else a
    oracle = naive.d_lin_ts(
        problem.X,
        problem.r,
        problem.arms,
        replay.standard_normal(problem.dim),
        gamma=problem.gamma,
        lam=problem.lam,
        a=size,
        root=np.linalg.cholesky,
    )
    assert_close(scores, oracle)


@given(problems())
def test_gamma_one_forgets_nothing(problem):
    options = constants(problem)
    weighted, _, _ = road(db.zoo.lb_weight_ucb(gamma=1.0, **options), problem)
    static, _, _ = road(db.zoo.oful(**options), problem)
    assert_close(weighted, static, 1e-12)


@given(problems())
def test_sandwich_bonus_and_determinant_radius_are_never_wider(problem):
    options = constants(problem)
    plain = {**options, "radius_n": "w2"}
    wide, _, trace = road(db.zoo.lb_weight_ucb(gamma=problem.gamma, **plain), problem)
    narrow, _, _ = road(db.zoo.d_lin_ucb(gamma=problem.gamma, **options), problem)
    _, _, det = road(db.zoo.lb_weight_ucb(gamma=problem.gamma, **{**plain, "radius": "det"}), problem)
    slack = 1e-9 * (1.0 + np.abs(wide).max())
    assert (narrow <= wide + slack).all()
    assert det <= trace * (1 + 1e-12)


def test_half_life_is_gamma():
    half = db.zoo.lb_weight_ucb(half_life=10, lam=1, S=1, L=1, R=1, delta=0.1).memory.gamma
    assert half**10 == pytest.approx(0.5, rel=1e-14)
