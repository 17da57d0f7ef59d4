r"""Linear bandits (Section III, Theorem 1): LB-WeightUCB in numbers.

Model: r_t = X_tᵀθ_t + η_t with ‖x‖₂ ≤ L, ‖θ_t‖₂ ≤ S and R-sub-Gaussian η_t. Estimator and rule:

    V_{t−1} = λI + Σ_{s<t} γ^{t−1−s} X_sX_sᵀ,     θ̂_t = V⁻¹_{t−1} Σ_{s<t} γ^{t−1−s} r_s X_s
    X_t = argmax_x  xᵀθ̂_t + β_{t−1} ‖x‖_{V⁻¹_{t−1}}
    β_t = √λ S + R √(2 log(1/δ) + d log(1 + L² n_t/(λd)))                       eq:LB-confidence-radius

Lemma 1:   |xᵀ(θ̂_t − θ_t)| ≤ L²√(d/λ) Σ_{p<t} √(Σ_{s≤p} γ^{t−1−s}) Δ_p + β_{t−1} ‖x‖_{V⁻¹_{t−1}}
Theorem 1: D-Reg_T ≤ 4L²√(d/λ) P_T/(1−γ)^{3/2} + 2β_T √(T · 2 max{1,L²/λ} d · Pot(T, L²/(λd)))
Tuning:    1 − γ = max{1/T, √(P_T/(dT))},  λ = d   ⇒   Õ(d^{3/4} P_T^{1/4} T^{3/4})
"""

from dataclasses import replace
from math import log, log1p, sqrt

from .checks import Variant, checked
from .common import Bound, arm_width, bias_factor, clip_gamma, default_delta, effective_rounds, lemma_bound, union
from .lemmas import potential_bound
from .paths import Path, bias_sum_bound, path_array, round_bias


@checked
def lb_gamma(*, T: int, d: int, P_T: float, sharp_bias: bool = False, variant: Variant = "printed") -> float:
    """The discount factor of Theorem 1: γ = 1 − max{1/T, √(P_T/(dT))}, kept in [1/T, 1 − 1/T].

    Parameters
    ----------
    T, d : rounds (≥ 2) and dimension.
    P_T : path length, ≥ 0. The printed formula is ≤ 0 for P_T ≥ dT; then γ = 1/T.
    sharp_bias : balance the bias without its superfluous √d: 1 − γ = √(P_T/(d^{3/2}T)), rate Õ(d^{5/8} P_T^{1/4}
        T^{3/4}).
    variant : that of the bound it is for; `sharp` implies `sharp_bias`.

    Examples
    --------
    >>> round(lb_gamma(T=6000, d=2, P_T=6.283185019988713), 8)
    0.97711772
    >>> lb_gamma(T=100, d=2, P_T=0.0), lb_gamma(T=100, d=2, P_T=1e6)
    (0.99, 0.01)
    """
    sharp_bias = sharp_bias or variant == "sharp"
    return clip_gamma(sqrt(P_T / ((d**1.5 if sharp_bias else d) * T)), T)


@checked
def lb_lambda(*, d: int) -> float:
    """The regulariser of Theorem 1: λ = d.

    Examples
    --------
    >>> lb_lambda(d=2)
    2.0
    """
    return float(d)


@checked
def d_lin_gamma(*, T: int, d: int, P_T: float) -> float:
    """D-LinUCB's original tuning γ = 1 − (P_T/(dT))^{2/3} (Russac et al. 2019), kept in [1/T, 1 − 1/T].

    Its analysis has a gap for drifting parameters; the paper's comparison gives D-LinUCB `lb_gamma` instead.

    Examples
    --------
    >>> round(d_lin_gamma(T=6000, d=2, P_T=6.283185019988713), 6)
    0.993504
    """
    return clip_gamma((P_T / (d * T)) ** (2.0 / 3.0), T)


def noise_radius(*, n: float, d: int, lam: float, L: float, R: float, delta: float) -> float:
    """R √(2 log(1/δ) + d log(1 + L² n/(λd))): the self-normalised part of every sub-Gaussian radius."""
    return R * sqrt(2.0 * log(1.0 / delta) + d * log1p(L * L * n / (lam * d)))


