"""The oracles are checked too: hand-computed cases, identities between them, the reference values of the spec."""

import numpy as np
import pytest
from scipy.optimize import minimize

import naive

T, D = 6000, 2
DELTA = 1 / (2 * T)
LB = {"lam": 2.0, "S": 1.0, "R": 1.0, "L": 1.0, "delta": DELTA}


def history(seed=0, t=40, d=3, n=7):
    """t samples, n arms, rewards around a fixed parameter."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(t, d))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    arms = rng.normal(size=(n, d))
    arms /= np.linalg.norm(arms, axis=1, keepdims=True)
    return X, X @ np.full(d, 0.5) + rng.normal(size=t), arms


# --- linear --------------------------------------------------------------------------------------------------------
def test_weights_by_hand():
    assert naive.weights(("everything",), 4).tolist() == [1, 1, 1]
    assert naive.weights(("discounted", 0.5), 4).tolist() == [0.25, 0.5, 1]
    assert naive.weights(("window", 2), 5).tolist() == [0, 0, 1, 1]
    assert [naive.n_w(naive.weights(("restart", 3), t)) for t in range(1, 9)] == [0, 1, 2, 0, 1, 2, 0, 1]
    assert naive.weights(("restart", 3), 6).tolist() == [0, 0, 0, 1, 1]
    assert naive.weights(("window", 2), 1).size == 0


def test_linear_by_hand():
    # d=1, two samples x=1: V = 2 + .5 + 1, b = .5·3 + 1·1
    X, r = np.ones((2, 1)), np.array([3.0, 1.0])
    w = naive.weights(("discounted", 0.5), 3)
    assert naive.V(X, w, 2.0) == pytest.approx(np.array([[3.5]]))
    assert naive.V_tilde(X, w, 2.0) == pytest.approx(np.array([[3.25]]))
    assert naive.theta_hat(X, r, w, 2.0) == pytest.approx([2.5 / 3.5])
    beta = np.sqrt(2) + np.sqrt(2 * np.log(10) + np.log(1 + 1.5 / 2))
    arms = np.array([[1.0], [-1.0]])
    scores = naive.lb_weight_ucb(X, r, arms, gamma=0.5, lam=2.0, S=1.0, R=1.0, L=1.0, delta=0.1)
    assert scores == pytest.approx([2.5 / 3.5 + beta / np.sqrt(3.5), -2.5 / 3.5 + beta / np.sqrt(3.5)])


@pytest.mark.parametrize("memory", [("everything",), ("discounted", 0.9), ("window", 5), ("restart", 7)])
def test_theta_hat_minimises_the_weighted_squares(memory):
    X, r, _ = history()
    w = naive.weights(memory, 41)

    def objective(theta):
        return 2.0 * theta @ theta + np.sum(w * (X @ theta - r) ** 2)

    assert minimize(objective, np.zeros(3), tol=1e-12).x == pytest.approx(naive.theta_hat(X, r, w, 2.0), abs=1e-6)


def test_reference_radii_of_the_linear_experiment():
    gamma = 1 - np.sqrt(2 * np.pi / (D * T))
    w = naive.weights(("discounted", gamma), T + 1)
    assert naive.beta_trace(naive.n_w(w), d=D, **LB) == pytest.approx(6.2869, abs=5e-5)
    assert naive.beta_trace(T, d=D, **LB) == pytest.approx(7.1946, abs=5e-5)
    assert naive.beta_trace(34, d=D, **LB) == pytest.approx(6.23996816, abs=1e-8)
    at_square = naive.beta_trace(naive.n_w(w), d=D, **{**LB, "delta": 1 / T**2})
    assert at_square == pytest.approx(7.71940304, abs=1e-6)
    union = naive.beta_trace(T, d=D, **LB, uniform_in_time=True, T=T)
    assert union == pytest.approx(naive.beta_trace(T, d=D, **{**LB, "delta": DELTA / T}))


def test_memories_agree_at_their_limits():
    X, r, arms = history()
    static = naive.oful(X, r, arms, **LB)
    assert naive.lb_weight_ucb(X, r, arms, gamma=1.0, **LB) == pytest.approx(static)
    assert naive.sw_ucb(X, r, arms, W=40, **LB) == pytest.approx(static)
    assert naive.restart_ucb(X, r, arms, H=41, **LB) == pytest.approx(static)
    assert naive.d_lin_ucb(X, r, arms, gamma=1.0, **LB) == pytest.approx(static)
    assert naive.restart_ucb(X, r, arms, H=20, **LB) == pytest.approx(naive.oful(X[40:], r[40:], arms, **LB))
    assert naive.restart_ucb(X, r, arms, H=30, **LB) == pytest.approx(naive.oful(X[30:], r[30:], arms, **LB))


def test_recursions_of_algorithm_1_match_the_sums():
    X, r, _ = history(t=12)
    gamma, lam, eye = 0.8, 2.0, np.eye(3)
    V, V_tilde, b = lam * eye, lam * eye, np.zeros(3)
    for x, reward in zip(X, r, strict=True):
        V = gamma * V + np.outer(x, x) + (1 - gamma) * lam * eye
        legacy = gamma**2 * V + np.outer(x, x) + (1 - gamma**2) * lam * eye
        V_tilde = gamma**2 * V_tilde + np.outer(x, x) + (1 - gamma**2) * lam * eye
        b = gamma * b + reward * x
    w = naive.weights(("discounted", gamma), 13)
    assert naive.V(X, w, lam) == pytest.approx(V)
    assert naive.V_tilde(X, w, lam) == pytest.approx(V_tilde)
    assert naive.V_tilde_legacy(X, gamma, lam) == pytest.approx(legacy)
    assert naive.b(X, r, w) == pytest.approx(b)


@pytest.mark.parametrize("seed", range(5))
def test_inequalities_of_the_linear_section(seed):
    X, _, arms = history(seed)
    w = naive.weights(("discounted", 0.9), 41)
    V, V_tilde = naive.V(X, w, 2.0), naive.V_tilde(X, w, 2.0)
    assert np.all(naive.sandwich_norms(arms, V, V_tilde) <= naive.inverse_norms(arms, V) + 1e-12)
    for radius_n in ("w", "w2"):
        det = naive.beta(X, w, radius="det", radius_n=radius_n, **LB)
        assert det <= naive.beta(X, w, radius="trace", radius_n=radius_n, **LB) + 1e-12
    for p in (1, 20, 40):
        left, right = naive.lemma_d(X, w, 2.0, p)
        assert 0 < left <= right
    path = np.cumsum(np.random.default_rng(seed).normal(size=(41, 3)) / 20, axis=0)
    pairs = [
        naive.lemma_determinant(X, w, 2.0, 1.0),
        naive.lemma_potential(X, 0.9, 2.0, 1.0),
        naive.lemma_bias(X, path, w, 2.0, 1.0),
        naive.lemma_bias(X, path, w, 2.0, 1.0, sharp=True),
    ]
    assert all(0 < left <= right for left, right in pairs)


def test_randomised_scores():
    X, r, arms = history()
    greedy = arms @ naive.theta_hat(X, r, naive.weights(("discounted", 0.9), 41), 2.0)
    assert naive.d_lin_ts(X, r, arms, np.zeros(3), gamma=0.9, lam=2.0) == pytest.approx(greedy)
    one = naive.d_rand_lin_ucb(X, r, arms, 1.0, gamma=0.9, **LB)
    assert one == pytest.approx(naive.d_lin_ucb(X, r, arms, gamma=0.9, **LB))
    minus = naive.d_rand_lin_ucb(X, r, arms, -1.0, gamma=0.9, **LB)
    assert (one + minus) / 2 == pytest.approx(greedy)
    assert naive.d_rand_lin_ucb(X, r, arms, -1.0, gamma=0.9, optimistic=True, **LB) == pytest.approx(one)
    M = naive.V(X, np.ones(40), 2.0)
    assert naive.symmetric_root(M) @ naive.symmetric_root(M) == pytest.approx(M)


def test_linear_kernel_gives_weighted_ridge():
    X, r, arms = history(t=15)
    w = naive.weights(("discounted", 0.9), 16)
    mean, variance, _ = naive.gp_weight_ucb(X, r, arms, memory=("discounted", 0.9), lam=2.0, B=1.0, R=1.0, delta=0.1)
    assert mean == pytest.approx(arms @ naive.theta_hat(X, r, w, 2.0))
    assert variance == pytest.approx(2.0 * naive.inverse_norms(arms, naive.V(X, w, 2.0)) ** 2)


def test_best_arms_returns_every_tie():
    assert naive.best_arms(np.array([1.0, 2.0, 2.0 - 1e-11, 1.999])).tolist() == [1, 2]
