"""Radii and scores of every generalised linear and self-concordant bandit (algorithms §2.1–§2.6)."""

import numpy as np
from naive import linear
from naive.generalized import bvd_theta, likelihood, project, project_local, qmle
from naive.linear import log_inverse_delta
from naive.links import LINKS, slopes


def beta_bar(n, *, d, lam, c_mu, S, R, L, delta, uniform_in_time=False, T=None):
    """eq:GLB-confidence-radius — √λ c_μ S + R √(2 log(1/δ) + d log(1 + L²n/(λd)))."""
    log_term = log_inverse_delta(delta, uniform_in_time, T)
    return np.sqrt(lam) * c_mu * S + R * np.sqrt(2 * log_term + d * np.log(1 + L**2 * n / (lam * d)))


def beta_bar_det(M, *, lam, c_mu, S, R, delta, uniform_in_time=False, T=None):
    """The determinant form of β̄: √λ c_μ S + R √(2 log(1/δ) + log det M - d log λ), M = V or Ṽ."""
    return linear.beta_det(M, lam=lam, S=c_mu * S, R=R, delta=delta, uniform_in_time=uniform_in_time, T=T)


def beta_tilde(n, *, d, lam, c_mu, k_mu, S, m, L, delta, variant="printed", uniform_in_time=False, T=None):
    """eq:SCB-confidence-radius; "corrected" multiplies the three noise terms by √Λ, Λ = min(e^{2LS}, k_μ/c_μ) (resolution G1)."""
    log_term = log_inverse_delta(delta, uniform_in_time, T)
    root = np.sqrt(lam * c_mu)
    noise = root / (2 * m) + 2 * m / root * (log_term + d * np.log(2))
    noise += d * m / root * np.log(1 + L**2 * k_mu * n / (lam * c_mu * d))
    inflation = np.sqrt(min(np.exp(2 * L * S), k_mu / c_mu)) if variant == "corrected" else 1.0
    return inflation * noise + root * S


def rho(*, gamma, d, lam, c_mu, k_mu, S, m, L, delta, T=None, D=None, pw_printed=False, uniform_in_time=False):
    """ρ_t of lemma:SCB-PW-confidence-set; D = log T/log(1/γ) unless given, so that γ^D = 1/T (resolutions C6, C7)."""
    log_term = log_inverse_delta(delta, uniform_in_time, T)
    D = np.log(T) / np.log(1 / gamma) if D is None else D
    root = np.sqrt(lam * c_mu)
    bias = (2 * L**2 * S * k_mu + L * m) / root * gamma**D / (1 - gamma)
    window = (1 - gamma ** (2 * D if pw_printed else D)) / (1 - gamma)
    breve = root / (2 * m) + 2 * m / root * (log_term + d * np.log(2))
    breve += d * m / root * np.log(1 + L**2 * k_mu * window / (lam * c_mu * d))
    return bias + breve + root * S


def growth(b):
    """D̄(b) = (b² + b√(b²+4))/2, the largest D with D ≤ b√(1+D) (theory §1, iv)."""
    return (b**2 + b * np.sqrt(b**2 + 4)) / 2


def _constants(link, L, S, k_mu, c_mu):
    k, c = slopes(link, L * S)
    return k if k_mu is None else k_mu, c if c_mu is None else c_mu


# --- GLB: μ(xᵀθ̃) + (2k_μ/c_μ) β̄ ‖x‖_{V⁻¹}  (eq:GLB-select-criteria) ----------------------------------------------
def glb_scores(X, r, arms, *, memory, link, lam, S, R, L, delta, selection="V", radius="trace", radius_n="w",
               bonus_scale=1.0, k_mu=None, c_mu=None, uniform_in_time=False, T=None):  # fmt: skip
    """`selection` of θ̃: "V" (GLB), "V_tilde" (D-GLUCB) or "two-step" (BVD)."""
    k_mu, c_mu = _constants(link, L, S, k_mu, c_mu)
    model = likelihood(X, r, memory=memory, link=link, lam=lam, c_mu=c_mu)
    squared = radius_n == "w2"
    common = {"lam": lam, "c_mu": c_mu, "S": S, "R": R, "delta": delta, "uniform_in_time": uniform_in_time, "T": T}
    if radius == "det":
        size = beta_bar_det(model.V_tilde() if squared else model.V(), **common)
    else:
        size = beta_bar(linear.n_w2(model.w) if squared else linear.n_w(model.w), d=X.shape[1], L=L, **common)
    if selection == "two-step":
        theta = bvd_theta(model, S, size)
    else:
        theta = project(model, S, model.V() if selection == "V" else model.V_tilde())
    width = linear.inverse_norms(arms, model.V())
    return LINKS[link].mu(arms @ theta) + bonus_scale * 2 * k_mu / c_mu * size * width


def glm_ucb(X, r, arms, **constants):
    """GLM-UCB, ridge form."""
    return glb_scores(X, r, arms, memory=("everything",), **constants)


def glb_weight_ucb(X, r, arms, *, gamma, **constants):
    """GLB-WeightUCB (Algorithm 2)."""
    return glb_scores(X, r, arms, memory=("discounted", gamma), **constants)


def glb_restart_ucb(X, r, arms, *, H, **constants):
    """GLB-RestartUCB."""
    return glb_scores(X, r, arms, memory=("restart", H), **constants)


def sw_glucb(X, r, arms, *, W, **constants):
    """SW-GLUCB."""
    return glb_scores(X, r, arms, memory=("window", W), **constants)


