"""The learner that needs nothing set: its propensities are the law of its choices, and units do not matter."""

import numpy as np
import pytest
from conftest import INTERPRETED
from scipy.stats import chi2

import driftbandits as db
from driftbandits.adaptive.by_memory import of_memories
from driftbandits.errors import CannotRead, DriftBanditsError, InvalidState, InvalidValue

pytestmark = [
    pytest.mark.xdist_group("self_tuning"),
    pytest.mark.interpreted,
]  # it compiles for a minute: make test-all


def taught(rounds=60, dim=3, n=6, seed=0, **options):
    """An agent that has learned something, and arms of which two are the same."""
    rng = np.random.default_rng(seed)
    agent = db.Agent(db.zoo.self_tuning(**options), dim=dim, seed=seed)
    theta = rng.standard_normal(dim)
    for _ in range(rounds):
        arms = rng.standard_normal((n, dim))
        k = agent.select(arms)
        agent.update(float(arms[k] @ theta + 0.5 * rng.standard_normal()))
    arms = rng.standard_normal((n, dim)) * 0.3
    arms[4] = arms[1]
    return agent, arms


def frequencies_agree(agent, offer, draws):
    """χ² of counts against the sum of the propensities asked for before every draw, at level 1e-4; every propensity > 0."""
    counts, expected = np.zeros(0), np.zeros(0)
    for _ in range(draws):
        p = agent.propensities(offer)
        k = agent.select(offer)
        if not len(counts):
            counts, expected = np.zeros(len(p)), np.zeros(len(p))
        counts[k] += 1
        expected += p
    assert abs(expected.sum() - draws) < 1e-9 * draws
    some = expected > 5
    statistic = ((counts - expected)[some] ** 2 / expected[some]).sum()
    assert statistic < chi2.isf(1e-4, max(some.sum() - 1, 1)), (counts, expected)
    rare = expected[~some].sum()
    assert abs(counts[~some].sum() - rare) <= 5 + 3 * np.sqrt(rare + 1)


DRAWS = 1200 if INTERPRETED else 30_000


def test_propensities_are_the_law_of_the_choice():
    frequencies_agree(*taught(), DRAWS)


@pytest.mark.slow
@pytest.mark.compiled
def test_in_many_draws():
    frequencies_agree(*taught(seed=1), 100_000)


