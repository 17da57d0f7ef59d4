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
from typing import Any, Literal

from ..errors import InvalidValue, integer, real, require
from ..links import concordant_up_to, law
from ..memory import Discounted, Everything, Restart
from ..model import LocalMetric, Unprojected
from ..radius import Piecewise, ProjectionFree, SelfConcordant
from ..radius.union import UniformInTime, over_time
from ..rule import Bonus, ParameterBased, RelaxedParameterBased
from ..strategy import Optimistic
from .generalized_linear import DISCOUNTED, EVERYTHING, JUMPS, RESTART, STATIC_ONLY, UNSTATED
from .options import Estimator, Slopes, counts_squares, discount, estimated, generalized_model, slopes_of
from .record import algorithm, algorithms_of
from .tuning import PIECEWISE, SCB

Variant = Literal["printed", "corrected"]

SCB_BONUS = "μ(xᵀθ̃) + 2√(1+2LS)(k_μ/√c_μ)β̃‖x‖_{V⁻¹}, θ̃ projected in H⁻¹(θ)"
OVER_SET = "max of μ(xᵀθ) over a confidence set"
SMALL_SCB: dict[str, Any] = {"S": 1.0, "L": 1.0, "delta": 0.05, "lam": 20.0}


def _largest_reward(link: Any, m: float | None) -> float:
    """m, by default 1 where rewards are 0 or 1."""
    if m is None and law(link) != "bernoulli":
        raise InvalidValue(
            f"m must be given with {type(link).__name__}: self-concordant bandits need rewards in [0, m]"
        )
    return 1.0 if m is None else m


def _concordant(link: Any, S: float, L: float) -> Slopes:
    """The link and its slopes, if |μ″| ≤ μ′ where |z| ≤ LS."""
    mu = slopes_of(link, S, L)
    reach = concordant_up_to(mu.link, L * S)
    require(
        reach >= L * S,
        "L·S",
        L * S,
        f"≤ {reach:.3g} with {type(mu.link).__name__}",
        "|μ″| ≤ μ′ must hold where |xᵀθ| ≤ LS, and does not beyond",
    )
    return mu


def _beta_tilde(
    mu: Slopes,
    lam: float,
    S: float,
    L: float,
    m: float | None,
    delta: float,
    scale: float,
    variant: Variant,
    uniform: UniformInTime,
    squared: bool = False,
) -> SelfConcordant:
    """scale·β̃, printed or corrected."""
    if variant not in ("printed", "corrected"):
        raise InvalidValue(f"variant = {variant!r} is not allowed; it must be 'printed' or 'corrected' (resolution G1)")
    inflation = math.sqrt(min(math.exp(min(2.0 * L * S, 700.0)), mu.k / mu.c)) if variant == "corrected" else 1.0
    return SelfConcordant(
        lam=lam,
        c_mu=mu.c,
        k_mu=mu.k,
        S=S,
        L=L,
        m=_largest_reward(mu.link, m),
        delta=delta,
        scale=scale,
        inflation=inflation,
        squared=squared,
        uniform=over_time(uniform),
    )


def _scb(
    memory: Any,
    link: Any,
    lam: float,
    S: float,
    L: float,
    m: float | None,
    delta: float,
    bonus_scale: float,
    variant: Variant,
    uniform: UniformInTime,
    squared: bool = False,
    estimator: Estimator | None = None,
) -> Optimistic:
    """Play argmax μ(xᵀθ̃) + 2√(1+2LS)(k_μ/√c_μ)·β̃·‖x‖_{V⁻¹}."""
    mu = _concordant(link, S, L)
    require(
        bonus_scale >= 0.0, "bonus_scale", bonus_scale, "≥ 0", "it multiplies the width of an interval; theory is 1"
    )
    scale = bonus_scale * 2.0 * math.sqrt(1.0 + 2.0 * L * S) * mu.k / math.sqrt(mu.c)
    width = _beta_tilde(mu, lam, S, L, m, delta, scale, variant, uniform, squared)
    model = estimated(generalized_model(mu, lam, L, LocalMetric(S=S)), estimator)
    return Optimistic(model=model, memory=memory, radius=width, rule=Bonus())


