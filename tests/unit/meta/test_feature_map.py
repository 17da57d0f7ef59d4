"""Kernel features: exact on their points, random ones to their error; WGP-UCB against weighted kernel ridge regression."""

import math

import naive.neighbours as naive
import numpy as np
import pytest

import driftbandits as db
from driftbandits.meta.feature_map import KERNELS, dimension_of, kernel_of, lift, map_tables

KNOWN = {"lam": 0.7, "S": 1.0, "R": 0.3, "delta": 0.05}


def rbf(x, y, scale=0.6):
    return math.exp(-0.5 * float(((x - y) ** 2).sum()) / scale**2)


def played(strategy, arms, rounds, seed=0, dim=None):
    """Choices, rewards and the agent after so many rounds of a reward that is not linear."""
    agent = db.Agent(strategy, dim=dim or arms.shape[1], seed=seed, compile="never")
    rng = np.random.default_rng(seed)
    X, rewards = [], []
    for t in range(rounds):
        x = arms[agent.select(arms)]
        r = float(np.sin(3 * x[0] + 0.05 * t) + 0.3 * rng.normal())
        agent.update(r)
        X.append(x)
        rewards.append(r)
    return agent, np.array(X), np.array(rewards)


@pytest.mark.interpreted
@pytest.mark.parametrize("gamma", [0.9, 1.0])
def test_wgp_ucb_is_weighted_kernel_ridge(gamma):
    """γ = 1 is IGP-UCB."""
    arms = np.random.default_rng(1).uniform(-1, 1, (9, 2))
    strategy = db.zoo.wgp_ucb(gamma=gamma, kernel="rbf", lengthscale=0.6, points=arms, **KNOWN)
    agent, X, rewards = played(strategy, arms, 30)
    mean, width, volume = naive.weighted_kernel_ridge(X, rewards, arms, gamma=gamma, lam=0.7, kernel=rbf)
    beta = math.sqrt(0.7) * 1.0 + 0.3 * math.sqrt(2 * math.log(1 / 0.05) + volume)
    np.testing.assert_allclose(agent.scores(arms), mean + beta * np.sqrt(width), rtol=1e-7)
    # and it is invariant under what the naive form cannot see: the number of landmarks beyond the arms
    more = np.vstack([arms, np.random.default_rng(2).uniform(-1, 1, (4, 2))])
    other = db.Agent(
        db.zoo.wgp_ucb(gamma=gamma, kernel="rbf", lengthscale=0.6, points=more, **KNOWN), dim=2, compile="never"
    )
    for x, r in zip(X, rewards, strict=True):
        other.update(r, x=x)
    np.testing.assert_allclose(other.scores(arms), agent.scores(arms), rtol=1e-6)


@pytest.mark.interpreted
def test_a_linear_kernel_is_d_lin_ucb():
    arms = db.env.unit_arms(7, dim=3, seed=0)
    agent, X, rewards = played(db.zoo.wgp_ucb(gamma=0.95, kernel="linear", points=arms, **KNOWN), arms, 25)
    plain = db.Agent(db.zoo.d_lin_ucb(gamma=0.95, L=1.0, radius="det", **KNOWN), dim=3, compile="never")
    for x, r in zip(X, rewards, strict=True):
        plain.update(r, x=x)
    np.testing.assert_allclose(agent.scores(arms), plain.scores(arms), rtol=1e-9)


@pytest.mark.parametrize("kernel", ["rbf", "matern32", "matern52", "linear"])
def test_landmark_features_have_the_kernel_as_inner_products(kernel):
    points = np.random.default_rng(3).normal(size=(8, 2))
    features = db.zoo.kernels.kernel_features(kernel=kernel, lengthscale=0.8, points=points)
    tables, D = map_tables(features, 2), dimension_of(features, 2)
    Z = np.zeros((8, D))
    for i, x in enumerate(points):
        lift(features, tables, x, Z[i])
    K = kernel_of(KERNELS[kernel], 0.8, points, points)
    np.testing.assert_allclose(Z @ Z.T, K, atol=1e-8)
    assert (2 if kernel == "linear" else 8) == D


