"""Options that many algorithms share, and the functions that make strategies of them.

An algorithm names what is its own and takes the rest as `**options: Unpack[Ridge]`: type checkers and editors know the names, `help` shows
them with the defaults of the function they are passed to (`zoo.record.algorithm`).
"""

import math
from typing import Any, Literal, NamedTuple, NotRequired, TypedDict, cast

from ..core.parts import Memory, Model, Rule
from ..errors import InvalidValue, integer, positive, real, require
from ..links import Identity, concordant_up_to, law, link_of, slopes
from ..memory import Discounted, Restart, Window
from ..model import FixedMetric, Generalized, Linear, LocalMetric, OnePass
from ..model.one_pass import in_one_pass
from ..radius import SelfConcordant, SelfNormalised, SelfNormalisedDet
from ..radius.union import UniformInTime, over_time
from ..rule import Bonus
from ..strategy import Optimistic
from .kernel_features import Features, on_kernel_features

RadiusForm = Literal["trace", "det"]
Estimator = Literal["exact", "one_pass"]
Variant = Literal["printed", "corrected"]


def discount(gamma: float | None, half_life: float | None) -> float:
    """γ from exactly one of γ and the half-life in rounds: γ = 2^(−1/half_life)."""
    if (gamma is None) == (half_life is None):
        given = "neither" if gamma is None else f"both gamma = {gamma!r} and half_life = {half_life!r}"
        raise InvalidValue(f"give either gamma or half_life, they say the same thing; {given} given")
    if half_life is not None:
        return float(2.0 ** (-1.0 / positive("half_life", half_life, "it is a number of rounds")))
    return real("gamma", gamma)


def discounted(gamma: float | None, half_life: float | None) -> Discounted:
    """The memory with weights γ^age."""
    return Discounted(gamma=discount(gamma, half_life))


def windowed(window: int) -> Window:
    """The memory of the last rounds, refused by the name that a user knows."""
    return Window(W=integer("window", window, least=1, why="it is the number of rounds remembered"))


def restarted(period: int) -> Restart:
    """The memory since the last restart."""
    return Restart(H=integer("period", period, least=1, why="it is the number of rounds between restarts"))


def self_normalised(form: str) -> Any:
    """The radius class of that name."""
    forms = {"trace": SelfNormalised, "det": SelfNormalisedDet}
    if form not in forms:
        raise InvalidValue(f"radius = {form!r} is not allowed; it must be 'trace' (as printed) or 'det' (never larger)")
    return forms[form]


def counts_squares(radius_n: str) -> bool:
    """Does the radius count Σw² in place of Σw?"""
    if radius_n not in ("w", "w2"):
        raise InvalidValue(f"radius_n = {radius_n!r} is not allowed; it must be 'w' (as printed) or 'w2' (smaller)")
    return radius_n == "w2"


# -------------------------------------------------------------------------------------------------------- linear rewards


class Bounds(TypedDict):
    """What is known of a linear world: ridge λ, ‖θ‖ ≤ S, ‖x‖ ≤ L, noise R."""

    lam: float
    S: float
    L: float
    R: float
    bonus_scale: NotRequired[float]


class PlainRidge(Bounds):
    """What every linear learner takes."""

    delta: float


class Ridge(PlainRidge):
    """What those take whose radius has a trace and a determinant form."""

    radius: NotRequired[RadiusForm]
    uniform_in_time: NotRequired[UniformInTime]
    features: NotRequired[Features | None]


class WaryRidge(Ridge, total=False):
    """What linear learners take that may distrust an observation."""

    robust: float | None
    caution: float | None


