"""Episodic MDPs from the whole history: linear mixture (paper, section 5) and what both models share (3.1, 3.4).

History of the episodes j = 1..k-1: states (k-1, H+1), actions (k-1, H), rewards (k-1, H). Features: phi (nS, nA, d_θ),
psi (nS, nA, nS', d_w), each with a leading axis H where the features differ from stage to stage. Stage h = 1..H is index h-1. Episode k
plans with data of the episodes before it (resolution D2).
"""

import numpy as np
from naive import linear


# --- exact values --------------------------------------------------------------------------------------------------
def optimal_values(P, reward):
    """V* (H+1, nS) and Q* (H, nS, nA) by backward induction; P (H, nS, nA, nS'), reward (H, nS, nA)."""
    H, nS, nA = reward.shape
    V, Q = np.zeros((H + 1, nS)), np.zeros((H, nS, nA))
    for h in range(H - 1, -1, -1):
        for s in range(nS):
            for a in range(nA):
                Q[h, s, a] = reward[h, s, a] + P[h, s, a] @ V[h + 1]
            V[h, s] = max(Q[h, s])
    return V, Q


def policy_values(P, reward, policy):
    """V^π (H+1, nS) of a deterministic policy (H, nS) of actions."""
    H, nS, _ = reward.shape
    V = np.zeros((H + 1, nS))
    for h in range(H - 1, -1, -1):
        for s in range(nS):
            a = policy[h, s]
            V[h, s] = reward[h, s, a] + P[h, s, a] @ V[h + 1]
    return V


def linear_mixture_kernel(psi, w):
    """eq:LMDP-model — P(s'|s,a) = ψ(s'|s,a)ᵀw."""
    return psi @ w


def value_features(psi, V):
    """ψ_V(s,a) = Σ_{s'} ψ(s'|s,a) V(s')."""
    return np.einsum("saij,i->saj", psi, V)


def at_stage(features, h, axes):
    """The features of stage index h: the same for all stages if there are only `axes` axes."""
    return features[h] if features.ndim > axes else features


# --- shared parts --------------------------------------------------------------------------------------------------
def reward_radius(n, *, d, lam, S, delta=None, noise=0.0, L=1.0):
    """β_θ = √λ_θ S_θ (lemma:LMDP-r-ucb); with R_r-sub-Gaussian reward noise the usual root is added (resolution D7)."""
    if noise == 0.0:
        return np.sqrt(lam) * S
    return linear.beta_trace(n, d=d, lam=lam, S=S, R=noise, L=L, delta=delta)


def transition_radius(n, *, d, lam, S, H, L, delta):
    """β_w = H √(½ log(1/δ) + (d/4) log(1 + H²L_ψ²n/(λ_w d))) + √λ_w S_w (lemma:LMDP-v-ucb)."""
    log_term = np.log(1 / delta) / 2 + d / 4 * np.log(1 + H**2 * L**2 * n / (lam * d))
    return H * np.sqrt(log_term) + np.sqrt(lam) * S


def stage_samples(h, H, w, share_stages=False):
    """(j, h', weight) of every past step that informs stage h: its own stage, or all of them when pooled."""
    stages = range(H) if share_stages else [h]
    return [(j, stage, w[j]) for j in range(len(w)) for stage in stages]


def reward_moments(h, phi, states, actions, rewards, w, lam, share_stages=False):
    """(Λ_h, θ̂_h, n): eq:LMDP-estimate-r with the closed form (resolution D1)."""
    samples = stage_samples(h, actions.shape[1], w, share_stages)
    X = np.array([at_stage(phi, i, 3)[states[j, i], actions[j, i]] for j, i, _ in samples]).reshape(-1, phi.shape[-1])
    y = np.array([rewards[j, i] for j, i, _ in samples])
    weight = np.array([value for _, _, value in samples])
    return linear.V(X, weight, lam), linear.theta_hat(X, y, weight, lam), linear.n_w(weight)