@pytest.mark.parametrize("kernel", ["rbf", "matern32", "matern52"])
def test_random_features_approach_the_kernel(kernel):
    """The error of an inner product has standard deviation at most √(1/(2m)); 5 of them over 45 pairs."""
    points = np.random.default_rng(4).normal(size=(10, 3))
    m = 4000
    features = db.zoo.kernels.kernel_features(kernel=kernel, lengthscale=1.3, frequencies=m)
    tables = map_tables(features, 3)
    Z = np.zeros((10, 2 * m))
    for i, x in enumerate(points):
        lift(features, tables, x, Z[i])
    error = np.abs(Z @ Z.T - kernel_of(KERNELS[kernel], 1.3, points, points))
    assert error.max() < 5 * math.sqrt(1 / (2 * m))
    np.testing.assert_allclose((Z**2).sum(axis=1), 1.0, rtol=1e-12)


def test_random_features_give_nearly_the_exact_index():
    """Weighted ridge on random features against the exact kernel's, in NumPy: the error falls with the number of frequencies."""
    rng = np.random.default_rng(5)
    arms = rng.uniform(-1, 1, (8, 2))
    X, rewards = arms[rng.integers(0, 8, 60)], rng.normal(size=60)
    mean, width, _ = naive.weighted_kernel_ridge(X, rewards, arms, gamma=0.95, lam=0.7, kernel=rbf)
    errors = []
    for m in (20, 300):
        features = db.zoo.kernels.kernel_features(kernel="rbf", lengthscale=0.6, frequencies=m)
        tables = map_tables(features, 2)

        known = {}
        for x in arms:
            known[tuple(x)] = np.zeros(2 * m)
            lift(features, tables, x, known[tuple(x)])

        near = naive.weighted_kernel_ridge(
            X, rewards, arms, gamma=0.95, lam=0.7, kernel=lambda x, y, z=known: float(z[tuple(x)] @ z[tuple(y)])
        )
        errors.append(max(np.abs(near[0] - mean).max() / np.ptp(mean), np.abs(near[1] - width).max() / width.max()))
    assert errors[1] < 0.2
    assert errors[1] < 0.5 * errors[0]


@pytest.mark.interpreted
def test_arms_that_change_in_number():
    agent = db.Agent(
        db.zoo.on_features(db.zoo.oful(lam=1, S=1, L=1, R=1, delta=0.1), frequencies=5), dim=2, compile="never"
    )
    rng = np.random.default_rng(0)
    for n in (3, 7, 2, 9, 4):
        k = agent.select(rng.normal(size=(n, 2)))
        assert 0 <= k < n
        agent.update(0.5)
    assert agent.info()["features"] == 10


@pytest.mark.compiled
def test_a_kernel_learner_beats_a_linear_one_where_rewards_bend():
    """Rewards sin(3x₁), standing still: the linear learner cannot represent them. Regret summed over 100 rounds, 3 seeds."""
    arms = np.random.default_rng(6).uniform(-1, 1, (12, 2))
    arms /= np.linalg.norm(arms, axis=1).max()
    means = np.sin(3 * arms[:, 0])

    def regret(strategy, seed):
        agent = db.Agent(strategy, dim=2, seed=seed, compile="never")
        rng, lost = np.random.default_rng(seed), 0.0
        for _ in range(100):
            k = agent.select(arms)
            agent.update(float(means[k] + 0.1 * rng.normal()))
            lost += means.max() - means[k]
        return lost

    common = {"lam": 0.1, "S": 1.0, "R": 0.1, "delta": 0.1}
    kernel = db.zoo.wgp_ucb(gamma=1.0, kernel="rbf", lengthscale=0.5, points=arms, **common)
    linear = db.zoo.d_lin_ucb(gamma=1.0, L=1.0, radius="det", **common)
    assert sum(regret(kernel, s) for s in range(3)) < sum(regret(linear, s) for s in range(3))


def test_what_is_refused():
    with pytest.raises(db.errors.InvalidValue, match="either points"):
        db.zoo.on_features(db.zoo.oful(lam=1, S=1, L=1, R=1, delta=0.1), kernel="rbf")
    with pytest.raises(db.errors.InvalidValue, match="no random Fourier"):
        db.zoo.kernels.kernel_features(kernel="linear", frequencies=3)
    with pytest.raises(db.errors.InvalidValue, match="one of linear"):
        db.zoo.kernels.kernel_features(kernel="rfb", frequencies=3)
    with pytest.raises(db.errors.InvalidShape, match="arms have 3 features"):
        db.Agent(db.zoo.wgp_ucb(gamma=0.9, points=np.eye(2), **KNOWN), dim=3)
