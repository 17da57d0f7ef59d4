"""Multinomial-logit mixture MDPs from the whole history (paper, section 6; algorithms §3.2, theory §7).

psi (nS, nA, nS', d), reachable (nS, nA, nS') of bool, reference (nS, nA) a reachable successor of each pair; psi and reachable have
a leading axis H where they differ from stage to stage.
"""

from typing import NamedTuple

import numpy as np
from naive import linear
from naive.ball import minimise_on_ball
from naive.generalized import project
from naive.mdp import at_stage, ceiling, norms, reward_moments, reward_radius, stage_samples
from scipy.special import logsumexp, softmax


def subtract_reference(psi, reachable, reference):
    """ψ(s'|s,a) - ψ(s_ref|s,a) on the reachable successors, 0 elsewhere (resolution D5)."""
    out = np.zeros_like(psi, dtype=float)
    for s, a in np.ndindex(*psi.shape[:2]):
        for i in np.flatnonzero(reachable[s, a]):
            out[s, a, i] = psi[s, a, i] - psi[s, a, reference[s, a]]
    return out


def mnl_kernel(psi, reachable, w):
    """eq:MNL-model — softmax of ψ(s'|s,a)ᵀw over the reachable successors."""
    out = np.zeros(reachable.shape)
    for s, a in np.ndindex(*reachable.shape[:2]):
        out[s, a, reachable[s, a]] = softmax(psi[s, a, reachable[s, a]] @ w)
    return out


class Multinomial(NamedTuple):
    """The weighted likelihood of one stage: one feature matrix (successors, d) and one observed row per sample."""

    features: list
    observed: list
    w: np.ndarray
    lam: float
    kappa: float
    d: int

    def F(self, w):
        """(λκ/2)‖w‖² - Σ_j α_j log p(s'_j), the objective above eq:MNL-estimate-p."""
        loss = self.lam * self.kappa / 2 * w @ w
        for weight, Psi, row in zip(self.w, self.features, self.observed, strict=True):
            loss -= weight * (Psi[row] @ w - logsumexp(Psi @ w))
        return loss

    def g(self, w):
        """g(w) = λκw + Σ_j α_j Σ_{s'} p(s') ψ(s')."""
        out = self.lam * self.kappa * w
        for weight, Psi in zip(self.w, self.features, strict=True):
            out = out + weight * Psi.T @ softmax(Psi @ w)
        return out

    def g_hat(self):
        """Σ_j α_j ψ(s'_j)."""
        out = np.zeros(self.d)
        for weight, Psi, row in zip(self.w, self.features, self.observed, strict=True):
            out = out + weight * Psi[row]
        return out

    def u(self, w):
        """g(w) - g(ŵ) = ∇F."""
        return self.g(w) - self.g_hat()

    def H(self, w):
        """∇g(w) = λκI + Σ_j α_j Cov_p(ψ)."""
        out = self.lam * self.kappa * np.eye(self.d)
        for weight, Psi in zip(self.w, self.features, strict=True):
            p = softmax(Psi @ w)
            mean = Psi.T @ p
            out = out + weight * ((Psi.T * p) @ Psi - np.outer(mean, mean))
        return out

    def Sigma(self):
        """Σ̄ = λI + Σ_j α_j Σ_{s'} ψ(s')ψ(s')ᵀ."""
        out = self.lam * np.eye(self.d)
        for weight, Psi in zip(self.w, self.features, strict=True):
            out = out + weight * Psi.T @ Psi
        return out


def mnl_likelihood(h, psi, reachable, states, actions, w, *, lam, kappa, share_stages=False):
    """The likelihood of stage index h from all past episodes; `qmle` and `project` work on it."""
    features, observed, weight = [], [], []
    for j, i, value in stage_samples(h, actions.shape[1], w, share_stages):
        s, a = states[j, i], actions[j, i]
        successors = np.flatnonzero(at_stage(reachable, i, 3)[s, a])
        features.append(at_stage(psi, i, 4)[s, a, successors])
        observed.append(int(np.flatnonzero(successors == states[j, i + 1])[0]))
        weight.append(value)
    return Multinomial(features, observed, np.array(weight), lam, kappa, psi.shape[-1])


