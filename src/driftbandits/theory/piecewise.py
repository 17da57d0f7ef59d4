r"""Piecewise-stationary self-concordant bandits (Section IV-C, Theorem 4): SCB-PW-WeightUCB in numbers.

Model: that of `self_concordant`, where θ_t changes Γ_T times and is constant in between. With D = log T/log(1/γ), so
that γ^D = 1/T, a round at least D rounds after the last change has θ_t in C_t with probability 1 − δ:

    C_t = {‖θ‖ ≤ S : ‖g_t(θ) − g_t(θ̂_t)‖_{H_t⁻¹(θ)} ≤ ρ},          X_t = argmax_x max_{θ∈C_t} μ(xᵀθ)
    ρ = ((2L²S k_μ + L m)/√(λc_μ)) γ^D/(1−γ) + √(λc_μ)/(2m) + (2m/√(λc_μ))(log(1/δ) + d log 2)
        + (dm/√(λc_μ)) log(1 + L²k_μ ν/(λc_μd)) + √(λc_μ) S                 lemma:SCB-PW-confidence-set

Theorem 4, printed (q = √(1+2LS)):
    D-Reg_T ≤ Γ_T D + 2qρ √(k_μT · 2 max{1, L²k_μ/(λc_μ)} d · Pot(T, L²k_μ/(λc_μd)))
Theorem 4, corrected (Ξ = 2(1+2LS)ρ, φ(x) = (e^x−1)/x):
    D-Reg_T ≤ gap·Γ_T⌈D⌉ + M₁ + min{M₂, (φ(2LS)−1) M₁}
    M₁ = Ξ √(k_μT) √(2 max{1, L²k_μ/(λc_μ)} d [T log(1/γ) + (Γ_T+1) log(1 + L²k_μ/(λc_μd(1−γ)))])
    M₂ = (k_μ/(2c_μ)) Ξ² · 2 max{1, L²/λ} d · Pot(T, L²/(λd))
Tuning: 1 − γ = max{1/T, (Γ_T/(dT))^{2/3}}   ⇒   Õ(d^{2/3} Γ_T^{1/3} T^{2/3})

Where the paper slips: (a) a round after a change costs up to `gap`, not 1, and D is real: only a round with ⌈D⌉
unchanged predecessors is sure to leave at most γ^D/(1−γ) of older weight; (b) lemma:SCB-G-H is used at θ̂_t, which
may lie outside the ball; (c) the potential lemma is used with vectors √α(X_s,θ̃_t,θ̂_t)X_s that change with t, so its
sum does not telescope. The correction measures θ̃_t − θ_t in H_t(θ_t), which is discounted in the usual way inside
each segment.
"""

from math import ceil, exp, expm1, inf, log, log1p, sqrt

from ..errors import integer, positive, require
from .checks import Variant, checked, nonnegative
from .common import Bound, clip_gamma, default_delta, union
from .lemmas import curvature_share, potential_bound, prediction_distance_bound
from .self_concordant import local_noise_radius, scb_lambda, unit_arms


@checked
def pw_gamma(*, T: int, d: int, changes: int) -> float:
    """The discount factor of Theorem 4: γ = 1 − max{1/T, (Γ_T/(dT))^{2/3}}, kept in [1/2, 1 − 1/T].

    Parameters
    ----------
    T, d : rounds and dimension.
    changes : Γ_T ≥ 0. The theorem needs γ > 1/2, which the printed formula does not ensure.

    Examples
    --------
    >>> round(pw_gamma(T=6000, d=2, changes=5), 8), pw_gamma(T=100, d=1, changes=99)
    (0.99442139, 0.5)
    """
    changes = _count(changes, T)
    return clip_gamma((changes / (d * T)) ** (2.0 / 3.0), T, least=0.5)


@checked
def pw_memory(*, T: int, gamma: float) -> float:
    """D = log T/log(1/γ), after which an observation weighs 1/T; a real number, not rounded (only γ^D enters).

    Examples
    --------
    >>> round(pw_memory(T=6000, gamma=0.9944213920826486), 4)
    1555.0881
    """
    return log(T) / -log(gamma)


