"""Distributions of rewards. Each uses one random number per round, so that all algorithms of a trial share its noise (resolution A10)."""

import math
from typing import Any, NamedTuple

import numpy as np

from ..core.kernel import generic, part
from ..core.linalg import Vector
from ..errors import require
from ..links import mu


@generic
def draws(reward: Any, rng: np.random.Generator, m: int) -> Vector:
    """The random numbers of m rounds. (Python only.)"""


@generic
def expected(reward: Any, z: float) -> float:
    """Expected reward at z = xᵀθ; increasing in z."""


@generic
def respond(reward: Any, z: float, u: float) -> float:
    """The reward at z = xᵀθ, given the round's random number."""


@generic
def reward_range(reward: Any) -> tuple[float, float]:
    """The least and the largest possible reward. (Python only; by default −∞ and ∞.)"""
    return -math.inf, math.inf


@part
class Gaussian(NamedTuple):
    """xᵀθ + σ·N(0, 1)."""

    sigma: float

    def check(self) -> None:
        """σ is a standard deviation."""
        require(self.sigma >= 0.0, "noise", self.sigma, "≥ 0", "it is the standard deviation of the noise")


@draws.register(Gaussian)
def _(reward: Gaussian, rng: np.random.Generator, m: int) -> Vector:
    return rng.standard_normal(m)


@expected.register(Gaussian)
def _(reward: Gaussian, z: float) -> float:
    return z


@respond.register(Gaussian)
def _(reward: Gaussian, z: float, u: float) -> float:
    return z + reward.sigma * u


# ------------------------------------------------------------------------------------------------------------- through a link


@part
class Bernoulli(NamedTuple):
    """1 with probability μ(xᵀθ), else 0."""

    link: Any


@part
class PoissonCounts(NamedTuple):
    """Poisson with mean μ(xᵀθ)."""

    link: Any


@part
class GaussianThrough(NamedTuple):
    """μ(xᵀθ) + σ·N(0, 1)."""

    link: Any
    sigma: float

    def check(self) -> None:
        """σ is a standard deviation."""
        require(self.sigma >= 0.0, "noise", self.sigma, "≥ 0", "it is the standard deviation of the noise")


@draws.register(Bernoulli, PoissonCounts)
def _(reward: Any, rng: np.random.Generator, m: int) -> Vector:
    return rng.random(m)


@reward_range.register(Bernoulli)
def _(reward: Bernoulli) -> tuple[float, float]:
    return 0.0, 1.0


@reward_range.register(PoissonCounts)
def _(reward: PoissonCounts) -> tuple[float, float]:
    return 0.0, math.inf


@draws.register(GaussianThrough)
def _(reward: GaussianThrough, rng: np.random.Generator, m: int) -> Vector:
    return rng.standard_normal(m)


@expected.register(Bernoulli, PoissonCounts, GaussianThrough)
def _(reward: Any, z: float) -> float:
    return mu(reward.link, z)


@respond.register(Bernoulli)
def _(reward: Bernoulli, z: float, u: float) -> float:
    return 1.0 if u < mu(reward.link, z) else 0.0


@respond.register(GaussianThrough)
def _(reward: GaussianThrough, z: float, u: float) -> float:
    return mu(reward.link, z) + reward.sigma * u


@respond.register(PoissonCounts)
def _(reward: PoissonCounts, z: float, u: float) -> float:
    # Inversion: the smallest k with P(N ≤ k) > u, summed from where the lower tail is below 1e-30.
    m = mu(reward.link, z)
    k: float = max(0.0, np.floor(m - 12.0 * np.sqrt(m)))
    p = math.exp(k * math.log(m) - m - math.lgamma(k + 1.0)) if m > 0.0 else 1.0
    total = p
    last = m + 12.0 * np.sqrt(m) + 60.0
    while total <= u and k < last:
        k += 1.0
        p *= m / k
        total += p
    return k
