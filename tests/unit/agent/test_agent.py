"""One decision at a time: what is refused, and that a refusal changes nothing."""

import numpy as np
import pytest
import scipy.sparse

import driftbandits as db
from driftbandits.errors import InvalidShape, InvalidState, InvalidValue

ARMS = np.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]])


def agent(**options):
    return db.Agent(db.zoo.lb_weight_ucb(gamma=0.9, lam=1, S=1, L=1, R=1, delta=0.1), dim=2, **options)


def played():
    a = agent()
    for reward in (0.3, -0.2, 0.9):
        a.select(ARMS)
        a.update(reward)
    return a


def test_learns_and_tells():
    a = played()
    assert a.scores(ARMS).shape == (3,)
    assert a.info()["observations"] == 3
    assert a.info()["effective_memory"] == pytest.approx(1 + 0.9 + 0.81)
    assert a.select(ARMS.tolist()) == int(np.argmax(a.scores(ARMS)))


def test_arms_may_differ_in_every_call():
    a = played()
    for n in (1, 7, 100, 2):
        arms = db.env.unit_arms(n, dim=2, seed=n)
        k = a.select(arms)
        assert k == int(np.argmax(a.scores(arms)))
        a.update(0.0)


def test_feeding_an_observation_equals_selecting_it():
    one, two = agent(), agent()
    for t in range(20):
        k = one.select(ARMS)
        one.update(0.1 * t)
        two.update(0.1 * t, x=ARMS[k])
    np.testing.assert_array_equal(one.theta, two.theta)
    np.testing.assert_array_equal(one.scores(ARMS), two.scores(ARMS))


def test_theta_is_a_copy():
    a = played()
    a.theta[:] = 7.0
    assert (a.theta != 7.0).all()


@pytest.mark.parametrize(
    ("arms", "error", "words"),
    [
        ([[np.nan, 0.0]], InvalidValue, "NaN or infinity"),
        ([[np.inf, 0.0]], InvalidValue, "NaN or infinity"),
        ([[1.0, 0.0, 0.0]], InvalidShape, r"\(1, 3\).*\(n, 2\)"),
        ([1.0, 0.0], InvalidShape, r"\(n, 2\)"),
        (np.zeros((0, 2)), InvalidShape, "n ≥ 1"),
        ([[3.0, 4.0]], InvalidValue, "norm 5 > L = 1"),
        ([["a", 0.0]], InvalidValue, "arms holds strings"),
        ([[None, 0.0]], InvalidValue, "arms holds objects"),
        ([[1j, 0.0]], InvalidValue, "arms holds complex numbers"),
        ([[0.5, 0.0], [0.5]], InvalidShape, "different lengths"),
        (scipy.sparse.eye(2), InvalidValue, r"arms is sparse.*toarray"),
    ],
)
def test_bad_arms_change_nothing(arms, error, words):
    a = played()
    before = a.scores(ARMS), a.theta
    for call in (a.select, a.scores):
        with pytest.raises(error, match=words):
            call(arms)
    np.testing.assert_array_equal(a.scores(ARMS), before[0])
    np.testing.assert_array_equal(a.theta, before[1])


@pytest.mark.parametrize(
    ("reward", "x", "error", "words"),
    [
        (np.nan, None, InvalidValue, "reward"),
        (np.inf, None, InvalidValue, "reward"),
        ("much", None, InvalidValue, "a text; it must be a number"),
        (0.5, [np.nan, 0.0], InvalidValue, "NaN"),
        (0.5, [1.0, 0.0, 0.0], InvalidShape, r"\(2,\)"),
        (0.5, [3.0, 4.0], InvalidValue, "norm 5 > L = 1"),
    ],
)
def test_bad_observations_change_nothing(reward, x, error, words):
    a = played()
    a.select(ARMS)
    before = a.theta
    with pytest.raises(error, match=words):
        a.update(reward, x=x)
    np.testing.assert_array_equal(a.theta, before)
    a.update(0.5)  # the selection is still open


def test_update_without_select():
    a = agent()
    with pytest.raises(InvalidState, match="update without select"):
        a.update(1.0)
    a.select(ARMS)
    a.update(1.0)
    with pytest.raises(InvalidState, match="update without select"):
        a.update(1.0)