def ridge_ucb(
    memory: Memory,
    rule: Rule = Bonus(),  # a tuple
    *,
    lam: float,
    S: float,
    L: float,
    R: float,
    delta: float,
    bonus_scale: float = 1.0,
    radius: RadiusForm = "trace",
    uniform_in_time: UniformInTime = False,
    robust: float | None = None,
    caution: float | None = None,
    features: Features | None = None,
    squared: bool = False,
    corruption: float = 0.0,
) -> Optimistic:
    """Ridge regression over what the memory keeps, with the self-normalised radius; `squared` counts Σw² in it."""
    width = self_normalised(radius)(
        lam=lam,
        S=S,
        L=L,
        R=R,
        delta=delta,
        scale=bonus_scale,
        squared=squared,
        uniform=over_time(uniform_in_time),
        corruption=corruption,
    )
    model = ridge_regression(lam, S, robust, caution)
    return on_features_of(features, Optimistic(model=model, memory=memory, radius=width, rule=rule))


def on_features_of(features: Features | None, strategy: Optimistic) -> Optimistic:
    """The strategy itself, or what plays it on the features of a kernel: it serves as a strategy too; its parts are its `base`'s."""
    return strategy if features is None else cast(Optimistic, on_kernel_features(strategy, features))


def ridge_regression(lam: float, S: float, robust: float | None, caution: float | None) -> Model:
    """Ridge regression; with an option in one pass, since an observation is judged by the estimate of its own time."""
    if robust is None and caution is None:
        return Linear(lam=lam)
    return OnePass(link=Identity(), lam=lam, S=S, **wariness(robust, caution))


def wariness(robust: float | None, caution: float | None) -> dict[str, float]:
    """The two fields of a one-pass model by which observations are not taken at face value."""
    if robust is not None:
        positive("robust", robust, "residuals above it are cut: it is a size of rewards")
    if caution is not None:
        positive("caution", caution, "an observation has weight min(1, caution/‖x‖_{V⁻¹})")
    return {"robust": robust or 0.0, "caution": caution or 0.0}


# -------------------------------------------------------------------------------------------------------- generalized linear rewards


class Slopes(NamedTuple):
    """A link and its extreme slopes where |xᵀθ| ≤ LS."""

    link: Any
    k: float
    c: float


def slopes_of(link: Any, S: float, L: float) -> Slopes:
    """The link, found by its name if need be, with its slopes."""
    S, L = positive("S", S, "it bounds the norm of θ"), positive("L", L, "it bounds the norm of every arm")
    chosen = link_of(link)
    return Slopes(chosen, *slopes(chosen, L * S))


def generalized_model(mu: Slopes, lam: float, L: float, projection: Any) -> Generalized:
    """The quasi-likelihood with regulariser λc_μ, from all that counts."""
    return Generalized(link=mu.link, lam=lam, c_mu=mu.c, L=L, projection=projection)


def estimated(model: Generalized, estimator: Estimator | None) -> Model:
    """The model with the estimator that was asked for; without one, exact but in an agent, where it would grow."""
    if estimator not in (None, "exact", "one_pass"):
        raise InvalidValue(
            f"estimator = {estimator!r} is not allowed; it must be 'exact' (from every observation that counts: time and memory of a round "
            "grow with 1/(1−γ) where arms change), 'one_pass' (the time of a linear learner) or None (exact, but one-pass in an Agent)"
        )
    if estimator == "one_pass":
        return in_one_pass(model)
    return model._replace(online=estimator is None)


def noise_of(link: Any, R: float | None) -> float:
    """R, by default ½ where rewards are 0 or 1."""
    if R is None and law(link) != "bernoulli":
        raise InvalidValue(f"R must be given with {type(link).__name__}: it is the sub-Gaussian constant of the noise")
    return 0.5 if R is None else R


class GLMBounds(TypedDict):
    """What is known of a generalized linear world: the link, ‖θ‖ ≤ S, ‖x‖ ≤ L, noise R."""

    link: NotRequired[Any]
    S: float
    L: float
    R: NotRequired[float | None]
    bonus_scale: NotRequired[float]


class GLM(GLMBounds):
    """What every generalized linear learner takes."""

    lam: float
    delta: float
    uniform_in_time: NotRequired[UniformInTime]


class RadiusGLM(GLM, total=False):
    """What those take whose radius has a trace and a determinant form."""

    radius: RadiusForm


