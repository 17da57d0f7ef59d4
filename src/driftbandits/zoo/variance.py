"""Rounds weighted by how noisy they are: the smaller the noise of a round, the more it counts."""

import math
from typing import Unpack

from ..errors import integer, positive, require
from ..strategy import Optimistic
from .kernel_features import Features
from .linear import BONUS, SMALL, restart_ucb
from .options import PlainRidge, ridge_ucb
from .record import algorithm, algorithms_of
from .tuning import LB


@algorithm(
    family="linear",
    remembers="since the last restart; uncertain directions are down-weighted",
    plays=BONUS,
    regret="variance-dependent (its authors); here each round's interval, for noise of known size",
    papers=("zhou2022computationally", "he2022nearly"),
    example={"lam": 1.0, "S": 1.0, "L": 1.0, "delta": 0.05, "period": 10, "sigma": 0.5, "R": SMALL["R"], "dim": 3},
    tuned_by=LB,
    world="linear",
    defaults_of=ridge_ucb,
)
def restart_weighted_oful(
    *,
    period: int,
    dim: int,
    sigma: float,
    trust: float | None = None,
    features: Features | None = None,
    **options: Unpack[PlainRidge],
) -> Optimistic:
    """Restarted WeightedOFUL⁺: variance-weighted least squares, restarted every `period` rounds (after Zhou, Gu 2022).

        σ̄_t² = max{σ², c²‖x_t‖_{V⁻¹}},   V ← V + x xᵀ/σ̄_t²,   b ← b + r x/σ̄_t²,   play argmax xᵀθ̂ + β‖x‖_{V⁻¹}

    in units of σ: with V′ = σ²V an observation has weight min(1, κ/‖x‖_{V′⁻¹}), κ = σ/c². `trust` is κ, by default the published σ√d/R
    (c² = R/√d); `trust=math.inf` is `restart_ucb` with R = σ. In an `Agent` an update may say its own `sigma`, by which the weight is
    multiplied: (sigma of the strategy/its own)². β is that of sub-Gaussian noise of size σ; the published Bernstein constants, for noise
    bounded by R of variance σ², were not at hand.

    Parameters
    ----------
    sigma, R
        Size of the noise, and the bound of it that the published κ is made of.

    Examples
    --------
    >>> strategy = restart_weighted_oful(period=100, dim=4, sigma=0.1, R=0.4, lam=1, S=1, L=1, delta=0.01)
    >>> strategy.model.caution  # κ = σ√d/R
    0.5
    """
    size = positive("sigma", sigma, "it is the size of the noise")
    bound = positive("R", options["R"], "it bounds the noise")
    require(size <= bound, "sigma", sigma, f"≤ R = {bound:g}", "R bounds the noise")
    d = integer("dim", dim, least=1, why="it is the number of features d")
    kappa = size * math.sqrt(d) / bound if trust is None else trust
    caution = None if math.isinf(kappa) else kappa
    options["R"] = size
    return restart_ucb(period=period, caution=caution, features=features, **options)


__all__ = algorithms_of(__name__)