@checked
def lb_radius(*, n: float, d: int, lam: float, delta: float, S: float = 1.0, L: float = 1.0, R: float = 1.0) -> float:
    """β = √λ S + R √(2 log(1/δ) + d log(1 + L² n/(λd))) (eq:LB-confidence-radius).

    Parameters
    ----------
    n : sum of the weights: `effective_rounds(gamma=γ, t=t−1)` in round t, W for a full window, t−1 for OFUL.
    d, lam : dimension and regulariser.
    delta : failure probability in (0, 1), for each fixed round. For all T rounds at once pass δ/T.
    S, L, R : bounds of ‖θ‖ and ‖x‖, and the sub-Gaussian constant of the noise.

    The proof of Theorem 1 prints n once with γ and once with γ² (`effective_rounds(..., squared=True)`): both are
    valid.

    Examples
    --------
    >>> n = effective_rounds(gamma=lb_gamma(T=6000, d=2, P_T=6.283185), t=6000)
    >>> round(lb_radius(n=n, d=2, lam=2.0, delta=1 / 12000), 4)
    6.2869
    """
    return sqrt(lam) * S + noise_radius(n=n, d=d, lam=lam, L=L, R=R, delta=delta)


@checked
def lb_error_bound(
    path: Path,
    *,
    gamma: float,
    lam: float,
    delta: float,
    t: int | None = None,
    width: float | None = None,
    S: float = 1.0,
    L: float = 1.0,
    R: float = 1.0,
    sharp_bias: bool = False,
) -> Bound:
    """Lemma 1 (lemma:LB-estimation-error): a bound of |xᵀ(θ̂_t − θ_t)| with its exact bias sum.

    Parameters
    ----------
    path : the parameter path (T, d).
    gamma, lam, delta : discount in (0, 1), regulariser, failure probability of this one round.
    t : the round; the last one if omitted.
    width : ‖x‖_{V⁻¹_{t−1}}; its largest value L/√λ if omitted.
    S, L, R : as in `lb_radius`.
    sharp_bias : drop the √d (see below).

    The printed proof (lemma:LB-A_t-bound) moves a norm inside a vector sum in a displayed step that is no inequality;
    its last line is right. It also loses √d: with A = [√w_s X_s] one has AᵀV⁻¹A ⪯ I, so the factor √(d/λ) may be 1/√λ.

    Examples
    --------
    >>> import numpy as np
    >>> path = np.array([[1.0, 0.0]] * 50 + [[0.0, 1.0]] * 50)
    >>> bound = lb_error_bound(path, gamma=0.9, lam=2.0, delta=0.01)
    >>> round(bound.bias, 4), round(bound.variance, 4), round(bound.radius, 4)
    (0.3375, 3.4203, 4.8371)
    """
    array = path_array(path)
    d, t = int(array.shape[-1]), len(array) if t is None else t
    bias = L * L * bias_factor(d, lam, sharp_bias) * round_bias(array, gamma=gamma, t=t)
    radius = lb_radius(n=effective_rounds(gamma=gamma, t=t - 1), d=d, lam=lam, delta=delta, S=S, L=L, R=R)
    return lemma_bound(
        "Lemma 1 (lemma:LB-estimation-error)",
        bias=bias,
        radius=radius,
        width=arm_width(width, L, lam),
        gamma=gamma,
        lam=lam,
        delta=delta,
    )


