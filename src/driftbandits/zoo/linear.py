"""Linear bandits. All arguments are keyword-only. Common to all:

lam, S, L, R, delta
    Ridge λ > 0; bounds ‖θ‖ ≤ S and ‖x‖ ≤ L; sub-Gaussian constant R of the noise; failure probability δ ∈ (0, 1) of a round's interval.
gamma or half_life
    Discount γ ∈ (0, 1], or the number of rounds after which an observation counts half: γ = 2^(−1/half_life).
bonus_scale
    Multiplies the radius; the theory is 1, practice often prefers less.
radius
    "trace" as the paper prints it, or "det", never larger.
robust
    τ > 0, in units of the reward, for heavy tails: a residual |r − xᵀθ̂| > τ√(1+‖x‖²_{V⁻¹}) is cut to that size and adds nothing to V
    (Huber's loss in one pass, after Wang, Zhang, Zhao, Zhou 2025). Two to three times the usual noise is a good τ. β is then a
    heuristic; `info["cut"]` counts.
caution
    c > 0, against corrupted rewards: every observation has weight min(1, c/‖x‖_{V⁻¹}) (`cw_oful` has the c of the theorem).
uniform_in_time
    True: a union bound over the horizon, so that all intervals hold at once; "anytime": the same without a horizon (resolution A5).
features
    The arms as a kernel sees them, `{"kernel": "rbf", "lengthscale": 0.5, "points": arms}`: see `zoo.kernel_features`. L = 1 then, S bounds
    the norm of the reward function in the kernel's space, and d is the number of features.
"""

import math
from typing import Any, Literal, Unpack

from ..errors import integer, positive, require
from ..memory import Discounted, Everything
from ..radius import Constant
from ..rule import RandomisedBonus, SandwichBonus, ThompsonSampling
from ..strategy import Optimistic
from .options import Ridge, WaryRidge, counts_squares, discounted, on_features_of, restarted, ridge_ucb, windowed
from .record import algorithm, algorithms_of
from .tuning import LB

BONUS, SANDWICH = "xᵀθ̂ + β‖x‖_{V⁻¹}", "xᵀθ̂ + β‖x‖_{V⁻¹ṼV⁻¹}"
EARLIER_RATE = "d^{7/8} P_T^{1/4} T^{3/4}"
SMALL: dict[str, Any] = {"lam": 1.0, "S": 1.0, "L": 1.0, "R": 0.5, "delta": 0.05}


@algorithm(
    family="linear",
    remembers="everything",
    plays=BONUS,
    regret="none if θ drifts",
    papers=("abbasi2011improved",),
    example=SMALL,
    tuned_by=LB,
    world="linear",
    defaults_of=ridge_ucb,
)
def oful(**options: Unpack[WaryRidge]) -> Optimistic:
    """OFUL: optimism in a world that stands still (Abbasi-Yadkori, Pál, Szepesvári 2011).

        V_t = λI + Σ_{s≤t} x_s x_sᵀ,   θ̂ = V⁻¹ Σ r_s x_s,   play argmax xᵀθ̂ + β‖x‖_{V⁻¹}

    Examples
    --------
    >>> oful(lam=2, S=1, L=1, R=1, delta=0.01).memory
    Everything()
    """
    return ridge_ucb(Everything(), **options)


@algorithm(
    family="linear",
    remembers="all rounds; uncertain directions are down-weighted",
    plays=BONUS,
    regret="none if θ drifts; d T^{1/2} + dC if it stands still and rewards are corrupted by C in total",
    papers=("he2022nearly",),
    example=SMALL | {"dim": 3, "corruption": 2.0},
    tuned_by=LB,
    world="linear",
    defaults_of=ridge_ucb,
)
def cw_oful(*, dim: int, corruption: float, gamma: float = 1.0, **options: Unpack[Ridge]) -> Optimistic:
    """CW-OFUL: OFUL whose rewards an adversary may corrupt, by C in total (He, Zhou, Zhang, Gu 2022).

        w = min(1, c/‖x‖_{V⁻¹}),   V ← V + w·xxᵀ,   b ← b + w·r·x,   c = R√d/C,   play argmax xᵀθ̂ + (β + cC)‖x‖_{V⁻¹}

    C = Σ_t |corruption of r_t| must be known, or guessed; `dim` is d. γ < 1 forgets as LB-WeightUCB does: each round's interval stays a
    theorem, the regret has none.

    Examples
    --------
    >>> cw_oful(dim=4, corruption=10.0, lam=1, S=1, L=1, R=0.5, delta=0.01).model.caution
    0.1
    """
    d = integer("dim", dim, least=1, why="it is the number of features d")
    C = positive("corruption", corruption, "it bounds the sum of all corruptions")
    c = options["R"] * math.sqrt(d) / C
    memory = Everything() if gamma == 1.0 else Discounted(gamma=gamma)
    return ridge_ucb(memory, caution=c, corruption=c * C, **options)


@algorithm(
    family="linear",
    remembers="γ^age",
    plays=BONUS,
    regret="d^{3/4} P_T^{1/4} T^{3/4}",
    theorem="Theorem 1",
    bound="lb_regret_bound",
    example=SMALL | {"gamma": 0.95},
    tuned_by=LB,
    world="linear",
    defaults_of=ridge_ucb,
)
def lb_weight_ucb(
    *,
    gamma: float | None = None,
    half_life: float | None = None,
    radius_n: Literal["w", "w2"] = "w",
    **options: Unpack[WaryRidge],
) -> Optimistic:
    """LB-WeightUCB: discounted least squares, one matrix (Wang, Zhao, Zhou; Algorithm 1, Theorem 1).

        V_t = γV_{t−1} + x_t x_tᵀ + (1−γ)λI,   b_t = γb_{t−1} + r_t x_t,   play argmax xᵀθ̂ + β_{t−1}‖x‖_{V⁻¹_{t−1}}

    `radius_n="w2"` counts Σw² in place of Σw in the radius: valid and smaller (resolution A2).

    Examples
    --------
    >>> lb_weight_ucb(gamma=0.98, lam=2, S=1, L=1, R=1, delta=0.01).memory
    Discounted(gamma=0.98)
    """
    return ridge_ucb(discounted(gamma, half_life), squared=counts_squares(radius_n), **options)