@checked
def pw_radius(
    *,
    T: int,
    d: int,
    gamma: float,
    lam: float,
    k_mu: float,
    c_mu: float,
    delta: float,
    S: float = 1.0,
    L: float = 1.0,
    m: float = 1.0,
    D: float | None = None,
    t: int | None = None,
    variant: Variant = "printed",
) -> float:
    """ρ, the radius of the confidence set C_t (lemma:SCB-PW-confidence-set).

    Parameters
    ----------
    T, d, gamma, lam : rounds, dimension, discount in (0, 1), regulariser.
    k_mu, c_mu : largest and smallest slope of the link.
    delta : failure probability in (0, 1), for each fixed round.
    S, L, m : bounds of ‖θ‖, ‖x‖ (≤ 1) and the reward.
    D : memory; `pw_memory` if omitted.
    t : the round; if given, at most t−1 observations are counted in ν (allowed, smaller early on).
    variant : `printed` has ν = (1−γ^{2D})/(1−γ); the sum it stands for is (1−γ^D)/(1−γ), used by `corrected`.

    Inside the memory θ_s = θ_t, so the drift gap of `scb_radius` does not occur here.

    Examples
    --------
    >>> c_mu = 0.19661193324148185
    >>> lam = scb_lambda(d=2, T=6000, c_mu=c_mu)
    >>> gamma = pw_gamma(T=6000, d=2, changes=5)
    >>> round(pw_radius(T=6000, d=2, gamma=gamma, lam=lam, k_mu=0.25, c_mu=c_mu, delta=1 / 6000), 4)
    11.5003
    """
    unit_arms(L)
    D = pw_memory(T=T, gamma=gamma) if D is None else positive("D", D, "it is a number of rounds")
    seen = D if t is None else min(D, integer("t", t, least=1, why="rounds are counted from one") - 1)
    exponent = 2.0 * seen if variant == "printed" else seen
    nu = -expm1(exponent * log(gamma)) / (1.0 - gamma)
    root = sqrt(lam * c_mu)
    old = (2.0 * L * L * S * k_mu + L * m) / root * exp(D * log(gamma)) / (1.0 - gamma)
    noise = local_noise_radius(n=nu, d=d, reg=lam * c_mu, k_mu=k_mu, L=L, m=m, delta=delta)
    return old + noise + root * S


@checked
def pw_loss_radius(
    *, rho: float, lam: float, c_mu: float, S: float = 1.0, L: float = 1.0, theta_norm: float | None = None
) -> float:
    """B_t = ρ/√(4h(D̂)): the convex set {‖θ‖ ≤ S, F(θ) − F(θ̂_t) ≤ B_t²} contains C_t.

    The library plays on this set, because C_t is not convex. D̂ = min{D̄(Lρ/√(λc_μ)), L(S + ‖θ̂_t‖)}. Not in the paper:
    F(θ) − F(θ̂) ≤ e·x − h(D)x² ≤ e²/(4h(D)) with e = ‖g(θ) − g(θ̂)‖_{H⁻¹(θ)} and x = ‖θ − θ̂‖_{H(θ)}.

    Parameters
    ----------
    rho : the radius ρ.
    lam, c_mu, S, L : as in `pw_radius`.
    theta_norm : ‖θ̂_t‖ if known.

    Examples
    --------
    >>> round(pw_loss_radius(rho=11.5, lam=88.4943, c_mu=0.19661193, theta_norm=1.0) ** 2, 2)
    116.49
    """
    rho = nonnegative("rho", rho, "it is a radius")
    distance = prediction_distance_bound(radius=rho, lam=lam, c_mu=c_mu, S=S, L=L, theta_norm=theta_norm)
    return rho / sqrt(4.0 * curvature_share(distance))


