"""Intervals that hold in one round, in all up to a horizon, or in all there are."""

import math

import numpy as np
import pytest

import driftbandits as db
from driftbandits import zoo
from driftbandits.errors import InvalidValue
from driftbandits.radius import Piecewise
from driftbandits.radius.union import ALL, ANYTIME, ONE, union

LB = {"lam": 1.0, "S": 1.0, "L": 1.0, "R": 1.0, "delta": 0.05}
GLB = {"lam": 2.0, "S": 1.0, "L": 1.0, "delta": 0.05}
MAKERS = {
    "oful": lambda u: zoo.oful(uniform_in_time=u, **LB),
    "lb_weight_ucb": lambda u: zoo.lb_weight_ucb(gamma=0.9, uniform_in_time=u, **LB),
    "lb_weight_ucb det": lambda u: zoo.lb_weight_ucb(gamma=0.9, uniform_in_time=u, radius="det", **LB),
    "d_lin_ucb": lambda u: zoo.d_lin_ucb(gamma=0.9, uniform_in_time=u, **LB),
    "sw_ucb": lambda u: zoo.sw_ucb(window=9, uniform_in_time=u, **LB),
    "restart_ucb": lambda u: zoo.restart_ucb(period=9, uniform_in_time=u, **LB),
    "glm_ucb": lambda u: zoo.glm_ucb(uniform_in_time=u, **GLB),
    "glb_weight_ucb": lambda u: zoo.glb_weight_ucb(gamma=0.9, uniform_in_time=u, **GLB),
    "sw_glm_ucb": lambda u: zoo.sw_glm_ucb(window=9, uniform_in_time=u, **GLB),
    "d_glm_ucb": lambda u: zoo.d_glm_ucb(gamma=0.9, uniform_in_time=u, **GLB),
    "bvd_glm_ucb": lambda u: zoo.bvd_glm_ucb(gamma=0.9, uniform_in_time=u, **GLB),
    "log_ucb1": lambda u: zoo.log_ucb1(uniform_in_time=u, **GLB),
    "scb_weight_ucb": lambda u: zoo.scb_weight_ucb(gamma=0.9, uniform_in_time=u, **GLB),
    "sc_d_glm_ucb": lambda u: zoo.sc_d_glm_ucb(gamma=0.9, uniform_in_time=u, **GLB),
    "domd_glb": lambda u: zoo.domd_glb(gamma=0.9, uniform_in_time=u, **GLB),
    "domd_glb published": lambda u: zoo.domd_glb(gamma=0.9, uniform_in_time=u, constants="published", **GLB),
}
DELTA = 0.05


def failure(t):
    """δ_t = δ/(2t(1+log t)²)."""
    return DELTA / (2 * t * (1 + math.log(t)) ** 2)


def test_the_shares_of_all_rounds_add_up_to_at_most_delta():
    """Σ_{t≤10⁶} δ_t, and what remains is at most ∫ dt/(2t(1+log t)²) = 1/(2(1+log 10⁶))."""
    t = np.arange(1, 1_000_001)
    assert np.sum(1 / (2 * t * (1 + np.log(t)) ** 2)) + 1 / (2 * (1 + math.log(1e6))) <= 1.0


def test_what_is_added():
    for t in (1, 2, 17, 10**6):
        assert union(ANYTIME, t) == pytest.approx(math.log(DELTA / failure(t)), rel=1e-13)
        assert union(ALL, t) == pytest.approx(math.log(t))
        assert union(ONE, t) == 0.0


@pytest.mark.interpreted
@pytest.mark.parametrize("name", MAKERS)
def test_the_radius_of_round_t_is_that_of_delta_t(name):
    """An anytime radius after t−1 observations is the plain radius with δ_t, and needs no horizon."""
    make = MAKERS[name]
    rng = np.random.default_rng(0)
    X, r = rng.uniform(-0.5, 0.5, (12, 2)), rng.integers(0, 2, 12).astype(float)
    agent = db.Agent(make("anytime"), dim=2)
    agent.scores(X[:1])
    for t in range(1, 13):
        reference = db.Agent(_with_delta(make(False), failure(t)), dim=2)
        reference.scores(X[:1])
        for s in range(t - 1):
            reference.update(r[s], x=X[s])
        assert agent.info()["radius"] == pytest.approx(reference.info()["radius"], rel=1e-12), t
        agent.update(r[t - 1], x=X[t - 1])


def _with_delta(strategy, delta):
    """The same strategy with another δ, wherever it stands."""
    if hasattr(strategy, "delta"):
        return strategy._replace(delta=delta)
    radius = strategy.radius
    if hasattr(radius, "confidence"):
        radius = radius._replace(confidence=radius.confidence._replace(delta=delta))
    else:
        radius = radius._replace(delta=delta)
    return strategy._replace(radius=radius)


@pytest.mark.interpreted
def test_a_round_without_a_reward_counts():
    """t is the round, not the number of rewards."""
    strategy = zoo.lb_weight_ucb(gamma=1.0, uniform_in_time="anytime", **LB)
    agent = db.Agent(strategy, dim=1)
    for _ in range(3):
        agent.select([[1.0]])
    agent.scores([[1.0]])
    assert agent.info()["radius"] == pytest.approx(1.0 + math.sqrt(2 * math.log(1 / failure(3))), rel=1e-12)


def test_a_horizon_is_asked_for_only_where_it_is_used():
    with pytest.raises(InvalidValue, match="the radius needs the horizon"):
        db.Agent(zoo.lb_weight_ucb(gamma=0.9, uniform_in_time=True, **LB), dim=2, compile="never")
    db.Agent(zoo.lb_weight_ucb(gamma=0.9, uniform_in_time="anytime", **LB), dim=2, compile="never")


def test_what_is_refused():
    with pytest.raises(InvalidValue, match="uniform_in_time = 'always' is not allowed; it must be False"):
        zoo.oful(uniform_in_time="always", **LB)
    with pytest.raises(InvalidValue, match="uniform = 7"):
        db.radius.SelfNormalised(lam=1, S=1, L=1, R=1, delta=0.1, uniform=7)
    constants = {"lam": 20, "c_mu": 0.2, "k_mu": 0.25, "S": 1, "L": 1, "m": 1, "delta": 0.1, "gamma": 0.9}
    with pytest.raises(InvalidValue, match=r"D = 0.0 is not allowed; it must be > 0 with uniform_in_time='anytime'"):
        Piecewise(**constants, uniform=ANYTIME)
    assert Piecewise(**constants, uniform=ANYTIME, D=5).D == 5.0
