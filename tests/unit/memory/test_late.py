"""Late and weighted rewards: every estimate is the one it would be had the reward come in time."""

import numpy as np
import pytest
from conftest import INTERPRETED
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import linear
from naive.generalized import Likelihood, qmle
from naive.late import late_weights, weight_of_round
from problems import assert_close

import driftbandits as db
from driftbandits.errors import InvalidState, InvalidValue

LINEAR = {"lam": 0.5, "S": 1.0, "L": 1.0, "R": 1.0, "delta": 0.1}
MEMORIES = [("everything",), ("discounted", 0.8), ("window", 4), ("window", 1), ("restart", 5), ("restart", 1)]
#: Interpreted, all run; compiled, one memory does, and the others under the slow mark: each composition compiles for itself.
AS_A_RULE = pytest.mark.parametrize(
    "memory",
    [
        pytest.param(m, marks=() if INTERPRETED or m[0] == "discounted" else pytest.mark.slow, id="-".join(map(str, m)))
        for m in MEMORIES
    ],
)
GENERALIZED = () if INTERPRETED else pytest.mark.slow


def part(memory):
    kind, *number = memory
    return getattr(db.memory, kind.capitalize())._make(number)


def linear_strategy(memory):
    return db.zoo.d_lin_ucb(gamma=0.5, **LINEAR)._replace(memory=part(memory))  # it keeps the squared weights too


def logistic_strategy(memory):
    strategy = db.zoo.glm_ucb(lam=2.0, S=1.0, L=1.0, delta=0.05)
    return strategy._replace(memory=part(memory), model=strategy.model._replace(projection=db.model.Unprojected()))


def play(agent, X, r, weight, delay, check=None):
    """Round s is decided with one arm, X[s], so that its choice is known; its reward comes `delay[s]` decisions later."""
    T = len(X)
    here = []
    for t in range(T + max(delay, default=0)):
        if t < T:
            agent.select(X[t : t + 1])
        for s in range(min(t, T - 1), -1, -1):
            if s + delay[s] == t:
                agent.update(r[s], x=X[s], weight=weight[s], age=min(t, T - 1) - s)
                here.append(s)
                if check is not None:
                    check(min(t, T - 1) + 1, here)
    return agent


@st.composite
def scripts(draw):
    T = draw(st.integers(1, 14))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = rng.standard_normal((T, 3))
    X /= np.maximum(1.0, np.linalg.norm(X, axis=1, keepdims=True))
    weight = rng.choice([1.0, 1.0, 0.0, 0.3, 2.5], T)
    return X, rng.integers(0, 2, T).astype(float), weight, rng.choice([0, 0, 1, 2, 5, 30], T)


def test_the_oracle_agrees_with_the_one_of_rewards_in_time():
    for memory in MEMORIES:
        for t in range(12):
            own = [weight_of_round(memory, t, s) for s in range(1, t + 1)]
            np.testing.assert_allclose(
                own, linear.weights(memory, t + 1), rtol=1e-14
            )  # powers differ in their last bit between CPUs


@AS_A_RULE
@given(script=scripts())
@settings(max_examples=25, deadline=None)
def test_after_every_late_reward_the_learner_is_the_oracle(memory, script):
    X, r, weight, delay = script
    agent = db.Agent(linear_strategy(memory), dim=3, seed=0)
    arms = np.eye(3)

    def check(t, here):
        w = late_weights(memory, t, [s + 1 for s in here], weight[here])
        assert_close(agent.theta, linear.theta_hat(X[here], r[here], w, LINEAR["lam"]))
        V, V2 = linear.V(X[here], w, LINEAR["lam"]), linear.V_tilde(X[here], w, LINEAR["lam"])
        size = linear.beta(X[here], w, radius_n="w2", **LINEAR)
        scores = arms @ agent.theta + size * linear.sandwich_norms(arms, V, V2)
        assert_close(agent.scores(arms), scores)
        assert agent.info()["observations"] == len(here)
        assert agent.info()["effective_memory"] == pytest.approx(w.sum(), abs=1e-12)

    play(agent, X, r, weight, delay, check)


@pytest.mark.parametrize("memory", [pytest.param(m, marks=GENERALIZED, id="-".join(map(str, m))) for m in MEMORIES])
@given(script=scripts())
@settings(max_examples=10, deadline=None)
def test_late_rewards_of_generalized_models(memory, script):
    X, r, weight, delay = script
    agent = db.Agent(logistic_strategy(memory), dim=3, seed=0)
    model = agent.strategy.model

    def check(t, here):
        w = late_weights(memory, t, [s + 1 for s in here], weight[here])
        assert_close(
            agent.theta, qmle(Likelihood(X[here], r[here], w, "logistic", model.lam, model.c_mu)), tolerance=1e-7
        )

    play(agent, X, r, weight, delay, check)


