r"""The radius around a posterior mean, from the self-normalised inequality with the prior's precision as its regulariser.

    σβ,     β = B₀ + √( 2 log(1/δ) + log det Λ̃ − log det Λ₀ ),      B₀ ≥ ‖m₀ − θ‖_{Λ₀}

For each fixed round, θ standing still and a refreshed prior: Λ(m−θ) = Λ₀(m₀−θ) + Σ w x·noise/σ; the first term has norm ≤ B₀ in Λ̃⁻¹ since
Λ̃ ⪰ Λ₀, the second is Theorem 1 of Abbasi-Yadkori et al. (2011). With m₀ = 0, Λ₀ = (λ/σ²)I and B₀ = √λS/σ it is D-LinUCB's, in determinant
form. Where the prior fades no bounded radius is known, and the same formula is a heuristic.

Without a B₀ the prior is taken at its word: θ ~ N(m₀, Λ₀⁻¹) has ‖m₀−θ‖²_{Λ₀} ~ χ²_d, and with probability 1 − δ (Laurent and Massart 2000)

    B₀² = d + 2√(d·log(1/δ)) + 2 log(1/δ)

`plain` radii are σ alone: then σ‖x‖_{V⁻¹ṼV⁻¹} is the standard deviation that randomised rules draw from.
"""

import math
from typing import Any

import numpy as np

from ..core.kernel import sqrt
from ..core.linalg import Vector
from ..core.parts import Radius
from ..errors import positive, probability, require
from ..protocol import Limits, beta, limits, noise_size, wants_squares


class Posterior(Radius):
    """σβ for estimates that know the volume their data have added to a prior."""

    sigma: float
    delta: float
    B0: float = -1.0  # negative: what a θ drawn from the prior has
    scale: float = 1.0
    plain: float = 0.0  # 1: β = 1, the posterior's own width

    def check(self) -> None:
        """Refuse constants outside the inequality's assumptions."""
        positive("sigma", self.sigma, "it is the sub-Gaussian constant of the noise")
        probability("delta", self.delta)
        require(self.scale >= 0.0, "bonus_scale", self.scale, "≥ 0", "it multiplies the width of an interval")


@beta.register(Posterior)
def _(radius: Posterior, n: Vector, est: Any, horizon: int) -> float:
    if radius.plain:
        return radius.scale * radius.sigma
    d, failure = est.theta.shape[0], -np.log(radius.delta)
    away = radius.B0
    if away < 0.0:
        away = sqrt(d + 2.0 * sqrt(d * failure) + 2.0 * failure)
    return radius.scale * radius.sigma * (away + sqrt(2.0 * failure + max(est.volume[0], 0.0)))


@limits.register(Posterior)
def _(radius: Posterior) -> Limits:
    return Limits(L=math.inf, low=-math.inf, high=math.inf)


@noise_size.register(Posterior)
def _(radius: Posterior) -> float:
    return radius.sigma


@wants_squares.register(Posterior)
def _(radius: Posterior) -> bool:
    return True
