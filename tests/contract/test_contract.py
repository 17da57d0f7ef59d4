"""One suite for every strategy of the zoo."""

import pickle

import numpy as np
import pytest
from conftest import INTERPRETED, THOROUGH
from table import ONE_OF_EACH, RANDOMISED, ROWS, T, make, world

import driftbandits as db
from driftbandits.protocol import propensities
from driftbandits.testing import CHECKS, check_strategy

#: They search the paper's confidence set by branch and bound, which takes minutes without the compiler.
SEARCHING = {"scb_pw_weight_ucb", "ofu_log"}


def marks(row):
    """All tests of a strategy on one worker: it is compiled once."""
    group = pytest.mark.xdist_group(row)
    if INTERPRETED:
        return (group, pytest.mark.slow) if row in SEARCHING else group
    return group if row in ONE_OF_EACH else (group, pytest.mark.slow)


NAMES = [pytest.param(row, marks=marks(row)) for row in ROWS]


def arms_of(n=8, dim=3, seed=0):
    """Arms of different norms, so that no two scores tie."""
    rng = np.random.default_rng(seed)
    arms = rng.standard_normal((n, dim))
    return arms / np.linalg.norm(arms, axis=1, keepdims=True) * rng.uniform(0.5, 1.0, (n, 1))


def reward(name, rng):
    return float(rng.standard_normal()) if ROWS[name][0] == "linear" else float(rng.integers(0, 2))


@pytest.fixture(scope="module", params=NAMES)
def name(request):
    return request.param


@pytest.fixture(scope="module")
def agent_of(name):
    """Agents of one strategy; building one compiles."""

    def build(seed=0, **options):
        return db.Agent(make(name), dim=3, seed=seed, horizon=T, **options)

    return build


def test_same_seed_same_run_and_choices_in_range(name):
    arms = arms_of()
    one, two = (db.simulate(make(name), world(name, arms), seed=1, checkpoints="all") for _ in range(2))
    assert (one.choices == two.choices).all()
    assert (one.regret == two.regret).all()
    assert one.choices.min() >= 0
    assert one.choices.max() < len(arms)
    assert np.isfinite(one.regret).all()
    assert (np.diff(one.regret) >= -1e-12).all()


ORDER = np.array([5, 2, 7, 0, 1, 6, 3, 4])


@pytest.mark.parametrize("fixed", [pytest.param(row, marks=marks(row)) for row in ROWS if row not in RANDOMISED])
def test_the_order_of_the_arms_does_not_matter(fixed):
    name, arms, order = fixed, arms_of(), ORDER
    plain = db.simulate(make(name), world(name, arms), seed=1, checkpoints="all")
    mixed = db.simulate(make(name), world(name, arms[order]), seed=1, checkpoints="all")
    assert (order[mixed.choices] == plain.choices).all()


@pytest.mark.parametrize("drawn", [pytest.param(row, marks=marks(row)) for row in ROWS if row in RANDOMISED])
def test_the_order_of_the_arms_does_not_matter_to_what_a_randomised_strategy_has_learned(drawn):
    """Its draws meet the arms in another order, so that choices differ; what it knows of the arms, and their propensities, do not."""
    arms, rng = arms_of(), np.random.default_rng(2)
    plain, mixed = (db.Agent(make(drawn), dim=3, seed=0, horizon=T) for _ in range(2))
    for _ in range(6):
        k, r = int(rng.integers(len(arms))), reward(drawn, rng)
        for agent, offer, index in ((plain, arms, k), (mixed, arms[ORDER], int(np.flatnonzero(k == ORDER)[0]))):
            agent.select(offer)
            agent.update(r, x=offer[index], age=0)
    np.testing.assert_allclose(mixed.theta, plain.theta, rtol=1e-9, atol=1e-12)
    if propensities.knows(type(plain.strategy)):
        np.testing.assert_allclose(
            mixed.propensities(arms[ORDER]), plain.propensities(arms)[ORDER], rtol=1e-7, atol=1e-9
        )


def test_the_agent_chooses_what_the_loop_chooses(name, agent_of):
    """The same strategy (an agent may have chosen the one-pass estimator), one decision at a time, on the same rewards."""
    arms = arms_of()
    env = world(name, arms)
    strategy = agent_of().strategy
    if not (INTERPRETED or THOROUGH) and strategy != make(name):
        pytest.skip("a loop that no other test needs is compiled by make test-all; interpreted, it runs in make test")
    run = db.simulate(strategy, env, seed=3, checkpoints="all")
    noise_seed, own_seed = np.random.SeedSequence(3).spawn(2)
    from driftbandits.env.rewards import draws, respond

    noise = draws(env.reward, np.random.default_rng(noise_seed), T)
    theta = env.path.to_array()
    agent = agent_of(own_seed)
    for t in range(T):
        k = agent.select(arms)
        assert k == run.choices[t]
        agent.update(respond(env.reward, float(arms[k] @ theta[t]), noise[t]))


def test_select_takes_the_best_score_and_all_numbers_are_finite(name, agent_of):
    agent, rng = agent_of(check="off"), np.random.default_rng(0)
    for t in range(15):
        arms = arms_of(n=1 + t % 5, seed=t)  # the arms change, which only check="off" allows MASTER
        scores = agent.scores(arms)
        assert np.isfinite(scores).all()
        np.testing.assert_array_equal(agent.scores(arms), scores)
        k = agent.select(arms)
        assert scores[k] >= scores.max() - 1e-9 * (1 + abs(scores.max()))
        agent.update(reward(name, rng))
    assert agent.theta.shape == (agent.info().get("features", 3),)  # of a learner on features, theirs
    assert np.isfinite(agent.theta).all()
    assert agent.info()


def test_the_checks_that_users_have_too(name):
    """Bad input, looking, order of arms, save and load, threads, late rewards, growth: see `driftbandits.testing`."""
    rewards = (lambda rng: float(rng.standard_normal())) if ROWS[name][0] == "linear" else None
    assert len(check_strategy(make(name), horizon=T, rounds=8, reward=rewards)) == len(CHECKS)


def test_a_strategy_is_plain_data(name):
    strategy = make(name)
    assert pickle.loads(pickle.dumps(strategy)) == strategy
    assert isinstance(hash(strategy), int)