@algorithm(
    family="linear",
    remembers="γ^age, two matrices",
    plays=SANDWICH,
    regret=EARLIER_RATE,
    papers=("russac2019weighted",),
    bound="d_lin_regret_bound",
    example=SMALL | {"gamma": 0.95},
    tuned_by=LB,
    world="linear",
    defaults_of=ridge_ucb,
)
def d_lin_ucb(
    *, gamma: float | None = None, half_life: float | None = None, **options: Unpack[WaryRidge]
) -> Optimistic:
    """D-LinUCB: discounted least squares, two matrices (Russac, Vernade, Cappé 2019).

        V_t as in LB-WeightUCB,   Ṽ_t = γ²Ṽ_{t−1} + x_t x_tᵀ + (1−γ²)λI,   play argmax xᵀθ̂ + β‖x‖_{V⁻¹ṼV⁻¹}

    β counts Σw². Ṽ is multiplied from Ṽ, not from V as in a public implementation (resolution A15; `experiments/public_code.py`).
    """
    return ridge_ucb(discounted(gamma, half_life), SandwichBonus(), squared=True, **options)


@algorithm(
    family="linear",
    remembers="the last W rounds",
    plays=BONUS,
    regret=EARLIER_RATE,
    papers=("cheung2019learning",),
    bound="window_regret_bound",
    example=SMALL | {"window": 10},
    tuned_by=LB,
    world="linear",
    defaults_of=ridge_ucb,
)
def sw_ucb(*, window: int, **options: Unpack[Ridge]) -> Optimistic:
    """SW-UCB: least squares over the last `window` rounds (Cheung, Simchi-Levi, Zhu 2019).

    V_t = λI + Σ_{t−W<s≤t} x_s x_sᵀ,   play argmax xᵀθ̂ + β‖x‖_{V⁻¹}
    """
    return ridge_ucb(windowed(window), **options)


@algorithm(
    family="linear",
    remembers="since the last restart",
    plays=BONUS,
    regret=EARLIER_RATE,
    papers=("zhao2020simple",),
    bound="restart_regret_bound",
    example=SMALL | {"period": 10},
    tuned_by=LB,
    world="linear",
    defaults_of=ridge_ucb,
)
def restart_ucb(*, period: int, **options: Unpack[WaryRidge]) -> Optimistic:
    """RestartUCB: a fresh OFUL every `period` rounds (Zhao, Zhang, Jiang, Zhou 2020)."""
    return ridge_ucb(restarted(period), **options)


@algorithm(
    family="linear",
    remembers="γ^age, two matrices",
    plays="xᵀθ̂ + a·Z·β‖x‖_{V⁻¹ṼV⁻¹}, Z ~ N(0, 1)",
    regret=EARLIER_RATE,
    papers=("kim2020randomized",),
    example=SMALL | {"gamma": 0.95},
    randomised=True,
    tuned_by=LB,
    world="linear",
    defaults_of=ridge_ucb,
)
def d_rand_lin_ucb(
    *,
    gamma: float | None = None,
    half_life: float | None = None,
    a: float = 1.0,
    optimistic: bool = False,
    **options: Unpack[Ridge],
) -> Optimistic:
    """D-RandLinUCB: D-LinUCB with a random bonus (Kim and Tewari 2020).

    play argmax xᵀθ̂ + a·Z·β‖x‖_{V⁻¹ṼV⁻¹},   one Z ~ N(0, 1) per round, shared by all arms; |Z| if `optimistic`
    """
    rule = RandomisedBonus(a=a, optimistic=optimistic)
    return ridge_ucb(discounted(gamma, half_life), rule, squared=True, **options)


@algorithm(
    family="linear",
    remembers="γ^age, two matrices",
    plays="xᵀθ̃, θ̃ drawn around θ̂",
    regret=EARLIER_RATE,
    papers=("kim2020randomized",),
    example=SMALL | {"gamma": 0.95},
    randomised=True,
    tuned_by=LB,
    world="linear",
    defaults_of=ridge_ucb,
)
def d_lin_ts(
    *,
    gamma: float | None = None,
    half_life: float | None = None,
    a: float | None = 1.0,
    **options: Unpack[Ridge],
) -> Optimistic:
    """D-LinTS: discounted Thompson sampling (Kim and Tewari 2020).

        θ̃ = V⁻¹(b + a·Ṽ^{1/2}z),  z ~ N(0, I),   play argmax xᵀθ̃;   the first d rounds are uniformly random

    `a=None` takes the theory's a = β_t, with `radius` and `uniform_in_time`; `bonus_scale` multiplies either.
    """
    features = options.pop("features", None)
    drawn = ridge_ucb(discounted(gamma, half_life), ThompsonSampling(), squared=True, **options)
    if a is not None:
        require(a >= 0.0, "a", a, "≥ 0, or None for the theory's β", "it scales a symmetric perturbation")
        drawn = drawn._replace(radius=Constant(value=a * options.get("bonus_scale", 1.0), L=options["L"]))
    return on_features_of(features, drawn)


__all__ = algorithms_of(__name__)
