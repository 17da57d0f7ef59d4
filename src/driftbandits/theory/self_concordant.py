r"""Self-concordant bandits (Section IV-C, Theorem 3): SCB-WeightUCB in numbers.

Model: that of `generalized`, with |μ″| ≤ μ′ (logistic), rewards in [0, m] and arms ‖x‖₂ ≤ L ≤ 1. The projection uses
the local norm of H_t(θ) = λc_μI + Σ_{s<t} γ^{t−1−s} μ′(X_sᵀθ) X_sX_sᵀ. Write q = √(1 + 2LS) (the paper has L = 1).

    X_t = argmax_x  μ(xᵀθ̃_t) + (2q k_μ/√c_μ) β̃_{t−1} ‖x‖_{V⁻¹_{t−1}}
    β̃_t = √(λc_μ)/(2m) + (2m/√(λc_μ))(log(1/δ) + d log 2)
          + (dm/√(λc_μ)) log(1 + L²k_μ n_t/(λc_μd)) + √(λc_μ) S                 eq:SCB-confidence-radius

Lemma 3:   |μ(xᵀθ̃_t) − μ(xᵀθ_t)| ≤ (2q k_μ/√c_μ) [(k_μL²/√c_μ)√(d/λ) b_t + β̃_{t−1}‖x‖_{V⁻¹_{t−1}}],  b_t of `paths`
Theorem 3: D-Reg_T ≤ (8q L²k_μ²/c_μ)√(d/λ) P_T/(1−γ)^{3/2}
                     + (4q k_μ/√c_μ) β̃_T √(T · 2 max{1,L²/λ} d · Pot(T, L²/(λd)))
Tuning:    1 − γ = max{1/T, √(k_μP_T/(dT))},  λ = d log T/c_μ   ⇒   Õ(k_μ^{5/4} c_μ^{−1/2} d^{3/4} P_T^{1/4} T^{3/4})

Where the paper slips: lemma:SCB-F_t-bound measures noise of variance μ′(X_sᵀθ_s) in a norm built from μ′(X_sᵀθ_t).
Under drift these differ, and the bound fails after a large jump. Three ways out:

`corrected`   the noise terms of β̃ times √Λ, Λ = min{e^{2LS}, k_μ/c_μ}, in every round: valid, but the rate becomes c_μ^{−7/8}
`repaired`    the printed radius, which is valid in *good* rounds (`good_rounds`), and the largest one-round regret in the few others:

    D-Reg_T ≤ bias + variance (both as printed, δ = 1/T²) + gap·MLP_T/ℓ + 2k_μLP_T,     ℓ = log(1/γ)         Theorem 3′

              The last two terms are below 0.09 · bias (without its √d) wherever the bound says more than gap·T, so the paper's rate is
              true.
`sharp`       the bias without its superfluous √d, or measured in the local norm in rounds that are good with half the leak,

    bias = 16q L²k_μ^{3/2}/√(λc_μ) · P_T/(1−γ)^{3/2},    jumps doubled                                         Theorem 3″

              whichever total is smaller; with 1 − γ = √(√(k_μc_μ)P_T/(d^{3/2}T)) the rate is Õ(k_μ^{9/8} c_μ^{−3/8} d^{5/8} P_T^{1/4}
              T^{3/4}).

Theorems 3′ and 3″ are about regret, not coverage: right after a jump the printed width need not cover. `scb_error_bound` of one round
therefore widens its radius by Λ_t (`round_inflation`), computed from the path.
"""

from math import exp, log, log1p, sqrt

from ..errors import require
from .checks import Variant, checked
from .common import Bound, arm_width, bias_factor, clip_gamma, default_delta, effective_rounds, lemma_bound, union
from .generalized import Preset, preset_slope
from .good_rounds import jump_cost, round_inflation
from .lemmas import potential_bound, prediction_distance_bound
from .paths import Path, bias_sum_bound, path_array, round_bias