def test_with_a_floor():
    agent, arms = taught(explore=0.05)
    frequencies_agree(agent, arms, DRAWS // 6)
    assert agent.propensities(arms).min() >= 0.05 / 6


@pytest.mark.interpreted
def test_of_items():
    rng = np.random.default_rng(0)
    agent = db.Agent(db.zoo.self_tuning(features="disjoint"), dim=2, items=4)
    for _ in range(40):
        context = rng.standard_normal(2)
        k = agent.select(context)
        agent.update(0.2 * k * context[0] + rng.standard_normal())
    agent.drop_item(2)
    assert agent.add_item() == 4
    context = np.array([0.3, -0.2])
    assert agent.propensities(context)[2] == 0
    frequencies_agree(agent, context, DRAWS // 3)


def test_the_first_choice_is_uniform():
    agent = db.Agent(db.zoo.self_tuning(), dim=3)
    np.testing.assert_allclose(agent.propensities(np.eye(3) + 5), 1 / 3)


def test_asking_changes_nothing():
    one, arms = taught()
    two, _ = taught()
    for _ in range(5):
        one.propensities(arms)
        one.scores(arms)
    for _ in range(20):
        k = one.select(arms)
        assert k == two.select(arms)
        one.update(0.1 * k)
        two.update(0.1 * k)
        one.propensities(arms)


def test_asking_between_a_choice_and_its_reward_changes_nothing():
    one, arms = taught(rounds=10)
    two, _ = taught(rounds=10)
    for _ in range(20):
        k = one.select(arms)
        assert k == two.select(arms)
        one.propensities(arms)
        one.update(0.1 * k)
        two.update(0.1 * k)
    np.testing.assert_allclose(one.theta, two.theta, rtol=1e-12)


@pytest.mark.interpreted  # what every learner does with a late reward is compiled in tests/unit/memory/test_late.py
def test_rewards_may_be_late():
    """A reward that comes five decisions late counts in every memory as if it had come in time."""
    rng = np.random.default_rng(0)
    agent = db.Agent(db.zoo.self_tuning(), dim=3)
    played = []
    for t in range(60):
        arms = rng.standard_normal((5, 3))
        played.append(arms[agent.select(arms)])
        if t >= 5:
            agent.update(float(played[t - 5].sum()), x=played[t - 5], age=5)
    assert len(agent.info()["drift_events"]) == 0
    engine = agent._state.engine
    for rate, n in zip(
        engine.rate, of_memories(engine.n, len(engine.rate)), strict=True
    ):  # as of the newest decision with a reward, the 55th
        assert n == pytest.approx(sum(np.exp(-rate * age) for age in range(55)))
    np.testing.assert_allclose(agent.theta, 1.0, atol=0.1)


@pytest.mark.interpreted
def test_others_have_no_propensities():
    agent = db.Agent(db.zoo.oful(lam=1, S=1, L=1, R=1, delta=0.1), dim=2)
    with pytest.raises(InvalidState, match="known probabilities"):
        agent.propensities(np.eye(2))


# ----------------------------------------------------------------------------------------------------------------- invariance


def choices(features=lambda X: X, rewards=lambda r: r, arms=None, columns=None, rounds=150, disjoint=False, **options):
    """What is played in a fixed world described in other units, numbered as in the original."""
    rng = np.random.default_rng(3)
    d, n = 5, 6
    theta = rng.standard_normal((n, d)) if disjoint else rng.standard_normal(d)
    arms = np.arange(n) if arms is None else np.asarray(arms)
    columns = np.arange(d) if columns is None else np.asarray(columns)
    strategy = db.zoo.self_tuning(features="disjoint" if disjoint else "shared", **options)
    agent = db.Agent(strategy, dim=d, items=n if disjoint else None, seed=1)
    played = []
    for t in range(rounds):
        X = rng.standard_normal((n, d)) + np.linspace(-2, 2, d)
        noise = rng.standard_normal()
        mean = theta @ X[0] if disjoint else X @ (theta if t < 100 else -theta)
        offer = features(X[0])[columns] if disjoint else features(X)[arms][:, columns]
        k = agent.select(offer)
        k = k if disjoint else arms[k]
        agent.update(rewards(mean[k] + noise))
        played.append(k)
    return np.array(played)


@pytest.mark.parametrize("disjoint", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_units_of_features_and_rewards_do_not_matter(disjoint):
    plain = choices(disjoint=disjoint)
    assert len(set(plain)) > 3
    np.testing.assert_array_equal(choices(lambda X: 1000 * X, disjoint=disjoint), plain)
    np.testing.assert_array_equal(choices(rewards=lambda r: 1000 * r, disjoint=disjoint), plain)
    np.testing.assert_array_equal(choices(columns=[3, 0, 4, 2, 1], disjoint=disjoint), plain)


def test_the_order_of_the_arms_matters_only_among_equals():
    """Before anything is known all arms are equal, and the draw meets them in their order."""
    plain, mixed = choices(), choices(arms=[5, 2, 0, 1, 4, 3])
    assert (mixed[0] != plain[0]) or (mixed == plain).all()
    assert (mixed == plain)[30:].mean() > 0.9


@pytest.mark.slow
def test_another_origin_of_items():
    """Items always have an intercept: only the very first rounds, before anything is centred, can tell."""
    plain = choices(disjoint=True)
    assert (choices(lambda X: X + 500, disjoint=True) == plain).mean() > 0.9
    assert (choices(rewards=lambda r: r + 500, disjoint=True) == plain).mean() > 0.9


def test_another_origin_of_shared_features():
    """Features and rewards are centred by themselves."""
    plain = choices()
    assert (choices(lambda X: X + 500, rewards=lambda r: r + 500) == plain).mean() > 0.9


# ---------------------------------------------------------------------------------------------------------------- looking in


def test_what_it_tells():
    rng = np.random.default_rng(0)
    agent = db.Agent(db.zoo.self_tuning(), dim=2)
    assert agent.info()["observations"] == 0
    for t in range(500):
        arms = rng.standard_normal((5, 2))
        k = agent.select(arms)
        agent.update(float(arms[k] @ ([1.0, 0.5] if t < 300 else [-1.0, 0.5]) + 0.1 * rng.standard_normal()))
    info = agent.info()
    assert len(info["weights"]) == len(info["memories"]) == 7
    assert np.sum(info["weights"]) == pytest.approx(1)
    assert 0 <= info["static"] < 0.5  # what never forgets is wrong here
    assert 300 < info["drift_events"][0] < 340
    assert info["effective_memory"] < 250
    assert 0.05 < info["noise"] < 0.4
    inside, outside = info["calibration"]
    assert 0 < outside < inside < 0.5
    np.testing.assert_allclose(agent.theta, [-1.0, 0.5], atol=0.15)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"reward": "money"}, "one of 'value', 'click', 'count', 'amount'"),
        ({"features": "some"}, "disjoint"),
        ({"explore": 1.5}, "explore"),
    ],
)
def test_bad_options(options, words):
    with pytest.raises(InvalidValue, match=words):
        db.zoo.self_tuning(**options)


