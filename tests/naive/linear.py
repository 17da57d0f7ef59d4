"""Linear bandits, recomputed from the whole history (paper, section 3 and appendix A; algorithms §1).

Round t decides with the samples s = 1..t-1: the rows X[s-1] of X (t-1, d) and r[s-1] of r (t-1,), so t = len(r) + 1.
A memory is a tuple: ("everything",), ("discounted", gamma), ("window", W) or ("restart", H).
Arms are the rows of (n, d).
"""

import numpy as np


# --- memory: w_{t-1,s} ---------------------------------------------------------------------------------------------
def weights(memory, t):
    """The vector w_{t-1,s}, s = 1..t-1, that round t gives to each past sample."""
    kind = memory[0]
    s = np.arange(1, t)
    if kind == "everything":
        return np.ones(t - 1)
    if kind == "discounted":  # w_{t-1,s} = γ^{t-1-s}, below eq:LB-estimator
        return np.array([float(memory[1]) ** (t - 1 - i) for i in s])
    if kind == "window":  # algorithms §1.2: s ≥ max(1, t-W)
        return (s >= t - memory[1]).astype(float)
    if kind == "restart":  # algorithms §1.0: forget everything before round t when (t-1) mod H == 0
        first = max(u for u in range(1, t + 1) if (u - 1) % memory[1] == 0)
        return (s >= first).astype(float)
    raise ValueError(f"unknown memory {memory!r}")


def n_w(w):
    """Σ_s w_s."""
    return float(np.sum(w))


def n_w2(w):
    """Σ_s w_s²."""
    return float(np.sum(np.square(w)))


# --- estimator: eq:LB-estimator ------------------------------------------------------------------------------------
def V(X, w, lam):
    """V_{t-1} = λI + Σ_s w_s X_s X_sᵀ."""
    out = lam * np.eye(X.shape[1])
    for x, weight in zip(X, w, strict=True):
        out = out + weight * np.outer(x, x)
    return out


def V_tilde(X, w, lam):
    """Ṽ_{t-1} = λI + Σ_s w_s² X_s X_sᵀ (resolutions A1, B5)."""
    return V(X, np.square(w), lam)


def V_tilde_legacy(X, gamma, lam):
    """Ṽ_{t-1} of the public D-LinUCB code: γ²V_{t-1} + X_{t-1}X_{t-1}ᵀ + (1-γ²)λI, V_{t-1} already updated (resolution A15)."""
    eye = np.eye(X.shape[1])
    if len(X) == 0:
        return lam * eye
    now = V(X, weights(("discounted", gamma), len(X) + 1), lam)
    return gamma**2 * now + np.outer(X[-1], X[-1]) + (1 - gamma**2) * lam * eye


def b(X, r, w):
    """b_{t-1} = Σ_s w_s r_s X_s."""
    out = np.zeros(X.shape[1])
    for x, reward, weight in zip(X, r, w, strict=True):
        out = out + weight * reward * x
    return out


def theta_hat(X, r, w, lam):
    """θ̂_t = V_{t-1}⁻¹ b_{t-1}, the minimiser of λ‖θ‖² + Σ_s w_s (X_sᵀθ - r_s)²."""
    return np.linalg.solve(V(X, w, lam), b(X, r, w))


# --- norms ---------------------------------------------------------------------------------------------------------
def inverse_norms(arms, M):
    """‖x‖_{M⁻¹} of each arm."""
    return np.array([np.sqrt(x @ np.linalg.solve(M, x)) for x in arms])


def sandwich_norms(arms, M, M_tilde):
    """‖x‖_{M⁻¹M̃M⁻¹} of each arm."""
    inv = np.linalg.inv(M)
    return np.array([np.sqrt(x @ inv @ M_tilde @ inv @ x) for x in arms])


# --- radius: eq:LB-confidence-radius -------------------------------------------------------------------------------
def log_inverse_delta(delta, uniform_in_time=False, T=None):
    """log(1/δ); with the union bound over T rounds δ becomes δ/T (resolution A5)."""
    return np.log(1 / delta) + (np.log(T) if uniform_in_time else 0.0)


def beta_trace(n, *, d, lam, S, R, L, delta, uniform_in_time=False, T=None):
    """√λ S + R √(2 log(1/δ) + d log(1 + L²n/(λd)))."""
    log_term = log_inverse_delta(delta, uniform_in_time, T)
    return np.sqrt(lam) * S + R * np.sqrt(2 * log_term + d * np.log(1 + L**2 * n / (lam * d)))