def mnl_radius(n, *, d, lam, S, kappa, L, U, delta, variant="printed", subtracted=True):
    """β̄_w of lemma:MNL-v-UCB, of raw features (L = L_ψ) or of subtracted ones (L = L′); "corrected" has the constant 1/√2."""
    size = (U - 1 if subtracted else U) * L**2
    noise = np.log(1 / delta) / 2 + d / 4 * np.log(1 + size * n / (lam * d))
    if variant == "corrected":
        noise = 2 * noise
    return np.sqrt(noise) + np.sqrt(lam) * kappa * S


def kappa(psi, reachable, S, reference=None):
    """inf over ‖w‖ ≤ S and (s, a) of min_{s'≠s''} p(s')p(s'') (resolution D6); with `reference` only pairs with it (κ_ref).

    log p(s') + log p(s'') is concave, so the infimum is on the sphere; it only depends on w through the span of the
    feature differences, in which the search is done (an angle sweep for up to three successors).
    """
    smallest, seen = np.inf, set()
    for s, a in np.ndindex(*reachable.shape[:2]):
        successors = np.flatnonzero(reachable[s, a])
        if len(successors) < 2:
            continue
        Psi = psi[s, a, successors]
        difference = Psi - Psi[0]
        basis = np.linalg.svd(difference)[2][: np.linalg.matrix_rank(difference)]
        coordinates = difference @ basis.T
        for i in range(len(successors)):
            for j in range(i):
                if reference is not None and reference[s, a] not in (successors[i], successors[j]):
                    continue
                key = (coordinates.round(12).tobytes(), i, j)
                if key not in seen:
                    seen.add(key)
                    smallest = min(smallest, _smallest_product(coordinates, i, j, S))
    return smallest


def _smallest_product(Psi, i, j, S):
    """min_{‖w‖=S} p_i p_j for one set of features."""
    if Psi.shape[1] == 0:  # all successors look alike: p is uniform whatever w is
        return 1 / len(Psi) ** 2

    def f(w):
        return (Psi[i] + Psi[j]) @ w - 2 * logsumexp(Psi @ w)

    def gradient(w):
        return Psi[i] + Psi[j] - 2 * Psi.T @ softmax(Psi @ w)

    return float(np.exp(f(minimise_on_ball(f, gradient, S, Psi.shape[1], sphere_only=True))))


def mnl_plan(phi, psi, reachable, states, actions, rewards, *, memory, lam_theta, lam_w, S_theta, S_w, L_psi, U,
             kappa, delta, reward_scale=1.0, transition_scale=1.0, cap="horizon", variant="printed",
             share_stages=False, subtracted=True):  # fmt: skip
    """(Q, V, w̃) of episode k = len(states) + 1: eq:MNL-action-selection, the max over the successors of (s, a) (resolution D4).

    L_psi bounds the features psi as they are given here.
    """
    H = actions.shape[1]
    nS, nA, d_theta = phi.shape[-3:]
    w = linear.weights(memory, len(states) + 1)
    Q, V, w_tilde = np.zeros((H, nS, nA)), np.zeros((H + 1, nS)), np.zeros((H, psi.shape[-1]))
    for h in range(H - 1, -1, -1):
        Lam, theta, n = reward_moments(h, phi, states, actions, rewards, w, lam_theta, share_stages)
        model = mnl_likelihood(h, psi, reachable, states, actions, w, lam=lam_w, kappa=kappa, share_stages=share_stages)
        Sigma = model.Sigma()
        w_tilde[h] = project(model, S_w, Sigma)
        beta_r = reward_radius(n, d=d_theta, lam=lam_theta, S=S_theta)
        form = {"S": S_w, "kappa": kappa, "L": L_psi, "U": U, "delta": delta, "variant": variant,
                "subtracted": subtracted}  # fmt: skip
        beta_w = mnl_radius(n, d=psi.shape[-1], lam=lam_w, **form)
        pay, move, can = at_stage(phi, h, 3), at_stage(psi, h, 4), at_stage(reachable, h, 3)
        width = np.max(np.where(can, norms(move, Sigma), 0.0), axis=2)
        optimistic = pay @ theta + reward_scale * beta_r * norms(pay, Lam)
        optimistic += mnl_kernel(move, can, w_tilde[h]) @ V[h + 1]
        optimistic += transition_scale * H / kappa * beta_w * width
        Q[h] = np.clip(optimistic, 0, ceiling(cap, H, h))
        V[h] = np.max(Q[h], axis=1)
    return Q, V, w_tilde