class EstimatedGLM(RadiusGLM, total=False):
    """What those take whose estimate may be exact or in one pass."""

    estimator: Estimator | None


def glm_bonus(
    memory: Memory,
    *,
    link: Any = "logistic",
    lam: float,
    S: float,
    L: float,
    R: float | None = None,
    delta: float,
    bonus_scale: float = 1.0,
    radius: RadiusForm = "trace",
    uniform_in_time: UniformInTime = False,
    squared: bool = False,
    projection: Any = None,
    estimator: Estimator | None = None,
) -> Optimistic:
    """Play argmax μ(xᵀθ̃) + (2k_μ/c_μ)·β̄·‖x‖_{V⁻¹}; β̄ is the linear radius with c_μS in place of S."""
    mu = slopes_of(link, S, L)
    scale = bonus_factor(bonus_scale) * 2.0 * mu.k / mu.c
    width = self_normalised(radius)(
        lam=lam,
        S=mu.c * S,
        L=L,
        R=noise_of(mu.link, R),
        delta=delta,
        scale=scale,
        squared=squared,
        uniform=over_time(uniform_in_time),
    )
    model = estimated(generalized_model(mu, lam, L, projection or FixedMetric(S=S)), estimator)
    return Optimistic(model=model, memory=memory, radius=width, rule=Bonus())


def bonus_factor(bonus_scale: float) -> float:
    """The factor of a bonus, if it is one."""
    why = "it multiplies the width of an interval; theory is 1"
    require(bonus_scale >= 0.0, "bonus_scale", bonus_scale, "≥ 0", why)
    return bonus_scale


# -------------------------------------------------------------------------------------------------------- self-concordant rewards


class ConcordantSet(TypedDict):
    """What every self-concordant learner takes: rewards lie in [0, m]."""

    link: NotRequired[Any]
    lam: float
    S: float
    L: float
    m: NotRequired[float | None]
    delta: float
    uniform_in_time: NotRequired[UniformInTime]


class Concordant(ConcordantSet, total=False):
    """What those take that play by a bonus."""

    bonus_scale: float
    variant: Variant


class EstimatedConcordant(Concordant, total=False):
    """What those take whose estimate may be exact or in one pass."""

    estimator: Estimator | None


def concordant_bonus(
    memory: Memory,
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
    squared: bool = False,
) -> Optimistic:
    """Play argmax μ(xᵀθ̃) + 2√(1+2LS)(k_μ/√c_μ)·β̃·‖x‖_{V⁻¹}."""
    mu = concordant(link, S, L)
    scale = bonus_factor(bonus_scale) * 2.0 * math.sqrt(1.0 + 2.0 * L * S) * mu.k / math.sqrt(mu.c)
    if variant not in ("printed", "corrected"):
        raise InvalidValue(f"variant = {variant!r} is not allowed; it must be 'printed' or 'corrected' (resolution G1)")
    corrected = math.sqrt(min(math.exp(min(2.0 * L * S, 700.0)), mu.k / mu.c))
    width = SelfConcordant(
        lam=lam,
        c_mu=mu.c,
        k_mu=mu.k,
        S=S,
        L=L,
        m=largest_reward(mu.link, m),
        delta=delta,
        scale=scale,
        inflation=corrected if variant == "corrected" else 1.0,
        squared=squared,
        uniform=over_time(uniform_in_time),
    )
    model = estimated(generalized_model(mu, lam, L, LocalMetric(S=S)), estimator)
    return Optimistic(model=model, memory=memory, radius=width, rule=Bonus())


def largest_reward(link: Any, m: float | None) -> float:
    """m, by default 1 where rewards are 0 or 1."""
    if m is None and law(link) != "bernoulli":
        raise InvalidValue(
            f"m must be given with {type(link).__name__}: self-concordant bandits need rewards in [0, m]"
        )
    return 1.0 if m is None else m


def concordant(link: Any, S: float, L: float) -> Slopes:
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
