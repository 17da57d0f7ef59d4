"""The bias lemma without √d on random instances of every theorem that uses it: MDPs, windows, restarts, D-LinUCB, bandits over bandits.

Each test plays without noise, so that an estimate is off by its bias and its ridge alone, and asserts that the lemma covers that. The
closest ratio is asserted too: a bound that nothing comes near would pass with any constant.
"""

from math import sqrt

import numpy as np
import pytest

from driftbandits import theory


def walk(rng, n, d, simplex=False):
    """A path of n parameters that moves a little in most rounds and jumps in some."""
    steps = rng.normal(size=(n, d)) * np.where(rng.random((n, 1)) < 0.1, 1.0, 0.02)
    path = np.cumsum(steps, axis=0) + rng.normal(size=d)
    if simplex:
        path = np.exp(path - path.max(axis=1, keepdims=True))
        return path / path.sum(axis=1, keepdims=True)
    return path / max(1.0, np.linalg.norm(path, axis=1).max())


def lengths(path):
    return np.linalg.norm(np.diff(path, axis=0), axis=1)


def round_bias(w, path):
    """Σ_{p<t} √(Σ_{s≤p} w_s) Δ_p with the weights of the t − 1 observations of round t; path has t rows."""
    return float(np.sqrt(np.cumsum(w)) @ lengths(path))


def test_linear_mixtures():
    """Lemma of Theorem 5: targets V_j(s') in their mean, features ψ_{V_j} of a V that changes with every episode."""
    rng, closest = np.random.default_rng(0), 0.0
    for _ in range(150):
        d, S, H, k = int(rng.integers(2, 6)), int(rng.integers(2, 6)), int(rng.integers(1, 8)), int(rng.integers(2, 40))
        kernels = rng.dirichlet(np.full(S, 0.3), size=(d, k))  # (d, k, S): ψ of the pair of each episode
        X = np.einsum("djs,js->jd", kernels, H * rng.random((k, S)))
        w, lam = rng.uniform(0.5, 1.0) ** np.arange(k - 2, -1, -1), float(np.exp(rng.uniform(-3, 3)))
        path, now, past = walk(rng, k, d, simplex=True), X[-1], X[:-1]
        L = max(np.linalg.norm(X, axis=1).max() / H, 1e-9)
        Sigma = lam * np.eye(d) + (past.T * w) @ past
        guess = np.linalg.solve(Sigma, (past.T * w) @ np.einsum("jd,jd->j", past, path[:-1]))
        error = abs(now @ (guess - path[-1]))
        ridge = sqrt(lam) * np.linalg.norm(path[-1]) * sqrt(now @ np.linalg.solve(Sigma, now))
        moved = (past.T * w) @ np.einsum("jd,jd->j", past, path[:-1] - path[-1])
        found, most = sqrt(moved @ np.linalg.solve(Sigma, moved)), H * L * round_bias(w, path)
        assert found <= most * (1 + 1e-9)
        assert error <= (H * L / sqrt(lam) * most + ridge) * (1 + 1e-9)
        closest = max(closest, found / most if most > 1e-6 else 0.0)
    assert closest > 0.4


def test_multinomial_mixtures():
    """Lemma of Theorem 6: ‖Σ_j α_j Σ_{s'}(p_j − p_k)ψ′‖ in the norm of Σ̄⁻¹ is at most min{L_ψ, L′} Σ_p √(Σ_{j≤p}α_j) Δ_p."""
    rng, closest = np.random.default_rng(1), 0.0
    for _ in range(150):
        d, U, k = int(rng.integers(1, 6)), int(rng.integers(2, 6)), int(rng.integers(2, 40))
        psi = rng.normal(size=(k - 1, U, d)) * rng.uniform(0.2, 2.0)
        shifted = psi - psi[:, :1]
        alpha, lam = rng.uniform(0.5, 1.0) ** np.arange(k - 2, -1, -1), float(np.exp(rng.uniform(-3, 3)))
        path = 2.0 * walk(rng, k, d)

        def chances(w, psi=psi):
            logits = np.einsum("jud,jd->ju", psi, np.broadcast_to(w, (len(psi), psi.shape[2])))
            p = np.exp(logits - logits.max(axis=1, keepdims=True))
            return p / p.sum(axis=1, keepdims=True)

        gap = np.einsum("j,ju,jud->d", alpha, chances(path[:-1]) - chances(path[-1]), shifted)
        Sigma = lam * np.eye(d) + np.einsum("j,jud,jue->de", alpha, shifted, shifted)
        L = min(np.linalg.norm(psi, axis=-1).max(), np.linalg.norm(shifted, axis=-1).max())
        found, most = sqrt(gap @ np.linalg.solve(Sigma, gap)), L * round_bias(alpha, path)
        assert found <= most * (1 + 1e-9)
        closest = max(closest, found / most if most > 1e-6 else 0.0)
    assert closest > 0.1


