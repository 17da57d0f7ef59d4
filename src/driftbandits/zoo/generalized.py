"""Generalized linear and self-concordant bandits: rewards of mean μ(xᵀθ). All arguments are keyword-only. Common to all:

link
    "logistic", "probit", "poisson", "identity", or a link of your own. k_μ and c_μ, the extreme slopes on |z| ≤ LS, follow from it.
lam, S, L, delta
    V = λI + …, regulariser λc_μ; bounds ‖θ‖ ≤ S and ‖x‖ ≤ L; failure probability δ ∈ (0, 1) of a round's interval.
R
    GLB: sub-Gaussian constant of the noise; ½ for rewards in [0, 1], the default of logistic and probit.
m
    SCB: rewards lie in [0, m]; others are refused.
gamma or half_life, window, period
    Discount γ ∈ (0, 1], or the number of rounds after which an observation counts half; the length of a window; rounds between restarts.
bonus_scale
    Multiplies the bonus; the theory is 1, practice often prefers less.
uniform_in_time
    Union bound over the horizon, so that all intervals hold at once (resolution A5).
variant
    SCB: "printed", or "corrected" by √min(e^{2LS}, k_μ/c_μ) (resolution G1).

The paper's λ: d/c_μ² for `glb_weight_ucb`, d for the other GLB algorithms, d·log T/c_μ for SCB; its γ is in `theory`.
"""

import math
from typing import Any, Literal, NamedTuple

from ..errors import InvalidValue, integer, positive, require
from ..links import Logistic, Probit, link_of, slopes
from ..memory import Discounted, Everything, Restart, Window
from ..model import FixedMetric, Generalized, LocalMetric, TwoStep, Unprojected
from ..radius import Piecewise, ProjectionFree, SelfConcordant, SelfNormalised
from ..rule import Bonus, ParameterBased
from ..strategy import Optimistic
from .options import RadiusForm, counts_squares, discount, self_normalised

Variant = Literal["printed", "corrected"]


class _Slopes(NamedTuple):
    link: Any
    k: float
    c: float


def _slopes(link: Any, S: float, L: float) -> _Slopes:
    """The link and its extreme slopes where |xᵀθ| ≤ LS."""
    S, L = positive("S", S, "it bounds the norm of θ"), positive("L", L, "it bounds the norm of every arm")
    chosen = link_of(link)
    return _Slopes(chosen, *slopes(chosen, L * S))


def _noise(link: Any, R: float | None) -> float:
    """R, by default ½ where rewards are 0 or 1."""
    if R is None and not isinstance(link, Logistic | Probit):
        raise InvalidValue(f"R must be given with {type(link).__name__}: it is the sub-Gaussian constant of the noise")
    return 0.5 if R is None else R


# ------------------------------------------------------------------------------------------------------------ generalized linear


def _glb(
    memory: Any,
    link: Any,
    lam: float,
    S: float,
    L: float,
    R: float | None,
    delta: float,
    bonus_scale: float,
    radius: RadiusForm,
    uniform: bool,
    squared: bool = False,
    projection: Any = None,
) -> Optimistic:
    """Play argmax μ(xᵀθ̃) + (2k_μ/c_μ)·β̄·‖x‖_{V⁻¹}; β̄ is the linear radius with c_μS in place of S."""
    mu = _slopes(link, S, L)
    require(
        bonus_scale >= 0.0, "bonus_scale", bonus_scale, "≥ 0", "it multiplies the width of an interval; theory is 1"
    )
    scale = bonus_scale * 2.0 * mu.k / mu.c
    width = self_normalised(radius)(
        lam, mu.c * S, L, _noise(mu.link, R), delta, scale, squared=squared, uniform=uniform
    )
    return Optimistic(Generalized(mu.link, lam, mu.c, L, projection or FixedMetric(S)), memory, width, Bonus())


