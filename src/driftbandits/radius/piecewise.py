r"""The radius of Lemma `lemma:SCB-PW-confidence-set`: θ_t ∈ C_t for every t at least D rounds after the last change.

    ρ = ((2L²S·k_μ + L·m)/√r)·γ^D/(1−γ)  +  noise terms of β̃ at n = (1−γ^D)/(1−γ)  +  √r·S,      r = λc_μ

D is a parameter, as in the paper's algorithm; 0 means the theorem's D = log T/log(1/γ), so that γ^D = 1/T (resolution C7). The paper prints
(1−γ^{2D})/(1−γ) for n; option `printed` uses that (resolution C6). ρ does not depend on t.
"""

from typing import Any

import numpy as np

from ..core.linalg import Vector
from ..core.parts import Radius
from ..errors import require
from ..protocol import Limits, anytime, beta, limits, wants_horizon
from .checks import check_concordant
from .self_concordant import noise_radius
from .union import ALL, ANYTIME, union


class Piecewise(Radius):
    """ρ, for rewards in [0, m] in a world that changes abruptly; D = 0 takes D from the horizon, else T is γ^{−D} where it is not given."""

    lam: float
    c_mu: float
    k_mu: float
    S: float
    L: float
    m: float
    delta: float
    gamma: float
    scale: float = 1.0
    D: float = 0.0
    printed: float = 0.0
    uniform: float = 0.0

    def check(self) -> None:
        """γ must be below 1, so that observations from before a change lose their weight."""
        require(self.scale >= 0.0, "radius_scale", self.scale, "≥ 0", "it multiplies the radius; theory is 1")
        check_concordant(self)
        given = "> 0 with uniform_in_time='anytime'"
        require(self.D > 0.0 or self.uniform != ANYTIME, "D", self.D, given, "D = log T/log(1/γ) needs the horizon")
        require(self.D >= 0.0, "D", self.D, "≥ 0", "it is a number of rounds; 0 takes log T/log(1/γ)")


@beta.register(Piecewise)
def _(radius: Piecewise, n: Vector, est: Any, horizon: int) -> float:
    # γ^D is the largest weight of an observation made before the last change, D rounds later.
    rest = radius.gamma**radius.D if radius.D > 0.0 else 1.0 / horizon  # γ^D
    rounds = (1.0 - (rest * rest if radius.printed else rest)) / (1.0 - radius.gamma)
    failure = -np.log(radius.delta)
    # With D given and no horizon, T is read off γ^D = 1/T, so log T = −log(γ^D).
    if radius.uniform == ALL and horizon == 0:
        failure -= np.log(rest)
    else:
        failure += union(radius.uniform, horizon)
    lam_c = radius.lam * radius.c_mu
    root = np.sqrt(lam_c)
    L, S, m = radius.L, radius.S, radius.m
    # What observations from before the change can still contribute: their total weight is at most γ^D/(1−γ), each term at most 2L²Sk_μ +
    # Lm.
    bias = (2.0 * L * L * S * radius.k_mu + L * m) / root * rest / (1.0 - radius.gamma)
    noise = noise_radius(lam_c, radius.k_mu, L, m, failure, rounds, est.theta.shape[0])
    return float(radius.scale * (bias + noise + root * S))


@limits.register(Piecewise)
def _(radius: Piecewise) -> Limits:
    return Limits(L=radius.L, low=0.0, high=radius.m)


@wants_horizon.register(Piecewise)
def _(radius: Piecewise) -> bool:
    return radius.D == 0.0


@anytime.register(Piecewise)
def _(radius: Piecewise) -> bool:
    return bool(radius.uniform == ANYTIME)
