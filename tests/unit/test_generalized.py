"""The generalized linear family: kernels against oracles made from the whole history."""

import naive
import numpy as np
import pytest
from conftest import INTERPRETED
from hypothesis import given, settings
from hypothesis import strategies as st
from problems import assert_close, fed, problems

import driftbandits as db
from driftbandits import likelihood, links, memory, model, radius
from driftbandits.errors import InvalidValue
from driftbandits.kernel import entry
from driftbandits.protocol import NO_SLOT, Setting, absorb, beta, fade

NAMES = list(links.LINKS)
FEW = settings(max_examples=10 if INTERPRETED else 30)


@entry
def feed(sums, X, r, slots, gamma):
    for t in range(X.shape[0]):
        fade(sums, gamma)
        absorb(sums, X[t], r[t], slots[t], 1.0)


@entry
def fit(link, sums, ridge, L, theta, work):
    return likelihood.newton(link, sums, ridge, sums.b, L, theta, work)


@entry
def beta_of(form, n, est, horizon):
    return beta(form, n, est, horizon)


def binary(rng, t):
    return rng.integers(0, 2, t).astype(float)


def estimate(name, X, r, arms, slots, *, gamma, ridge, room=0, L=1.0):
    """θ̂ by our solver, and the number of evaluations; fixed arms if slots are given."""
    d = X.shape[1]
    setting = Setting(d, np.ascontiguousarray(arms.T) if slots is not None else np.zeros((d, 0)), 0)
    sums = likelihood.blank_atoms(setting, room or len(r) + 1, False)
    feed(sums, X, r, np.full(len(r), NO_SLOT) if slots is None else slots, gamma)
    theta, work = np.zeros(d), likelihood.newton_work(d)
    count = fit(links.link_of(name), sums, ridge, L, theta, work)
    return theta, count, work


# ---------------------------------------------------------------------------------------------------------- estimator


@pytest.mark.parametrize("name", NAMES)
@FEW
@given(problems(max_dim=12, rewards=binary))
def test_estimator_of_changing_arms_and_of_fixed_arms(name, problem):
    c_mu = naive.slopes(name, 1.0)[1]
    options = {"gamma": problem.gamma, "ridge": problem.lam * c_mu}
    slots = np.arange(len(problem.r)) % len(problem.arms)
    X = problem.arms[slots]
    for data, where in ((problem.X, None), (X, slots)):
        history = naive.likelihood(
            data, problem.r, memory=("discounted", problem.gamma), link=name, lam=problem.lam, c_mu=c_mu
        )
        theta, _, _ = estimate(name, data, problem.r, problem.arms, where, **options)
        oracle = naive.qmle(history)
        assert_close(theta, oracle, 1e-8)
        assert np.linalg.norm(history.u(theta)) <= 1e-7 * (1 + np.linalg.norm(history.g_hat()))


def test_ring_is_as_good_as_the_whole_history():
    rng = np.random.default_rng(0)
    T, gamma = (400, 0.8) if INTERPRETED else (4000, 0.98)
    room = memory.Discounted(gamma)
    K = int(np.ceil(np.log(1e-12) / np.log(gamma))) + 1
    assert db.protocol.capacity(room, T) == K < T / 2
    X = rng.standard_normal((T, 3))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    r = (rng.random(T) < 0.7).astype(float)
    theta, _, _ = estimate("logistic", X, r, X[:1], None, gamma=gamma, ridge=0.5, room=K)
    assert_close(
        theta,
        naive.qmle(naive.likelihood(X, r, memory=("discounted", gamma), link="logistic", lam=1.0, c_mu=0.5)),
        1e-8,
    )