def glm_ucb(
    *,
    link: Any = "logistic",
    lam: float,
    S: float,
    L: float,
    R: float | None = None,
    delta: float,
    bonus_scale: float = 1.0,
    radius: RadiusForm = "trace",
    uniform_in_time: bool = False,
) -> Optimistic:
    """GLM-UCB in its ridge form: optimism in a world that stands still (Filippi, Cappé, Garivier, Szepesvári 2010; paper, Section 4).

        λc_μθ̂ + Σ_{s≤t}(μ(x_sᵀθ̂) − r_s)x_s = 0,   θ̃ = argmin_{‖θ‖≤S} ‖g(θ) − g(θ̂)‖_{V⁻¹},
        play argmax μ(xᵀθ̃) + (2k_μ/c_μ)β̄‖x‖_{V⁻¹},   β̄ = √λ·c_μS + R·√(2 log(1/δ) + d·log(1 + L²n/(λd)))

    Examples
    --------
    >>> glm_ucb(lam=2, S=1, L=1, delta=0.01).model.link
    Logistic()
    """
    return _glb(Everything(), link, lam, S, L, R, delta, bonus_scale, radius, uniform_in_time)


def glb_weight_ucb(
    *,
    link: Any = "logistic",
    gamma: float | None = None,
    half_life: float | None = None,
    lam: float,
    S: float,
    L: float,
    R: float | None = None,
    delta: float,
    bonus_scale: float = 1.0,
    radius: RadiusForm = "trace",
    radius_n: Literal["w", "w2"] = "w",
    uniform_in_time: bool = False,
) -> Optimistic:
    """GLB-WeightUCB: discounted quasi-likelihood, one matrix (Wang, Zhao, Zhou; Algorithm 2, Theorem 2).

        λc_μθ̂_t + Σ_{s<t} γ^{t−1−s}(μ(x_sᵀθ̂_t) − r_s)x_s = 0,   θ̃_t = argmin_{‖θ‖≤S} ‖g_t(θ) − g_t(θ̂_t)‖_{V⁻¹_{t−1}},
        play argmax μ(xᵀθ̃_t) + (2k_μ/c_μ)β̄_{t−1}‖x‖_{V⁻¹_{t−1}}

    The theorem's λ is d/c_μ². `radius_n="w2"` counts Σw² in place of Σw: valid and smaller (resolution A2).
    """
    memory = Discounted(discount(gamma, half_life))
    return _glb(memory, link, lam, S, L, R, delta, bonus_scale, radius, uniform_in_time, counts_squares(radius_n))


def glb_restart_ucb(
    *,
    link: Any = "logistic",
    period: int,
    lam: float,
    S: float,
    L: float,
    R: float | None = None,
    delta: float,
    bonus_scale: float = 1.0,
    radius: RadiusForm = "trace",
    uniform_in_time: bool = False,
) -> Optimistic:
    """GLB-RestartUCB: a fresh GLM-UCB every `period` rounds (Zhao, Zhang, Jiang, Zhou 2020)."""
    return _glb(Restart(period), link, lam, S, L, R, delta, bonus_scale, radius, uniform_in_time)


def sw_glm_ucb(
    *,
    link: Any = "logistic",
    window: int,
    lam: float,
    S: float,
    L: float,
    R: float | None = None,
    delta: float,
    bonus_scale: float = 1.0,
    radius: RadiusForm = "trace",
    uniform_in_time: bool = False,
) -> Optimistic:
    """SW-GLUCB: GLM-UCB on the last `window` rounds (Russac, Cappé, Garivier 2020)."""
    return _glb(Window(window), link, lam, S, L, R, delta, bonus_scale, radius, uniform_in_time)