@checked
def lb_regret_bound(
    *,
    T: int,
    d: int,
    P_T: float,
    S: float = 1.0,
    L: float = 1.0,
    R: float = 1.0,
    gamma: float | None = None,
    lam: float | None = None,
    delta: float | None = None,
    variant: Variant = "printed",
    sharp_bias: bool = False,
    squared: bool = False,
) -> Bound:
    """Theorem 1 (thm:LB-regret): the dynamic regret of LB-WeightUCB.

    Parameters
    ----------
    T, d, P_T : rounds, dimension, path length.
    S, L, R : bounds of ‖θ‖ and ‖x‖, sub-Gaussian constant.
    gamma, lam, delta : `lb_gamma`, `lb_lambda` and `default_delta("lb", ...)` if omitted.
    variant : `printed` has δ = 1/(2T) and claims probability 1 − 2δ. But the radius covers each fixed round, not all
        rounds at once, and the two events of the proof are one: the truth is 1 − Tδ. `corrected` has δ = 1/T².
        `repaired` is the same. `sharp` also drops the superfluous √d of the bias and, unless `gamma` is given, balances γ for that
        (`lb_gamma(sharp_bias=True)`): Õ(d^{5/8} P_T^{1/4} T^{3/4}).
    sharp_bias : drop the superfluous √d of the bias (`lb_error_bound`); γ is not changed by it.
    squared : use Σ w² in place of Σ w in β_T, as the middle of the proof does; valid and smaller.

    Examples
    --------
    >>> bound = lb_regret_bound(T=6000, d=2, P_T=6.283185019988713)
    >>> round(bound.bias, 3), round(bound.variance, 3), round(bound.total, 3)
    (7260.907, 23160.302, 30421.209)
    >>> bound.capped
    12000.0
    """
    sharp = variant == "sharp"
    gamma = lb_gamma(T=T, d=d, P_T=P_T, sharp_bias=sharp) if gamma is None else gamma
    lam = lb_lambda(d=d) if lam is None else lam
    delta = default_delta("lb", T=T, variant=variant) if delta is None else delta
    n = effective_rounds(gamma=gamma, t=T, squared=squared)
    radius = lb_radius(n=n, d=d, lam=lam, delta=delta, S=S, L=L, R=R)
    # 2L²√(d/λ) B(γ) ≤ 4L²√(d/λ) P_T/(1−γ)^{3/2};  2β_T Σ‖X_t‖ ≤ 2β_T √(T Σ‖X_t‖²)
    bias = 2.0 * L * L * bias_factor(d, lam, sharp_bias or sharp) * bias_sum_bound(P_T=P_T, gamma=gamma)
    variance = 2.0 * radius * sqrt(T * potential_bound(T=T, d=d, gamma=gamma, lam=lam, L=L))
    return Bound(
        theorem="Theorem 1 (thm:LB-regret)",
        variant=variant,
        terms={"bias": bias, "variance": variance},
        radius=radius,
        gamma=gamma,
        lam=lam,
        delta=delta,
        probability=union(2.0 if variant == "printed" else T, delta),
        gap=2.0 * L * S,
        horizon=T,
    )


def d_lin_regret_bound(
    *,
    T: int,
    d: int,
    P_T: float,
    S: float = 1.0,
    L: float = 1.0,
    R: float = 1.0,
    gamma: float | None = None,
    lam: float | None = None,
    delta: float | None = None,
    variant: Variant = "printed",
) -> Bound:
    """Theorem 1 for D-LinUCB (Russac et al. 2019), whose own analysis has a gap: the same bias, and a radius with squared weights.

    Its bonus β‖x‖ in the norm V⁻¹ṼV⁻¹, Ṽ = λI + Σ w_s² X_sX_sᵀ, covers the noise because ‖Σ w_sη_sX_s‖_{Ṽ⁻¹} ≤ β and λ‖θ‖_{Ṽ⁻¹} ≤ √λ S; the
    bias xᵀV⁻¹Σ w_sX_sX_sᵀ(θ_s − θ_t) is that of Lemma 1; and since Ṽ ⪯ V its bonuses sum to no more than those of LB-WeightUCB.
    (Derived for this library.)

    Parameters are those of `lb_regret_bound`.

    Examples
    --------
    >>> problem = dict(T=6000, d=2, P_T=6.283185019988713)
    >>> round(d_lin_regret_bound(**problem).total, 1), round(lb_regret_bound(**problem).total, 1)
    (29959.5, 30421.2)
    """
    bound = lb_regret_bound(
        T=T, d=d, P_T=P_T, S=S, L=L, R=R, gamma=gamma, lam=lam, delta=delta, variant=variant, squared=True
    )
    return replace(bound, theorem="Theorem 1 for D-LinUCB")
