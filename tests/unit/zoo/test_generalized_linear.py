"""The generalized linear family: kernels against oracles made from the whole history."""

import naive
import numpy as np
import pytest
from conftest import INTERPRETED
from hypothesis import given, settings
from problems import assert_close, fed, problems

import driftbandits as db
from driftbandits.errors import InvalidValue


def binary(rng, t):
    return rng.integers(0, 2, t).astype(float)


GLB = {"S": 0.7, "L": 1.0, "R": 0.4, "delta": 0.02}


SCB = {"S": 0.7, "L": 1.0, "m": 1.0, "delta": 0.02}


LIKE = {"link": "logistic"}


SCORES = {
    "glm_ucb": (lambda p: {}, GLB, naive.glm_ucb),
    "glb_weight_ucb": (lambda p: {"gamma": p.gamma}, GLB, naive.glb_weight_ucb),
    "glb_restart_ucb": (lambda p: {"period": p.memory}, GLB, naive.glb_restart_ucb),
    "sw_glm_ucb": (lambda p: {"window": p.memory}, GLB, naive.sw_glucb),
    "d_glm_ucb": (lambda p: {"gamma": p.gamma}, GLB, naive.d_glucb),
    "log_ucb1": (lambda p: {}, SCB, naive.log_ucb1),
    "log_ucb2": (lambda p: {}, SCB, naive.log_ucb2),
    "scb_weight_ucb": (lambda p: {"gamma": p.gamma}, SCB, naive.scb_weight_ucb),
    "scb_restart_ucb": (lambda p: {"period": p.memory}, SCB, naive.scb_restart_ucb),
    "sc_d_glm_ucb": (lambda p: {"gamma": p.gamma}, SCB, naive.sc_d_glucb),
}


NAIVE_NAMES = {"period": "H", "window": "W"}
IN_ONE_PASS = {
    "glm_ucb",
    "glb_weight_ucb",
    "glb_restart_ucb",
    "log_ucb1",
    "scb_weight_ucb",
    "scb_restart_ucb",
}  # in an agent


@pytest.mark.interpreted  # compiled in parts (model, sums) and as a whole (contract); each composition by make test-all
@pytest.mark.parametrize("name", SCORES)
@settings(max_examples=3 if INTERPRETED else 8)
@given(problems(max_dim=4, max_arms=8, rewards=binary))
def test_scores(name, problem):
    own, constants, oracle = SCORES[name]
    # λ not so small that θ̂ flies off: the oracle's multistart search is then the less exact of the two
    constants = {**constants, "lam": max(problem.lam, 0.3)}
    exact = {"estimator": "exact"} if name in IN_ONE_PASS else {}
    strategy = getattr(db.zoo, name)(**own(problem), **constants, **exact)
    agent = fed(db.Agent(strategy, dim=problem.dim, horizon=1000), problem)
    theirs = {NAIVE_NAMES.get(k, k): v for k, v in own(problem).items()}
    scores = oracle(problem.X, problem.r, problem.arms, **theirs, **constants, **LIKE)
    assert_close(agent.scores(problem.arms), scores, 2e-6)


@pytest.mark.interpreted
def test_an_agent_without_a_horizon_makes_room():
    rng = np.random.default_rng(2)
    t = 70 if INTERPRETED else 300
    X = rng.standard_normal((t, 3)) / 3
    r = binary(rng, t)
    agent = db.Agent(db.zoo.glm_ucb(lam=1, S=2, L=2, delta=0.1, estimator="exact"), dim=3)
    for x, y in zip(X, r, strict=True):
        agent.update(y, x=x)
    c_mu = naive.slopes("logistic", 4.0)[1]
    assert_close(
        agent.theta,
        naive.qmle(naive.likelihood(X, r, memory=("everything",), link="logistic", lam=1.0, c_mu=c_mu)),
        1e-8,
    )


def choices(strategy, world):
    return db.simulate(strategy, world, seed=3, checkpoints="all").choices


def clicks(T=None, dim=3, arms=None):
    T = T or (40 if INTERPRETED else 400)
    return db.env.generalized(
        db.env.unit_arms(12, dim=dim, seed=4) if arms is None else arms, db.env.rotating(T, dim=dim)
    )