def d_glm_ucb(
    *,
    link: Any = "logistic",
    gamma: float | None = None,
    half_life: float | None = None,
    lam: float,
    S: float,
    L: float,
    R: float | None = None,
    delta: float,
    bonus_scale: float = 1.0,
    radius: RadiusForm = "trace",
    uniform_in_time: bool = False,
) -> Optimistic:
    """D-GLUCB: discounted quasi-likelihood, projected in the norm Ṽ⁻¹ of the squared weights (Russac, Cappé, Garivier 2020).

    θ̃ = argmin_{‖θ‖≤S} ‖g(θ) − g(θ̂)‖_{Ṽ⁻¹},   Ṽ_t = γ²Ṽ_{t−1} + x_t x_tᵀ + (1−γ²)λI,
    play argmax μ(xᵀθ̃) + (2k_μ/c_μ)β̄‖x‖_{V⁻¹},   β̄ counts Σw²
    """
    memory, there = Discounted(discount(gamma, half_life)), FixedMetric(S, squared=1)
    return _glb(memory, link, lam, S, L, R, delta, bonus_scale, radius, uniform_in_time, True, there)


def bvd_glm_ucb(
    *,
    link: Any = "logistic",
    gamma: float | None = None,
    half_life: float | None = None,
    lam: float,
    S: float,
    L: float,
    R: float | None = None,
    delta: float,
    bonus_scale: float = 1.0,
    uniform_in_time: bool = False,
) -> Optimistic:
    """BVD-GLM-UCB: discounted quasi-likelihood with a two-step parameter selection (Faury, Russac, Abeille, Calauzènes 2021).

        E(θ) = {θ′: ‖g(θ′) − g(θ)‖_{Ṽ⁻¹} ≤ β̄},   θᵖ ∈ argmin_θ ‖g(θ) − g(θ̂)‖_{V⁻²} s.t. Θ ∩ E(θ) ≠ ∅,   θ̃ ∈ Θ ∩ E(θᵖ),
        play argmax μ(xᵀθ̃) + (2k_μ/c_μ)β̄‖x‖_{V⁻¹},   β̄ counts Σw²

    Ṽ is multiplied from Ṽ, and all matrices are those of round t−1 (resolutions B5, B6, B8).
    """
    mu = _slopes(link, S, L)
    near = SelfNormalised(lam, mu.c * S, L, _noise(mu.link, R), delta, squared=True, uniform=uniform_in_time)
    chosen = TwoStep(S, FixedMetric(S, squared=1), near)
    memory = Discounted(discount(gamma, half_life))
    return _glb(memory, mu.link, lam, S, L, R, delta, bonus_scale, "trace", uniform_in_time, True, chosen)


# --------------------------------------------------------------------------------------------------------------- self-concordant


def _beta_tilde(
    mu: _Slopes,
    lam: float,
    S: float,
    L: float,
    m: float,
    delta: float,
    scale: float,
    variant: Variant,
    uniform: bool,
    squared: bool = False,
) -> SelfConcordant:
    """scale·β̃, printed or corrected."""
    if variant not in ("printed", "corrected"):
        raise InvalidValue(f"variant = {variant!r} is not allowed; it must be 'printed' or 'corrected' (resolution G1)")
    inflation = math.sqrt(min(math.exp(min(2.0 * L * S, 700.0)), mu.k / mu.c)) if variant == "corrected" else 1.0
    return SelfConcordant(lam, mu.c, mu.k, S, L, m, delta, scale, inflation, squared, uniform)


def _scb(
    memory: Any,
    link: Any,
    lam: float,
    S: float,
    L: float,
    m: float,
    delta: float,
    bonus_scale: float,
    variant: Variant,
    uniform: bool,
    squared: bool = False,
) -> Optimistic:
    """Play argmax μ(xᵀθ̃) + 2√(1+2LS)(k_μ/√c_μ)·β̃·‖x‖_{V⁻¹}."""
    mu = _slopes(link, S, L)
    require(
        bonus_scale >= 0.0, "bonus_scale", bonus_scale, "≥ 0", "it multiplies the width of an interval; theory is 1"
    )
    scale = bonus_scale * 2.0 * math.sqrt(1.0 + 2.0 * L * S) * mu.k / math.sqrt(mu.c)
    width = _beta_tilde(mu, lam, S, L, m, delta, scale, variant, uniform, squared)
    return Optimistic(Generalized(mu.link, lam, mu.c, L, LocalMetric(S)), memory, width, Bonus())


