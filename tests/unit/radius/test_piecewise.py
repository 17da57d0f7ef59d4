"""Optimism over parameters: the paper's set with its proof, the relaxed set with its certificate, and their radius."""

import naive
import numpy as np
import pytest
from conftest import INTERPRETED
from hypothesis import given, settings
from problems import assert_close, fed, problems

import driftbandits as db
from driftbandits import links
from driftbandits.core.kernel import entry
from driftbandits.errors import InvalidValue
from driftbandits.protocol import Setting, beta, blank_estimate

S, L = 1.0, 1.0
K_MU, C_MU = links.slopes(links.Logistic(), L * S)


@entry
def beta_of(form, n, est, horizon):
    return beta(form, n, est, horizon)


def binary(rng, t):
    return rng.integers(0, 2, t).astype(float)


def steep(rng, t):
    return np.ones(t)


def pw(gamma, lam, scale, **options):
    return db.zoo.scb_pw_weight_ucb(gamma=gamma, lam=lam, S=S, L=L, delta=0.05, radius_scale=scale, **options)


def test_radius_of_the_papers_size():
    radius = db.zoo.scb_pw_weight_ucb(
        gamma=1 - (5 / 12000) ** (2 / 3), lam=2 * np.log(6000) / C_MU, S=1, L=1, delta=1 / 6000, pw_printed=True
    ).radius
    est = blank_estimate(None, Setting(2, np.zeros((2, 0)), 6000), False)
    assert beta_of(radius, np.zeros(2), est, 6000) == pytest.approx(11.5002925, rel=1e-8)


def test_radius_with_a_given_horizon():
    options = {"gamma": 0.9, "lam": 20.0, "S": S, "L": L, "delta": 0.05}
    est = blank_estimate(None, Setting(3, np.zeros((3, 0)), 0), False)
    oracle = naive.rho(d=3, k_mu=K_MU, c_mu=C_MU, m=1.0, T=300, **options)
    given_here = db.zoo.scb_pw_weight_ucb(**options, horizon=300).radius
    assert beta_of(given_here, np.zeros(2), est, 0) == pytest.approx(oracle, rel=1e-10)
    by_the_run = db.zoo.scb_pw_weight_ucb(**options).radius
    assert beta_of(by_the_run, np.zeros(2), est, 300) == pytest.approx(oracle, rel=1e-10)


def test_a_horizon_is_needed_somewhere():
    with pytest.raises(InvalidValue, match="horizon"):
        db.Agent(pw(0.9, 20.0, 0.1), dim=2)
    with pytest.raises(InvalidValue, match=r"gamma = 1\.0 is not allowed"):
        pw(1.0, 20.0, 0.1)
    with pytest.raises(InvalidValue, match="confidence_set = 'convex' is not allowed"):
        pw(0.9, 20.0, 0.1, confidence_set="convex")
    with pytest.raises(InvalidValue, match=r"D = 0\.5 is not allowed"):
        pw(0.9, 20.0, 0.1, D=0.5)
    with pytest.raises(InvalidValue, match="horizon = 300 is not allowed; it must be left out when D is given"):
        pw(0.9, 20.0, 0.1, D=40, horizon=300)


@pytest.mark.interpreted
def test_radius_with_a_given_D():
    """D is the paper's parameter; with it no horizon is needed, and the union bound takes T = γ^{−D}."""
    options = {"gamma": 0.9, "lam": 20.0, "S": S, "L": L, "delta": 0.05}
    est = blank_estimate(None, Setting(3, np.zeros((3, 0)), 0), False)
    D = np.log(300) / -np.log(0.9)
    of_horizon = db.zoo.scb_pw_weight_ucb(**options, horizon=300).radius
    of_D = db.zoo.scb_pw_weight_ucb(**options, D=D).radius
    assert beta_of(of_D, np.zeros(2), est, 0) == pytest.approx(beta_of(of_horizon, np.zeros(2), est, 0), rel=1e-12)
    shorter = db.zoo.scb_pw_weight_ucb(**options, D=D / 2).radius  # more is forgotten too late: a larger bias
    assert beta_of(shorter, np.zeros(2), est, 0) > beta_of(of_D, np.zeros(2), est, 0)
    union = db.zoo.scb_pw_weight_ucb(**options, D=D, uniform_in_time=True).radius
    assert beta_of(union, np.zeros(2), est, 0) == pytest.approx(beta_of(union, np.zeros(2), est, 300), rel=1e-9)
    db.Agent(db.zoo.scb_pw_weight_ucb(**options, D=D), dim=2)