def transition_moments(h, psi, states, actions, values, w, lam, share_stages=False, centre=None):
    """(Σ_h, ŵ_h, n): eq:LMDP-estimate-v; values[j] is V^j (H+1, nS), the plan of episode j; the ridge is λ‖w − centre‖².

    centre: None for 0, an array, or "even", the shortest w whose probabilities sum to 1.
    """
    samples = stage_samples(h, actions.shape[1], w, share_stages)
    seen = [value_features(at_stage(psi, i, 4), values[j][i + 1])[states[j, i], actions[j, i]] for j, i, _ in samples]
    X = np.array(seen).reshape(-1, psi.shape[-1])
    y = np.array([values[j][i + 1][states[j, i + 1]] for j, i, _ in samples])
    weight = np.array([value for _, _, value in samples])
    if isinstance(centre, str):
        N = (psi if share_stages else at_stage(psi, h, 4)).sum(axis=-2).reshape(-1, psi.shape[-1])
        centre = np.linalg.pinv(N) @ np.ones(len(N))
    w0 = np.zeros(psi.shape[-1]) if centre is None else centre
    w_hat = w0 + linear.theta_hat(X, y - X @ w0, weight, lam)
    return linear.V(X, weight, lam), w_hat, linear.n_w(weight)


def conditioned(w, covariance, psi):
    """w ~ N(w, covariance), given that Σ_{s'}ψ(s'|s,a)ᵀw = 1 for every pair: (mean, covariance)."""
    N = psi.sum(axis=-2).reshape(-1, psi.shape[-1])
    gain = covariance @ N.T @ np.linalg.pinv(N @ covariance @ N.T, rcond=1e-9)
    return w + gain @ (1.0 - N @ w), covariance - gain @ N @ covariance


def norms(features, M):
    """‖feature‖_{M⁻¹} over the last axis."""
    flat = features.reshape(-1, features.shape[-1])
    return linear.inverse_norms(flat, M).reshape(features.shape[:-1])


def ceiling(cap, H, h):
    """The cap of Q at index h: H ("horizon", as printed) or H-h+1 of the paper's h ("stage", D8)."""
    return H if cap == "horizon" else H - h


# --- linear mixture: Algorithm 3 -----------------------------------------------------------------------------------
def linear_mixture_plan(phi, psi, states, actions, rewards, values, *, memory, lam_theta, lam_w, S_theta, S_w, L_psi,
                        delta, reward_scale=1.0, transition_scale=1.0, cap="horizon", share_stages=False,
                        reward_noise=0.0, L_phi=1.0, centre=None, free=None):  # fmt: skip
    """(Q, V) of episode k = len(states) + 1 (eq:LMDP-optimistic-Q), given the plans `values` of the episodes before.

    With a centre, probabilities sum to 1, which leaves `free` of the d weights free.
    """
    H = actions.shape[1]
    nS, nA, d_theta = phi.shape[-3:]
    w = linear.weights(memory, len(states) + 1)
    Q, V = np.zeros((H, nS, nA)), np.zeros((H + 1, nS))
    for h in range(H - 1, -1, -1):
        Lam, theta, n_r = reward_moments(h, phi, states, actions, rewards, w, lam_theta, share_stages)
        Sigma, w_hat, n_w = transition_moments(h, psi, states, actions, values, w, lam_w, share_stages, centre)
        pay, features = at_stage(phi, h, 3), value_features(at_stage(psi, h, 4), V[h + 1])
        beta_r = reward_radius(n_r, d=d_theta, lam=lam_theta, S=S_theta, delta=delta, noise=reward_noise, L=L_phi)
        dim = psi.shape[-1] if free is None else free
        beta_w = transition_radius(n_w, d=dim, lam=lam_w, S=S_w, H=H, L=L_psi, delta=delta)
        optimistic = pay @ theta + reward_scale * beta_r * norms(pay, Lam)
        covariance = np.linalg.inv(Sigma)
        if centre is not None:
            w_hat, covariance = conditioned(w_hat, covariance, psi if share_stages else at_stage(psi, h, 4))
        width = np.sqrt(np.maximum(np.einsum("sai,ij,saj->sa", features, covariance, features), 0.0))
        optimistic += features @ w_hat + transition_scale * beta_w * width
        Q[h] = np.clip(optimistic, 0, ceiling(cap, H, h))
        V[h] = np.max(Q[h], axis=1)
    return Q, V


def linear_mixture_plans(phi, psi, states, actions, rewards, **constants):
    """[(Q, V)] of the episodes 1..k, k = len(states) + 1: every earlier episode is planned again from its own past."""
    plans = []
    for k in range(len(states) + 1):
        values = [plan[1] for plan in plans]
        plans.append(linear_mixture_plan(phi, psi, states[:k], actions[:k], rewards[:k], values, **constants))
    return plans
