"""Nothing that is not finite stays, nothing is overwritten that counts, nothing is changed that compiled code relies on."""

import warnings

import numpy as np
import pytest
from conftest import INTERPRETED

import driftbandits as db
from driftbandits.agent.guard import IllConditionedWarning
from driftbandits.core import state
from driftbandits.errors import NumericalError, ReadOnly

LINEAR = {"S": 1.0, "L": 1.0, "R": 1.0, "delta": 0.1}
LINE = np.array([0.3, 0.6, 0.7])  # all observations on one line: V is λI beside it
pytestmark = pytest.mark.filterwarnings(
    "ignore::RuntimeWarning"
)  # interpreted, NumPy tells of overflow; the guard does so too


def state_of(agent):
    return {name: array.tobytes() for name, array in state.pack(agent._state).items()}


def test_overflow_is_undone():
    agent = db.Agent(db.zoo.oful(lam=1.0, **LINEAR), dim=3, seed=0)
    agent.select(np.eye(3))
    agent.update(1.0)
    agent.update(1e308, x=LINE)
    agent.update(1e308, x=LINE)
    before = state_of(agent)
    with pytest.raises(NumericalError, match=r"undone.*1e\+308 makes the sums overflow") as caught:
        agent.update(1e308, x=LINE)
    assert "\n" not in str(caught.value)
    assert state_of(agent) == before
    agent.select(np.eye(3))  # and it goes on
    agent.update(0.5)
    assert np.isfinite(agent.theta).all()


@pytest.mark.parametrize("strategy", [db.zoo.oful, lambda **k: db.zoo.master(db.zoo.oful(**k), horizon=50)])
@pytest.mark.interpreted
def test_a_ridge_lost_in_rounding_is_undone(strategy):
    agent = db.Agent(strategy(lam=1e-17, **LINEAR), dim=3, seed=0)
    before = state_of(agent)
    with pytest.raises(NumericalError, match=r"undone.*raise lam"):
        agent.update(1.0, x=LINE)
    assert state_of(agent) == before


def test_an_undone_late_reward_leaves_the_clock():
    agent = db.Agent(db.zoo.oful(lam=1.0, **LINEAR), dim=3, seed=0)
    agent.update(1.7e308, x=LINE)
    agent.select(LINE[None])
    agent.select(LINE[None])
    before = state_of(agent)
    with pytest.raises(NumericalError):
        agent.update(1.7e308, x=LINE, age=1)
    assert state_of(agent) == before
    agent.update(-1.7e308, x=LINE, age=1)


def test_few_correct_digits_are_said_once():
    agent = db.Agent(db.zoo.oful(lam=1e-14, **LINEAR), dim=3, seed=0)
    with pytest.warns(IllConditionedWarning, match="nearly singular.*raise lam"):
        agent.update(1.0, x=LINE)
    with warnings.catch_warnings():
        warnings.simplefilter("error", IllConditionedWarning)
        for _ in range(5):
            agent.update(1.0, x=LINE)


def test_a_small_ridge_beside_data_that_differ_is_fine():
    agent = db.Agent(db.zoo.oful(lam=1e-14, **LINEAR), dim=3, seed=0)
    with pytest.warns(IllConditionedWarning):  # one observation leaves two directions to λ
        agent.update(1.0, x=np.eye(3)[0])
    for t in range(30):
        agent.update(1.0, x=np.eye(3)[t % 3])
    np.testing.assert_allclose(agent.theta, 1.0)


def test_the_state_is_copied_only_where_an_update_can_fail(monkeypatch):
    copies = []
    monkeypatch.setattr("driftbandits.agent.guard.duplicate", lambda state: copies.append(state))
    agent = db.Agent(db.zoo.lb_weight_ucb(gamma=0.99, lam=1e-6, **LINEAR), dim=3, seed=0)
    agent._guard._trace = (
        0.999e11 * 1e-6
    )  # as after 1e5 observations: the bound of the trace comes near, the trace is small
    for _ in range(500):
        agent.update(0.5, x=LINE)
    assert not copies
    agent.update(1e308, x=LINE)
    agent.update(1e308, x=LINE)
    assert len(copies) == 2
    with pytest.raises(
        NumericalError, match="this agent cannot be used any more"
    ):  # the copies were taken away from the guard
        agent.update(1e308, x=LINE)
    with pytest.raises(db.DriftBanditsError, match="not finite any more"):
        agent.select(np.eye(3))