def test_long_arms_on_request():
    with pytest.warns(UserWarning, match="norm 5 > L = 1"):
        agent(check="warn").select([[3.0, 4.0]])
    assert agent(check="off").select([[3.0, 4.0]]) == 0


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"gamma": 0.0}, "gamma = 0.0"),
        ({"gamma": 1.1}, r"gamma = 1.1 .*\(0, 1\]"),
        ({"gamma": np.nan}, "gamma"),
        ({"gamma": None}, "gamma or half_life"),
        ({"half_life": 5}, "gamma or half_life"),
        ({"gamma": None, "half_life": -1}, "half_life"),
        ({"lam": 0.0}, "lam = 0.0"),
        ({"delta": 0.0}, "delta"),
        ({"delta": 1.0}, "delta"),
        ({"S": -1.0}, "S = -1.0"),
        ({"L": 0.0}, "L = 0.0"),
        ({"R": -1.0}, "R = -1.0"),
        ({"bonus_scale": -1.0}, "bonus_scale"),
        ({"radius": "cube"}, "radius = 'cube'"),
        ({"radius_n": "w3"}, "radius_n = 'w3'"),
        ({"lam": "two"}, "lam"),
    ],
)
def test_bad_parameters_are_said_in_one_line(changes, words):
    good = {"gamma": 0.9, "lam": 1.0, "S": 1.0, "L": 1.0, "R": 1.0, "delta": 0.1}
    with pytest.raises(InvalidValue, match=words) as caught:
        db.zoo.lb_weight_ucb(**{**good, **changes})
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("name", "value"), [("window", 0), ("window", 2.5), ("period", -3)])
def test_windows_and_periods_are_whole_numbers(name, value):
    make = db.zoo.sw_ucb if name == "window" else db.zoo.restart_ucb
    with pytest.raises(InvalidValue, match="whole number"):
        make(**{name: value}, lam=1, S=1, L=1, R=1, delta=0.1)


def test_uniform_in_time_asks_for_the_horizon():
    strategy = db.zoo.oful(lam=1, S=1, L=1, R=1, delta=0.1, uniform_in_time=True)
    with pytest.raises(InvalidValue, match="horizon"):
        db.Agent(strategy, dim=2)
    wide = db.Agent(strategy, dim=2, horizon=100)
    narrow = db.Agent(db.zoo.oful(lam=1, S=1, L=1, R=1, delta=0.1), dim=2)
    assert (wide.scores(ARMS) > narrow.scores(ARMS)).all()


def test_replacing_a_part_s_number_is_checked_too():
    with pytest.raises(InvalidValue, match="gamma"):
        db.memory.Discounted(0.5)._replace(gamma=2.0)


# ------------------------------------------------------------------------------------------------------- noise of known size


def test_known_noise_weighs_like_weighted_least_squares():
    rng, R, gamma, lam = np.random.default_rng(0), 2.0, 0.9, 0.5
    strategy = db.zoo.lb_weight_ucb(gamma=gamma, lam=lam, S=1, L=1, R=R, delta=0.05)
    agent = db.Agent(strategy, dim=2, compile="never")
    X, sigma = db.env.unit_arms(30, dim=2, seed=0), rng.uniform(0.1, R, 30)
    r = X @ [0.5, -0.5] + sigma * rng.normal(size=30)
    for x, reward, size in zip(X, r, sigma, strict=True):
        agent.update(reward, x=x, sigma=size)
    w = gamma ** np.arange(29, -1, -1) * (R / sigma) ** 2
    V = lam * np.eye(2) + (X.T * w) @ X
    np.testing.assert_allclose(agent.theta, np.linalg.solve(V, X.T @ (w * r)), rtol=1e-10)
    expected = np.sqrt(lam) + R * np.sqrt(2 * np.log(20) + 2 * np.log(1 + w.sum() / (2 * lam)))
    assert agent.info()["radius"] == pytest.approx(expected, rel=1e-12)


@pytest.mark.compiled
def test_known_noise_covers():
    """100 runs, δ = 0.1, noise of two sizes: the interval of the last round holds in at least 90 of them (it is conservative: in all)."""
    inside = 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        agent = db.Agent(db.zoo.oful(lam=1, S=1, L=1, R=1, delta=0.1, radius="det"), dim=2, seed=seed, compile="never")
        theta, arms = np.array([0.6, -0.8]), db.env.unit_arms(5, dim=2, seed=seed)
        V = np.eye(2)
        for t in range(40):
            size = 1.0 if t % 2 else 0.1
            k = agent.select(arms)
            agent.update(float(arms[k] @ theta) + size * rng.normal(), sigma=size)
            V += np.outer(arms[k], arms[k]) / size**2
        gap = agent.theta - theta
        inside += gap @ V @ gap <= agent.info()["radius"] ** 2
    assert inside >= 90


@pytest.mark.parametrize(
    ("sigma", "words"),
    [(1.5, "sigma = 1.5 is not allowed; it must be ≤ R = 1"), (0.0, "sigma = 0.0 is not allowed"), (np.nan, "finite")],
)
def test_noise_that_the_strategy_does_not_allow_is_refused(sigma, words):
    agent = db.Agent(db.zoo.oful(lam=1, S=1, L=1, R=1, delta=0.1), dim=1, compile="never")
    agent.update(1.0, x=[1.0])
    before = agent.theta
    with pytest.raises(db.DriftBanditsError, match=words):
        agent.update(1.0, x=[1.0], sigma=sigma)
    assert agent.theta == before


def test_a_strategy_without_one_size_of_noise_refuses_it():
    agent = db.Agent(db.zoo.self_tuning(), dim=1, compile="never")
    with pytest.raises(db.DriftBanditsError, match="has no single noise level R"):
        agent.update(1.0, x=[1.0], sigma=0.5)
