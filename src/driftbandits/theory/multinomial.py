r"""Multinomial-logit mixture MDPs (Section VI, Theorem 6) in numbers.

Model: P_h^k(s'|s,a) = exp(ψ(s'|s,a)ᵀw_h^k)/Σ_{s''} exp(ψ(s''|s,a)ᵀw_h^k) over at most U reachable states, ‖w‖ ≤ S_w,
‖ψ‖ ≤ L_ψ; rewards as in `mdp`; κ = inf p(s')p(s'') over the ball and s' ≠ s''. w is estimated by discounted maximum
likelihood.

    |[P̃V](s,a) − [PV](s,a)| ≤ (H/κ) [L_ψ²√(d/λ_w) b_k(w_h) + β̄_w^{k−1} max_{s'} ‖ψ(s'|s,a)‖_{Σ̄⁻¹}]   lemma:MNL-v-UCB
    printed    β̄_w^k = √(½ log(1/δ) + (d/4) log(1 + U L_ψ² n_k/(λ_wd))) + √λ_w κ S_w
    corrected  β̄_w^k = √(log(1/δ) + (d/2) log(1 + (U−1)L'² n_k/(λ_wd))) + √λ_w κ S_w

Theorem 6, printed (λ_θ = d_θ, λ_w = d_w, δ = 1/(4T)):
    D-Reg_T ≤ 4H²β_θ√K √(2d_θ Pot(K, L_φ²/(λ_θd_θ))) + (4H²/κ) β̄_w^K√K √(2d_w Pot(K, U L_ψ²/(λ_wd_w)))
              + 4L_φ²√(d_θ/λ_θ) P^θ/(1−γ)^{3/2} + (4H/κ)L_ψ²√(d_w/λ_w) P^w/(1−γ)^{3/2} + 4H√(2T log(1/δ))

Where the paper slips:
  - ∇g ⪰ κΣ̄ is false for raw features (one reachable state: zero Hessian). It holds after subtracting a reference
    successor, ψ' = ψ − ψ_ref, which changes no probability; then L' = max‖ψ'‖ ≤ 2L_ψ replaces L_ψ and U−1 replaces U.
  - lemma:MNL-F treats the components of one multinomial draw as independent. They are not: the noise is sub-Gaussian
    with constant 1/√2, not 1/2.
  - The projection costs a factor 2 that lemma:MNL-p-ucb drops, but V ∈ [0,H] deviates by at most H/2 from a centre
    where the proof uses H. The two cancel: the factor H/κ is right.
  - The proof of lemma:MNL-E contains the factor 1 − Σp = 0; its statement is true, even without √d.
"""

from math import exp, log, log1p, sqrt

from .checks import Variant, checked
from .common import Bound, arm_width, bias_factor, default_delta, effective_rounds, lemma_bound, union
from .lemmas import potential_bound
from .mdp import mdp_gamma, mdp_martingale, mdp_reward_radius, stage
from .paths import Path, bias_sum_bound


@checked
def mnl_lambdas(*, d_theta: int, d_w: int | None = None) -> tuple[float, float]:
    """The regularisers of Theorem 6: λ_θ = d_θ and λ_w = d_w.

    Examples
    --------
    >>> mnl_lambdas(d_theta=2, d_w=4)
    (2.0, 4.0)
    """
    return float(d_theta), float(d_theta if d_w is None else d_w)


@checked
def mnl_kappa_bound(*, S_w: float, U: int, L_ref: float = 1.0) -> float:
    """A lower bound of κ_ref = inf min_{s'≠ref} p(s')p(ref): e^{−L'S_w}/(1 + (U−1)e^{L'S_w})².

    κ_ref ≥ κ may replace κ everywhere: Cov_p(ψ') ⪰ Σ_{s'≠ref} p(s')p(ref) ψ'ψ'ᵀ needs only pairs with the reference.

    Parameters
    ----------
    S_w, L_ref : bounds of ‖w‖ and of the reference-subtracted features, L' = max‖ψ'‖.
    U : largest number of reachable states, ≥ 2.

    Examples
    --------
    >>> round(mnl_kappa_bound(S_w=1.0, U=3), 6)
    0.00888
    """
    reach = S_w * L_ref
    # e^{−x}/(1 + (U−1)e^x)² = e^{−3x}/(e^{−x} + U − 1)², which does not overflow
    return exp(-3.0 * reach) / (exp(-reach) + U - 1) ** 2