@checked
def scb_pw_regret_bound(
    *,
    T: int,
    d: int,
    changes: int,
    k_mu: float,
    c_mu: float,
    S: float = 1.0,
    L: float = 1.0,
    m: float = 1.0,
    gamma: float | None = None,
    lam: float | None = None,
    delta: float | None = None,
    gap: float | None = None,
    variant: Variant = "printed",
    relaxed: bool = False,
) -> Bound:
    """Theorem 4 (thm:SCB-PW-regret): the dynamic regret of SCB-PW-WeightUCB.

    Parameters
    ----------
    T, d : rounds and dimension.
    changes : Γ_T, the number of changes (0 if stationary).
    k_mu, c_mu : largest and smallest slope of the link.
    S, L, m : bounds of ‖θ‖, ‖x‖ (≤ 1) and the reward.
    gamma, lam, delta : `pw_gamma`, `scb_lambda`, `default_delta("pw", ...)` if omitted.
    gap : largest one-round regret μ(LS) − μ(−LS); its bound min{m, 2LSk_μ} if omitted.
    variant : `printed` has δ = 1/T and claims 1 − δ; `corrected` is the bound derived in the module docstring, with δ
        = 1/T² and probability 1 − Tδ.
    relaxed : only with `corrected`: the rule plays on the convex set of `pw_loss_radius`, Ξ = (2+2LS)ρ +
        √(2+2LS)·max_t B_t.

    Examples
    --------
    >>> problem = dict(T=6000, d=2, changes=5, k_mu=0.25, c_mu=0.19661193324148185)
    >>> bound = scb_pw_regret_bound(**problem)
    >>> round(bound.bias, 3), round(bound.variance, 3)
    (7775.44, 18097.139)
    >>> round(scb_pw_regret_bound(**problem, variant="corrected").total)
    148317
    """
    changes, printed = _count(changes, T), variant == "printed"
    require(not (relaxed and printed), "relaxed", relaxed, "False for 'printed'", "the paper does not treat this set")
    gamma = pw_gamma(T=T, d=d, changes=changes) if gamma is None else gamma
    lam = scb_lambda(d=d, T=T, c_mu=c_mu) if lam is None else lam
    delta = default_delta("pw", T=T, variant=variant) if delta is None else delta
    largest = min(m, 2.0 * L * S * k_mu) if gap is None else gap
    D = pw_memory(T=T, gamma=gamma)
    rho = pw_radius(
        T=T, d=d, gamma=gamma, lam=lam, k_mu=k_mu, c_mu=c_mu, delta=delta, S=S, L=L, m=m, D=D, variant=variant
    )
    segments = 1 if printed else changes + 1
    # Σ μ′(X_tᵀθ)‖X_t‖²_{H⁻¹}: the vectors √μ′·X have norm ≤ L√k_μ, the regulariser of H is λc_μ
    spread = log1p(L * L * k_mu / (lam * c_mu * d * (1.0 - gamma)))
    energy = 2.0 * max(1.0, L * L * k_mu / (lam * c_mu)) * d * (-T * log(gamma) + segments * spread)
    details = {"D": D}
    if printed:
        terms = {
            "bias_after_changes": changes * D,
            "variance": 2.0 * sqrt(1.0 + 2.0 * L * S) * rho * sqrt(k_mu * T * energy),
        }
    else:
        Xi = 2.0 * (1.0 + 2.0 * L * S) * rho
        if relaxed:
            B = pw_loss_radius(rho=rho, lam=lam, c_mu=c_mu, S=S, L=L)
            Xi = (2.0 + 2.0 * L * S) * rho + sqrt(2.0 + 2.0 * L * S) * B
        M1 = Xi * sqrt(k_mu * T * energy)
        M2 = k_mu / (2.0 * c_mu) * Xi**2 * potential_bound(T=T, d=d, gamma=gamma, lam=lam, L=L)
        x = 2.0 * L * S
        growth = expm1(x) / x - 1.0 if x < 700.0 else inf  # φ(2LS) − 1
        terms = {
            "bias_after_changes": largest * changes * ceil(D),
            "variance": M1,
            "variance_second_order": min(M2, growth * M1),
        }
        details["Xi"] = Xi
    return Bound(
        theorem="Theorem 4 (thm:SCB-PW-regret)",
        variant=variant,
        terms=terms,
        radius=rho,
        gamma=gamma,
        lam=lam,
        delta=delta,
        probability=union(1.0 if printed else T, delta),
        gap=largest,
        horizon=T,
        details=details,
    )


def _count(changes: int, T: int) -> int:
    changes = integer("changes", changes, least=0, why="Γ_T counts the rounds in which θ changes")
    require(changes < T, "changes", changes, f"≤ T − 1 = {T - 1}", "there is at most one change per round")
    return changes