@algorithm(
    family="generalized",
    remembers=EVERYTHING,
    plays=SCB_BONUS,
    regret=STATIC_ONLY,
    papers=("faury2020improved",),
    example=SMALL_SCB,
    tuned_by=SCB,
    world="logistic",
)
def log_ucb1(
    *,
    link: Any = "logistic",
    lam: float,
    S: float,
    L: float,
    m: float | None = None,
    delta: float,
    bonus_scale: float = 1.0,
    uniform_in_time: UniformInTime = False,
    variant: Variant = "printed",
    estimator: Estimator | None = None,
) -> Optimistic:
    """LogUCB1 (Logistic-UCB-1): the static self-concordant learner (Faury, Abeille, Calauzènes, Fercoq 2020).

    As SCB-WeightUCB with γ = 1.
    """
    return _scb(Everything(), link, lam, S, L, m, delta, bonus_scale, variant, uniform_in_time, estimator=estimator)


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
)
def scb_weight_ucb(
    *,
    link: Any = "logistic",
    gamma: float | None = None,
    half_life: float | None = None,
    lam: float,
    S: float,
    L: float,
    m: float | None = None,
    delta: float,
    bonus_scale: float = 1.0,
    radius_n: Literal["w", "w2"] = "w",
    uniform_in_time: UniformInTime = False,
    variant: Variant = "printed",
    estimator: Estimator | None = None,
) -> Optimistic:
    """SCB-WeightUCB: discounted quasi-likelihood, projected in the local norm (Wang, Zhao, Zhou; Theorem 3).

        θ̃_t = argmin_{‖θ‖≤S} ‖g_t(θ) − g_t(θ̂_t)‖_{H_t⁻¹(θ)},   H_t(θ) = λc_μI + Σ_{s<t} γ^{t−1−s}μ′(x_sᵀθ)x_s x_sᵀ,
        play argmax μ(xᵀθ̃_t) + 2√(1+2LS)(k_μ/√c_μ)β̃_{t−1}‖x‖_{V⁻¹_{t−1}}

    The paper has √(1+2S), for L = 1 (resolution C2); its λ is d·log T/c_μ.
    """
    memory = Discounted(gamma=discount(gamma, half_life))
    return _scb(
        memory, link, lam, S, L, m, delta, bonus_scale, variant, uniform_in_time, counts_squares(radius_n), estimator
    )


@algorithm(
    family="generalized",
    remembers=RESTART,
    plays=SCB_BONUS,
    regret=UNSTATED,
    papers=("faury2020improved", "zhao2020simple"),
    example=SMALL_SCB | {"period": 10},
    tuned_by=SCB,
    world="logistic",
)
def scb_restart_ucb(
    *,
    link: Any = "logistic",
    period: int,
    lam: float,
    S: float,
    L: float,
    m: float | None = None,
    delta: float,
    bonus_scale: float = 1.0,
    uniform_in_time: UniformInTime = False,
    variant: Variant = "printed",
    estimator: Estimator | None = None,
) -> Optimistic:
    """SCB-RestartUCB: a fresh LogUCB1 every `period` rounds."""
    return _scb(
        Restart(H=period), link, lam, S, L, m, delta, bonus_scale, variant, uniform_in_time, estimator=estimator
    )


@algorithm(
    family="generalized",
    remembers=DISCOUNTED,
    plays="μ(xᵀθ̂) + (k_μ/√c_μ)(1+D̂)β̃‖x‖_{V⁻¹}",
    regret="c_μ^{−1/3} d^{2/3} Γ_T^{1/3} T^{2/3} (the authors'; constants ours)",
    papers=("russac2021self",),
    example=SMALL_SCB | {"gamma": 0.95},
    tuned_by=SCB,
    world="logistic",
)
def sc_d_glm_ucb(
    *,
    link: Any = "logistic",
    gamma: float | None = None,
    half_life: float | None = None,
    lam: float,
    S: float,
    L: float,
    m: float | None = None,
    delta: float,
    bonus_scale: float = 1.0,
    radius_n: Literal["w", "w2"] = "w2",
    uniform_in_time: UniformInTime = False,
    variant: Variant = "printed",
) -> Optimistic:
    """SC-D-GLUCB (our constants): self-concordant forgetting without a projection (idea: Russac, Faury, Cappé, Garivier 2021).

        play argmax μ(xᵀθ̂) + (k_μ/√c_μ)(1+D̂)β̃‖x‖_{V⁻¹},   √(1+D̂) in place of 1+D̂ while ‖θ̂‖ ≤ S

    k_μ must bound μ′ everywhere, since θ̂ may leave the ball: true for logistic, probit and identity, not for Poisson.
    """
    mu = _concordant(link, S, L)
    require(
        bonus_scale >= 0.0, "bonus_scale", bonus_scale, "≥ 0", "it multiplies the width of an interval; theory is 1"
    )
    sure = _beta_tilde(mu, lam, S, L, m, delta, 1.0, variant, uniform_in_time, counts_squares(radius_n))
    return Optimistic(
        model=generalized_model(mu, lam, L, Unprojected()),
        memory=Discounted(gamma=discount(gamma, half_life)),
        radius=ProjectionFree(confidence=sure, scale=bonus_scale * mu.k / math.sqrt(mu.c)),
        rule=Bonus(),
    )


# ------------------------------------------------------------------------------------------------ optimism over parameters

ConfidenceSet = Literal["exact", "relaxed", "direct"]


