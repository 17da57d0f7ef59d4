"""Generalized linear bandits: rewards of mean μ(xᵀθ) with sub-Gaussian noise. All arguments are keyword-only. Common to all:

link
    "logistic", "probit", "poisson", "identity", or a link of your own. k_μ and c_μ, the extreme slopes on |z| ≤ LS, follow from it.
lam, S, L, delta
    V = λI + …, regulariser λc_μ; bounds ‖θ‖ ≤ S and ‖x‖ ≤ L; failure probability δ ∈ (0, 1) of a round's interval.
R
    Sub-Gaussian constant of the noise; ½ for rewards in [0, 1], the default of links whose law is Bernoulli.
gamma or half_life, window, period
    Discount γ ∈ (0, 1], or the number of rounds after which an observation counts half; the length of a window; rounds between restarts.
bonus_scale
    Multiplies the bonus; the theory is 1, practice often prefers less.
estimator
    "exact" solves for θ̂ from every observation that counts. With a fixed arm set their number does not matter; where arms change,
    27.6/(1−γ) of them are kept, all if γ = 1, and a round costs 0.4 ms at d = 20, 2.5 ms at d = 50. "one_pass" takes one step per
    observation and keeps none (`model.OnePassMean`): the time of a linear learner, θ within noise of the exact one, but outside the
    radius's proof, and a reward that comes late is linearised late. By default exact, but one-pass in an `Agent`, to which other arms may
    come with every call: an agent must not grow.
uniform_in_time
    True: a union bound over the horizon, so that all intervals hold at once; "anytime": the same without a horizon (resolution A5).

The paper's λ is d/c_μ² for `glb_weight_ucb`, d for the others; its γ is in `theory`.
"""

from typing import Any, Literal, Unpack

from ..memory import Everything
from ..model import SquaredMetric, TwoStep
from ..strategy import Optimistic
from .options import GLM, EstimatedGLM, RadiusGLM, counts_squares, discounted, glm_bonus, restarted, windowed
from .record import algorithm, algorithms_of
from .tuning import GLB

EVERYTHING, DISCOUNTED, WINDOW, RESTART = "everything", "γ^age", "the last W rounds", "since the last restart"
STATIC_ONLY, UNSTATED = "none if θ drifts", "none stated"
JUMPS = "d^{2/3} Γ_T^{1/3} T^{2/3}"
GLB_BONUS = "μ(xᵀθ̃) + (2k_μ/c_μ)β̄‖x‖_{V⁻¹}"
SMALL_GLB: dict[str, Any] = {"S": 1.0, "L": 1.0, "delta": 0.05, "lam": 2.0}


@algorithm(
    family="generalized",
    remembers=EVERYTHING,
    plays=f"{GLB_BONUS}, θ̃ projected in V⁻¹",
    regret=STATIC_ONLY,
    papers=("filippi2010parametric",),
    example=SMALL_GLB,
    tuned_by=GLB,
    world="logistic",
    defaults_of=glm_bonus,
)
def glm_ucb(**options: Unpack[EstimatedGLM]) -> Optimistic:
    """GLM-UCB in its ridge form: optimism in a world that stands still (Filippi, Cappé, Garivier, Szepesvári 2010; paper, Section 4).

        λc_μθ̂ + Σ_{s≤t}(μ(x_sᵀθ̂) − r_s)x_s = 0,   θ̃ = argmin_{‖θ‖≤S} ‖g(θ) − g(θ̂)‖_{V⁻¹},
        play argmax μ(xᵀθ̃) + (2k_μ/c_μ)β̄‖x‖_{V⁻¹},   β̄ = √λ·c_μS + R·√(2 log(1/δ) + d·log(1 + L²n/(λd)))

    Examples
    --------
    >>> glm_ucb(lam=2, S=1, L=1, delta=0.01).model.link
    Logistic()
    """
    return glm_bonus(Everything(), **options)


@algorithm(
    family="generalized",
    remembers=DISCOUNTED,
    plays=f"{GLB_BONUS}, θ̃ projected in V⁻¹",
    regret="k_μ^{5/4} c_μ^{−3/4} d^{3/4} P_T^{1/4} T^{3/4}",
    theorem="Theorem 2",
    bound="glb_regret_bound",
    example=SMALL_GLB | {"gamma": 0.95},
    tuned_by=GLB,
    world="logistic",
    defaults_of=glm_bonus,
)
def glb_weight_ucb(
    *,
    gamma: float | None = None,
    half_life: float | None = None,
    radius_n: Literal["w", "w2"] = "w",
    **options: Unpack[EstimatedGLM],
) -> Optimistic:
    """GLB-WeightUCB: discounted quasi-likelihood, one matrix (Wang, Zhao, Zhou; Algorithm 2, Theorem 2).

        λc_μθ̂_t + Σ_{s<t} γ^{t−1−s}(μ(x_sᵀθ̂_t) − r_s)x_s = 0,   θ̃_t = argmin_{‖θ‖≤S} ‖g_t(θ) − g_t(θ̂_t)‖_{V⁻¹_{t−1}},
        play argmax μ(xᵀθ̃_t) + (2k_μ/c_μ)β̄_{t−1}‖x‖_{V⁻¹_{t−1}}

    The theorem's λ is d/c_μ². `radius_n="w2"` counts Σw² in place of Σw: valid and smaller (resolution A2).
    """
    return glm_bonus(discounted(gamma, half_life), squared=counts_squares(radius_n), **options)


