"""Self-concordant bandits: rewards in [0, m] of mean μ(xᵀθ), |μ″| ≤ μ′. All arguments are keyword-only. Common to all:

link
    "logistic", "probit", "poisson", "identity", or a link of your own. k_μ and c_μ, the extreme slopes on |z| ≤ LS, follow from it.
lam, S, L, delta
    V = λI + …, regulariser λc_μ; bounds ‖θ‖ ≤ S and ‖x‖ ≤ L; failure probability δ ∈ (0, 1) of a round's interval.
m
    Rewards lie in [0, m]; others are refused.
gamma or half_life, window, period
    Discount γ ∈ (0, 1], or the number of rounds after which an observation counts half; the length of a window; rounds between restarts.
bonus_scale
    Multiplies the bonus; the theory is 1, practice often prefers less.
estimator
    "exact", "one_pass", or by default exact but one-pass in an `Agent`: as for `glb_weight_ucb`.
uniform_in_time
    True: a union bound over the horizon, so that all intervals hold at once; "anytime": the same without a horizon (resolution A5).
variant
    "printed", or "corrected" by √min(e^{2LS}, k_μ/c_μ) (resolution G1).

The paper's λ is d·log T/c_μ; its γ is in `theory`.
"""

import math
from typing import Any, Literal, Unpack, cast

from ..memory import Everything
from ..model import Unprojected
from ..radius import ProjectionFree, SelfConcordant
from ..rule import LocalBonus
from ..strategy import Optimistic
from .generalized_linear import DISCOUNTED, EVERYTHING, RESTART, STATIC_ONLY, UNSTATED
from .options import Concordant, EstimatedConcordant, concordant_bonus, counts_squares, discounted, restarted
from .record import algorithm, algorithms_of
from .tuning import SCB

SCB_BONUS = "μ(xᵀθ̃) + 2√(1+2LS)(k_μ/√c_μ)β̃‖x‖_{V⁻¹}, θ̃ projected in H⁻¹(θ)"
SMALL_SCB: dict[str, Any] = {"S": 1.0, "L": 1.0, "delta": 0.05, "lam": 20.0}


@algorithm(
    family="generalized",
    remembers=EVERYTHING,
    plays=SCB_BONUS,
    regret=STATIC_ONLY,
    papers=("faury2020improved",),
    example=SMALL_SCB,
    tuned_by=SCB,
    world="logistic",
    defaults_of=concordant_bonus,
)
def log_ucb1(**options: Unpack[EstimatedConcordant]) -> Optimistic:
    """LogUCB1 (Logistic-UCB-1): the static self-concordant learner (Faury, Abeille, Calauzènes, Fercoq 2020).

    As SCB-WeightUCB with γ = 1.
    """
    return concordant_bonus(Everything(), **options)


@algorithm(
    family="generalized",
    remembers=EVERYTHING,
    plays="μ(xᵀθ̃) + wμ′(xᵀθ̃)‖x‖_{H⁻¹(θ̃)} + ½k_μw²‖x‖²_{H⁻¹(θ̃)}, w = (2+4LS)β̃",
    regret=STATIC_ONLY,
    papers=("faury2020improved",),
    example=SMALL_SCB,
    tuned_by=SCB,
    world="logistic",
    defaults_of=concordant_bonus,
)
def log_ucb2(**options: Unpack[Concordant]) -> Optimistic:
    """LogUCB2 (Logistic-UCB-2): a bonus in the local norm, whose leading term is free of c_μ (Faury, Abeille, Calauzènes, Fercoq 2020).

        play argmax μ(xᵀθ̃_t) + w_t μ′(xᵀθ̃_t)‖x‖_{H_t⁻¹(θ̃_t)} + ½k_μ w_t²‖x‖²_{H_t⁻¹(θ̃_t)},   w_t = (2+4LS)β̃_{t−1}

    θ̃ and β̃ are those of `log_ucb1`. Two departures: the second-order term is in the norm H⁻¹ where the authors have V⁻¹/c_μ, which is
    larger; and θ̃ lies in the ball, where the authors project onto admissible log-odds as well. That set enters the proof of their regret,
    not the validity of the interval (`rule.local_bonus` has the proof). The authors' own constants were not at hand.
    """
    known = concordant_bonus(Everything(), estimator="exact", **options)
    sure = cast(SelfConcordant, known.radius)
    scale = options.get("bonus_scale", 1.0) * (2.0 + 4.0 * sure.L * sure.S)
    return known._replace(radius=sure._replace(scale=scale), rule=LocalBonus(k=sure.k_mu))


