"""Neighbours of the paper, literally, from the whole history: dLinUCB (Wu et al. 2018), weighted kernel ridge (Deng et al. 2022)."""

import math

import numpy as np


# --- dLinUCB -------------------------------------------------------------------------------------------------------
def dlin_ucb_slaves(X, rewards, *, lam, S, L, R, delta, slack, tau, delta2, good, bad):
    """The slaves after all observations, each {"born", "failures", "kept"}: first round (from 0), failures, rounds learned."""
    slaves = [{"born": 0, "failures": [], "kept": []}]
    made, dropped = 1, 0
    for t, (x, r) in enumerate(zip(X, rewards, strict=True)):
        any_good, left = False, []
        for slave in slaves:
            theta, V, beta = dlin_ucb_estimate(slave, X, rewards, lam=lam, S=S, L=L, R=R, delta=delta)
            width = beta * math.sqrt(x @ np.linalg.inv(V) @ x) + slack
            fails = abs(r - x @ theta) > width
            slave["failures"].append(int(fails))
            if not fails:
                slave["kept"].append(t)
            e, d = dlin_ucb_badness(slave, tau, delta2)
            if e < d + good:
                any_good = True
            if e < d + good or e < d + bad:
                left.append(slave)
            else:
                dropped += 1
        slaves = left
        if not any_good:
            slaves = [*slaves, {"born": t + 1, "failures": [], "kept": []}]
            made += 1
    return slaves, made, dropped


def dlin_ucb_estimate(slave, X, rewards, *, lam, S, L, R, delta):
    """θ̂, V and β of OFUL from the rounds that the slave learned."""
    d, n = len(X[0]), len(slave["kept"])
    V = lam * np.eye(d) + sum((np.outer(X[s], X[s]) for s in slave["kept"]), np.zeros((d, d)))
    b = sum((rewards[s] * X[s] for s in slave["kept"]), np.zeros(d))
    beta = math.sqrt(lam) * S + R * math.sqrt(2 * math.log(1 / delta) + d * math.log(1 + L * L * n / (lam * d)))
    return np.linalg.solve(V, b), V, beta


def dlin_ucb_badness(slave, tau, delta2):
    """Share of failures among the last τ rounds, and √(log(1/δ₂)/(2n))."""
    recent = slave["failures"][-tau:]
    if not recent:
        return 0.0, math.inf
    return sum(recent) / len(recent), math.sqrt(math.log(1 / delta2) / (2 * len(recent)))


def dlin_ucb_player(slaves, tau, delta2):
    """The slave that plays next: least e − √(log τ)·d."""
    return min(
        slaves,
        key=lambda s: (
            dlin_ucb_badness(s, tau, delta2)[0] - math.sqrt(math.log(tau)) * dlin_ucb_badness(s, tau, delta2)[1]
        ),
    )


# --- weighted kernel ridge -----------------------------------------------------------------------------------------
def kernel_matrix(A, B, kernel):
    """k(a, b) for all rows."""
    return np.array([[kernel(a, b) for b in B] for a in A])


def weighted_kernel_ridge(X, rewards, points, *, gamma, lam, kernel):
    """Mean and D-LinUCB-like width² of weighted kernel ridge at `points`, and log det(I + K̃/λ) with squared weights.

    With W = diag(γ^{t−s}): mean = k(x)ᵀ√W(√WK√W + λI)⁻¹√W r. The error of the mean is the same linear map of noise, whose size relative
    to λI + Σ w² xxᵀ in feature space is xᵀV⁻¹ṼV⁻¹x; by kernels, V⁻¹x = (x − Φᵀ√W(√WK√W+λI)⁻¹√W k(x))/λ and Ṽ = λI + ΦᵀW²Φ.
    """
    t = len(X)
    w = gamma ** np.arange(t - 1, -1, -1.0)
    K, root = kernel_matrix(X, X, kernel), np.sqrt(w)
    inner = np.linalg.inv(root[:, None] * K * root + lam * np.eye(t))
    means, widths = [], []
    for x in points:
        k = np.array([kernel(x, s) for s in X])
        c = root * (inner @ (root * k))  # V⁻¹x = (x − Φᵀc)/λ
        means.append(float(c @ np.asarray(rewards)))
        norm2 = kernel(x, x) - 2 * c @ k + c @ K @ c  # λ²‖V⁻¹x‖²
        image = k - K @ c  # λ·ΦV⁻¹x
        widths.append(float((lam * norm2 + np.sum(w**2 * image**2)) / lam**2))
    squares = w[:, None] * K * w
    return np.array(means), np.array(widths), float(np.linalg.slogdet(np.eye(t) + squares / lam)[1])


# --- weighted least-squares value iteration ------------------------------------------------------------------------
def weighted_lsvi(episodes, phi, *, eta, lam, beta, H):
    """Q (H, S, A) before ties, from all episodes, each a list of (s, a, r, s') by stage; phi (S, A, d)."""
    S, A, d = phi.shape
    K, V, Q = len(episodes), np.zeros(S), np.zeros((H, S, A))
    for h in range(H - 1, -1, -1):
        Sigma, Sigma2, target = lam * np.eye(d), lam * np.eye(d), np.zeros(d)
        for j, episode in enumerate(episodes):
            s, a, r, after = episode[h]
            weight, f = eta ** (K - 1 - j), phi[s, a]
            Sigma += weight * np.outer(f, f)
            Sigma2 += weight**2 * np.outer(f, f)
            target += weight * f * (r + V[after])
        inverse = np.linalg.inv(Sigma)
        width = np.sqrt(np.einsum("sai,ij,saj->sa", phi, inverse @ Sigma2 @ inverse, phi))
        Q[h] = np.clip(phi @ (inverse @ target) + beta * width, 0.0, H)
        V = Q[h].max(axis=1)
    return Q
