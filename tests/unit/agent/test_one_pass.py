"""An agent never grows: which strategies it runs in one pass, and how large it is after many rounds."""

from typing import NamedTuple

import numpy as np
import pytest
from conftest import INTERPRETED

import driftbandits as db
from driftbandits import zoo
from driftbandits.agent.one_pass import one_pass_for_agents
from driftbandits.core.kernel import part
from driftbandits.core.state import pack
from driftbandits.links import ddmu, dmu, mu
from driftbandits.model import Generalized, OnePassMean

GLB = {"lam": 2.0, "S": 1.0, "L": 1.0, "delta": 0.05}
SCB = GLB | {"lam": 20.0}
MADE = {
    "glm_ucb": lambda **o: zoo.glm_ucb(**GLB, **o),
    "glb_weight_ucb": lambda **o: zoo.glb_weight_ucb(gamma=0.9, **GLB, **o),
    "glb_restart_ucb": lambda **o: zoo.glb_restart_ucb(period=10, **GLB, **o),
    "log_ucb1": lambda **o: zoo.log_ucb1(**SCB, **o),
    "scb_weight_ucb": lambda **o: zoo.scb_weight_ucb(gamma=0.9, **SCB, **o),
    "scb_restart_ucb": lambda **o: zoo.scb_restart_ucb(period=10, **SCB, **o),
    "adaptive_weight_glm_ucb": lambda **o: zoo.adaptive_weight_glm_ucb(**GLB, **o),
    "bob_glm": lambda **o: zoo.bob_glm(horizon=50, dim=2, lam=2.0, S=1.0, L=1.0, **o),
    "master": lambda **o: zoo.master(zoo.glm_ucb(**GLB, **o), horizon=50),
}


def model_of(strategy):
    return model_of(strategy.base) if hasattr(strategy, "base") else strategy.model


@pytest.mark.parametrize("name", MADE)
def test_the_estimator_is_the_one_asked_for(name):
    """By default exact, but for an agent; "exact" and "one_pass" are themselves everywhere."""
    make = MADE[name]
    assert isinstance(model_of(make()), Generalized)
    for strategy, kind in (
        (make(), OnePassMean),
        (make(estimator="one_pass"), OnePassMean),
        (make(estimator="exact"), Generalized),
    ):
        assert isinstance(model_of(one_pass_for_agents(strategy)), kind)
    assert model_of(one_pass_for_agents(make())) == model_of(make(estimator="one_pass"))
    with pytest.raises(db.errors.InvalidValue, match="estimator = 'quick' is not allowed"):
        make(estimator="quick")


def test_what_needs_its_past_keeps_it():
    """A window takes observations back, other projections and sets of parameters are defined by the likelihood itself."""
    for strategy in (
        zoo.sw_glm_ucb(window=5, **GLB),
        zoo.d_glm_ucb(gamma=0.9, **GLB),
        zoo.bvd_glm_ucb(gamma=0.9, **GLB),
        zoo.sc_d_glm_ucb(gamma=0.9, **SCB),
        zoo.ofu_log(**SCB),
        zoo.lb_weight_ucb(gamma=0.9, R=1.0, **GLB),
        zoo.glb_weight_ucb(gamma=0.9, **GLB)._replace(memory=db.memory.Window(W=5)),
    ):
        assert one_pass_for_agents(strategy) is strategy


@part
class Bare(NamedTuple):
    """A link without its log-partition, which the one-pass step needs."""


@mu.register(Bare)
def _(link, z):
    return z


@dmu.register(Bare)
def _(link, z):
    return 1.0


@ddmu.register(Bare)
def _(link, z):
    return 0.0


@pytest.mark.interpreted
def test_a_link_without_log_partition_stays_exact():
    strategy = zoo.glm_ucb(link=Bare(), R=1.0, **GLB)
    assert one_pass_for_agents(strategy) is strategy


SLOW_COMPILED = [] if INTERPRETED else [pytest.mark.slow]  # interpreted in every run


def once(test):
    """A test that costs a compilation of its own."""
    for mark in SLOW_COMPILED:
        test = mark(test)
    return test


def bytes_after(agent, rounds, seed=0):
    """Decide and learn from arms that change; the size of the state."""
    rng = np.random.default_rng(seed)
    for _ in range(rounds):
        arms = rng.standard_normal((3, 2))
        k = agent.select(arms / np.maximum(1.0, np.linalg.norm(arms, axis=1, keepdims=True)))
        agent.update(float(k == 0))
    return sum(array.nbytes for array in pack(agent._state).values())