@pytest.mark.interpreted
@pytest.mark.parametrize("rewards", [binary, steep])
@settings(max_examples=2 if INTERPRETED else 8)
@given(data=problems(max_dim=4, max_arms=6))
def test_relaxed_values(rewards, data):
    """Every arm's value against SLSQP; the lazy choice is the best of them, and certified."""
    rng = np.random.default_rng(0)
    arms = data.arms[np.linalg.norm(data.arms, axis=1) > 1e-3]  # SLSQP cannot divide by the norm of an arm 0
    problem = type(data)(data.X, rewards(rng, len(data.r)), arms if len(arms) else np.eye(data.dim), 0.0, 0.0, 1)
    gamma, lam = min(max(data.gamma, 0.5), 0.99), min(max(data.lam, 1.0), 100.0)
    for scale in (0.05, 0.3):
        strategy = pw(gamma, lam, scale, confidence_set="relaxed")
        agent = fed(db.Agent(strategy, dim=problem.dim, horizon=200), problem)
        rho = scale * naive.rho(
            gamma=gamma, d=problem.dim, lam=lam, c_mu=C_MU, k_mu=K_MU, S=S, m=1.0, L=L, delta=0.05, T=200
        )
        values = naive.scb_pw_weight_ucb(
            problem.X, problem.r, problem.arms, gamma=gamma, link="logistic", lam=lam, c_mu=C_MU, S=S, L=L, rho=rho
        )
        scores = agent.scores(problem.arms)
        assert_close(scores, 1 / (1 + np.exp(-values)), 1e-6)
        assert scores[agent.select(problem.arms)] >= scores.max() - 1e-9
        info = agent.info()
        assert info["certified"] + info["empty_set"] == 1


@pytest.mark.interpreted
def test_the_relaxed_set_contains_the_set():
    rng = np.random.default_rng(3)
    for _ in range(3):
        X = rng.standard_normal((30, 2))
        X /= np.linalg.norm(X, axis=1, keepdims=True)
        model = naive.likelihood(X, binary(rng, 30), memory=("discounted", 0.95), link="logistic", lam=5.0, c_mu=C_MU)
        points = naive.points_of_C(model, S, 1.0, naive.disc(S, 15, 40))
        assert len(points) > 10
        B2 = naive.budget(model, S, L, 1.0)
        assert max(naive.excess(model, theta) for theta in points) <= B2
        # and so do our values: no point of C beats them
        agent = db.Agent(pw(0.95, 5.0, 0.15, confidence_set="relaxed"), dim=2, horizon=200)
        for x, r in zip(X, model.r, strict=True):
            agent.update(float(r), x=x)
        rho = agent.info()["radius"]
        points = naive.points_of_C(model, S, rho, naive.disc(S, 15, 40))
        arms = X[:5]
        best = (points @ arms.T).max(axis=0)
        z = agent.scores(arms)
        assert (np.log(z / (1 - z)) >= best - 1e-7).all()


def learned(X, r, gamma, lam, scale, S=1.0, **options):
    strategy = db.zoo.scb_pw_weight_ucb(gamma=gamma, lam=lam, S=S, L=L, delta=0.05, radius_scale=scale, **options)
    agent = db.Agent(strategy, dim=X.shape[1], horizon=200)
    for x, y in zip(X, r, strict=True):
        agent.update(float(y), x=x)
    return agent


