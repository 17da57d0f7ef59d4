"""Weighted sequential Bayes: posterior, radius and scores against the recursion, with priors that stay and priors that fade."""

import naive
import numpy as np
import pytest

import driftbandits as db
from driftbandits.model.bayes import FAINT

D, SIGMA, DELTA, GAMMA = 3, 0.5, 0.05, 0.9
MEAN = np.array([0.5, 0.0, -0.5])
PRECISIONS = {
    "one number": 4.0,
    "a diagonal": np.array([4.0, 1.0, 9.0]),
    "a matrix": np.array([[4.0, 1.0, 0.0], [1.0, 3.0, -0.5], [0.0, -0.5, 2.0]]),
}


def as_matrix(precision):
    given = np.asarray(precision, float)
    return given if given.ndim == 2 else np.diag(np.broadcast_to(given, D))


def stream(rounds=25, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rounds, D))
    return X, X @ np.array([1.0, -1.0, 0.5]) + SIGMA * rng.normal(size=rounds), rng.normal(size=(6, D))


@pytest.mark.parametrize("prior", ["refreshed", "fading"])
@pytest.mark.parametrize("form", PRECISIONS)
def test_posterior_and_scores_follow_the_recursion(form, prior):
    X, r, arms = stream()
    strategy = db.zoo.wsb_lin_ucb(
        gamma=GAMMA, prior_mean=MEAN, prior_precision=PRECISIONS[form], sigma=SIGMA, delta=DELTA, B0=2.0, prior=prior
    )
    agent = db.Agent(strategy, dim=D, compile="now")
    known = {
        "gamma": GAMMA,
        "mean": MEAN,
        "precision": as_matrix(PRECISIONS[form]),
        "sigma": SIGMA,
        "keep": 1.0 if prior == "refreshed" else FAINT,
    }
    for t in range(len(r) + 1):
        scores = agent.scores(arms)
        L, L2, m = naive.wsb_posterior(X[:t], r[:t], **known)
        np.testing.assert_allclose(agent.theta, m, rtol=1e-9, atol=1e-12)
        Q = naive.wsb_metric(L, L2)
        widths = np.sqrt(np.einsum("ni,ij,nj->n", arms, Q, arms))
        if prior == "refreshed":  # the theorem's radius
            beta = naive.wsb_radius(L2, known["precision"], B0=2.0, delta=DELTA)
        else:  # where no radius is known: what the data alone would add to the prior, by the trace
            w = GAMMA ** (2 * np.arange(t - 1, -1, -1))
            data = (X[:t].T * w) @ X[:t] / SIGMA**2
            trace = np.trace(np.linalg.solve(known["precision"], data))
            beta = 2.0 + np.sqrt(2 * np.log(1 / DELTA) + D * np.log(1 + trace / D))
        assert agent.info()["radius"] == pytest.approx(SIGMA * beta, rel=1e-10)
        np.testing.assert_allclose(scores, arms @ m + beta * widths, rtol=1e-9)
        if t < len(r):
            agent.update(r[t], x=X[t])


def test_without_a_bound_the_prior_is_taken_at_its_word():
    strategy = db.zoo.wsb_lin_ucb(gamma=GAMMA, prior_precision=4.0, sigma=SIGMA, delta=DELTA)
    agent = db.Agent(strategy, dim=D, compile="now")
    agent.scores(np.eye(D))
    beta = naive.honest_bound(D, DELTA) + np.sqrt(2 * np.log(1 / DELTA))
    assert agent.info()["radius"] == pytest.approx(SIGMA * beta)
    drawn = np.random.default_rng(0).normal(size=(20_000, D))  # Λ₀^{1/2}(θ − m₀)
    outside = (np.linalg.norm(drawn, axis=1) > naive.honest_bound(D, DELTA)).mean()
    assert outside <= DELTA


def test_a_fading_prior_is_forgotten_where_one_plays_and_kept_elsewhere():
    strategy = db.zoo.wsb_lin_ucb(
        gamma=0.5, prior_mean=MEAN, prior_precision=100.0, sigma=SIGMA, delta=DELTA, prior="fading"
    )
    agent = db.Agent(strategy, dim=D, compile="now")
    for _ in range(60):
        agent.update(2.0, x=[1.0, 0.0, 0.0])
    assert agent.theta[0] == pytest.approx(2.0, abs=1e-3)
    np.testing.assert_allclose(agent.theta[1:], MEAN[1:], atol=1e-9)
    unplayed = agent.scores([[0.0, 1.0, 0.0]])[0] - agent.theta[1]
    assert unplayed == pytest.approx(agent.info()["radius"] / SIGMA / 10.0, rel=1e-6)  # ‖x‖_{Λ₀⁻¹} = 1/10


def test_a_wrong_shape_is_refused_before_there_is_an_agent():
    for words, given in (
        (r"prior_mean has shape \(2,\); the arms have 3 features", {"prior_mean": [1.0, 2.0]}),
        (r"prior_precision has shape \(2,\); the arms have 3 features", {"prior_precision": [1.0, 2.0]}),
        (r"prior_precision has shape \(2, 2\); the arms have 3 features", {"prior_precision": np.eye(2)}),
    ):
        strategy = db.zoo.wsb_lin_ucb(gamma=GAMMA, sigma=SIGMA, delta=DELTA, **given)
        with pytest.raises(db.DriftBanditsError, match=words):
            db.Agent(strategy, dim=D)