@checked
def mnl_radius(
    *,
    n: float,
    d: int,
    lam: float,
    kappa: float,
    U: int,
    delta: float,
    S_w: float = 1.0,
    L_psi: float = 1.0,
    L_ref: float | None = None,
    variant: Variant = "printed",
) -> float:
    """β̄_w (lemma:MNL-v-UCB), the radius of the multinomial-logit estimator.

    Parameters
    ----------
    n : sum of the weights, `effective_rounds(gamma=γ, t=k−1)` in episode k.
    d, lam, kappa : d_w, λ_w and κ (or κ_ref).
    U : largest number of reachable states, ≥ 2.
    delta : failure probability in (0, 1), for each fixed episode and stage.
    S_w, L_psi : bounds of ‖w‖ and ‖ψ‖.
    L_ref : L' = max‖ψ − ψ_ref‖, used by `corrected`; 2L_ψ if omitted.
    variant : `corrected` has the noise constant 1/√2 and the features ψ' (see the module).

    Examples
    --------
    >>> known = dict(n=13.58, d=4, lam=4.0, kappa=0.00414930871, U=3, delta=1 / 25600, S_w=2.30651252)
    >>> round(mnl_radius(**known), 3), round(mnl_radius(**known, variant="corrected", L_ref=1.0), 3)
    (2.537, 3.503)
    """
    L_ref = 2.0 * L_psi if L_ref is None else L_ref
    if variant == "printed":
        noise = 0.5 * log(1.0 / delta) + d / 4.0 * log1p(U * L_psi**2 * n / (lam * d))
    else:
        noise = log(1.0 / delta) + d / 2.0 * log1p((U - 1) * L_ref**2 * n / (lam * d))
    return sqrt(noise) + sqrt(lam) * kappa * S_w


@checked
def mnl_value_error(
    path: Path,
    *,
    gamma: float,
    lam: float,
    H: int,
    kappa: float,
    U: int,
    delta: float,
    k: int | None = None,
    width: float | None = None,
    S_w: float = 1.0,
    L_psi: float = 1.0,
    L_ref: float | None = None,
    variant: Variant = "printed",
    sharp_bias: bool = False,
    projected: bool = True,
) -> Bound:
    """lemma:MNL-v-UCB: a bound of |[P̃V](s,a) − [PV](s,a)| for one stage and V ∈ [0, H].

    Parameters
    ----------
    path : w_h of the stage, (K, d_w).
    gamma, lam, H, kappa, U, delta, S_w, L_psi, L_ref, variant : as in `mnl_radius`.
    k : the episode; the last one if omitted.
    width : max_{s'} ‖ψ(s'|s,a)‖_{Σ̄⁻¹}; its largest value if omitted.
    sharp_bias : drop the superfluous √d.
    projected : False for an episode with ‖ŵ‖ ≤ S_w, where H/(2κ) is enough.

    Examples
    --------
    >>> bound = mnl_value_error([[1.0, 0.0]] * 9 + [[0.0, 1.0]], gamma=0.9, lam=2.0, H=8, kappa=0.1, U=3, delta=0.01)
    >>> round(bound.bias, 3), round(bound.variance, 3), bound.capped
    (280.018, 108.614, 8.0)
    """
    here = stage(path, gamma=gamma, k=k)
    radius = mnl_radius(
        n=here.n, d=here.d, lam=lam, kappa=kappa, U=U, delta=delta, S_w=S_w, L_psi=L_psi, L_ref=L_ref, variant=variant
    )
    L_ref = 2.0 * L_psi if L_ref is None else L_ref
    return lemma_bound(
        "lemma:MNL-v-UCB",
        bias=_feature_square(L_psi, L_ref, variant, sharp_bias) * bias_factor(here.d, lam, sharp_bias) * here.bias,
        radius=radius,
        width=arm_width(width, L_psi if variant == "printed" else L_ref, lam),
        gamma=gamma,
        lam=lam,
        delta=delta,
        factor=(1.0 if projected else 0.5) * H / kappa,
        variant=variant,
        gap=float(H),
    )