@checked
def scb_gamma(
    *,
    T: int,
    d: int,
    P_T: float,
    k_mu: float,
    preset: Preset = "theorem",
    sharp_bias: bool = False,
    c_mu: float | None = None,
    variant: Variant = "printed",
) -> float:
    """The discount factor of Theorem 3, kept in [1/T, 1 − 1/T].

    `theorem`: 1 − γ = √(k_μP_T/(dT)). `experiment`: √(max{1,k_μ}P_T/(dT)), which for k_μ < 1 is the paper's
    √(P_T/(dT)).

    Parameters
    ----------
    T, d, P_T : rounds, dimension, path length.
    k_mu : largest slope of the link.
    preset : `theorem` or `experiment`.
    sharp_bias : balance the bias without its superfluous √d: d^{3/2} in place of d.
    c_mu : smallest slope of the link; balance the local bias of Theorem 3″, √(k_μc_μ) in place of k_μ.
    variant : that of the bound it is for; with c_μ, `sharp` is Theorem 3″; it implies `sharp_bias`.

    Examples
    --------
    >>> round(scb_gamma(T=6000, d=2, P_T=6.283185019988713, k_mu=0.25), 8)
    0.98855886
    """
    sharp_bias = sharp_bias or variant == "sharp"
    slope = preset_slope(preset, k_mu)
    if c_mu is not None:
        slope = sqrt(slope * c_mu)
    return clip_gamma(sqrt(slope * P_T / ((d**1.5 if sharp_bias else d) * T)), T)


@checked
def scb_lambda(*, d: int, T: int, c_mu: float) -> float:
    """The regulariser of Theorems 3 and 4: λ = d log T/c_μ.

    Examples
    --------
    >>> round(scb_lambda(d=2, T=6000, c_mu=0.19661193324148185), 4)
    88.4943
    """
    return d * log(T) / c_mu


@checked
def drift_inflation(*, k_mu: float, c_mu: float, S: float = 1.0, L: float = 1.0) -> float:
    """Λ = min{e^{2LS}, k_μ/c_μ}: by how much the slope at an old parameter can exceed the slope at the present one.

    Examples
    --------
    >>> round(drift_inflation(k_mu=0.25, c_mu=0.19661193), 6)
    1.27154
    """
    # e^{2LS} without overflow: compare the logarithms first
    return exp(min(2.0 * L * S, log(k_mu / c_mu)))


def local_noise_radius(*, n: float, d: int, reg: float, k_mu: float, L: float, m: float, delta: float) -> float:
    """√reg/(2m) + (2m/√reg)(log(1/δ) + d log 2) + (dm/√reg) log(1 + L²k_μn/(reg·d)), with reg = λc_μ."""
    root = sqrt(reg)
    spread = log1p(L * L * k_mu * n / (reg * d))
    return root / (2.0 * m) + 2.0 * m / root * (log(1.0 / delta) + d * log(2.0)) + d * m / root * spread


def unit_arms(L: float) -> None:
    """Faury's inequality needs ‖X‖ ≤ 1."""
    require(
        L <= 1.0, "L", L, "≤ 1", "the concentration of self-concordant bandits needs unit arms; divide the arms by L"
    )


@checked
def scb_radius(
    *,
    n: float,
    d: int,
    lam: float,
    k_mu: float,
    c_mu: float,
    delta: float,
    S: float = 1.0,
    L: float = 1.0,
    m: float = 1.0,
    variant: Variant = "printed",
    inflation: float | None = None,
) -> float:
    """β̃ (eq:SCB-confidence-radius), the radius of Lemma 3.

    Parameters
    ----------
    n : sum of the weights, as in `lb_radius`.
    d, lam, k_mu, c_mu : dimension, regulariser, slopes.
    delta : failure probability in (0, 1), for each fixed round.
    S, L, m : bounds of ‖θ‖, ‖x‖ (≤ 1) and the reward.
    variant : `corrected` multiplies the three noise terms (not √(λc_μ)S) by √Λ; see the module for why. `repaired` and `sharp` have the
        printed radius, which is valid in good rounds.
    inflation : Λ ≥ 1 if known to be smaller than `drift_inflation`, e.g. 1 in a stationary stretch.

    Examples
    --------
    >>> lam = scb_lambda(d=2, T=6000, c_mu=0.19661193324148185)
    >>> known = dict(n=43.70, d=2, lam=lam, k_mu=0.25, c_mu=0.19661193324148185, delta=1 / 12000)
    >>> round(scb_radius(**known), 3), round(scb_radius(**known, variant="corrected"), 3)
    (11.556, 12.498)
    """
    unit_arms(L)
    noise = local_noise_radius(n=n, d=d, reg=lam * c_mu, k_mu=k_mu, L=L, m=m, delta=delta)
    if variant == "corrected" or inflation is not None:
        Lambda = drift_inflation(k_mu=k_mu, c_mu=c_mu, S=S, L=L) if inflation is None else inflation
        require(Lambda >= 1.0, "inflation", Lambda, "≥ 1", "it is a largest ratio of slopes")
        noise *= sqrt(Lambda)
    return noise + sqrt(lam * c_mu) * S