@pytest.mark.interpreted
def test_the_local_bonus_covers_the_set_of_ofulog():
    """μ(xᵀθ) ≤ index for every θ of the ball with ‖g(θ)−g(θ̂)‖_{H⁻¹(θ)} ≤ cβ̃, where OFULog chooses; a bonus 20 times smaller fails.

    c = 0.03, so that the index is not above 1 whatever θ is: the proof holds for any radius.
    """
    rng = np.random.default_rng(5)
    S, lam, delta, t, share = 2.0, 4.0, 0.05, 400, 0.03
    theta = S * np.array([0.6, -0.8])
    X = rng.standard_normal((t, 2))
    X /= np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1.0)
    r = (rng.random(t) < 1 / (1 + np.exp(-X @ theta))).astype(float)
    arms = X[:12]
    k, c = naive.slopes("logistic", S)
    model = naive.likelihood(X, r, memory=("everything",), link="logistic", lam=lam, c_mu=c)
    size = naive.beta_tilde(t, d=2, lam=lam, c_mu=c, k_mu=k, S=S, m=1.0, L=1.0, delta=delta)
    inside = np.array([p for p in _ball(S) if naive.local_distance_squared(model, p) <= (share * size) ** 2])
    assert len(inside) > 20
    best = (1 / (1 + np.exp(-inside @ arms.T))).max(axis=0)

    def scores(scale):  # the oracle's, to which test_scores compares the kernel's
        own = {"lam": lam, "S": S, "L": 1.0, "m": 1.0, "delta": delta, "link": "logistic", "bonus_scale": scale}
        return naive.log_ucb2(X, r, arms, **own)

    assert (best <= scores(share)).all()
    assert (best > scores(share / 20)).any()


def _ball(S):
    side = np.linspace(-S, S, 81)
    return [p for p in np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2) if np.linalg.norm(p) <= S]


@pytest.mark.interpreted
def test_identity_is_the_linear_family():
    """With μ(z) = z the bonus has the projection's factor 2; without projections the rest is LB-WeightUCB."""
    common = {"gamma": 0.95, "lam": 2.0, "S": 9.0, "L": 1.0, "R": 1.0, "delta": 0.05}
    T = 40 if INTERPRETED else 400
    world = db.env.generalized(db.env.unit_arms(12, dim=3, seed=4), db.env.rotating(T, dim=3), link="identity")
    glb = db.zoo.glb_weight_ucb(link="identity", bonus_scale=0.5, **common)
    assert (choices(glb, world) == choices(db.zoo.lb_weight_ucb(**common), world)).all()


@pytest.mark.interpreted
def test_a_discount_of_one_is_static():
    glb = {"lam": 2.0, "S": 1.0, "L": 1.0, "delta": 0.05}
    assert (choices(db.zoo.glb_weight_ucb(gamma=1, **glb), clicks()) == choices(db.zoo.glm_ucb(**glb), clicks())).all()
    assert (choices(db.zoo.scb_weight_ucb(gamma=1, **glb), clicks()) == choices(db.zoo.log_ucb1(**glb), clicks())).all()


def test_fixed_arms_and_the_same_arms_given_anew_agree():
    T = 40 if INTERPRETED else 400
    arms = db.env.unit_arms(12, dim=3, seed=4)
    strategy = db.zoo.glb_weight_ucb(gamma=0.97, lam=2.0, S=1.0, L=1.0, delta=0.05)
    fixed, anew = clicks(arms=arms), clicks(arms=np.broadcast_to(arms, (T, *arms.shape)))
    assert (choices(strategy, fixed) == choices(strategy, anew)).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"S": 0.0}, "S = 0.0 is not allowed; it must be > 0"),
        ({"L": -1.0}, "L = -1.0 is not allowed; it must be > 0"),
        ({"lam": 0.0}, "lam = 0.0 is not allowed"),
        ({"delta": 1.0}, "delta = 1.0 is not allowed"),
        ({"m": 0.0}, "m = 0.0 is not allowed"),
        ({"link": "log"}, "link = 'log' is not allowed"),
        ({"variant": "best"}, "variant = 'best' is not allowed"),
        ({"bonus_scale": -1.0}, "bonus_scale = -1.0 is not allowed"),
        ({"half_life": 3.0}, "give either gamma or half_life"),
        ({"gamma": 1.5}, "gamma = 1.5 is not allowed"),
    ],
)
def test_bad_constants_are_refused(change, message):
    with pytest.raises(InvalidValue, match=message):
        db.zoo.scb_weight_ucb(**{"gamma": 0.9, "lam": 1.0, "S": 1.0, "L": 1.0, "delta": 0.1, **change})


@pytest.mark.interpreted
@pytest.mark.parametrize("reward", [-0.1, 1.1, np.nan])
def test_rewards_out_of_range_are_refused(reward):
    agent = db.Agent(db.zoo.scb_weight_ucb(gamma=0.9, lam=1, S=1, L=1, delta=0.1), dim=2)
    with pytest.raises(InvalidValue, match="reward"):
        agent.update(reward, x=[1.0, 0.0])
    assert agent.info()["observations"] == 0
