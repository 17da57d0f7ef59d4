"""Weighted ridge regression, the estimator of all linear bandits (paper, Section 3).

    V_t = λI + Σ_{s≤t} w_{t,s} x_s x_sᵀ,      b_t = Σ_{s≤t} w_{t,s} r_s x_s,      θ̂_{t+1} = V_t⁻¹ b_t

The sums hold V − λI: the printed recursion V ← γV + xxᵀ + (1−γ)λI only keeps the λI that we add when factoring.
"""

from typing import Any, NamedTuple

import numpy as np

from ..errors import positive
from ..kernel import part
from ..linalg import Vector, add_outer, cholesky, scale, scale_vector, solve
from ..protocol import Estimate, Moments, Setting, absorb, estimate, estimate_of, fade, mean, sums_of


@part
class Linear(NamedTuple):
    """Rewards xᵀθ + noise, estimated by ridge regression with λ > 0."""

    lam: float

    def check(self) -> None:
        """V must be invertible before the first observation."""
        positive("lam", self.lam, "V = λI must be invertible in round 1")


@sums_of.register(Linear)
def blank_moments(model: Any, setting: Setting, room: int, squares: bool) -> Moments:
    """Allocate the moments; those of squared weights only if asked for."""
    d = setting.dim
    d2 = d if squares else 0
    return Moments(n=np.zeros(2), A=np.zeros((d, d)), A2=np.zeros((d2, d2)), b=np.zeros(d))


@estimate_of.register(Linear)
def blank_estimate(model: Any, setting: Setting, squares: bool) -> Estimate:
    """Allocate an estimate; the factor of Ṽ only if asked for."""
    d = setting.dim
    d2 = d if squares else 0
    return Estimate(theta=np.zeros(d), factor=np.zeros((d, d)), factor2=np.zeros((d2, d2)))


@fade.register(Moments)
def _(sums: Moments, g: float) -> None:
    scale_vector(sums.b, g)
    scale(sums.A, g)
    scale(sums.A2, g * g)
    sums.n[0] *= g
    sums.n[1] *= g * g


@absorb.register(Moments)
def _(sums: Moments, x: Vector, r: float, slot: int, sign: float) -> None:
    add_outer(sums.A, x, sign)
    add_outer(sums.A2, x, sign)
    for i in range(x.shape[0]):
        sums.b[i] += sign * r * x[i]
    sums.n[0] += sign
    sums.n[1] += sign


@estimate.register(Linear)
def _(model: Linear, sums: Moments, est: Estimate) -> None:
    cholesky(sums.A, model.lam, est.factor)
    cholesky(sums.A2, model.lam, est.factor2)
    solve(est.factor, sums.b, est.theta)


@mean.register(Linear)
def _(model: Linear, z: float) -> float:
    return z