@checked
def scb_bonus_factor(*, k_mu: float, c_mu: float, S: float = 1.0, L: float = 1.0, projected: bool = True) -> float:
    """2√(1+2LS) k_μ/√c_μ, the factor of the bonus β̃‖x‖_{V⁻¹}; half of it in a round without projection.

    The paper prints √(1+2S), for L = 1 (lemma:SCB-G-H; the distance is |xᵀ(θ₁−θ₂)| ≤ 2LS).

    Examples
    --------
    >>> round(scb_bonus_factor(k_mu=0.25, c_mu=0.19661193), 4)
    1.9531
    """
    return (2.0 if projected else 1.0) * sqrt(1.0 + 2.0 * L * S) * k_mu / sqrt(c_mu)


@checked
def projection_free_factor(
    *,
    radius: float,
    lam: float,
    k_mu: float,
    c_mu: float,
    S: float = 1.0,
    L: float = 1.0,
    theta_norm: float | None = None,
) -> float:
    """(1 + D̂) k_μ/√c_μ, the bonus factor of SC-D-GLUCB, which never projects.

    D̂ = min{D̄(L·radius/√(λc_μ)), L(S + ‖θ̂‖)}. If ‖θ̂‖ ≤ S even √(1 + D̂) is enough. k_μ must bound μ′ everywhere.

    Parameters
    ----------
    radius : β̃ of the round.
    theta_norm : ‖θ̂_t‖ if known.

    Examples
    --------
    >>> round(projection_free_factor(radius=11.556, lam=88.4943, k_mu=0.25, c_mu=0.19661193, theta_norm=0.9), 4)
    0.9601
    """
    distance = prediction_distance_bound(radius=radius, lam=lam, c_mu=c_mu, S=S, L=L, theta_norm=theta_norm)
    inside = theta_norm is not None and theta_norm <= S
    return (sqrt(1.0 + distance) if inside else 1.0 + distance) * k_mu / sqrt(c_mu)


@checked
def scb_error_bound(
    path: Path,
    *,
    gamma: float,
    lam: float,
    k_mu: float,
    c_mu: float,
    delta: float,
    t: int | None = None,
    width: float | None = None,
    S: float = 1.0,
    L: float = 1.0,
    m: float = 1.0,
    variant: Variant = "printed",
    sharp_bias: bool = False,
    projected: bool = True,
) -> Bound:
    """Lemma 3 (lemma:SCB-estimation-error): a bound of |μ(xᵀθ̃_t) − μ(xᵀθ_t)| with its exact bias sum.

    Parameters are those of `glb_error_bound`, with m in place of R; `corrected` uses the corrected `scb_radius`, `repaired` the one that is
    widened by Λ_t of this path and round (`round_inflation`); `sharp` does so too, and drops the √d.

    Examples
    --------
    >>> bound = scb_error_bound([[0.0, 1.0]] * 9 + [[1.0, 0.0]], gamma=0.9, lam=50.0, k_mu=0.25, c_mu=0.2, delta=0.01)
    >>> round(bound.bias, 4), round(bound.variance, 4)
    (0.7578, 2.3496)
    """
    array = path_array(path)
    d, t = int(array.shape[-1]), len(array) if t is None else t
    factor = scb_bonus_factor(k_mu=k_mu, c_mu=c_mu, S=S, L=L, projected=projected)
    sharp_bias = sharp_bias or variant == "sharp"
    bias = k_mu * L * L / sqrt(c_mu) * bias_factor(d, lam, sharp_bias) * round_bias(array, gamma=gamma, t=t)
    n = effective_rounds(gamma=gamma, t=t - 1)
    local = variant in ("repaired", "sharp")
    radius = scb_radius(
        n=n, d=d, lam=lam, k_mu=k_mu, c_mu=c_mu, delta=delta, S=S, L=L, m=m, variant=variant,
        inflation=round_inflation(array, gamma=gamma, k_mu=k_mu, c_mu=c_mu, t=t, L=L) if local else None,
    )  # fmt: skip
    return lemma_bound(
        "Lemma 3 (lemma:SCB-estimation-error)",
        bias=bias,
        radius=radius,
        width=arm_width(width, L, lam),
        gamma=gamma,
        lam=lam,
        delta=delta,
        factor=factor,
        variant=variant,
        gap=min(m, 2.0 * L * S * k_mu),
    )