def beta_det(M, *, lam, S, R, delta, uniform_in_time=False, T=None):
    """√λ S + R √(2 log(det(M)^{1/2} det(λI)^{-1/2}/δ)); M is V, or Ṽ for the squared weights."""
    log_ratio = np.linalg.slogdet(M)[1] - len(M) * np.log(lam)
    log_term = log_inverse_delta(delta, uniform_in_time, T)
    return np.sqrt(lam) * S + R * np.sqrt(2 * log_term + log_ratio)


def beta_window(W, *, d, lam, S, R, L, delta, uniform_in_time=False, T=None):
    """The constant radius of SW-UCB's authors: √λ S + R √(d log((1 + WL²/λ)/δ)) (algorithms §1.2)."""
    log_term = log_inverse_delta(delta, uniform_in_time, T)
    return np.sqrt(lam) * S + R * np.sqrt(d * (np.log(1 + W * L**2 / lam) + log_term))


def beta(X, w, *, lam, S, R, L, delta, radius="trace", radius_n="w", uniform_in_time=False, T=None):
    """β_{t-1} in each form; radius_n="w2" replaces n_w by n_w2 and, in the determinant form, V by Ṽ (resolution A2)."""
    common = {"lam": lam, "S": S, "R": R, "delta": delta, "uniform_in_time": uniform_in_time, "T": T}
    squared = radius_n == "w2"
    if radius == "trace":
        return beta_trace(n_w2(w) if squared else n_w(w), d=X.shape[1], L=L, **common)
    if radius == "det":
        return beta_det(V_tilde(X, w, lam) if squared else V(X, w, lam), **common)
    raise ValueError(f"unknown radius {radius!r}")


# --- scores --------------------------------------------------------------------------------------------------------
def linear_scores(X, r, arms, *, memory, lam, S, R, L, delta, metric="inverse", bonus_scale=1.0, radius="trace",
                  radius_n="w", uniform_in_time=False, T=None):  # fmt: skip
    """xᵀθ̂ + scale·β·‖x‖, metric "inverse" (V⁻¹, eq:LB-select-criteria) or "sandwich" (V⁻¹ṼV⁻¹)."""
    w = weights(memory, len(r) + 1)
    V_now = V(X, w, lam)
    width = inverse_norms(arms, V_now) if metric == "inverse" else sandwich_norms(arms, V_now, V_tilde(X, w, lam))
    form = {"radius": radius, "radius_n": radius_n, "uniform_in_time": uniform_in_time, "T": T}
    size = beta(X, w, lam=lam, S=S, R=R, L=L, delta=delta, **form)
    return arms @ theta_hat(X, r, w, lam) + bonus_scale * size * width


def oful(X, r, arms, **constants):
    """OFUL: nothing is forgotten."""
    return linear_scores(X, r, arms, memory=("everything",), **constants)


def lb_weight_ucb(X, r, arms, *, gamma, **constants):
    """LB-WeightUCB (Algorithm 1)."""
    return linear_scores(X, r, arms, memory=("discounted", gamma), **constants)


def restart_ucb(X, r, arms, *, H, **constants):
    """RestartUCB: OFUL on the samples since the last reset."""
    return linear_scores(X, r, arms, memory=("restart", H), **constants)


def d_lin_ucb(X, r, arms, *, gamma, **constants):
    """D-LinUCB: sandwich bonus, radius with the squared weights (algorithms §1.3)."""
    return linear_scores(X, r, arms, memory=("discounted", gamma), metric="sandwich", radius_n="w2", **constants)


def d_lin_ucb_public_code(X, r, arms, *, gamma, lam, bonus_scale=1.0, **constants):
    """D-LinUCB with the Ṽ of the public code (resolution A15)."""
    w = weights(("discounted", gamma), len(r) + 1)
    width = sandwich_norms(arms, V(X, w, lam), V_tilde_legacy(X, gamma, lam))
    return arms @ theta_hat(X, r, w, lam) + bonus_scale * beta(X, w, lam=lam, radius_n="w2", **constants) * width


def sw_ucb(X, r, arms, *, W, constant_radius=False, bonus_scale=1.0, **constants):
    """SW-UCB; `constant_radius` is the authors' radius, which uses W whatever t is."""
    if not constant_radius:
        return linear_scores(X, r, arms, memory=("window", W), bonus_scale=bonus_scale, **constants)
    lam = constants["lam"]
    w = weights(("window", W), len(r) + 1)
    size = beta_window(W, d=X.shape[1], **constants)
    return arms @ theta_hat(X, r, w, lam) + bonus_scale * size * inverse_norms(arms, V(X, w, lam))


def symmetric_root(M):
    """The symmetric positive square root of M."""
    values, vectors = np.linalg.eigh(M)
    return vectors @ np.diag(np.sqrt(values)) @ vectors.T