def test_items_and_arms_are_not_mixed_up():
    with pytest.raises(InvalidValue, match="items=K"):
        db.Agent(db.zoo.self_tuning(features="disjoint"), dim=2)
    with pytest.raises(InvalidValue, match="disjoint"):
        db.Agent(db.zoo.self_tuning(), dim=2, items=3)
    with pytest.raises(InvalidValue, match="no model per item"):
        db.Agent(db.zoo.oful(lam=1, S=1, L=1, R=1, delta=0.1), dim=2, items=3)
    agent = db.Agent(db.zoo.self_tuning(), dim=2)
    with pytest.raises(InvalidValue, match="no items"):
        agent.add_item()


@pytest.mark.interpreted
@pytest.mark.parametrize(("reward", "bad"), [("click", 2.0), ("count", -1.0)])
def test_rewards_outside_their_family_are_refused(reward, bad):
    agent = db.Agent(db.zoo.self_tuning(reward=reward), dim=2)
    agent.select(np.eye(2))
    with pytest.raises(InvalidValue, match="reward"):
        agent.update(bad)


@pytest.mark.interpreted
def test_memories_that_have_forgotten_most_items_take_no_part():
    rng = np.random.default_rng(0)
    agent = db.Agent(db.zoo.self_tuning(features="disjoint"), dim=2, items=20)
    for _ in range(5):
        agent.select(rng.standard_normal(2))
        agent.update(rng.standard_normal())
    weights = np.array(agent.info()["weights"])
    assert (weights[:2] == 0).all()  # 8 and 21 are less than two rounds per item
    assert (weights[2:] > 0).all()


def test_agents_saved_by_earlier_versions_and_forged_ones_are_refused():
    agent = db.Agent(db.zoo.self_tuning(), dim=2)
    about, arrays = agent.pack()
    before = about | {"strategy": about["strategy"] | {"reward": {"part": "Value"}}}
    with pytest.raises(CannotRead, match="from another version"):
        db.Agent.unpack(before, arrays)
    forged = arrays | {"state.layout.item": np.array([0, 1, 7])}
    with pytest.raises(DriftBanditsError):
        db.Agent.unpack(about, forged)
