"""Linear bandits that start from what is known: weighted sequential Bayes. All arguments are keyword-only. Common to all:

prior_mean, prior_precision
    θ ~ N(m₀, Λ₀⁻¹) before the first reward: m₀ (d,), by default 0; Λ₀ (d, d), its diagonal (d,), or one number for all directions.
    The inverse of the covariance that last year's regression reported is what belongs here.
sigma
    Standard deviation (sub-Gaussian constant) of the noise.
prior
    "refreshed": the prior keeps its full weight for ever; right if it is about the world as such. "fading": it is forgotten like an
    observation of the first round; right for every m₀ ≠ 0 in a world that moves.
B0, delta
    A bound of ‖m₀−θ‖_{Λ₀}, by default that of a θ drawn from the prior, with probability 1−δ; failure probability δ of a round's interval.
gamma or half_life, bonus_scale, features
    As for all linear bandits; with `features` the prior is about their parameter.
"""

from collections.abc import Sequence
from typing import Any, Literal, NotRequired, TypedDict, Unpack

import numpy as np
from numpy.typing import NDArray

from ..core.frozen_array import Frozen
from ..core.parts import Rule
from ..errors import InvalidShape, InvalidValue, positive, require
from ..model import WeightedBayes
from ..model.bayes import FAINT
from ..radius import Posterior
from ..rule import RandomisedBonus, SandwichBonus, ThompsonSampling
from ..strategy import Optimistic
from .kernel_features import Features
from .options import discounted, on_features_of
from .record import algorithm, algorithms_of
from .tuning import LB

Forgets = Literal["refreshed", "fading"]
Numbers = float | Sequence[float] | Sequence[Sequence[float]] | NDArray[Any]
REMEMBERS = "γ^age, and a prior that stays or fades"
SMALL_WSB: dict[str, Any] = {
    "gamma": 0.95,
    "prior_mean": [0.5, 0.0, -0.5],
    "prior_precision": 4.0,
    "sigma": 0.5,
    "delta": 0.05,
}


class Prior(TypedDict):
    """What is known before the first reward, and how fast it is forgotten."""

    gamma: NotRequired[float | None]
    half_life: NotRequired[float | None]
    prior_mean: NotRequired[Numbers]
    prior_precision: NotRequired[Numbers]
    sigma: float
    prior: NotRequired[Forgets]
    features: NotRequired[Features | None]


def _bayes(
    radius: Posterior,
    rule: Rule,
    *,
    gamma: float | None = None,
    half_life: float | None = None,
    prior_mean: Numbers = 0.0,
    prior_precision: Numbers = 1.0,
    sigma: float,
    prior: Forgets = "refreshed",
    features: Features | None = None,
) -> Optimistic:
    """The discounted posterior of this prior, the prior checked."""
    if prior not in ("refreshed", "fading"):
        raise InvalidValue(
            f"prior = {prior!r} is not allowed; it must be 'refreshed' (it stays) or 'fading' (it is forgotten)"
        )
    keep = 1.0 if prior == "refreshed" else FAINT
    mean, precision = Frozen("prior_mean", prior_mean), Frozen("prior_precision", prior_precision)
    if mean.array.ndim > 1:
        raise InvalidShape(f"prior_mean has shape {mean.array.shape}; it must be (d,), or one number")
    if mean.array.ndim and precision.array.ndim and len(precision.array) != len(mean.array):
        d = len(mean.array)
        raise InvalidShape(
            f"prior_precision has shape {precision.array.shape}; prior_mean has {d} numbers: it must be ({d}, {d}) or ({d},)"
        )
    noise = positive("sigma", sigma, "it is the standard deviation of the noise")
    lam = keep * noise**2 * _smallest(precision)
    model = WeightedBayes(mean=mean, precision=precision, sigma=noise, keep=keep, lam=lam)
    found = Optimistic(model=model, memory=discounted(gamma, half_life), radius=radius, rule=rule)
    return on_features_of(features, found)


