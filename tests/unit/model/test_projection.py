"""Projections onto the ball: against dense sweeps (d = 1, 2) and multistart searches (d ≥ 3)."""

import naive
import numpy as np
import pytest
from conftest import sized
from problems import assert_close

from driftbandits import links
from driftbandits.core.kernel import entry
from driftbandits.model import FixedMetric, Generalized, LocalMetric, SquaredMetric, TwoStep, Unprojected
from driftbandits.protocol import NO_SLOT, Setting, absorb, blank_estimate, blank_sums, estimate, fade
from driftbandits.radius import Constant
from driftbandits.sums import likelihood

ONLY_INTERPRETED = pytest.mark.interpreted  # compiled within the contract of GLB-WeightUCB, and by make test-all
LAM, C_MU, GAMMA = 0.5, 0.15, 0.97


@entry
def learn_all(model, sums, est, X, r, gamma):
    for t in range(X.shape[0]):
        fade(sums, gamma)
        absorb(sums, X[t], r[t], NO_SLOT, 1.0)
        if t % 5 == 0 or t == X.shape[0] - 1:  # so that warm starts are part of the test
            estimate(model, sums, est)


@entry
def distance_and_gradient(link, sums, ridge, theta, work, q, gradient):
    return likelihood.local_distance(link, sums, ridge, theta, work.u, work.H, work.factor, q, gradient)


def data(d, seed, rounds=50):
    """Rewards that agree with a steep θ: the estimate leaves the ball."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((rounds, d))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    steep = rng.standard_normal(d)
    return X, (X @ steep * 4 / np.linalg.norm(steep) + 0.7 * rng.standard_normal(rounds) > 0).astype(float)


def projected(kind, X, r):
    model = Generalized(link=links.Logistic(), lam=LAM, c_mu=C_MU, L=1.0, projection=kind)
    setting = Setting(X.shape[1], np.zeros((X.shape[1], 0)), 100)
    sums, est = blank_sums(model, setting, len(r), False), blank_estimate(model, setting, False)
    learn_all(model, sums, est, X, r, GAMMA)
    history = naive.likelihood(X, r, memory=("discounted", GAMMA), link="logistic", lam=LAM, c_mu=C_MU)
    return est, history


SEEDS = range(sized(1, 2))


@ONLY_INTERPRETED  # the squared metric is compiled as the first of two steps
@pytest.mark.parametrize("squared", [0, 1])
@pytest.mark.parametrize("d", [1, 2, 3, 5, 8])
def test_fixed_metric(d, squared):
    for seed in SEEDS:
        X, r = data(d, seed)
        est, history = projected((SquaredMetric if squared else FixedMetric)(S=1.0), X, r)
        M = history.V_tilde() if squared else history.V()
        assert_close(est.hat, naive.qmle(history), 1e-8)
        assert np.linalg.norm(est.hat) > 1
        assert np.linalg.norm(est.theta) == pytest.approx(1.0, abs=1e-9)  # never inside: no stationary point there
        oracle = naive.project(history, 1.0, M)
        assert naive.distance(history, est.theta, M) <= naive.distance(history, oracle, M) * (1 + 1e-9)
        assert_close(est.theta, oracle, 1e-5)


@pytest.mark.parametrize("d", [1, 2, 3, 5, 8])
def test_local_metric(d):
    for seed in SEEDS:
        X, r = data(d, seed)
        est, history = projected(LocalMetric(1.0), X, r)
        oracle = naive.project_local(history, 1.0)
        assert np.linalg.norm(est.theta) <= 1 + 1e-9
        best = naive.local_distance_squared(history, oracle)
        assert naive.local_distance_squared(history, est.theta) <= best * (1 + 1e-8)
        assert_close(est.theta, oracle, 1e-4)


@pytest.mark.parametrize("kind", [pytest.param(FixedMetric(50.0), marks=ONLY_INTERPRETED), LocalMetric(50.0)])
def test_inside_the_ball_nothing_moves(kind):
    X, r = data(3, 0)
    est, _ = projected(kind, X, r)
    assert (est.theta == est.hat).all()
    assert est.tally.projections[0] == 0


@ONLY_INTERPRETED
def test_unprojected():
    X, r = data(3, 0)
    est, _ = projected(Unprojected(), X, r)
    assert (est.theta == est.hat).all()


def test_gradient_of_the_local_distance():
    rng = np.random.default_rng(5)
    X, r = data(4, 5)
    model = Generalized(link=links.Logistic(), lam=LAM, c_mu=C_MU, L=1.0, projection=LocalMetric(S=1.0))
    setting = Setting(4, np.zeros((4, 0)), 100)
    sums, est = blank_sums(model, setting, len(r), False), blank_estimate(model, setting, False)
    learn_all(model, sums, est, X, r, GAMMA)
    history = naive.likelihood(X, r, memory=("discounted", GAMMA), link="logistic", lam=LAM, c_mu=C_MU)
    for _ in range(5):
        theta, gradient = rng.standard_normal(4), np.zeros(4)
        ours = distance_and_gradient(links.Logistic(), sums, LAM * C_MU, theta, est.newton, np.zeros(4), gradient)
        assert ours == pytest.approx(naive.local_distance_squared(history, theta), rel=1e-10)
        numbers = naive.finite_difference(lambda x: naive.local_distance_squared(history, x), theta)
        np.testing.assert_allclose(gradient, numbers, rtol=1e-5, atol=1e-5)


def second_step_value(history, theta, width):
    """min ‖V⁻¹z‖ subject to ‖u(θ) − z‖_{Ṽ⁻¹} ≤ β̄, by a fine sweep of the edge of that ellipse (d = 2)."""
    ring = np.linspace(0, 2 * np.pi, 200_001)
    edge = width * np.linalg.cholesky(history.V_tilde()) @ np.array([np.cos(ring), np.sin(ring)])
    if naive.distance(history, theta, history.V_tilde()) <= width:
        return 0.0
    reach = np.linalg.solve(history.V(), history.u(theta)[:, None] + edge)
    return float(np.sqrt((reach**2).sum(axis=0).min()))


@pytest.mark.parametrize("share", [0.2, 0.6, 0.9])
def test_two_steps_where_the_second_is_needed(share):
    """β̄ below the distance to the ball: the general quadratic program, against enumeration."""
    for seed in range(1):
        X, r = data(2, seed)
        history = naive.likelihood(X, r, memory=("discounted", GAMMA), link="logistic", lam=LAM, c_mu=C_MU)
        first = naive.project(history, 1.0, history.V_tilde())
        width = share * naive.distance(history, first, history.V_tilde())
        kind = TwoStep(S=1.0, first=SquaredMetric(S=1.0), confidence=Constant(value=width, L=1.0))
        est, _ = projected(kind, X, r)
        assert est.tally.second_steps[0] > 0
        assert np.linalg.norm(est.theta) <= 1 + 1e-9
        _, _, oracle = naive.bvd_two_step(history, 1.0, width)
        assert second_step_value(history, est.theta, width) <= oracle * (1 + 1e-4)


def test_two_steps_where_the_first_suffices():
    X, r = data(2, 1)
    est, history = projected(TwoStep(S=1.0, first=SquaredMetric(S=1.0), confidence=Constant(value=100.0, L=1.0)), X, r)
    assert est.tally.second_steps[0] == 0
    assert_close(est.theta, naive.project(history, 1.0, history.V_tilde()), 1e-5)