@pytest.mark.parametrize("name", ["dim", "strategy", "horizon", "check"])
def test_what_compiled_code_relies_on_cannot_be_changed(name):
    agent = db.Agent(db.zoo.oful(lam=1.0, **LINEAR), dim=3, seed=0)
    with pytest.raises(ReadOnly, match=f"Agent.{name} cannot be changed"):
        setattr(agent, name, 64)
    with pytest.raises(ReadOnly):
        delattr(agent, name)
    assert agent.dim == 3
    assert isinstance(ReadOnly("x"), AttributeError)


@pytest.mark.interpreted
@pytest.mark.parametrize("W", [1, 2, 7, 300])
@pytest.mark.parametrize("first", [True, False])
def test_an_outlier_leaves_no_trace_after_leaving_the_window(W, first):
    rng = np.random.default_rng(0)
    agent = db.Agent(db.zoo.sw_ucb(window=W, lam=1.0, **LINEAR), dim=3, seed=0)
    X = rng.uniform(-0.5, 0.5, (3 * W + 1, 3))
    r = X @ [1.0, -1.0, 0.5]
    if not first:
        for x, reward in zip(X, r, strict=True):
            agent.update(reward, x=x)
    agent.update(1e17, x=LINE)
    for s, (x, reward) in enumerate(zip(X, r, strict=True)):
        agent.update(reward, x=x)
        if s >= W - 1:  # the outlier has left
            now = slice(s - W + 1, s + 1)
            theta = np.linalg.solve(np.eye(3) + X[now].T @ X[now], X[now].T @ r[now])
            np.testing.assert_allclose(agent.theta, theta, rtol=0, atol=1e-11)


@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=() if INTERPRETED else pytest.mark.slow) for n in ("glm_ucb", "adaptive", "master", "bob")],
)
def test_generalized_agents_do_not_forget_past_their_horizon(name):
    """The exact estimator: the ring of raw observations is sized by the horizon, and grows beyond it."""
    common = {"S": 2.0, "L": 1.0, "delta": 0.05, "estimator": "exact"}
    T = 10
    strategy = {
        "glm_ucb": lambda: db.zoo.glm_ucb(lam=2.0, **common),
        "adaptive": lambda: db.zoo.adaptive_weight_glm_ucb(lam=2.0, link="logistic", **common),
        "master": lambda: db.zoo.master(db.zoo.glm_ucb(lam=2.0, **common), horizon=T),
        "bob": lambda: db.zoo.bob_glm(link="logistic", horizon=T, dim=2, lam=2.0, S=2.0, L=1.0, estimator="exact"),
    }[name]()
    short, long = db.Agent(strategy, dim=2, seed=0, horizon=T), db.Agent(strategy, dim=2, seed=0, horizon=100)
    rng = np.random.default_rng(0)
    for _ in range(35):
        x = rng.uniform(-0.7, 0.7, 2)
        reward = float(rng.random() < 1 / (1 + np.exp(-(x @ [1.0, -1.0]))))
        short.update(reward, x=x)
        long.update(reward, x=x)
    np.testing.assert_allclose(short.theta, long.theta, rtol=1e-8)


@pytest.mark.slow
@pytest.mark.compiled
def test_glm_ucb_far_past_its_horizon_finds_the_truth():
    agent = db.Agent(db.zoo.glm_ucb(lam=1.0, S=2.0, L=1.0, delta=0.05), dim=2, seed=0, horizon=200)
    rng = np.random.default_rng(0)
    for _ in range(1000):
        x = rng.uniform(-0.7, 0.7, 2)
        agent.update(float(rng.random() < 1 / (1 + np.exp(-(x @ [1.0, -1.0])))), x=x)
    np.testing.assert_allclose(
        agent.theta, [1.0, -1.0], atol=0.5
    )  # √(2·5.5/1000) ≈ 0.1 is a standard deviation, the ridge costs as much
    assert agent.info()["observations"] == 1000