@algorithm(
    family="generalized",
    remembers=DISCOUNTED,
    plays=SCB_BONUS,
    regret="k_μ^{5/4} c_μ^{−1/2} d^{3/4} P_T^{1/4} T^{3/4}",
    theorem="Theorem 3",
    bound="scb_regret_bound",
    example=SMALL_SCB | {"gamma": 0.95},
    tuned_by=SCB,
    world="logistic",
    defaults_of=concordant_bonus,
)
def scb_weight_ucb(
    *,
    gamma: float | None = None,
    half_life: float | None = None,
    radius_n: Literal["w", "w2"] = "w",
    **options: Unpack[EstimatedConcordant],
) -> Optimistic:
    """SCB-WeightUCB: discounted quasi-likelihood, projected in the local norm (Wang, Zhao, Zhou; Theorem 3).

        θ̃_t = argmin_{‖θ‖≤S} ‖g_t(θ) − g_t(θ̂_t)‖_{H_t⁻¹(θ)},   H_t(θ) = λc_μI + Σ_{s<t} γ^{t−1−s}μ′(x_sᵀθ)x_s x_sᵀ,
        play argmax μ(xᵀθ̃_t) + 2√(1+2LS)(k_μ/√c_μ)β̃_{t−1}‖x‖_{V⁻¹_{t−1}}

    The paper has √(1+2S), for L = 1 (resolution C2); its λ is d·log T/c_μ.
    """
    return concordant_bonus(discounted(gamma, half_life), squared=counts_squares(radius_n), **options)


@algorithm(
    family="generalized",
    remembers=RESTART,
    plays=SCB_BONUS,
    regret=UNSTATED,
    papers=("faury2020improved", "zhao2020simple"),
    example=SMALL_SCB | {"period": 10},
    tuned_by=SCB,
    world="logistic",
    defaults_of=concordant_bonus,
)
def scb_restart_ucb(*, period: int, **options: Unpack[EstimatedConcordant]) -> Optimistic:
    """SCB-RestartUCB: a fresh LogUCB1 every `period` rounds."""
    return concordant_bonus(restarted(period), **options)


@algorithm(
    family="generalized",
    remembers=DISCOUNTED,
    plays="μ(xᵀθ̂) + (k_μ/√c_μ)(1+D̂)β̃‖x‖_{V⁻¹}",
    regret="c_μ^{−1/3} d^{2/3} Γ_T^{1/3} T^{2/3} (the authors'; constants ours)",
    papers=("russac2021self",),
    example=SMALL_SCB | {"gamma": 0.95},
    tuned_by=SCB,
    world="logistic",
    defaults_of=concordant_bonus,
)
def sc_d_glm_ucb(
    *,
    gamma: float | None = None,
    half_life: float | None = None,
    radius_n: Literal["w", "w2"] = "w2",
    **options: Unpack[Concordant],
) -> Optimistic:
    """SC-D-GLUCB (our constants): self-concordant forgetting without a projection (idea: Russac, Faury, Cappé, Garivier 2021).

        play argmax μ(xᵀθ̂) + (k_μ/√c_μ)(1+D̂)β̃‖x‖_{V⁻¹},   √(1+D̂) in place of 1+D̂ while ‖θ̂‖ ≤ S

    k_μ must bound μ′ everywhere, since θ̂ may leave the ball: true for logistic, probit and identity, not for Poisson.
    """
    known = concordant_bonus(
        discounted(gamma, half_life), squared=counts_squares(radius_n), estimator="exact", **options
    )
    sure = cast(SelfConcordant, known.radius)._replace(scale=1.0)  # β̃ itself; the bonus has another factor
    scale = options.get("bonus_scale", 1.0) * sure.k_mu / math.sqrt(sure.c_mu)
    return known._replace(
        model=known.model._replace(projection=Unprojected()), radius=ProjectionFree(confidence=sure, scale=scale)
    )


__all__ = algorithms_of(__name__)
