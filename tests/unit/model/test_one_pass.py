"""One proximal step per observation: against the naive recursion, the linear learner, and the identities of the proof."""

import numpy as np
import pytest
from naive import onepass as naive
from naive.links import LINKS

import driftbandits as db
from driftbandits.core.kernel import entry
from driftbandits.links import link_of
from driftbandits.model.one_pass import OnePass
from driftbandits.model.one_pass.equation import curvature, meeting_point
from driftbandits.model.one_pass.sums import fresh_estimate, fresh_sums
from driftbandits.protocol import absorb, estimate

GAMMA = 0.9
ONLY_INTERPRETED = pytest.mark.interpreted  # one composition is compiled, the others have the same code
LINKS_TO_TEST = [
    "logistic",
    *(pytest.param(link, marks=ONLY_INTERPRETED) for link in ("identity", "probit", "poisson")),
]


@entry
def _root(link, z_bar, c, r):
    return meeting_point(link, z_bar, c, r)


@entry
def _curvature(link, z, y):
    return curvature(link, z, y)


def observations(link, d, T, seed=0):
    """Features within the unit ball, and rewards that the link allows."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((T, d))
    X *= rng.uniform(0.3, 1.0, (T, 1)) / np.linalg.norm(X, axis=1, keepdims=True)
    draw = {"identity": rng.standard_normal, "poisson": lambda n: rng.poisson(2.0, n).astype(float)}
    return X, draw.get(link, lambda n: rng.integers(0, 2, n).astype(float))(T)


def options_of(strategy, link, gamma=GAMMA):
    """The same learner for the oracle."""
    m = strategy.model
    return naive.Options(
        link=link,
        lam=m.lam,
        S=m.S,
        gamma=gamma,
        eta=m.eta,
        phi=m.phi,
        anchor="prox" if m.prox else "ridge",
        step="explicit" if m.explicit else "implicit",
        projected=bool(m.projected),
        slope="damped" if m.damped else "own",
    )


def matrix_of(factor):
    """V from its factor, which holds reciprocals on the diagonal."""
    U = np.triu(factor, 1) + np.diag(1.0 / np.diag(factor))
    return U.T @ U


def worst_difference(strategy, options, X, R, delta=0.05):
    """The largest difference of θ, H, b, Υ and β between an agent and the oracle, over all rounds."""
    agent = db.Agent(strategy, dim=X.shape[1])
    agent.scores(X[:1])
    worst = 0.0
    for state, x, r in zip(naive.run(options, X, R)[1:], X, R, strict=True):
        agent.update(float(r), x=x)
        own = agent._state
        differences = (
            agent.theta - state.theta,
            matrix_of(own.est.factor) - state.H,
            own.sums.b - state.H @ state.theta,
            own.est.upsilon[0] - state.upsilon,
            own.beta[0] - naive.beta(options, state, delta),
        )
        worst = max(worst, *(np.abs(difference).max() for difference in differences))
    return worst


VARIANTS = [
    {},
    {"anchor": "prox"},
    {"eta": 2.0},
    {"lam": 0.1},
    {"projected": True},
    {"step": "explicit", "projected": True},
    {"step": "explicit", "anchor": "prox", "projected": True, "lam": 3.0},
]


@pytest.mark.parametrize("link", LINKS_TO_TEST)
@pytest.mark.parametrize("options", VARIANTS, ids=str)
def test_every_round_is_that_of_the_naive_recursion(link, options):
    """The oracle finds the slope on a grid, hence no better than 1e-9."""
    strategy = db.zoo.domd_glb(link=link, gamma=GAMMA, S=1.5, L=1, delta=0.05, **options)
    X, R = observations(link, 3, 15)
    assert worst_difference(strategy, options_of(strategy, link), X, R) < 1e-9


@ONLY_INTERPRETED
@pytest.mark.parametrize("d", [1, 2, 7])
def test_a_learner_that_forgets_nothing(d):
    strategy = db.zoo.glb_omd(S=2, L=1, delta=0.05)
    X, R = observations("logistic", d, 20, seed=d)
    assert worst_difference(strategy, options_of(strategy, "logistic", gamma=1.0), X, R) < 1e-9


@ONLY_INTERPRETED
def test_a_restart_forgets_theta_too():
    """After a restart the learner is a fresh one, whatever its anchor."""
    X, R = observations("logistic", 3, 14)
    for anchor in ("ridge", "prox"):
        strategy = db.zoo.domd_glb(gamma=1.0, S=1.5, L=1, delta=0.05, anchor=anchor)
        restarted = db.Agent(strategy._replace(memory=db.memory.Restart(H=7)), dim=3)
        fresh = db.Agent(strategy, dim=3)
        for t in range(13):
            restarted.update(R[t], x=X[t])
            if t >= 7:
                fresh.update(R[t], x=X[t])
        np.testing.assert_allclose(restarted.theta, fresh.theta, rtol=0, atol=1e-14)
        assert restarted.info()["radius"] == pytest.approx(fresh.info()["radius"], rel=1e-13)


@ONLY_INTERPRETED
def test_with_the_identity_link_it_is_ridge_regression():
    """θ and H of LB-WeightUCB to 1e-12, over 300 rounds."""
    X, R = observations("identity", 4, 300)
    linear = db.Agent(db.zoo.lb_weight_ucb(gamma=0.97, lam=1.3, S=1, L=1, R=1, delta=0.05), dim=4)
    one_pass = db.Agent(db.zoo.domd_glb(link="identity", gamma=0.97, lam=1.3, S=1, L=1, delta=0.05), dim=4)
    for x, r in zip(X, R, strict=True):
        for agent in (linear, one_pass):
            agent.update(r, x=x)
        np.testing.assert_allclose(one_pass.theta, linear.theta, rtol=0, atol=1e-12)
        V, H = (matrix_of(agent._state.est.factor) for agent in (linear, one_pass))
        np.testing.assert_allclose(H, V, rtol=1e-12)


@pytest.mark.parametrize("link", LINKS_TO_TEST)
def test_the_scalar_equation_is_solved(link):
    """z + c(μ(z) − r) = z̄ to 1e-10, relative to the largest of its terms, for everything that can be asked."""
    part = link_of(link)
    for z_bar in (-50.0, -3.0, 0.0, 0.7, 20.0, 50.0):
        for c in (0.0, 1e-6, 0.3, 10.0, 1e3):
            for r in (0.0, 1.0, 50.0):
                z = _root(part, z_bar, c, r)
                terms = (z, c * float(LINKS[link].mu(z)), -c * r, -z_bar)
                assert abs(sum(terms)) <= 1e-10 * max(1.0, *map(abs, terms)), (z_bar, c, r)


@pytest.mark.parametrize("link", LINKS_TO_TEST)
def test_the_curvature_is_continuous_where_its_formula_changes(link):
    """Both forms against quadrature, at gaps on both sides of the change."""
    part = link_of(link)
    v, weight = np.polynomial.legendre.leggauss(40)
    v, weight = (v + 1) / 2, weight / 2
    for z in (-2.0, 0.0, 1.3):
        for gap in (1e-9, 1e-3, -0.1, 0.2499, 0.2501, -0.3, 1.0, -3.0):
            exact = 2 * weight @ ((1 - v) * LINKS[link].dmu(z + v * gap))
            assert _curvature(part, z, z + gap) == pytest.approx(exact, rel=1e-12)


@ONLY_INTERPRETED
def test_a_weight_is_a_share_of_the_loss():
    """An observation of weight w: the minimiser of wℓ + ½‖θ − θ̄‖²."""
    agent = db.Agent(db.zoo.domd_glb(gamma=1.0, S=1, L=1, delta=0.05), dim=2)
    x = np.array([0.6, 0.8])
    agent.update(1.0, x=x, weight=0.3)
    theta = agent.theta
    gradient = 0.3 * (1 / (1 + np.exp(-x @ theta)) - 1.0) * x + theta
    np.testing.assert_allclose(gradient, 0.0, atol=1e-12)


def test_two_observations_before_an_estimate_are_no_number():
    """Parts that break the contract of `linearises` get NaN, not a wrong estimate."""
    strategy = db.zoo.domd_glb(gamma=0.9, S=1, L=1, delta=0.05)
    agent = db.Agent(strategy, dim=2)
    sums, est = agent._state.sums, agent._state.est
    for _ in range(2):
        absorb(sums, np.array([1.0, 0.0]), 1.0, -1, 1.0)
    estimate(strategy.model, sums, est)
    assert np.isnan(est.theta).any()


def test_what_does_not_fit_is_refused_in_one_line():
    step = db.zoo.domd_glb(gamma=0.9, S=1, L=1, delta=0.05)
    with pytest.raises(db.errors.InvalidValue, match="OnePass cannot work with Window"):
        step._replace(memory=db.memory.Window(W=10))
    for bad, said in [
        ({"lam": 0.0}, "lam = 0"),
        ({"S": -1.0}, "S = -1"),
        ({"eta": 0.0}, "eta = 0"),
        ({"prox": 0.5}, "prox = 0.5"),
    ]:
        with pytest.raises(db.errors.InvalidValue, match=said):
            step.model._replace(**bad)


@pytest.mark.interpreted
def test_a_projected_step_is_the_best_on_the_ball():
    """θ⁺ = argmin over ‖θ‖ ≤ S of η·ℓ(θ) + ½‖θ − θ_t‖²_{H + λI}: on the sphere, and no point of the sphere is better."""
    S, eta, lam = 0.5, 1.5, 0.3
    made = {"gamma": GAMMA, "lam": lam, "S": S, "L": 1.0, "R": 1.0, "delta": 0.1, "eta": eta}
    strategy = db.zoo.domd_glb(link="identity", anchor="prox", projected=True, **made)
    agent = db.Agent(strategy, dim=2, seed=0, compile="never")
    angle = np.linspace(0.0, 2 * np.pi, 20001)
    ball = S * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    H, theta = np.zeros((2, 2)), np.zeros(2)
    for x, r in (([0.9, 0.2], 3.0), ([0.3, 0.9], -2.0), ([0.7, -0.7], 4.0)):
        x = np.array(x)
        agent.update(r, x=x)
        H *= GAMMA
        away = ball - theta
        cost = eta * 0.5 * (r - ball @ x) ** 2 + 0.5 * np.einsum("ni,ij,nj->n", away, H + lam * np.eye(2), away)
        assert np.linalg.norm(agent.theta) == pytest.approx(S, rel=1e-9)
        np.testing.assert_allclose(agent.theta, ball[cost.argmin()], atol=1e-3)
        theta, H = agent.theta, H + np.outer(x, x)


@pytest.mark.interpreted
def test_the_second_matrix_has_squared_weights():
    """Σ w² a x xᵀ beside Σ w a x xᵀ, with a = 1 of the identity link, for observations of different weights."""
    model = OnePass(link=link_of("identity"), lam=0.3, S=1.0)
    sums, est = fresh_sums(2, True, beside=False), fresh_estimate(2, True, False, False)
    A, A2 = np.zeros((2, 2)), np.zeros((2, 2))
    for x, r, w in (([0.9, 0.2], 0.5, 1.0), ([0.3, 0.9], -0.4, 0.5), ([0.7, -0.7], 0.1, 0.25)):
        absorb(sums, np.array(x), r, -1, w)
        estimate(model, sums, est)
        A, A2 = A + w * np.outer(x, x), A2 + w * w * np.outer(x, x)
        np.testing.assert_allclose(_symmetric(sums.A), A, atol=1e-12)
        np.testing.assert_allclose(_symmetric(sums.A2), A2, atol=1e-12)


def _symmetric(M):
    """Kernels fill the upper half."""
    return np.triu(M) + np.triu(M, 1).T
