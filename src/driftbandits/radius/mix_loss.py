r"""The radii of one-pass learners: for θ_t and H_t of `model.OnePass`, ‖θ_t − θ_*‖_{H_t} ≤ β_t with probability 1 − δ.

    β_t² = aλS² + φη(2 log(1/δ) + Υ_t)                                             `MixLoss`: onepass-proof §2
    β_t² = 4λS² + 2η log(1/δ) + (6η²+η)·d·log(1 + k_μL²n/(λd))                     `PublishedMixLoss`: Zhang et al. 2025, with n = Σw for t

The model maintains Υ ← γΥ + log(1 + k·μ′(z)q). No constant of the link appears; with μ(z) = z this is the method of mixtures. a is 1
for the ridge anchor and 4 for the prox anchor; φ is 1 for Bernoulli and Poisson rewards, R² for the identity link.

The bound holds at each fixed t; `uniform` makes it hold at all t simultaneously (`union`). With γ = 1 it does so without a union bound.
"""

import math
from typing import Any

import numpy as np

from ..core.kernel import sqrt
from ..core.linalg import Vector
from ..core.parts import Radius
from ..errors import InvalidValue
from ..protocol import Limits, anytime, beta, limits, noise_size, wants_horizon
from .checks import check_fields
from .union import ALL, ANYTIME, union


class MixLoss(Radius):
    """β from the mix loss, for rewards ≥ 0 (`counts` = 1), or in [0, top] (`top` > 0), or any."""

    lam: float
    S: float
    L: float
    delta: float
    eta: float = 1.0
    phi: float = 1.0
    anchor: float = 1.0
    scale: float = 1.0
    uniform: float = 0.0
    counts: float = 0.0
    top: float = 0.0

    def check(self) -> None:
        """Refuse constants outside the theorem's assumptions."""
        check_fields(self)


class PublishedMixLoss(Radius):
    """β of GLB-OMD with its published constants; the same limits of rewards."""

    lam: float
    S: float
    L: float
    k_mu: float
    delta: float
    eta: float
    scale: float = 1.0
    uniform: float = 0.0
    counts: float = 0.0
    top: float = 0.0

    def check(self) -> None:
        """Refuse constants outside the theorem's assumptions."""
        check_fields(self)


@beta.register(MixLoss)
def _(radius: MixLoss, n: Vector, est: Any, horizon: int) -> float:
    failure = union(radius.uniform, horizon) - np.log(radius.delta)
    # Υ is a sum over rounds of the realised curvature, so β adapts to how informative the rounds were; the published form below bounds it
    # by the worst case.
    noise = radius.phi * radius.eta * (2.0 * failure + est.upsilon[0])
    return float(radius.scale * sqrt(radius.anchor * radius.lam * radius.S * radius.S + noise))


@beta.register(PublishedMixLoss)
def _(radius: PublishedMixLoss, n: Vector, est: Any, horizon: int) -> float:
    d, eta, lam = est.theta.shape[0], radius.eta, radius.lam
    failure = union(radius.uniform, horizon) - np.log(radius.delta)
    volume = d * np.log(1.0 + radius.k_mu * radius.L * radius.L * n[0] / (lam * d))
    square = 4.0 * lam * radius.S * radius.S + 2.0 * eta * failure + (6.0 * eta * eta + eta) * volume
    return float(radius.scale * sqrt(square))


@limits.register(MixLoss, PublishedMixLoss)
def _(radius: Any) -> Limits:
    low = 0.0 if radius.counts or radius.top > 0.0 else -math.inf
    return Limits(L=radius.L, low=low, high=radius.top if radius.top > 0.0 else math.inf)


@noise_size.register(MixLoss, PublishedMixLoss)
def _(radius: Any) -> float:
    if radius.counts or radius.top > 0.0:
        raise InvalidValue(
            "sigma is not allowed: the noise of these rewards follows from their mean; give weight=… instead"
        )
    return math.sqrt(getattr(radius, "phi", 1.0))


@wants_horizon.register(MixLoss, PublishedMixLoss)
def _(radius: Any) -> bool:
    return bool(radius.uniform == ALL)


@anytime.register(MixLoss, PublishedMixLoss)
def _(radius: Any) -> bool:
    return bool(radius.uniform == ANYTIME)