def d_glucb(X, r, arms, *, gamma, **constants):
    """D-GLUCB: projection in Ṽ⁻¹, radius with n_w2 (algorithms §2.3)."""
    return glb_scores(X, r, arms, memory=("discounted", gamma), selection="V_tilde", radius_n="w2", **constants)


def bvd_glm_ucb(X, r, arms, *, gamma, **constants):
    """BVD-GLM-UCB (alg:BVD-GLM-UCB with B5, B6, B8)."""
    return glb_scores(X, r, arms, memory=("discounted", gamma), selection="two-step", radius_n="w2", **constants)


# --- SCB: μ(xᵀθ̃) + 2√(1+2LS)(k_μ/√c_μ) β̃ ‖x‖_{V⁻¹}  (eq:SCB-select-criteria, C2) ---------------------------------
def scb_scores(X, r, arms, *, memory, link, lam, S, m, L, delta, radius_n="w", variant="printed", bonus_scale=1.0,
               k_mu=None, c_mu=None, uniform_in_time=False, T=None):  # fmt: skip
    """The self-concordant score; θ̃ by the projection in H⁻¹(θ)."""
    k_mu, c_mu = _constants(link, L, S, k_mu, c_mu)
    model = likelihood(X, r, memory=memory, link=link, lam=lam, c_mu=c_mu)
    n = linear.n_w2(model.w) if radius_n == "w2" else linear.n_w(model.w)
    form = {"variant": variant, "uniform_in_time": uniform_in_time, "T": T}
    size = beta_tilde(n, d=X.shape[1], lam=lam, c_mu=c_mu, k_mu=k_mu, S=S, m=m, L=L, delta=delta, **form)
    factor = 2 * np.sqrt(1 + 2 * L * S) * k_mu / np.sqrt(c_mu)
    width = linear.inverse_norms(arms, model.V())
    return LINKS[link].mu(arms @ project_local(model, S)) + bonus_scale * factor * size * width


def log_ucb1(X, r, arms, **constants):
    """Logistic-UCB-1: static."""
    return scb_scores(X, r, arms, memory=("everything",), **constants)


def log_ucb2(X, r, arms, *, link, lam, S, m, L, delta, bonus_scale=1.0):
    """Logistic-UCB-2: μ + w μ′ ‖x‖_{H⁻¹(θ̃)} + ½k_μ w² ‖x‖²_{H⁻¹(θ̃)}, w = (2+4LS)β̃."""
    k_mu, c_mu = slopes(link, L * S)
    model = likelihood(X, r, memory=("everything",), link=link, lam=lam, c_mu=c_mu)
    size = beta_tilde(linear.n_w(model.w), d=X.shape[1], lam=lam, c_mu=c_mu, k_mu=k_mu, S=S, m=m, L=L, delta=delta)
    theta = project_local(model, S)
    width = bonus_scale * (2 + 4 * L * S) * size * np.sqrt([x @ np.linalg.inv(model.H(theta)) @ x for x in arms])
    z = arms @ theta
    return LINKS[link].mu(z) + LINKS[link].dmu(z) * width + k_mu / 2 * width**2


def scb_weight_ucb(X, r, arms, *, gamma, **constants):
    """SCB-WeightUCB (alg:SCB-WeightUCB)."""
    return scb_scores(X, r, arms, memory=("discounted", gamma), **constants)


def scb_restart_ucb(X, r, arms, *, H, **constants):
    """SCB-RestartUCB."""
    return scb_scores(X, r, arms, memory=("restart", H), **constants)


def scb_window_ucb(X, r, arms, *, W, **constants):
    """The same with a sliding window."""
    return scb_scores(X, r, arms, memory=("window", W), **constants)


def sc_glucb(X, r, arms, *, memory, link, lam, S, m, L, delta, radius_n="w2", variant="printed", sharp_inside=True,
             bonus_scale=1.0, k_mu=None, c_mu=None, uniform_in_time=False, T=None):  # fmt: skip
    """Projection-free (2.6): μ(xᵀθ̂) + (k_μ/√c_μ)(1+D̂) β̃ ‖x‖_{V⁻¹}, √(1+D̂) when ‖θ̂‖ ≤ S and `sharp_inside`."""
    k_mu, c_mu = _constants(link, L, S, k_mu, c_mu)
    model = likelihood(X, r, memory=memory, link=link, lam=lam, c_mu=c_mu)
    n = linear.n_w2(model.w) if radius_n == "w2" else linear.n_w(model.w)
    form = {"variant": variant, "uniform_in_time": uniform_in_time, "T": T}
    size = beta_tilde(n, d=X.shape[1], lam=lam, c_mu=c_mu, k_mu=k_mu, S=S, m=m, L=L, delta=delta, **form)
    theta = qmle(model)
    norm = np.linalg.norm(theta)
    spread = 1 + min(growth(L * size / np.sqrt(lam * c_mu)), L * (S + norm))
    if sharp_inside and norm <= S:
        spread = np.sqrt(spread)
    width = linear.inverse_norms(arms, model.V())
    return LINKS[link].mu(arms @ theta) + bonus_scale * k_mu / np.sqrt(c_mu) * spread * size * width


def sc_d_glucb(X, r, arms, *, gamma, **constants):
    """SC-D-GLUCB (our constants)."""
    return sc_glucb(X, r, arms, memory=("discounted", gamma), **constants)


def sc_sw_glucb(X, r, arms, *, W, **constants):
    """SC-SW-GLUCB (our constants)."""
    return sc_glucb(X, r, arms, memory=("window", W), **constants)