@pytest.mark.parametrize("kind", ["window", "restart"])
def test_windows_and_restarts(kind):
    """Weights 0 and 1: the error of every round, and the sum of all biases, which the bound takes for W^{3/2} P_T."""
    rng, closest = np.random.default_rng(2), 0.0
    for _ in range(12):
        d, T, W = int(rng.integers(1, 5)), 60, int(rng.integers(2, 20))
        X, path, lam = rng.normal(size=(T, d)), walk(rng, T, d), float(np.exp(rng.uniform(-2, 2)))
        X /= np.linalg.norm(X, axis=1, keepdims=True)
        total = 0.0
        for t in range(1, T):
            first = max(0, t - W) if kind == "window" else t // W * W
            seen = X[first:t]
            V = lam * np.eye(d) + seen.T @ seen
            guess = np.linalg.solve(V, seen.T @ np.einsum("sd,sd->s", seen, path[first:t]))
            bias = round_bias(np.ones(t - first), path[first : t + 1])
            ridge = sqrt(lam) * np.linalg.norm(path[t]) * sqrt(X[t] @ np.linalg.solve(V, X[t]))
            error = abs(X[t] @ (guess - path[t]))
            assert error <= (bias / sqrt(lam) + ridge) * (1 + 1e-9)
            total += bias
        assert total <= W**1.5 * theory.path_length(path) * (1 + 1e-9)
        closest = max(closest, total / (W**1.5 * theory.path_length(path)))
        bound = (theory.window_regret_bound if kind == "window" else theory.restart_regret_bound)(
            T=T, d=d, P_T=theory.path_length(path), lam=lam, variant="sharp", **{"W" if kind == "window" else "H": W}
        )
        assert bound.bias == pytest.approx(2.0 / sqrt(lam) * W**1.5 * theory.path_length(path))
    assert closest > 0.2


def test_d_lin_ucb():
    """Its bonus is in the norm of V⁻¹ṼV⁻¹ with Ṽ of squared weights, which is the smaller one; bias and ridge are covered all the same."""
    rng = np.random.default_rng(3)
    smaller = []
    for _ in range(200):
        d, t, gamma = int(rng.integers(1, 6)), int(rng.integers(2, 60)), rng.uniform(0.7, 0.999)
        X, path, lam = rng.normal(size=(t, d)), walk(rng, t, d), float(np.exp(rng.uniform(-3, 2)))
        X /= np.linalg.norm(X, axis=1, keepdims=True)
        past, now, w = X[:-1], X[-1], gamma ** np.arange(t - 2, -1, -1)
        V, V2 = (lam * np.eye(d) + (past.T * weights) @ past for weights in (w, w * w))
        guess = np.linalg.solve(V, (past.T * w) @ np.einsum("sd,sd->s", past, path[:-1]))
        y = np.linalg.solve(V, now)
        own, plain = sqrt(y @ V2 @ y), sqrt(now @ y)
        ridge = sqrt(lam) * np.linalg.norm(path[-1]) * own
        assert abs(now @ (guess - path[-1])) <= (round_bias(w, path) / sqrt(lam) + ridge) * (1 + 1e-9)
        assert own <= plain * (1 + 1e-9)
        smaller.append(own / plain)
    assert min(smaller) < 0.9


def test_candidates_of_bandits_over_bandits():
    """The grid made for the printed γ has a candidate within a factor of two of the sharp one, wherever that is not clipped."""
    for d in (2, 5, 20, 100):
        for T in (10**3, 10**5, 10**7):
            for P_T in np.geomspace(d**1.5 / T, T, 20):
                best = 1.0 - theory.lb_gamma(T=T, d=d, P_T=P_T, sharp_bias=True)
                near = 1.0 - theory.bob_gamma(T=T, d=d, P_T=P_T, sharp_bias=True)
                assert near <= best * (1 + 1e-9)
                assert best <= 2.0 * near * (1 + 1e-9)