def d_lin_ts(X, r, arms, z, *, gamma, lam, a=1.0, root=symmetric_root):
    """D-LinTS with the drawn normals z (d,): xᵀV⁻¹(b + a Ṽ^{1/2} z); root is e.g. np.linalg.cholesky (1.7)."""
    w = weights(("discounted", gamma), len(r) + 1)
    perturbed = b(X, r, w) + a * root(V_tilde(X, w, lam)) @ z
    return arms @ np.linalg.solve(V(X, w, lam), perturbed)


def d_rand_lin_ucb(X, r, arms, z, *, gamma, lam, a=1.0, optimistic=False, **constants):
    """D-RandLinUCB with one normal z for all arms: xᵀθ̂ + a z β ‖x‖_{V⁻¹ṼV⁻¹}; optimistic uses |z| (1.7)."""
    draw = abs(z) if optimistic else z
    return d_lin_ucb(X, r, arms, gamma=gamma, lam=lam, bonus_scale=a * draw, **constants)


def gp_weight_ucb(X, r, arms, *, memory, lam, B, R, delta, kernel=lambda x, y: x @ y):
    """Weighted kernel ridge of 1.8: mean, σ² and score of each arm."""
    root = np.sqrt(weights(memory, len(r) + 1))
    K = np.array([[root[i] * root[j] * kernel(X[i], X[j]) for j in range(len(r))] for i in range(len(r))])
    K = K.reshape(len(r), len(r))
    k = np.array([[root[i] * kernel(x, X[i]) for i in range(len(r))] for x in arms]).reshape(len(arms), len(r))
    inverse = np.linalg.inv(K + lam * np.eye(len(r)))
    mean = k @ inverse @ (root * r)
    variance = np.array([kernel(x, x) for x in arms]) - np.sum((k @ inverse) * k, axis=1)
    log_det = np.linalg.slogdet(np.eye(len(r)) + K / lam)[1]
    size = B + R / np.sqrt(lam) * np.sqrt(2 * np.log(1 / delta) + log_det)
    return mean, variance, mean + size * np.sqrt(variance)


def best_arms(scores, tolerance=1e-10):
    """Every arm within tolerance·(1+|best|) of the best score: the ties of design.md."""
    best = np.max(scores)
    return np.flatnonzero(scores >= best - tolerance * (1 + abs(best)))


# --- lemmas: each returns (left side, right side) of its inequality ------------------------------------------------
def lemma_d(X, w, lam, p):
    """lemma:d — Σ_{s≤p} w_s ‖X_s‖²_{V⁻¹} ≤ d."""
    M = V(X, w, lam)
    return sum(w[s] * X[s] @ np.linalg.solve(M, X[s]) for s in range(p)), X.shape[1]


def lemma_determinant(X, w, lam, L):
    """lemma:det-inequality — det V ≤ (λ + L² n/d)^d."""
    d = X.shape[1]
    return np.linalg.det(V(X, w, lam)), (lam + L**2 * n_w(w) / d) ** d


def lemma_potential(X, gamma, lam, L):
    """lemma:potential-lemma — Σ_t ‖X_t‖²_{V_{t-1}⁻¹} ≤ 2 max{1,L²/λ} d (T log(1/γ) + log(1 + L² n_T/(λd)))."""
    T, d = X.shape
    left = 0.0
    for t in range(1, T + 1):
        before = V(X[: t - 1], weights(("discounted", gamma), t), lam)
        left += X[t - 1] @ np.linalg.solve(before, X[t - 1])
    n_T = n_w(weights(("discounted", gamma), T + 1))
    return left, 2 * max(1, L**2 / lam) * d * (T * np.log(1 / gamma) + np.log(1 + L**2 * n_T / (lam * d)))


def lemma_bias(X, thetas, w, lam, L, sharp=False):
    """lemma:LB-A_t-bound — thetas is (t, d): θ_1..θ_t. `sharp` drops the √d (theory §1)."""
    total = sum(w[s] * np.outer(X[s], X[s]) @ (thetas[s] - thetas[-1]) for s in range(len(X)))
    left = np.sqrt(total @ np.linalg.solve(V(X, w, lam), total))
    path = sum(np.sqrt(np.sum(w[: p + 1])) * np.linalg.norm(thetas[p] - thetas[p + 1]) for p in range(len(X)))
    return left, L * path * (1.0 if sharp else np.sqrt(X.shape[1]))


def lemma_noise(X, noise, theta_t, w, lam):
    """B_t of eq:LB-decompose: ‖Σ_s w_s η_s X_s - λθ_t‖_{V⁻¹}, to be compared with β_{t-1}."""
    total = b(X, noise, w) - lam * theta_t
    return np.sqrt(total @ np.linalg.solve(V(X, w, lam), total))