def unit_vectors(rng, n, d):
    X = rng.standard_normal((n, d))
    return X / np.linalg.norm(X, axis=1, keepdims=True)


@pytest.mark.interpreted  # branch and bound compiles for half a minute
@pytest.mark.parametrize("scale", [0.4] if INTERPRETED else [pytest.param(0.15, marks=pytest.mark.slow), 0.4, 1.0])
def test_the_papers_rule(scale):
    """At d = 2, up to the theorem's radius: values against a dense grid of C, and every choice the best one, proved.

    C is smaller than the ball in all of them; at the theorem's radius that takes 300 observations, too many to be interpreted.
    """
    rng = np.random.default_rng(4)
    spacing = 3.0 / 300 + 3.0 * 2 * np.pi / 720
    gamma, ridge = (0.97, 5.0) if scale < 1.0 else (0.99, 15.0)
    for n in (40,) if INTERPRETED else (30, 150) if scale < 1.0 else (300,):
        X, S = unit_vectors(rng, n, 2), 3.0
        r = (rng.random(n) < 1 / (1 + np.exp(-3 * X[:, 0]))).astype(float)
        c_mu = links.slopes(links.Logistic(), S)[1]
        agent = learned(X, r, gamma, ridge / c_mu, scale, S)
        model = naive.likelihood(X, r, memory=("discounted", gamma), link="logistic", lam=ridge / c_mu, c_mu=c_mu)
        arms = X[:8] * rng.uniform(0.5, 1.0, (8, 1))
        oracle = naive.dense_values_over_C(model, arms, S, agent.info()["radius"], 300, 720)
        assert (oracle < 0.95 * S * np.linalg.norm(arms, axis=1)).any()
        z = agent.scores(arms)
        values = np.log(z / (1 - z))
        assert (values >= oracle - 1e-9).all()  # no point of C beats them
        assert (values <= oracle + spacing).all()  # and they are attained
        chosen = agent.select(arms)
        assert values[chosen] >= values.max() - 1e-7
        assert agent.info()["certified"] == 1
        assert agent.info()["gap"] <= 1e-7


@pytest.mark.slow
@pytest.mark.compiled  # minutes without the compiler
def test_the_papers_set_is_not_the_ball():
    """At the theorem's radius and S = 3 C leaves out what the relaxed set lets in: the two rules differ."""
    rng = np.random.default_rng(5)
    X = unit_vectors(rng, 300, 2)
    r = (rng.random(300) < 1 / (1 + np.exp(-3 * X[:, 0]))).astype(float)
    c_mu = links.slopes(links.Logistic(), 3.0)[1]
    exact = learned(X, r, 0.99, 15.0 / c_mu, 1.0, 3.0).scores(X[:40])
    relaxed = learned(X, r, 0.99, 15.0 / c_mu, 1.0, 3.0, confidence_set="relaxed").scores(X[:40])
    assert (exact <= relaxed + 1e-9).all()
    top = 1 / (1 + np.exp(-3.0))
    assert np.isclose(relaxed, top).all()  # the relaxed set is the whole ball
    assert 4 <= np.isclose(exact, top).sum() <= 36  # the paper's is not


@pytest.mark.slow
def test_the_papers_rule_in_three_dimensions():
    """A choice that is not proved is counted as such; a proved one beats every point of C we can find."""
    rng = np.random.default_rng(8)
    X = unit_vectors(rng, 60, 3)
    r = binary(rng, 60)
    agent = learned(X, r, 0.97, 20.0, 0.3)
    arms = X[:5]
    chosen = agent.select(arms)
    info = agent.info()
    assert info["certified"] in (0.0, 1.0)
    assert (info["gap"] <= 1e-7) == (info["certified"] == 1.0)
    model = naive.likelihood(X, r, memory=("discounted", 0.97), link="logistic", lam=20.0, c_mu=C_MU)
    points = unit_vectors(rng, 3000, 3) * rng.random((3000, 1)) ** (1 / 3)
    inside = naive.points_of_C(model, S, info["radius"], points)
    z = agent.scores(arms)[chosen]
    assert np.log(z / (1 - z)) >= (inside @ arms.T).max() - 1e-7


