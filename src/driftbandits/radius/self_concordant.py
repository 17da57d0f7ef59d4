r"""The radius of Lemma 3, from the self-normalised inequality of Faury et al. (2020, Theorem 1) for rewards in [0, m].

    β̃_{t−1} = √ρ/(2m) + (2m/√ρ)(log(1/δ) + d·log 2) + (dm/√ρ)·log(1 + L²k_μn/(ρd)) + √ρ·S,      ρ = λc_μ,  n = Σ_{s<t} w_{t−1,s}

`inflation`   multiplies the first three terms, which bound the noise. It is 1 as printed, and √min(e^{2LS}, k_μ/c_μ) as corrected, because
              the noise of round s has the variance of θ_s while the norm is that of θ_t (resolution G1).
`squared`     n = Σ w² (resolution A2);   `uniform`   union bound over rounds (resolution A5; `union`).
`scale`       multiplies the whole radius; the bonus of SCB-WeightUCB uses 2√(1+2LS)·k_μ/√c_μ.
"""

from typing import Any

import numpy as np

from ..core.kernel import kernel
from ..core.linalg import Vector, norm
from ..core.parts import Radius
from ..protocol import Limits, anytime, beta, limits, wants_horizon
from .checks import check_concordant
from .union import ALL, ANYTIME, union


class SelfConcordant(Radius):
    """β̃, for rewards in [0, m]."""

    lam: float
    c_mu: float
    k_mu: float
    S: float
    L: float
    m: float
    delta: float
    scale: float = 1.0
    inflation: float = 1.0
    squared: float = 0.0
    uniform: float = 0.0

    def check(self) -> None:
        """All constants must be positive, and L ≤ 1."""
        check_concordant(self)


class ProjectionFree(Radius):
    """scale·(1+D̂)·β̃, or scale·√(1+D̂)·β̃ while ‖θ̂‖ ≤ S: a bound of |μ(xᵀθ̂) − μ(xᵀθ)| when θ̂ may lie outside the ball.

    D̂ = min{D̄(b), L(S+‖θ̂‖)},  D̄(b) = (b² + b√(b²+4))/2,  b = Lβ̃/√(λc_μ)      (theory §1 iv; idea: Russac et al. 2021; constants ours)
    """

    confidence: SelfConcordant  # with scale 1
    scale: float


@kernel
def noise_radius(lam_c: float, k_mu: float, L: float, m: float, failure: float, rounds: float, d: int) -> float:
    """The first three terms of β̃, with failure = log(1/δ)."""
    # The terms of Theorem 1 of Faury et al. (2020), in its order; the last bounds log det H/(ρ^d) by its trace.
    root = np.sqrt(lam_c)
    width = 0.5 * root / m + 2.0 * m / root * (failure + d * np.log(2.0))
    return float(width + d * m / root * np.log(1.0 + L * L * k_mu * rounds / (lam_c * d)))


@kernel
def spread(b: float, L: float, reach: float) -> float:
    """D̂ = min{D̄(b), L·reach}: an upper bound of |xᵀθ − xᵀθ̂|."""
    return float(min(0.5 * (b * b + b * np.sqrt(b * b + 4.0)), L * reach))


@beta.register(SelfConcordant)
def _(radius: SelfConcordant, n: Vector, est: Any, horizon: int) -> float:
    failure = union(radius.uniform, horizon) - np.log(radius.delta)
    lam_c = radius.lam * radius.c_mu
    rounds = n[1] if radius.squared else n[0]
    # Only the noise terms are inflated: √(λc_μ)S bounds the regulariser, which has no variance.
    noise = noise_radius(lam_c, radius.k_mu, radius.L, radius.m, failure, rounds, est.theta.shape[0])
    return float(radius.scale * (radius.inflation * noise + np.sqrt(lam_c) * radius.S))


@beta.register(ProjectionFree)
def _(radius: ProjectionFree, n: Vector, est: Any, horizon: int) -> float:
    sure = radius.confidence
    width = beta(sure, n, est, horizon)
    size = norm(est.theta)
    # Inside the ball the smaller factor √(1+D̂) is enough (theory §1 iv).
    stretch = 1.0 + spread(sure.L * width / np.sqrt(sure.lam * sure.c_mu), sure.L, sure.S + size)
    return float(radius.scale * width * (np.sqrt(stretch) if size <= sure.S else stretch))


@limits.register(SelfConcordant)
def _(radius: SelfConcordant) -> Limits:
    return Limits(L=radius.L, low=0.0, high=radius.m)


@limits.register(ProjectionFree)
def _(radius: ProjectionFree) -> Limits:
    return limits(radius.confidence)


@wants_horizon.register(SelfConcordant)
def _(radius: SelfConcordant) -> bool:
    return bool(radius.uniform == ALL)


@wants_horizon.register(ProjectionFree)
def _(radius: ProjectionFree) -> bool:
    return wants_horizon(radius.confidence)


@anytime.register(SelfConcordant)
def _(radius: SelfConcordant) -> bool:
    return bool(radius.uniform == ANYTIME)


@anytime.register(ProjectionFree)
def _(radius: ProjectionFree) -> bool:
    return anytime(radius.confidence)