@checked
def mnl_regret_bound(
    *,
    K: int,
    H: int,
    d_theta: int,
    P_theta: float,
    P_w: float,
    S_theta: float,
    kappa: float,
    U: int,
    d_w: int | None = None,
    S_w: float = 1.0,
    L_phi: float = 1.0,
    L_psi: float = 1.0,
    L_ref: float | None = None,
    gamma: float | None = None,
    lam_theta: float | None = None,
    lam_w: float | None = None,
    delta: float | None = None,
    variant: Variant = "printed",
    sharp_bias: bool = False,
    dimension_aware: bool = False,
) -> Bound:
    """Theorem 6 (thm:MNL-regret-bound): the dynamic regret of weighted UCRL on multinomial-logit mixture MDPs.

    Parameters
    ----------
    K, H, d_theta, d_w, P_theta, P_w, S_theta, S_w, L_phi : as in `linear_mixture_regret_bound`.
    kappa, U, L_psi, L_ref : as in `mnl_radius`.
    gamma, lam_theta, lam_w, delta : `mdp_gamma`, `mnl_lambdas`, `default_delta("mdp", T=KH)` if omitted.
    variant : `corrected` has the corrected radius, ψ' in place of ψ, 2 max{2H, β_θ} for 4Hβ_θ, 2 max{2H, (H/κ)β̄_w} for
        (4H/κ)β̄_w, δ = 1/(2T²) and half the martingale at level Tδ: probability 1 − 2Tδ. The printed one claims 1 − 4δ.
        `repaired` is the same as `corrected`; `sharp` also drops the superfluous √d of both biases and, unless `gamma` is given,
        balances γ for that (`mdp_gamma(sharp_bias=True)`).
    sharp_bias : drop the superfluous √d of both biases; γ is not changed by it.
    dimension_aware : tune γ by the true balance √(L_ψ²Δ/(d_wT)).

    Examples
    --------
    >>> bound = mnl_regret_bound(K=800, H=8, d_theta=2, d_w=4, P_theta=15.2 * 2**0.5, P_w=16 * 0.68**0.5,
    ...                          S_theta=2**0.5, S_w=2.30651252, kappa=0.00414930871, U=3)
    >>> round(bound.total / 1e6, 3), bound.capped
    (104.303, 6400.0)
    """
    d_w, T = d_theta if d_w is None else d_w, K * H
    printed = variant == "printed"
    sharp = variant == "sharp"
    sharp_bias = sharp_bias or sharp
    L_ref = 2.0 * L_psi if L_ref is None else L_ref
    if gamma is None:
        gamma = mdp_gamma(
            K=K, H=H, Delta=P_theta + P_w, dimension_aware=dimension_aware, d=d_w, L_psi=L_psi, sharp_bias=sharp
        )
    defaults = mnl_lambdas(d_theta=d_theta, d_w=d_w)
    lam_theta = defaults[0] if lam_theta is None else lam_theta
    lam_w = defaults[1] if lam_w is None else lam_w
    delta = default_delta("mdp", T=T, variant=variant) if delta is None else delta
    beta_theta = mdp_reward_radius(lam=lam_theta, S_theta=S_theta)
    beta_w = mnl_radius(
        n=effective_rounds(gamma=gamma, t=K),
        d=d_w,
        lam=lam_w,
        kappa=kappa,
        U=U,
        delta=delta,
        S_w=S_w,
        L_psi=L_psi,
        L_ref=L_ref,
        variant=variant,
    )
    # Σ_k min{4H, 2(H/κ)β̄_w max‖ψ‖} ≤ scale · √(K Σ_k min{1, Σ_{s'}‖ψ(s')‖²}), once for each of the H stages
    scale_theta = 4.0 * H * beta_theta if printed else 2.0 * max(2.0 * H, beta_theta)
    scale_w = 4.0 * H / kappa * beta_w if printed else 2.0 * max(2.0 * H, H / kappa * beta_w)
    vectors = sqrt(U) * L_psi if printed else sqrt(U - 1) * L_ref
    energy_theta = potential_bound(T=K, d=d_theta, gamma=gamma, lam=lam_theta, L=L_phi, truncated=True)
    energy_w = potential_bound(T=K, d=d_w, gamma=gamma, lam=lam_w, L=vectors, truncated=True)
    drift_theta = 2.0 * L_phi**2 * bias_factor(d_theta, lam_theta, sharp_bias)
    square = _feature_square(L_psi, L_ref, variant, sharp_bias)
    drift_w = 2.0 * H / kappa * square * bias_factor(d_w, lam_w, sharp_bias)
    level = delta if printed else min(T * delta, 0.5)
    return Bound(
        theorem="Theorem 6 (thm:MNL-regret-bound)",
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


def _feature_square(L_psi: float, L_ref: float, variant: Variant, sharp_bias: bool) -> float:
    """L_ψ² printed; L'² corrected; min{L_ψ, L'}·L' corrected and sharp, as Cov_p(ψ) = Cov_p(ψ') ⪯ min{L_ψ, L'}² I."""
    if variant == "printed":
        return L_psi**2
    return min(L_psi, L_ref) * L_ref if sharp_bias else L_ref**2