def log_ucb1(
    *,
    link: Any = "logistic",
    lam: float,
    S: float,
    L: float,
    m: float = 1.0,
    delta: float,
    bonus_scale: float = 1.0,
    uniform_in_time: bool = False,
    variant: Variant = "printed",
) -> Optimistic:
    """LogUCB1 (Logistic-UCB-1): the static self-concordant learner (Faury, Abeille, Calauzènes, Fercoq 2020).

    As SCB-WeightUCB with γ = 1.
    """
    return _scb(Everything(), link, lam, S, L, m, delta, bonus_scale, variant, uniform_in_time)


def scb_weight_ucb(
    *,
    link: Any = "logistic",
    gamma: float | None = None,
    half_life: float | None = None,
    lam: float,
    S: float,
    L: float,
    m: float = 1.0,
    delta: float,
    bonus_scale: float = 1.0,
    radius_n: Literal["w", "w2"] = "w",
    uniform_in_time: bool = False,
    variant: Variant = "printed",
) -> Optimistic:
    """SCB-WeightUCB: discounted quasi-likelihood, projected in the local norm (Wang, Zhao, Zhou; Theorem 3).

        θ̃_t = argmin_{‖θ‖≤S} ‖g_t(θ) − g_t(θ̂_t)‖_{H_t⁻¹(θ)},   H_t(θ) = λc_μI + Σ_{s<t} γ^{t−1−s}μ′(x_sᵀθ)x_s x_sᵀ,
        play argmax μ(xᵀθ̃_t) + 2√(1+2LS)(k_μ/√c_μ)β̃_{t−1}‖x‖_{V⁻¹_{t−1}}

    The paper has √(1+2S), for L = 1 (resolution C2); its λ is d·log T/c_μ.
    """
    memory = Discounted(discount(gamma, half_life))
    return _scb(memory, link, lam, S, L, m, delta, bonus_scale, variant, uniform_in_time, counts_squares(radius_n))


def scb_restart_ucb(
    *,
    link: Any = "logistic",
    period: int,
    lam: float,
    S: float,
    L: float,
    m: float = 1.0,
    delta: float,
    bonus_scale: float = 1.0,
    uniform_in_time: bool = False,
    variant: Variant = "printed",
) -> Optimistic:
    """SCB-RestartUCB: a fresh LogUCB1 every `period` rounds."""
    return _scb(Restart(period), link, lam, S, L, m, delta, bonus_scale, variant, uniform_in_time)


def sc_d_glm_ucb(
    *,
    link: Any = "logistic",
    gamma: float | None = None,
    half_life: float | None = None,
    lam: float,
    S: float,
    L: float,
    m: float = 1.0,
    delta: float,
    bonus_scale: float = 1.0,
    radius_n: Literal["w", "w2"] = "w2",
    uniform_in_time: bool = False,
    variant: Variant = "printed",
) -> Optimistic:
    """SC-D-GLUCB (our constants): self-concordant forgetting without a projection (idea: Russac, Faury, Cappé, Garivier 2021).

        play argmax μ(xᵀθ̂) + (k_μ/√c_μ)(1+D̂)β̃‖x‖_{V⁻¹},   √(1+D̂) in place of 1+D̂ while ‖θ̂‖ ≤ S

    k_μ must bound μ′ everywhere, since θ̂ may leave the ball: true for logistic, probit and identity, not for Poisson.
    """
    mu = _slopes(link, S, L)
    require(
        bonus_scale >= 0.0, "bonus_scale", bonus_scale, "≥ 0", "it multiplies the width of an interval; theory is 1"
    )
    sure = _beta_tilde(mu, lam, S, L, m, delta, 1.0, variant, uniform_in_time, counts_squares(radius_n))
    width = ProjectionFree(sure, bonus_scale * mu.k / math.sqrt(mu.c))
    return Optimistic(
        Generalized(mu.link, lam, mu.c, L, Unprojected()), Discounted(discount(gamma, half_life)), width, Bonus()
    )


