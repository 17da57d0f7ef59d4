"""The weighted quasi-likelihood: kernels against oracles made from the whole history."""

import naive
import numpy as np
import pytest
from conftest import INTERPRETED
from hypothesis import given, settings
from problems import assert_close, problems

import driftbandits as db
from driftbandits import links, memory
from driftbandits.core.kernel import entry
from driftbandits.protocol import NO_SLOT, Setting, absorb, fade
from driftbandits.sums import likelihood

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


def binary(rng, t):
    return rng.integers(0, 2, t).astype(float)


def estimate(name, X, r, arms, slots, *, gamma, ridge, room=0, L=1.0):
    """θ̂ by our solver, and the number of evaluations; fixed arms if slots are given."""
    d = X.shape[1]
    setting = Setting(d, np.ascontiguousarray(arms.T) if slots is not None else np.zeros((d, 0)), 0)
    sums = likelihood.blank_atoms(setting, room or len(r) + 1, False)
    feed(sums, X, r, np.full(len(r), NO_SLOT) if slots is None else slots, gamma)
    theta, work = np.zeros(d), likelihood.blank_newton_work(d)
    count = fit(links.link_of(name), sums, ridge, L, theta, work)
    return theta, count, work


ONE_COMPILED = [pytest.param(n, marks=() if n == "logistic" else pytest.mark.interpreted) for n in NAMES]


@pytest.mark.parametrize("name", ONE_COMPILED)
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
    room = memory.Discounted(gamma=gamma)
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


@pytest.mark.parametrize(  # one link is compiled, the others have the same code
    "name", ["logistic", *(pytest.param(link, marks=pytest.mark.interpreted) for link in ("probit", "identity"))]
)
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


def test_a_handful_of_evaluations_per_round():
    run = db.simulate(
        db.zoo.glb_weight_ucb(gamma=0.99, lam=50, S=1, L=1, delta=0.01),
        db.env.generalized(db.env.unit_arms(20, dim=3, seed=0), db.env.rotating(60 if INTERPRETED else 600, dim=3)),
    )
    assert run.info["evaluations"] < 4
