r"""Linear mixture MDPs (Section V, Theorem 5) in numbers.

Model: P_h^k(s'|s,a) = ψ(s'|s,a)ᵀw_h^k, ‖w‖ ≤ S_w, and ‖ψ_V(s,a)‖ ≤ L_ψ for V ∈ [0,1] (hence HL_ψ for V ∈ [0,H]);
rewards as in `mdp`. Both parameters are estimated by discounted ridge regression over episodes, w from the targets
V_{h+1}(s').

    β_θ = √λ_θ S_θ                                                                          lemma:LMDP-r-ucb
    β_w^k = H √(½ log(1/δ) + (d_w/4) log(1 + H²L_ψ² n_k/(λ_wd_w))) + √λ_w S_w               lemma:LMDP-v-ucb
    |φᵀ(θ̂_h^k − θ_h^k)|      ≤ L_φ²√(d_θ/λ_θ) b_k(θ_h) + β_θ ‖φ‖_{Λ⁻¹}
    |ψ_Vᵀ(ŵ_h^k − w_h^k)|    ≤ H²L_ψ²√(d_w/λ_w) b_k(w_h) + β_w^{k−1} ‖ψ_V‖_{Σ⁻¹}

Theorem 5, printed (λ_θ = d, λ_w = H²d, δ = 1/(4T)):
    D-Reg_T ≤ 4H²β_θ√K √(2d_θ Pot(K, L_φ²/(λ_θd_θ))) + 4Hβ_w^K√K √(2d_w Pot(K, H²L_ψ²/(λ_wd_w)))
              + 4L_φ²√(d_θ/λ_θ) P^θ/(1−γ)^{3/2} + 4H²L_ψ²√(d_w/λ_w) P^w/(1−γ)^{3/2} + 4H√(2T log(1/δ))

Where the paper slips: min{4H, 2β‖·‖} ≤ 4Hβ_θ min{1,‖·‖} needs β_θ ≥ 1, and ≤ 4β_w min{1,‖·‖} needs β_w ≥ H; 2 max{2H,
β} is always valid, and smaller where the printed ones are valid. The radius covers one (k, h), not all T of them. And
lemma:LMDP-model-prediction-error needs Q capped at H−h+1, not at H, although the theorem stands with either.
"""

from math import log, log1p, sqrt

from .checks import Variant, checked
from .common import Bound, arm_width, bias_factor, default_delta, effective_rounds, lemma_bound, union
from .lemmas import potential_bound
from .mdp import mdp_gamma, mdp_martingale, mdp_reward_radius, stage
from .paths import Path, bias_sum_bound


@checked
def linear_mixture_lambdas(*, H: int, d_theta: int, d_w: int | None = None) -> tuple[float, float]:
    """The regularisers of Theorem 5: λ_θ = d_θ and λ_w = H²d_w (d_w = d_θ if omitted, as in the paper).

    Examples
    --------
    >>> linear_mixture_lambdas(H=10, d_theta=2)
    (2.0, 200.0)
    """
    return float(d_theta), float(H * H * (d_theta if d_w is None else d_w))


@checked
def linear_mixture_radius(
    *, n: float, d: int, lam: float, H: int, delta: float, S_w: float = 1.0, L_psi: float = 1.0
) -> float:
    """β_w = H √(½ log(1/δ) + (d/4) log(1 + H²L_ψ² n/(λ_wd))) + √λ_w S_w (lemma:LMDP-v-ucb).

    Parameters
    ----------
    n : sum of the weights, `effective_rounds(gamma=γ, t=k−1)` in episode k.
    d, lam, H : d_w, λ_w and the number of stages.
    delta : failure probability in (0, 1), for each fixed episode and stage.
    S_w, L_psi : bounds of ‖w‖, and of ‖ψ_V‖ for V ∈ [0, 1].

    Examples
    --------
    >>> n = effective_rounds(gamma=0.9393621, t=1500)
    >>> round(linear_mixture_radius(n=n, d=2, lam=200.0, H=10, delta=1 / 60000, L_psi=2**0.5), 4)
    39.8581
    """
    spread = log1p(H * H * L_psi**2 * n / (lam * d))
    return H * sqrt(0.5 * log(1.0 / delta) + d / 4.0 * spread) + sqrt(lam) * S_w