@pytest.mark.interpreted  # compiled by make test-all: branch and bound takes the compiler a minute
def test_the_box_that_is_searched_holds_the_set():
    """A proof by cutting a box into cells proves nothing about points outside it."""
    rng = np.random.default_rng(9)
    X = unit_vectors(rng, 60, 3)
    r = (X[:, 0] > 0.3 * X[:, 1]).astype(float)
    agent = learned(X, r, 0.97, 20.0, 0.2)
    agent.select(X[:5])
    model = naive.likelihood(X, r, memory=("discounted", 0.97), link="logistic", lam=20.0, c_mu=C_MU)
    points = unit_vectors(rng, 4000, 3) * rng.random((4000, 1)) ** (1 / 3)
    inside = naive.points_of_C(model, S, agent.info()["radius"], points)
    centre, half = agent._state.work.root
    assert len(inside) > 100
    assert (np.abs(inside - centre) <= half + 1e-12).all()
    assert (half < 0.9 * S).any()  # not the whole ball


@pytest.mark.interpreted
def test_a_relaxed_set_that_is_the_whole_ball():
    """radius_scale = 1 at a small size: every arm is worth S‖x‖, so arms of equal norm tie."""
    arms = db.env.unit_arms(5, dim=2, seed=0)
    agent = db.Agent(pw(0.95, 88.0, 1.0, confidence_set="relaxed"), dim=2, horizon=6000)
    for x in arms:
        agent.update(1.0, x=x)
    np.testing.assert_allclose(agent.scores(arms), 1 / (1 + np.exp(-1.0)), rtol=1e-12)


@pytest.mark.interpreted  # compiled by make test-all: branch and bound takes the compiler a minute
def test_an_empty_set_is_greedy():
    """θ̂ far outside a small ball and a tiny radius: play by the likeliest θ of the ball."""
    rng = np.random.default_rng(6)
    X = rng.standard_normal((200, 2))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    r = (X[:, 0] > 0).astype(float)
    agent = db.Agent(pw(0.99, 1.0, 1e-3), dim=2, horizon=300)
    for x, y in zip(X, r, strict=True):
        agent.update(float(y), x=x)
    model = naive.likelihood(X, r, memory=("discounted", 0.99), link="logistic", lam=1.0, c_mu=C_MU)
    assert_close(agent.scores(X[:5]), 1 / (1 + np.exp(-X[:5] @ naive.qmle_on_ball(model, S))), 1e-6)
    agent.select(X[:5])
    assert agent.info()["empty_set"] == 1
    assert agent.info()["certified"] == 1  # proved to be empty


@pytest.mark.interpreted
def test_ofu_log():
    rng = np.random.default_rng(7)
    X = rng.standard_normal((40, 3))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    r = binary(rng, 40)
    agent = db.Agent(db.zoo.ofu_log(lam=20, S=S, L=L, delta=0.05, radius_scale=0.2, confidence_set="relaxed"), dim=3)
    for x, y in zip(X, r, strict=True):
        agent.update(float(y), x=x)
    rho = agent.info()["radius"]
    assert rho == pytest.approx(
        0.2 * naive.beta_tilde(40, d=3, lam=20, c_mu=C_MU, k_mu=K_MU, S=S, m=1, L=L, delta=0.05), rel=1e-10
    )
    values = naive.ofulog(X, r, X[:6], link="logistic", lam=20, c_mu=C_MU, S=S, L=L, radius=rho)
    assert_close(agent.scores(X[:6]), 1 / (1 + np.exp(-values)), 1e-6)