@checked
def scb_regret_bound(
    *,
    T: int,
    d: int,
    P_T: float,
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
    sharp_bias: bool = False,
    squared: bool = False,
    M: float = 1.0,
) -> Bound:
    """Theorem 3 (thm:SCB-regret): the dynamic regret of SCB-WeightUCB.

    Parameters
    ----------
    T, d, P_T : rounds, dimension, path length.
    k_mu, c_mu : largest and smallest slope of the link.
    S, L, m : bounds of ‖θ‖, ‖x‖ (≤ 1) and the reward.
    gamma, lam, delta : `scb_gamma` (theorem), `scb_lambda`, `default_delta("scb", ...)` if omitted.
    gap : largest one-round regret μ(LS) − μ(−LS); its bound min{m, 2LSk_μ} if omitted.
    variant : `printed` has δ = 1/(2T) and claims probability 1 − 2δ. The others have δ = 1/T² and probability 1 − Tδ (the radius covers
        one round, not all): `corrected` with √Λ in β̃_T, `repaired` Theorem 3′, `sharp` the smaller of Theorem 3′ without √d and
        Theorem 3″, by default with the latter's γ; `details["local"]` is 1 if it is the latter. See the module.
    sharp_bias : drop the superfluous √d of the bias.
    squared : use Σ w² in place of Σ w in β̃_T; valid and smaller.
    M : bound of |μ″|/μ′ in the jump term; 1 always serves, tanh(LS/2) for the logistic link.

    Examples
    --------
    >>> problem = dict(T=6000, d=2, P_T=6.283185019988713, k_mu=0.25, c_mu=0.19661193324148185)
    >>> bound = scb_regret_bound(**problem)
    >>> round(bound.bias, 3), round(bound.variance, 3), round(bound.radius, 6)
    (3399.805, 58793.569, 11.658735)
    >>> {name: round(value, 2) for name, value in scb_regret_bound(**problem, gap=0.5, variant="repaired").terms.items()}
    {'bias': 3399.81, 'variance': 78152.5, 'jumps': 273.01, 'shift': 3.14}
    """
    sharp = variant == "sharp"
    sharp_bias = sharp_bias or sharp
    tuned = scb_gamma(T=T, d=d, P_T=P_T, k_mu=k_mu, sharp_bias=sharp, c_mu=c_mu if sharp else None)
    gamma = tuned if gamma is None else gamma
    lam = scb_lambda(d=d, T=T, c_mu=c_mu) if lam is None else lam
    delta = default_delta("scb", T=T, variant=variant) if delta is None else delta
    gap = min(m, 2.0 * L * S * k_mu) if gap is None else gap
    n = effective_rounds(gamma=gamma, t=T, squared=squared)
    radius = scb_radius(n=n, d=d, lam=lam, k_mu=k_mu, c_mu=c_mu, delta=delta, S=S, L=L, m=m, variant=variant)
    # twice Lemma 3, summed over rounds: 2 · (2q k_μ/√c_μ) · [(k_μL²/√c_μ)√(d/λ) B(γ) + β̃_T Σ‖X_t‖]
    twice = 2.0 * scb_bonus_factor(k_mu=k_mu, c_mu=c_mu, S=S, L=L)
    slope = k_mu / sqrt(c_mu)
    terms = {
        "bias": twice * slope * L * L * bias_factor(d, lam, sharp_bias) * bias_sum_bound(P_T=P_T, gamma=gamma),
        "variance": twice * radius * sqrt(T * potential_bound(T=T, d=d, gamma=gamma, lam=lam, L=L)),
    }
    details = {}
    if variant in ("repaired", "sharp"):
        terms["jumps"] = jump_cost(gap=gap, P_T=P_T, gamma=gamma, L=L, M=M)
        terms["shift"] = 2.0 * k_mu * L * P_T
    if sharp:
        # Theorem 3″: E_t ≤ L√k_μ Σ_p γ^{(t−1−p)/4} Δ_p/√(1−γ), whose sum is at most 2L√k_μ · 2P_T/(1−γ)^{3/2}; twice as many bad rounds
        local = twice * L * L * sqrt(k_mu / lam) * 2.0 * bias_sum_bound(P_T=P_T, gamma=gamma)
        details["local"] = float(local + terms["jumps"] < terms["bias"])
        if details["local"]:
            terms |= {"bias": local, "jumps": jump_cost(gap=gap, P_T=P_T, gamma=gamma, L=L, M=M, share=0.5)}
    return Bound(
        theorem="Theorem 3 (thm:SCB-regret)",
        variant=variant,
        terms=terms,
        radius=radius,
        gamma=gamma,
        lam=lam,
        delta=delta,
        probability=union(2.0 if variant == "printed" else T, delta),
        gap=gap,
        horizon=T,
        details=details,
    )