@pytest.mark.parametrize(
    "name",
    [
        "glb_weight_ucb",
        *(
            pytest.param(name, marks=() if INTERPRETED else pytest.mark.slow)
            for name in ("glm_ucb", "scb_weight_ucb", "adaptive_weight_glm_ucb", "bob_glm", "master")
        ),
    ],
)
def test_the_state_of_an_agent_does_not_grow(name):
    """Not by a byte, where the exact estimator keeps every observation; 10⁵ rounds against 10³ in the slow test below."""
    first, more = (20, 60) if INTERPRETED else (1000, 4000)
    agent = db.Agent(MADE[name](), dim=2, check="off")  # MASTER would refuse arms that change
    assert bytes_after(agent, first) == bytes_after(agent, more)


@pytest.mark.interpreted
def test_exact_agents_grow():
    """What the default avoids, and what the test above could not miss."""
    agent = db.Agent(zoo.glm_ucb(estimator="exact", **GLB), dim=2)
    assert bytes_after(agent, 20) < bytes_after(agent, 80)


@pytest.mark.slow
@pytest.mark.compiled
@pytest.mark.parametrize("name", ["glb_weight_ucb", "adaptive_weight_glm_ucb"])
def test_round_100_000_is_as_large_as_round_1_000(name):
    """Time is measured in benchmarks/bench_one_pass.py."""
    agent = db.Agent(MADE[name](), dim=3)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1000, 3)) / 2
    X /= np.maximum(1.0, np.linalg.norm(X, axis=1, keepdims=True))
    r = rng.integers(0, 2, 1000).astype(float)
    sizes = []
    for t in range(100_000):
        agent.update(r[t % 1000], x=X[t % 1000])
        if t + 1 in (1_000, 100_000):
            sizes.append(sum(array.nbytes for array in pack(agent._state).values()))
    assert sizes[0] == sizes[1]
    assert np.isfinite(agent.theta).all()


# ------------------------------------------------------------------------------------------------- what the estimate is worth


@once
def test_with_the_identity_link_the_one_pass_estimate_is_that_of_lb_weight_ucb():
    """θ to 1e-12, and the same choices where the bonus is the same: GLB's has the factor 2k_μ/c_μ = 2."""
    common = {"gamma": 0.95, "lam": 1.5, "S": 1.0, "L": 1.0, "R": 0.7, "delta": 0.05}
    linear = db.Agent(zoo.lb_weight_ucb(**common), dim=3, seed=0)
    one_pass = db.Agent(
        zoo.glb_weight_ucb(link="identity", estimator="one_pass", bonus_scale=0.5, **common), dim=3, seed=0
    )
    rng = np.random.default_rng(1)
    for _ in range(60 if INTERPRETED else 300):
        arms = rng.standard_normal((6, 3))
        arms /= np.maximum(1.0, np.linalg.norm(arms, axis=1, keepdims=True))
        np.testing.assert_allclose(one_pass.scores(arms), linear.scores(arms), rtol=0, atol=1e-12)
        k = linear.select(arms)
        assert one_pass.select(arms) == k
        r = float(arms[k] @ [0.5, -0.5, 0.2] + 0.3 * rng.standard_normal())
        linear.update(r)
        one_pass.update(r)
        np.testing.assert_allclose(one_pass.theta, linear.theta, rtol=0, atol=1e-12)


@once
def test_the_one_pass_estimate_follows_the_exact_one():
    """Both forget over 50 rounds; their distance is small against the noise of either, which is about √(d·4/50) = 0.5."""
    rounds = 80 if INTERPRETED else 400
    rng = np.random.default_rng(2)
    exact, one_pass = (
        db.Agent(zoo.glb_weight_ucb(gamma=0.98, lam=5.0, S=2.0, L=1.0, delta=0.05, estimator=e), dim=3)
        for e in ("exact", "one_pass")
    )
    far = []
    for _ in range(rounds):
        x = rng.standard_normal(3)
        x /= max(1.0, np.linalg.norm(x))
        r = float(rng.random() < 1 / (1 + np.exp(-x @ [1.0, -1.0, 0.5])))
        for agent in (exact, one_pass):
            agent.update(r, x=x)
        far.append(np.linalg.norm(exact.theta - one_pass.theta))
    assert np.mean(far) < 0.1
    assert max(far) > 0.0