# ------------------------------------------------------------------------------------------------ optimism over parameters

ConfidenceSet = Literal["relaxed", "direct"]


def _over_set(mu: _Slopes, lam: float, S: float, L: float, confidence_set: ConfidenceSet) -> tuple[Any, Any]:
    """Model and rule of parameter-based optimism."""
    if confidence_set not in ("relaxed", "direct"):
        raise InvalidValue(f"confidence_set = {confidence_set!r} is not allowed; it must be 'relaxed' or 'direct'")
    direct = confidence_set == "direct"
    model = Generalized(mu.link, lam, mu.c, L, LocalMetric(S) if direct else Unprojected())
    return model, ParameterBased(S, L, direct)


def scb_pw_weight_ucb(
    *,
    link: Any = "logistic",
    gamma: float | None = None,
    half_life: float | None = None,
    lam: float,
    S: float,
    L: float,
    m: float = 1.0,
    delta: float,
    radius_scale: float = 1.0,
    horizon: int | None = None,
    confidence_set: ConfidenceSet = "relaxed",
    pw_printed: bool = False,
    uniform_in_time: bool = False,
) -> Optimistic:
    """SCB-PW-WeightUCB: optimism over a confidence set, for abrupt changes (Wang, Zhao, Zhou; Appendix D, Theorem 4).

        C_t = {‖θ‖ ≤ S, ‖g_t(θ) − g_t(θ̂_t)‖_{H_t⁻¹(θ)} ≤ ρ},   play argmax_x max_{θ∈C_t} μ(xᵀθ)

    `relaxed` replaces C_t by a convex set that contains it, solved with a certificate; `direct` searches C_t itself, which is not
    convex, and certifies by the other. At `radius_scale` = 1 and the paper's size the set is the whole ball and all arms of equal norm
    tie; 0.1 is useful. What lies D = log T/log(1/γ) rounds back is treated as a bias; T is `horizon`, or that of the run.

    The fraction of certified choices is in `run.info["certified"]`.
    """
    mu = _slopes(link, S, L)
    model, rule = _over_set(mu, lam, S, L, confidence_set)
    g = discount(gamma, half_life)
    require(0.0 < g < 1.0, "gamma", g, "in (0, 1)", "what lies D rounds back must have faded")
    printed, uniform = float(pw_printed), float(uniform_in_time)
    D = 0.0 if horizon is None else math.log(integer("horizon", horizon, least=2, why="it is T")) / -math.log(g)
    width = Piecewise(lam, mu.c, mu.k, S, L, m, delta, g, radius_scale, D, printed, uniform)
    return Optimistic(model, Discounted(g), width, rule)


def ofu_log(
    *,
    link: Any = "logistic",
    lam: float,
    S: float,
    L: float,
    m: float = 1.0,
    delta: float,
    radius_scale: float = 1.0,
    confidence_set: ConfidenceSet = "relaxed",
    uniform_in_time: bool = False,
    variant: Variant = "printed",
) -> Optimistic:
    """OFULog: optimism over a confidence set in a world that stands still (Abeille, Faury, Calauzènes 2021); relaxed, OFULog-r.

        C_t = {‖θ‖ ≤ S, ‖g_t(θ) − g_t(θ̂_t)‖_{H_t⁻¹(θ)} ≤ β̃_{t−1}},   play argmax_x max_{θ∈C_t} μ(xᵀθ)

    λ is fixed, as in the paper's experiment, where the authors let it grow with t; the radius is that of LogUCB1.
    """
    mu = _slopes(link, S, L)
    require(radius_scale >= 0.0, "radius_scale", radius_scale, "≥ 0", "it multiplies the radius; theory is 1")
    model, rule = _over_set(mu, lam, S, L, confidence_set)
    width = _beta_tilde(mu, lam, S, L, m, delta, radius_scale, variant, uniform_in_time)
    return Optimistic(model, Everything(), width, rule)
