"""Options that many algorithms share."""

import math
from typing import Any, Literal, NamedTuple

from ..core.parts import Model
from ..errors import InvalidValue, positive, real, require
from ..links import Identity, concordant_up_to, law, link_of, slopes
from ..model import Generalized, Linear, OnePass
from ..model.one_pass import in_one_pass
from ..radius import SelfConcordant, SelfNormalised, SelfNormalisedDet
from ..radius.union import UniformInTime, over_time

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


# -------------------------------------------------------------------------------------------------------- self-concordant rewards


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


def beta_tilde(
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
        m=largest_reward(mu.link, m),
        delta=delta,
        scale=scale,
        inflation=inflation,
        squared=squared,
        uniform=over_time(uniform),
    )
