"""How rewards are drawn. Every kind uses one random number a round, so that all algorithms of a trial share its noise (resolution A10)."""

from typing import Any, NamedTuple

import numpy as np

from ..errors import require
from ..kernel import generic, part
from ..linalg import Vector


@generic
def draws(reward: Any, rng: np.random.Generator, m: int) -> Vector:
    """The random numbers of m rounds. (Python only.)"""


@generic
def expected(reward: Any, z: float) -> float:
    """Expected reward at z = xᵀθ; increasing in z."""


@generic
def respond(reward: Any, z: float, u: float) -> float:
    """The reward at z = xᵀθ, given the round's random number."""


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