@algorithm(
    family="linear",
    remembers=REMEMBERS,
    plays="xᵀm + β‖x‖_Q, Q = Λ⁻¹Λ̃Λ⁻¹",
    regret="d^{7/8} P_T^{1/4} T^{3/4}, refreshed prior",
    papers=("werge2026weighted",),
    example=SMALL_WSB,
    tuned_by=LB,
    world="linear",
    defaults_of=_bayes,
)
def wsb_lin_ucb(
    *, B0: float | None = None, delta: float, bonus_scale: float = 1.0, **options: Unpack[Prior]
) -> Optimistic:
    """WSB-LinUCB: optimism around a discounted posterior (Werge, Wu, Akgül, Kandemir 2026).

        Λ ← γΛ + (1−γ)Λ₀ + xxᵀ/σ²,   Λ̃ ← γ²Λ̃ + (1−γ²)Λ₀ + xxᵀ/σ²,   Λm ← γΛm + (1−γ)Λ₀m₀ + rx/σ²
        play argmax xᵀm + β‖x‖_Q,   Q = Λ⁻¹Λ̃Λ⁻¹,   β = B₀ + √(2 log(1/δ) + log det Λ̃ − log det Λ₀)

    The recursion and the radius are our derivation from the abstract (successors §C); `model.bayes` has the fading form. With m₀ = 0,
    Λ₀ = (λ/σ²)I and B₀ = √λS/σ this is `d_lin_ucb(radius="det")`. Where the prior fades, β is a heuristic.

    Examples
    --------
    >>> import driftbandits as db
    >>> known = wsb_lin_ucb(half_life=200, prior_mean=[0.2, 0.8], prior_precision=50.0, sigma=0.3, delta=0.05, prior="fading")
    >>> agent = db.Agent(known, dim=2)
    >>> agent.select([[1.0, 0.0], [0.0, 1.0]])  # the second arm, before the first reward
    1
    """
    width = Posterior(sigma=options["sigma"], delta=delta, B0=_bound(given=B0), scale=bonus_scale)
    return _bayes(width, SandwichBonus(), **options)


@algorithm(
    family="linear",
    remembers=REMEMBERS,
    plays="xᵀm + a·Z·‖x‖_Q, Z ~ N(0, 1)",
    regret="better than D-RandLinUCB's, says its abstract; not checked",
    papers=("werge2026weighted",),
    example=SMALL_WSB,
    randomised=True,
    tuned_by=LB,
    world="linear",
    defaults_of=_bayes,
)
def wsb_rand_lin_ucb(
    *, B0: float | None = None, delta: float = 0.05, a: float | None = 1.0, **options: Unpack[Prior]
) -> Optimistic:
    """WSB-RandLinUCB: the posterior's width times one normal number per round (Werge, Wu, Akgül, Kandemir 2026).

        play argmax xᵀm + a·Z·‖x‖_Q,   one Z ~ N(0, 1) per round, shared by all arms

    `a=None` takes the theory's a = β_t of `wsb_lin_ucb`, with B₀ and δ; a = 1 is the posterior itself.
    """
    return _bayes(_drawn(options["sigma"], delta, B0, a), RandomisedBonus(), **options)


@algorithm(
    family="linear",
    remembers=REMEMBERS,
    plays="xᵀθ̃, θ̃ drawn from the posterior",
    regret="better than D-LinTS's, says its abstract; not checked",
    papers=("werge2026weighted",),
    example=SMALL_WSB,
    randomised=True,
    tuned_by=LB,
    world="linear",
    defaults_of=_bayes,
)
def wsb_lin_ts(
    *, B0: float | None = None, delta: float = 0.05, a: float | None = 1.0, **options: Unpack[Prior]
) -> Optimistic:
    """WSB-LinTS: Thompson sampling from a discounted posterior (Werge, Wu, Akgül, Kandemir 2026).

        θ̃ = m + a·Q^{1/2}z,  z ~ N(0, I),   play argmax xᵀθ̃

    From the first round on: the prior is what D-LinTS's random start would have to find. `a=None` takes a = β_t of `wsb_lin_ucb`.
    """
    return _bayes(_drawn(options["sigma"], delta, B0, a), ThompsonSampling(uniform=0.0), **options)


def _smallest(precision: Frozen) -> float:
    """The smallest eigenvalue of Λ₀, which must be symmetric and positive definite."""
    values = precision.array
    if values.ndim > 2 or (values.ndim == 2 and values.shape[0] != values.shape[1]) or values.size == 0:
        raise InvalidShape(f"prior_precision has shape {values.shape}; it must be (d, d), (d,), or one number")
    if values.ndim == 2 and np.abs(values - values.T).max() > 1e-12 * np.abs(values).max():
        raise InvalidValue("prior_precision must be symmetric: it is the inverse of a covariance")
    least = float(np.linalg.eigvalsh(values)[0] if values.ndim == 2 else values.min())
    why = "the prior must have a finite variance in every direction; it is the inverse of a covariance"
    require(least > 0.0, "the smallest eigenvalue of prior_precision", least, "> 0", why)
    return least


def _bound(given: float | None) -> float:
    """B₀, or the sign that it is the prior's own."""
    if given is None:
        return -1.0
    require(given >= 0.0, "B0", given, "≥ 0, or None for that of a θ drawn from the prior", "it bounds ‖m₀−θ‖_{Λ₀}")
    return given


def _drawn(sigma: float, delta: float, B0: float | None, a: float | None) -> Posterior:
    """The width that is multiplied by a random number: a·σ, or the theory's."""
    if a is None:
        return Posterior(sigma=sigma, delta=delta, B0=_bound(given=B0))
    require(a >= 0.0, "a", a, "≥ 0, or None for the theory's β", "it scales a symmetric perturbation")
    return Posterior(sigma=sigma, delta=delta, scale=a, plain=1.0)


__all__ = algorithms_of(__name__)
