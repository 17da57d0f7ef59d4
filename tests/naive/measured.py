"""Learners of episodic MDPs that measure their bonus, stages pooled, γ^age, replayed episode by episode from the equations.

Rewards: θ ~ N(0, S²I) with noise σ̂². Transitions: ŵ from Fisher's information of the successors (linear mixture), or by SciPy's minimiser
and Laplace's covariance (multinomial). History as in `naive.mdp`.
"""

import numpy as np
from naive.mdp import conditioned, value_features
from scipy.optimize import minimize

START, LEAST, MEMORY, DOUBT = 0.05, 1e-4, 200.0, 0.01


def measured_noise(phi, states, actions, rewards, thetas, L):
    """σ̂² after all episodes; thetas[j] is θ̂ of episode j."""
    noise = START
    for j, theta in enumerate(thetas):
        for s, a, r in zip(states[j], actions[j], rewards[j], strict=False):
            x = phi[s, a]
            noise += (x @ x) / (L**2 * MEMORY) * ((r - x @ theta) ** 2 - noise)
    return max(noise, LEAST)


def bayes_rewards(phi, states, actions, rewards, weight, noise, S):
    """(θ̂, covariance) of θ."""
    d = phi.shape[-1]
    precision, total = np.eye(d) / S**2, np.zeros(d)
    for j, w in enumerate(weight):
        for s, a, r in zip(states[j], actions[j], rewards[j], strict=False):
            precision += w * np.outer(phi[s, a], phi[s, a]) / noise
            total += w * r * phi[s, a] / noise
    covariance = np.linalg.inv(precision)
    return covariance @ total, covariance


def bayes_mixture(psi, states, actions, weight, estimates, centre, tau):
    """(ŵ, covariance) of w, given that probabilities sum to 1; estimates[j] is ŵ of episode j, whose p̂ weigh its transitions."""
    d = psi.shape[-1]
    precision, total = np.eye(d) / tau**2, centre / tau**2
    for j, w in enumerate(weight):
        for h, a in enumerate(actions[j]):
            row = psi[states[j, h], a]
            p = np.maximum(row @ estimates[j], DOUBT)
            precision += w * np.einsum("si,sk,s->ik", row, row, 1.0 / p)
            total = total + w * row[states[j, h + 1]] / p[states[j, h + 1]]
    covariance = np.linalg.inv(precision)
    return conditioned(covariance @ total, covariance, psi)


def probabilities(psi, reachable, w):
    """p(s'|s,a; w), (S, A, S)."""
    e = np.where(reachable, np.exp(psi @ w), 0.0)
    return e / e.sum(axis=-1, keepdims=True)


def laplace(psi, reachable, states, actions, weight, tau):
    """(ŵ, covariance) of the logits' weights."""

    def loss(w):
        log = np.log(np.where(reachable, probabilities(psi, reachable, w), 1.0))
        seen = [
            v * log[states[j, h], a, states[j, h + 1]] for j, v in enumerate(weight) for h, a in enumerate(actions[j])
        ]
        return w @ w / (2 * tau**2) - sum(seen)

    def gradient(w):
        out, p = w / tau**2, probabilities(psi, reachable, w)
        for j, v in enumerate(weight):
            for h, a in enumerate(actions[j]):
                s = states[j, h]
                out = out - v * (psi[s, a, states[j, h + 1]] - p[s, a] @ psi[s, a])
        return out

    d = psi.shape[-1]
    w = minimize(loss, np.zeros(d), jac=gradient, method="BFGS", options={"gtol": 1e-11}).x
    p, information = probabilities(psi, reachable, w), np.eye(d) / tau**2
    for j, v in enumerate(weight):
        for h, a in enumerate(actions[j]):
            s = states[j, h]
            centred = psi[s, a] - p[s, a] @ psi[s, a]
            information += v * np.einsum("s,si,sk->ik", p[s, a], centred, centred)
    return w, np.linalg.inv(information)


def measured_plans(phi, psi, states, actions, rewards, *, gamma, reachable=None, c_r=1.0, c_w=None, tau=0.5):
    """[Q] of the episodes 1..k, k = len(states) + 1; the cap is the number of stages left."""
    H, L = actions.shape[1], np.linalg.norm(phi, axis=-1).max()
    d = psi.shape[-1]
    c_w = (1.0 if reachable is None else 0.3) if c_w is None else c_w
    thetas, estimates, plans = [], [], []
    for k in range(len(states) + 1):
        weight = gamma ** np.arange(k - 1, -1, -1.0)
        past = states[:k], actions[:k]
        noise = measured_noise(phi, *past, rewards[:k], thetas, L)
        theta, spread = bayes_rewards(phi, *past, rewards[:k], weight, noise, 1.0 / L)
        if reachable is None:
            w, covariance = bayes_mixture(psi, *past, weight, estimates, np.full(d, 1.0 / d), tau)
        else:
            w, covariance = laplace(psi, reachable, *past, weight, tau)
        thetas.append(theta)
        estimates.append(w)
        pay = phi @ theta + c_r * np.sqrt(np.einsum("sai,ik,sak->sa", phi, spread, phi))
        Q, V = np.zeros((H, *pay.shape)), np.zeros(len(pay))
        for h in range(H - 1, -1, -1):
            if reachable is None:
                x = value_features(psi, V)
                value = x @ w
            else:
                p = probabilities(psi, reachable, w)
                value = p @ V
                x = np.einsum("sat,sat,sati->sai", p, V - value[..., None], psi)
            bonus = c_w * np.sqrt(np.maximum(np.einsum("sai,ik,sak->sa", x, covariance, x), 0.0))
            Q[h] = np.clip(pay + value + bonus, 0, H - h)
            V = Q[h].max(axis=1)
        plans.append(Q)
    return plans
