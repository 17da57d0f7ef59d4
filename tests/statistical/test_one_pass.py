"""Coverage of the one-pass radius, and the counterexample: recipes T6 and T7 of onepass-proof §6.

The world stands still at u. For every round D/β² is the squared distance of u from θ_t in the norm H_t, over the squared radius.
"""

import numpy as np
import pytest
from conftest import INTERPRETED

import driftbandits as db
from driftbandits.core.kernel import entry, kernel
from driftbandits.core.linalg import dot, norm
from driftbandits.model import OnePass
from driftbandits.protocol import Setting, beta, estimate, remember, start

OPT, ERR, RANDOM, UCB, STOP = range(5)


@kernel
def most_optimistic(strategy, state, offer):
    """The candidate with the largest xᵀθ + β‖x‖ in the norm of the diagonal of H."""
    best, value = 0, -1.0e300
    for k in range(offer.shape[0]):
        square = 0.0
        for i in range(offer.shape[1]):
            square += offer[k, i] ** 2 / (strategy.model.lam + state.sums.A[i, i])
        index = dot(offer[k], state.est.theta) + state.beta[0] * square**0.5
        if index > value:
            best, value = k, index
    return best


@entry
def play(strategy, state, u, candidates, draws, design, ratio):
    """Rounds 1, …, T: a feature by the design, a Bernoulli reward of mean μ(xᵀu); ratio[t] = D/β² before round t + 1."""
    d, T = u.shape[0], draws.shape[0]
    sums, est = state.sums, state.est
    stopped = False
    for t in range(T):
        x = candidates[t, most_optimistic(strategy, state, candidates[t]) if design == UCB else 0]
        if design == OPT or (design == STOP and not stopped):
            for i in range(d):
                x[i] = u[i] / norm(u)
        elif design == ERR:
            far = 0.0
            for i in range(d):
                far += (est.theta[i] - u[i]) ** 2
            for i in range(d):
                x[i] = (est.theta[i] - u[i]) / max(far**0.5, 1e-12)
        elif design == STOP:
            for i in range(d):
                x[i] = 0.0
        p = 1.0 / (1.0 + np.exp(-dot(x, u)))
        remember(strategy.memory, state.history, sums, x, 1.0 if draws[t] < p else 0.0, -1)
        estimate(strategy.model, sums, est)
        state.beta[0] = beta(strategy.radius, sums.n, est, 0)
        square = 0.0
        for i in range(d):
            row = strategy.model.lam * (est.theta[i] - u[i])
            for j in range(d):
                row += sums.A[i, j] * (est.theta[j] - u[j])
            square += row * (est.theta[i] - u[i])
        ratio[t] = square / (state.beta[0] * state.beta[0])
        stopped = stopped or ratio[t] > 0.5


def ratios(strategy, u, design, runs, T, seed=0):
    """(runs, T) D/β²."""
    rng = np.random.default_rng(seed)
    d = len(u)
    out = np.zeros((runs, T))
    for k in range(runs):
        state = start(strategy, Setting(d, np.zeros((d, 0)), 0), rng)
        state.beta[0] = 1.0
        offers = rng.standard_normal((T, 4, d))
        offers /= np.linalg.norm(offers, axis=2, keepdims=True)
        play(strategy, state, np.asarray(u, float), offers, rng.random(T), design, out[k])
    return out


def learner(S, gamma=1.0, lam=1.0, delta=0.05, **model):
    strategy = db.zoo.domd_glb(gamma=gamma, lam=lam, S=S, L=1, delta=delta)
    return strategy._replace(model=strategy.model._replace(**model))


@pytest.mark.interpreted
def test_t6_the_counterexample():
    """d = 1, x ≡ 1, u = S = 5, δ = 0.05: with a_t = μ′(z) and η = 1 every run leaves the radius, by far; with the damped slope the
    median run stays inside all the time, and 2 of 100 leave it for a few rounds.
    """
    runs, T = (5, 300) if INTERPRETED else (40, 1000)
    naive_form = ratios(learner(5.0, damped=0), [5.0], OPT, runs, T)
    ours = ratios(learner(5.0), [5.0], OPT, runs, T)
    assert (naive_form.max(axis=1) > 1.0).all()
    assert np.median(ours.max(axis=1)) <= 0.93
    assert (ours > 1.0).mean() <= 0.025


@pytest.mark.interpreted
@pytest.mark.parametrize("S", [4.0, 7.0])
def test_t6_at_other_sizes_of_the_ball(S):
    """S = 7: the naive form is out by far; S = 4: in half of the runs. Ours is inside, up to half of the rounds that δ = 0.05 allows."""
    runs, T = (4, 300) if INTERPRETED else (40, 1000)
    ours = ratios(learner(S), [S], OPT, runs, T)
    assert (ours > 1.0).mean() <= 0.025
    if S == 7.0:
        assert (ratios(learner(S, damped=0), [S], OPT, runs, T).max(axis=1) > 2.0).all()


@pytest.mark.compiled
@pytest.mark.slow
@pytest.mark.parametrize("gamma", [1.0, 0.98])
@pytest.mark.parametrize("design", [OPT, ERR, RANDOM, UCB, STOP])
def test_t7_coverage(gamma, design):
    """400 runs of 300 rounds, d = 2, δ = 0.2. At every fixed t at most 5 % miss, and with γ = 1 at most 15 % at any t: both below δ.

    The specification had 4 % and 12 % with other draws; the bounds here are δ/2 and δ.
    """
    for S in (1.0, 3.0):
        u = S * np.array([0.6, 0.8])
        ratio = ratios(learner(S, gamma=gamma, delta=0.2, lam=1.0), u, design, 400, 300, seed=design)
        assert (ratio > 1.0).mean(axis=0).max() <= 0.1
        if gamma == 1.0:
            assert (ratio.max(axis=1) > 1.0).mean() <= 0.2


@pytest.mark.interpreted
def test_the_model_of_the_tests_is_the_one_of_the_library():
    assert isinstance(learner(1.0).model, OnePass)
    assert learner(1.0, damped=0).model.damped == 0.0