@AS_A_RULE
@pytest.mark.parametrize("make", [linear_strategy, pytest.param(logistic_strategy, marks=GENERALIZED)])
def test_late_is_as_in_time(memory, make):
    rng = np.random.default_rng(0)
    T = 40
    X = rng.uniform(-0.5, 0.5, (T, 3))
    r, one = rng.integers(0, 2, T).astype(float), np.ones(T)
    in_time = db.Agent(make(memory), dim=3, seed=0)
    for t in range(T):
        in_time.select(X[t : t + 1])
        in_time.update(r[t])
    # the order within a delay of at most 6 is shuffled; afterwards both have seen all
    late = play(db.Agent(make(memory), dim=3, seed=0), X, r, one, rng.integers(0, 7, T))
    assert_close(late.theta, in_time.theta, tolerance=1e-8)
    assert_close(late.scores(np.eye(3)), in_time.scores(np.eye(3)), tolerance=1e-8)
    assert late.info()["observations"] == in_time.info()["observations"] == T


@AS_A_RULE
def test_with_age_0_the_alternation_is_bit_for_bit_the_plain_one(memory):
    rng = np.random.default_rng(1)
    plain, said, fed = (db.Agent(linear_strategy(memory), dim=3, seed=0) for _ in range(3))
    for _ in range(30):
        arms, reward = rng.uniform(-0.5, 0.5, (4, 3)), rng.standard_normal()
        k = plain.select(arms)
        plain.update(reward)
        assert said.select(arms) == fed.select(arms) == k
        said.update(reward, age=0)
        fed.update(reward, x=arms[k])  # the reward of a selection may name what was played
    for other in (said, fed):
        np.testing.assert_array_equal(other.theta, plain.theta)
        np.testing.assert_array_equal(other.scores(arms), plain.scores(arms))


@pytest.mark.interpreted
def test_a_decision_without_a_reward_is_a_round():
    agent = db.Agent(db.zoo.lb_weight_ucb(gamma=0.9, **LINEAR), dim=3, seed=0)
    for _ in range(2):
        agent.select(np.eye(3))
    agent.update(1.0, age=0)
    assert agent.info()["effective_memory"] == 1.0
    for _ in range(3):
        agent.select(np.eye(3))
    assert agent.info()["effective_memory"] == pytest.approx(0.9**2)  # the last round has yet to pass
    assert agent.info()["observations"] == 1


def test_two_open_selections_need_a_word():
    agent = db.Agent(linear_strategy(("discounted", 0.8)), dim=3, seed=0)
    first = agent.select(np.eye(3))
    agent.select(np.eye(3))
    before = agent.theta, agent.info()
    with pytest.raises(InvalidState, match=r"2 selections are open.*age=0.*x=… and age=…"):
        agent.update(1.0)
    with pytest.raises(InvalidState, match=r"age = 1 needs x="):
        agent.update(1.0, age=1)
    np.testing.assert_array_equal(agent.theta, before[0])
    assert agent.info() == before[1]
    agent.update(1.0, x=np.eye(3)[first], age=1)
    agent.update(1.0)  # one is left
    with pytest.raises(InvalidState, match="update without select"):
        agent.update(1.0)


@pytest.mark.interpreted
def test_a_window_has_one_observation_per_round():
    agent = db.Agent(db.zoo.sw_ucb(window=4, **LINEAR), dim=3, seed=0)
    for _ in range(3):
        agent.select(np.eye(3)[:1])
    agent.update(1.0, x=np.eye(3)[0], age=1)
    before = agent.theta
    with pytest.raises(InvalidState, match="age = 1 cannot be learned: Window keeps one observation per round"):
        agent.update(0.0, x=np.eye(3)[1], age=1)
    np.testing.assert_array_equal(agent.theta, before)
    agent.update(0.0, x=np.eye(3)[1], age=2)
    agent.update(0.0, x=np.eye(3)[1], age=70)  # long out of the window
    np.testing.assert_array_equal(agent.theta[2:], 0.0)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"weight": -1.0}, "weight = -1.0"),
        ({"weight": np.nan}, "weight"),
        ({"age": -1}, "age = -1"),
        ({"age": 1.5}, "age = 1.5"),
    ],
)
def test_bad_weights_and_ages_change_nothing(options, words):
    agent = db.Agent(linear_strategy(("discounted", 0.8)), dim=3, seed=0)
    agent.select(np.eye(3))
    with pytest.raises(InvalidValue, match=words):
        agent.update(1.0, **options)
    assert agent.info()["observations"] == 0
    agent.update(1.0)


@pytest.mark.interpreted
@pytest.mark.parametrize("options", [{"weight": 0.5}, {"x": [1.0, 0.0, 0.0], "age": 1}])
def test_strategies_with_a_schedule_say_that_they_cannot(options):
    agent = db.Agent(db.zoo.master(db.zoo.oful(**LINEAR), horizon=40), dim=3, seed=0)
    agent.select(np.eye(3))
    agent.select(np.eye(3))
    before = agent.scores(np.eye(3))
    with pytest.raises(InvalidState, match="Master learns rewards in the order of their rounds"):
        agent.update(0.5, **{"age": 0, **options})
    np.testing.assert_array_equal(agent.scores(np.eye(3)), before)
