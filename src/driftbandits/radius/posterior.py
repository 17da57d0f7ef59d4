r"""The radius around a posterior mean, from the self-normalised inequality with the prior's precision as its regulariser.

    σβ,     β = B₀ + √( 2 log(1/δ) + log det Λ̃ − log det Λ₀ ),      B₀ ≥ ‖m₀ − θ‖_{Λ₀}

The bound holds in each fixed round, for constant θ and a refreshed prior. In Λ(m−θ) = Λ₀(m₀−θ) + Σ w x·noise/σ the first term has norm ≤ B₀
in Λ̃⁻¹, since Λ̃ ⪰ Λ₀, and the second is bounded by Theorem 1 of Abbasi-Yadkori et al. (2011). With m₀ = 0, Λ₀ = (λ/σ²)I and B₀ = √λS/σ it is
D-LinUCB's radius, in determinant form. For a fading prior no bounded radius is known, and the same formula is a heuristic.

If B₀ is not given, θ is assumed to be drawn from the prior: ‖m₀−θ‖²_{Λ₀} ~ χ²_d, and with probability 1 − δ (Laurent and Massart 2000)

    B₀² = d + 2√(d·log(1/δ)) + 2 log(1/δ)

A `plain` radius is σ alone: σ‖x‖_{V⁻¹ṼV⁻¹} is the standard deviation with which randomised rules sample.
"""

import math
from typing import Any

import numpy as np

from ..core.kernel import sqrt
from ..core.linalg import Vector
from ..core.parts import Radius
from ..protocol import Limits, beta, limits, noise_size, wants_squares
from .checks import check_fields


class Posterior(Radius):
    """σβ, for estimates with a field `volume`: log det Λ̃ − log det Λ₀, or a bound of it."""

    sigma: float
    delta: float
    B0: float = -1.0  # negative: the bound for a θ drawn from the prior
    scale: float = 1.0
    plain: float = 0.0  # 1: β = 1, the posterior's own standard deviation

    def check(self) -> None:
        """Refuse constants outside the inequality's assumptions."""
        check_fields(self)


@beta.register(Posterior)
def _(radius: Posterior, n: Vector, est: Any, horizon: int) -> float:
    if radius.plain:
        return radius.scale * radius.sigma
    d, failure = est.theta.shape[0], -np.log(radius.delta)
    away = radius.B0
    if away < 0.0:
        # A negative B₀ means "θ is drawn from the prior": the Laurent–Massart bound of a χ²_d variable replaces a bound given by the
        # user.
        away = sqrt(d + 2.0 * sqrt(d * failure) + 2.0 * failure)
    # `volume` may be rounded below 0 while the data have added nothing to the prior.
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