@pytest.mark.parametrize("name", ["logistic", "probit", "identity"])
def test_predictors_of_a_thousand(name):
    """Arms of norm 1000 and contradictory rewards: no overflow, and the certificate holds."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((60, 3))
    X *= 1000 / np.linalg.norm(X, axis=1, keepdims=True)
    r = (X[:, 0] > 0).astype(float)
    theta, count, work = estimate(name, X, r, X, None, gamma=0.97, ridge=1e-3, L=1000.0)
    history = naive.likelihood(X, r, memory=("discounted", 0.97), link=name, lam=1e-3, c_mu=1.0)
    assert np.isfinite(theta).all()
    assert count < 100
    assert work.error[0] <= 1e-9
    assert np.linalg.norm(history.u(theta)) <= 1e-8 * np.linalg.norm(history.g_hat())


def test_a_handful_of_evaluations_a_round():
    run = db.simulate(
        db.zoo.glb_weight_ucb(gamma=0.99, lam=50, S=1, L=1, delta=0.01),
        db.env.generalized(db.env.unit_arms(20, dim=3, seed=0), db.env.rotating(60 if INTERPRETED else 600, dim=3)),
    )
    assert run.info["evaluations"] < 4


# -------------------------------------------------------------------------------------------------------------- scores

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
    "scb_weight_ucb": (lambda p: {"gamma": p.gamma}, SCB, naive.scb_weight_ucb),
    "scb_restart_ucb": (lambda p: {"period": p.memory}, SCB, naive.scb_restart_ucb),
    "sc_d_glm_ucb": (lambda p: {"gamma": p.gamma}, SCB, naive.sc_d_glucb),
}
NAIVE_NAMES = {"period": "H", "window": "W"}


@pytest.mark.parametrize("name", SCORES)
@settings(max_examples=3 if INTERPRETED else 8)
@given(problems(max_dim=4, max_arms=8, rewards=binary))
def test_scores(name, problem):
    own, constants, oracle = SCORES[name]
    # λ not so small that θ̂ flies off: the oracle's multistart search is then the less exact of the two
    constants = {**constants, "lam": max(problem.lam, 0.3)}
    agent = fed(db.Agent(getattr(db.zoo, name)(**own(problem), **constants), dim=problem.dim, horizon=1000), problem)
    theirs = {NAIVE_NAMES.get(k, k): v for k, v in own(problem).items()}
    scores = oracle(problem.X, problem.r, problem.arms, **theirs, **constants, **LIKE)
    assert_close(agent.scores(problem.arms), scores, 2e-6)


def test_an_agent_without_a_horizon_makes_room():
    rng = np.random.default_rng(2)
    t = 70 if INTERPRETED else 300
    X = rng.standard_normal((t, 3)) / 3
    r = binary(rng, t)
    agent = db.Agent(db.zoo.glm_ucb(lam=1, S=2, L=2, delta=0.1), dim=3)
    for x, y in zip(X, r, strict=True):
        agent.update(y, x=x)
    c_mu = naive.slopes("logistic", 4.0)[1]
    assert_close(
        agent.theta,
        naive.qmle(naive.likelihood(X, r, memory=("everything",), link="logistic", lam=1.0, c_mu=c_mu)),
        1e-8,
    )


# -------------------------------------------------------------------------------------------------------------- limits


def choices(strategy, world):
    return db.simulate(strategy, world, seed=3, checkpoints="all").choices


def clicks(T=None, dim=3, arms=None):
    T = T or (40 if INTERPRETED else 400)
    return db.env.generalized(
        db.env.unit_arms(12, dim=dim, seed=4) if arms is None else arms, db.env.rotating(T, dim=dim)
    )


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


# --------------------------------------------------------------------------------------------------------------- radii


def width(form, n, d=2, horizon=6000):
    est = model.linear.blank_estimate(None, Setting(d, np.zeros((d, 0)), horizon), False)
    return beta_of(form, np.array([n, n]), est, horizon)


def n_of(gamma):
    return (1 - gamma**6000) / (1 - gamma)


@pytest.mark.parametrize(
    ("S", "gamma", "beta_bar", "gamma_scb", "beta_tilde", "static"),
    [
        (1.0, 0.98985378, 3.6572, 0.97711772, 11.5560, 13.2407),
        (5.0, 0.99813428, 9.2389, 0.97711772, 28.2409, 29.9255),
    ],
)
def test_radii_of_the_papers_experiment(S, gamma, beta_bar, gamma_scb, beta_tilde, static):
    k, c = links.slopes(links.Logistic(), S)
    delta = 1 / 12000
    glb = db.zoo.glb_weight_ucb(gamma=gamma, lam=2 / c**2, S=S, L=1, delta=delta)
    assert width(glb.radius, n_of(gamma)) == pytest.approx(2 * k / c * beta_bar, rel=2e-5)
    scb = db.zoo.scb_weight_ucb(gamma=gamma_scb, lam=2 * np.log(6000) / c, S=S, L=1, delta=delta)
    factor = 2 * np.sqrt(1 + 2 * S) * k / np.sqrt(c)
    assert width(scb.radius, n_of(gamma_scb)) == pytest.approx(factor * beta_tilde, rel=1e-5)
    log = db.zoo.log_ucb1(lam=2 * np.log(6000) / c, S=S, L=1, delta=delta)
    assert width(log.radius, 6000.0) == pytest.approx(factor * static, rel=1e-5)


@FEW
@given(st.floats(0, 1e4), st.floats(0.1, 3), st.floats(0.1, 3), st.booleans(), st.booleans())
def test_self_concordant_radius(n, S, m, corrected, uniform):
    k, c = links.slopes(links.Logistic(), 1.2 * S)
    constants = {"lam": 5.0, "S": S, "L": 1.2, "m": m, "delta": 0.03}
    variant = "corrected" if corrected else "printed"
    form = db.zoo.log_ucb1(**constants, variant=variant, uniform_in_time=uniform).radius
    oracle = naive.beta_tilde(n, d=3, k_mu=k, c_mu=c, variant=variant, uniform_in_time=uniform, T=500, **constants)
    factor = 2 * np.sqrt(1 + 2 * 1.2 * S) * k / np.sqrt(c)
    assert width(form, n, d=3, horizon=500) == pytest.approx(factor * oracle, rel=1e-12)


# ----------------------------------------------------------------------------------------------------------- bad input


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


@pytest.mark.parametrize("reward", [-0.1, 1.1, np.nan])
def test_rewards_out_of_range_are_refused(reward):
    agent = db.Agent(db.zoo.scb_weight_ucb(gamma=0.9, lam=1, S=1, L=1, delta=0.1), dim=2)
    with pytest.raises(InvalidValue, match="reward"):
        agent.update(reward, x=[1.0, 0.0])
    assert agent.info()["observations"] == 0


def test_corrected_radii_are_never_smaller():
    options = {"lam": 20.0, "S": 2.0, "L": 1.0, "delta": 0.1}
    printed, corrected = (db.zoo.log_ucb1(variant=v, **options).radius for v in ("printed", "corrected"))
    assert isinstance(printed, radius.SelfConcordant)
    assert width(corrected, 100.0) > width(printed, 100.0)