@checked
def linear_mixture_reward_error(
    path: Path,
    *,
    gamma: float,
    lam: float,
    S_theta: float,
    k: int | None = None,
    width: float | None = None,
    L_phi: float = 1.0,
    sharp_bias: bool = False,
) -> Bound:
    """lemma:LMDP-r-ucb: a bound of |φᵀ(θ̂_h^k − θ_h^k)| for one stage; deterministic, because rewards carry no noise.

    Parameters
    ----------
    path : θ_h of the stage, (K, d_θ).
    gamma, lam, S_theta, L_phi : discount, λ_θ, bounds of ‖θ‖ and ‖φ‖.
    k : the episode; the last one if omitted.
    width : ‖φ‖_{Λ⁻¹}; its largest value L_φ/√λ_θ if omitted.

    Examples
    --------
    >>> bound = linear_mixture_reward_error([[1.0, 0.0]] * 9 + [[0.0, 1.0]], gamma=0.9, lam=2.0, S_theta=1.0)
    >>> round(bound.bias, 4), round(bound.variance, 4), bound.probability
    (3.5002, 1.0, 1.0)
    """
    here = stage(path, gamma=gamma, k=k)
    return lemma_bound(
        "lemma:LMDP-r-ucb",
        bias=L_phi**2 * bias_factor(here.d, lam, sharp_bias) * here.bias,
        radius=mdp_reward_radius(lam=lam, S_theta=S_theta),
        width=arm_width(width, L_phi, lam),
        gamma=gamma,
        lam=lam,
        delta=0.0,
    )


@checked
def linear_mixture_value_error(
    path: Path,
    *,
    gamma: float,
    lam: float,
    H: int,
    delta: float,
    k: int | None = None,
    width: float | None = None,
    S_w: float = 1.0,
    L_psi: float = 1.0,
    sharp_bias: bool = False,
) -> Bound:
    """lemma:LMDP-v-ucb: a bound of |ψ_Vᵀ(ŵ_h^k − w_h^k)| for one stage.

    Parameters are those of `linear_mixture_reward_error`, for w; `width` is ‖ψ_V‖_{Σ⁻¹}, at most HL_ψ/√λ_w.

    Examples
    --------
    >>> path = [[1.0, 0.0]] * 9 + [[0.0, 1.0]]
    >>> bound = linear_mixture_value_error(path, gamma=0.9, lam=200.0, H=10, delta=0.01)
    >>> round(bound.bias, 4), round(bound.variance, 4)
    (35.0023, 21.7622)
    """
    here = stage(path, gamma=gamma, k=k)
    return lemma_bound(
        "lemma:LMDP-v-ucb",
        bias=(H * L_psi) ** 2 * bias_factor(here.d, lam, sharp_bias) * here.bias,
        radius=linear_mixture_radius(n=here.n, d=here.d, lam=lam, H=H, delta=delta, S_w=S_w, L_psi=L_psi),
        width=arm_width(width, H * L_psi, lam),
        gamma=gamma,
        lam=lam,
        delta=delta,
    )