@algorithm(
    family="generalized",
    remembers=RESTART,
    plays=f"{GLB_BONUS}, θ̃ projected in V⁻¹",
    regret=UNSTATED,
    papers=("filippi2010parametric", "zhao2020simple"),
    example=SMALL_GLB | {"period": 10},
    tuned_by=GLB,
    world="logistic",
    defaults_of=glm_bonus,
)
def glb_restart_ucb(*, period: int, **options: Unpack[EstimatedGLM]) -> Optimistic:
    """GLB-RestartUCB: a fresh GLM-UCB every `period` rounds (Zhao, Zhang, Jiang, Zhou 2020)."""
    return glm_bonus(restarted(period), **options)


@algorithm(
    family="generalized",
    remembers=WINDOW,
    plays=f"{GLB_BONUS}, θ̃ projected in V⁻¹",
    regret=JUMPS,
    papers=("filippi2010parametric", "russac2020algorithms"),
    example=SMALL_GLB | {"window": 10},
    tuned_by=GLB,
    world="logistic",
    defaults_of=glm_bonus,
)
def sw_glm_ucb(*, window: int, **options: Unpack[RadiusGLM]) -> Optimistic:
    """SW-GLUCB: GLM-UCB on the last `window` rounds (Russac, Cappé, Garivier 2020)."""
    return glm_bonus(windowed(window), estimator="exact", **options)


@algorithm(
    family="generalized",
    remembers=DISCOUNTED,
    plays=f"{GLB_BONUS}, θ̃ projected in Ṽ⁻¹",
    regret=JUMPS,
    papers=("russac2020algorithms",),
    example=SMALL_GLB | {"gamma": 0.95},
    tuned_by=GLB | {"gamma": "d_glm_gamma", "lam": "lb_lambda"},
    world="logistic",
    defaults_of=glm_bonus,
)
def d_glm_ucb(
    *, gamma: float | None = None, half_life: float | None = None, **options: Unpack[RadiusGLM]
) -> Optimistic:
    """D-GLUCB: discounted quasi-likelihood, projected in the norm Ṽ⁻¹ of the squared weights (Russac, Cappé, Garivier 2020).

    θ̃ = argmin_{‖θ‖≤S} ‖g(θ) − g(θ̂)‖_{Ṽ⁻¹},   Ṽ_t = γ²Ṽ_{t−1} + x_t x_tᵀ + (1−γ²)λI,
    play argmax μ(xᵀθ̃) + (2k_μ/c_μ)β̄‖x‖_{V⁻¹},   β̄ counts Σw²
    """
    metric = SquaredMetric(S=options["S"])
    return glm_bonus(discounted(gamma, half_life), squared=True, projection=metric, estimator="exact", **options)


@algorithm(
    family="generalized",
    remembers=DISCOUNTED,
    plays=f"{GLB_BONUS}, θ̃ selected in two steps",
    regret="k_μ² c_μ^{−1} d^{9/10} P_T^{1/5} T^{4/5}",
    papers=("faury2021regret",),
    example=SMALL_GLB | {"gamma": 0.95},
    tuned_by=GLB | {"gamma": "bvd_gamma", "lam": "lb_lambda"},
    world="logistic",
    defaults_of=glm_bonus,
)
def bvd_glm_ucb(*, gamma: float | None = None, half_life: float | None = None, **options: Unpack[GLM]) -> Optimistic:
    """BVD-GLM-UCB: discounted quasi-likelihood with a two-step parameter selection (Faury, Russac, Abeille, Calauzènes 2021).

        E(θ) = {θ′: ‖g(θ′) − g(θ)‖_{Ṽ⁻¹} ≤ β̄},   θᵖ ∈ argmin_θ ‖g(θ) − g(θ̂)‖_{V⁻²} s.t. Θ ∩ E(θ) ≠ ∅,   θ̃ ∈ Θ ∩ E(θᵖ),
        play argmax μ(xᵀθ̃) + (2k_μ/c_μ)β̄‖x‖_{V⁻¹},   β̄ counts Σw²

    Ṽ is multiplied from Ṽ, and all matrices are those of round t−1 (resolutions B5, B6, B8).
    """
    base = glm_bonus(discounted(gamma, half_life), squared=True, estimator="exact", **options)
    S = options["S"]
    selection = TwoStep(S=S, first=SquaredMetric(S=S), confidence=base.radius._replace(scale=1.0))
    return base._replace(model=base.model._replace(projection=selection))


__all__ = algorithms_of(__name__)