def _over_set(mu: Slopes, lam: float, S: float, L: float, confidence_set: ConfidenceSet) -> tuple[Any, Any]:
    """Model and rule of parameter-based optimism."""
    if confidence_set == "relaxed":
        return generalized_model(mu, lam, L, Unprojected()), RelaxedParameterBased(S=S, L=L)
    if confidence_set in ("exact", "direct"):
        return generalized_model(mu, lam, L, LocalMetric(S=S)), ParameterBased(S=S, L=L)
    raise InvalidValue(
        f"confidence_set = {confidence_set!r} is not allowed; it must be 'exact' (once called 'direct'), the paper's C_t, "
        "or 'relaxed', a convex set that contains it"
    )


@algorithm(
    family="generalized",
    remembers=DISCOUNTED,
    plays=OVER_SET,
    regret=JUMPS,
    theorem="Theorem 4",
    bound="scb_pw_regret_bound",
    example=SMALL_SCB | {"gamma": 0.95, "radius_scale": 0.1},
    tuned_by=PIECEWISE,
    world="logistic",
)
def scb_pw_weight_ucb(
    *,
    link: Any = "logistic",
    gamma: float | None = None,
    half_life: float | None = None,
    lam: float,
    S: float,
    L: float,
    m: float | None = None,
    delta: float,
    radius_scale: float = 1.0,
    D: float | None = None,
    horizon: int | None = None,
    confidence_set: ConfidenceSet = "exact",
    pw_printed: bool = False,
    uniform_in_time: UniformInTime = False,
) -> Optimistic:
    """SCB-PW-WeightUCB: optimism over a confidence set, for abrupt changes (Wang, Zhao, Zhou; Appendix D, Theorem 4).

        C_t = {‖θ‖ ≤ S, ‖g_t(θ) − g_t(θ̂_t)‖_{H_t⁻¹(θ)} ≤ ρ},   play argmax_x max_{θ∈C_t} μ(xᵀθ)

    The maximum over C_t, which is not convex, is found and proved by branch and bound (`rule.parameter`); `run.info["certified"]` is
    the fraction of choices proved, `run.info["gap"]` the most that another arm could be worth above one that is not: at d = 2 all
    choices are proved. `confidence_set="relaxed"` plays over a larger, convex set instead: another rule, which ties more often.

    D ≥ 1 is how many rounds the world is taken to have stood still: what lies further back, of weight γ^D, is treated as a bias. By
    default the theorem's log T/log(1/γ), for the T of the run or the given `horizon`; with D given, no horizon is needed (where one
    is, for `uniform_in_time`, it is γ^{−D}).
    """
    mu = _concordant(link, S, L)
    model, rule = _over_set(mu, lam, S, L, confidence_set)
    g = discount(gamma, half_life)
    require(0.0 < g < 1.0, "gamma", g, "in (0, 1)", "what lies D rounds back must have faded")
    if D is not None:
        require(horizon is None, "horizon", horizon, "left out when D is given", "it would only set D = log T/log(1/γ)")
        D = real("D", D)
        require(D >= 1.0, "D", D, "≥ 1", "it is a number of rounds without a change")
    elif horizon is not None:
        D = math.log(integer("horizon", horizon, least=2, why="it is T")) / -math.log(g)
    width = Piecewise(
        lam=lam,
        c_mu=mu.c,
        k_mu=mu.k,
        S=S,
        L=L,
        m=_largest_reward(mu.link, m),
        delta=delta,
        gamma=g,
        scale=radius_scale,
        D=D or 0.0,
        printed=pw_printed,
        uniform=over_time(uniform_in_time),
    )
    return Optimistic(model=model, memory=Discounted(gamma=g), radius=width, rule=rule)


@algorithm(
    family="generalized",
    remembers=EVERYTHING,
    plays=OVER_SET,
    regret=STATIC_ONLY,
    papers=("abeille2021instance",),
    example=SMALL_SCB | {"radius_scale": 0.1},
    tuned_by=SCB,
    world="logistic",
)
def ofu_log(
    *,
    link: Any = "logistic",
    lam: float,
    S: float,
    L: float,
    m: float | None = None,
    delta: float,
    radius_scale: float = 1.0,
    confidence_set: ConfidenceSet = "exact",
    uniform_in_time: UniformInTime = False,
    variant: Variant = "printed",
) -> Optimistic:
    """OFULog: optimism over a confidence set in a world that stands still (Abeille, Faury, Calauzènes 2021); relaxed, OFULog-r.

        C_t = {‖θ‖ ≤ S, ‖g_t(θ) − g_t(θ̂_t)‖_{H_t⁻¹(θ)} ≤ β̃_{t−1}},   play argmax_x max_{θ∈C_t} μ(xᵀθ)

    λ is fixed, as in the paper's experiment, where the authors let it grow with t; the radius is that of LogUCB1.
    """
    mu = _concordant(link, S, L)
    require(radius_scale >= 0.0, "radius_scale", radius_scale, "≥ 0", "it multiplies the radius; theory is 1")
    model, rule = _over_set(mu, lam, S, L, confidence_set)
    width = _beta_tilde(mu, lam, S, L, m, delta, radius_scale, variant, uniform_in_time)
    return Optimistic(model=model, memory=Everything(), radius=width, rule=rule)


__all__ = algorithms_of(__name__)