@checked
def linear_mixture_regret_bound(
    *,
    K: int,
    H: int,
    d_theta: int,
    P_theta: float,
    P_w: float,
    S_theta: float,
    d_w: int | None = None,
    S_w: float = 1.0,
    L_phi: float = 1.0,
    L_psi: float = 1.0,
    gamma: float | None = None,
    lam_theta: float | None = None,
    lam_w: float | None = None,
    delta: float | None = None,
    variant: Variant = "printed",
    sharp_bias: bool = False,
    dimension_aware: bool = False,
) -> Bound:
    """Theorem 5 (thm:LMDP-regret-bound): the dynamic regret of weighted UCRL on linear mixture MDPs.

    Parameters
    ----------
    K, H : episodes and stages.
    d_theta, d_w : dimensions of φ and ψ (equal if the second is omitted; the paper has one d).
    P_theta, P_w : path lengths, summed over stages.
    S_theta, S_w, L_phi, L_psi : bounds of ‖θ‖, ‖w‖, ‖φ‖, and ‖ψ_V‖ for V ∈ [0, 1].
    gamma, lam_theta, lam_w, delta : `mdp_gamma`, `linear_mixture_lambdas`, `default_delta("mdp", T=KH)` if omitted.
    variant : `corrected` has 2 max{2H, β} for 4Hβ_θ and 4β_w, δ = 1/(2T²) in β_w (one event for each of the T pairs
        (k, h)), and half the martingale at level Tδ (deterministic policy): probability 1 − 2Tδ. The printed one
        claims 1 − 4δ.
        `repaired` is the same as `corrected`; `sharp` also drops the superfluous √d of both biases and, unless `gamma` is given,
        balances γ for that (`mdp_gamma(sharp_bias=True)`).
    sharp_bias : drop the superfluous √d of both biases; γ is not changed by it.
    dimension_aware : tune γ by the true balance √(L_ψ²Δ/(d_wT)).

    Examples
    --------
    >>> bound = linear_mixture_regret_bound(K=1500, H=10, d_theta=2, P_theta=19 * 2**0.5, P_w=20 * 2**0.5,
    ...                                     S_theta=2**0.5, L_psi=2**0.5)
    >>> round(bound.total), bound.capped
    (1997537, 15000.0)
    """
    d_w, T = d_theta if d_w is None else d_w, K * H
    printed = variant == "printed"
    sharp = variant == "sharp"
    sharp_bias = sharp_bias or sharp
    if gamma is None:
        gamma = mdp_gamma(
            K=K, H=H, Delta=P_theta + P_w, dimension_aware=dimension_aware, d=d_w, L_psi=L_psi, sharp_bias=sharp
        )
    defaults = linear_mixture_lambdas(H=H, d_theta=d_theta, d_w=d_w)
    lam_theta = defaults[0] if lam_theta is None else lam_theta
    lam_w = defaults[1] if lam_w is None else lam_w
    delta = default_delta("mdp", T=T, variant=variant) if delta is None else delta
    beta_theta = mdp_reward_radius(lam=lam_theta, S_theta=S_theta)
    n = effective_rounds(gamma=gamma, t=K)
    beta_w = linear_mixture_radius(n=n, d=d_w, lam=lam_w, H=H, delta=delta, S_w=S_w, L_psi=L_psi)
    # Σ_k min{4H, 2β‖·‖} ≤ scale · √(K Σ_k min{1, ‖·‖²}), once for each of the H stages
    scale_theta = 4.0 * H * beta_theta if printed else 2.0 * max(2.0 * H, beta_theta)
    scale_w = 4.0 * beta_w if printed else 2.0 * max(2.0 * H, beta_w)
    energy_theta = potential_bound(T=K, d=d_theta, gamma=gamma, lam=lam_theta, L=L_phi, truncated=True)
    energy_w = potential_bound(T=K, d=d_w, gamma=gamma, lam=lam_w, L=H * L_psi, truncated=True)
    drift_theta = 2.0 * L_phi**2 * bias_factor(d_theta, lam_theta, sharp_bias)
    drift_w = 2.0 * (H * L_psi) ** 2 * bias_factor(d_w, lam_w, sharp_bias)
    level = delta if printed else min(T * delta, 0.5)
    return Bound(
        theorem="Theorem 5 (thm:LMDP-regret-bound)",
        variant=variant,
        terms={
            "variance_theta": scale_theta * H * sqrt(K * energy_theta),
            "variance_w": scale_w * H * sqrt(K * energy_w),
            "bias_theta": drift_theta * bias_sum_bound(P_T=P_theta, gamma=gamma),
            "bias_w": drift_w * bias_sum_bound(P_T=P_w, gamma=gamma),
            "martingale": mdp_martingale(K=K, H=H, delta=level, deterministic=not printed),
        },
        radius=beta_w,
        gamma=gamma,
        lam=lam_w,
        delta=delta,
        probability=union(4.0 if printed else 2.0 * T, delta),
        gap=float(H),
        horizon=K,
        details={"radius_theta": beta_theta, "lam_theta": lam_theta},
    )
