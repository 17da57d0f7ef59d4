r"""The radius of Lemma 1, from the self-normalised inequality of Abbasi-Yadkori et al. (2011, Theorem 1).

    β_{t−1} = √λ·S + R·√( 2 log(1/δ) + d·log(1 + L²·n/(λd)) ),      n = Σ_{s<t} w_{t−1,s}                    (trace form)
    β_{t−1} = √λ·S + R·√( 2 log(1/δ) + log det V_{t−1} − d·log λ )                                            (determinant form)

The determinant form is never larger (Lemma `lemma:det-inequality`). Options:

- `squared` uses n = Σ w² and Ṽ instead of V. This is valid and smaller for every discounted learner, because Ṽ ⪯ V (resolution A2); the
  paper uses it for D-LinUCB.
- `uniform` makes the radius hold for all t simultaneously. The inequality alone holds for each fixed t, because the weights change with t
  (resolution A5; Wu 2026); a union bound is added, over the horizon or over all t (`union`).
- `scale` multiplies the whole radius; the theory has scale = 1.
- `corruption` = cC is added if rewards may be corrupted by C in total and every observation has weight at most c/‖x‖_{V⁻¹}, because then
  ‖Σ w·corruption·x‖_{V⁻¹} ≤ cC (He et al. 2022).
"""

import math
from typing import Any

import numpy as np

from ..core.kernel import kernel, sqrt
from ..core.linalg import Vector, log_det
from ..core.parts import Radius
from ..protocol import Limits, anytime, beta, limits, noise_size, wants_horizon, wants_squares
from .checks import check_fields
from .union import ALL, ANYTIME, union


class SelfNormalised(Radius):
    """β in trace form, which needs only the effective number of rounds n."""

    lam: float
    S: float
    L: float
    R: float
    delta: float
    scale: float = 1.0
    squared: float = 0.0
    uniform: float = 0.0
    corruption: float = 0.0

    def check(self) -> None:
        """Refuse constants outside the lemma's assumptions."""
        check_fields(self)


class SelfNormalisedDet(Radius):
    """β in determinant form, which is never larger than the trace form."""

    lam: float
    S: float
    L: float
    R: float
    delta: float
    scale: float = 1.0
    squared: float = 0.0
    uniform: float = 0.0
    corruption: float = 0.0

    def check(self) -> None:
        """Refuse constants outside the lemma's assumptions."""
        check_fields(self)


@kernel
def _width(radius: Any, volume: float, horizon: int) -> float:
    """scale·(√λ·S + corruption + R·√(2 log(1/δ) + volume))."""
    # A union bound over rounds enters as log(1/δ) plus a term, so a radius for all rounds differs from one for each round by √log T.
    failure = union(radius.uniform, horizon) - np.log(radius.delta)
    reach = sqrt(radius.lam) * radius.S + radius.corruption
    width: float = radius.scale * (reach + radius.R * sqrt(2.0 * failure + volume))
    return width


@beta.register(SelfNormalised)
def _(radius: SelfNormalised, n: Vector, est: Any, horizon: int) -> float:
    d = est.theta.shape[0]
    rounds = n[1] if radius.squared else n[0]
    # det V ≤ (λ + L²n/d)^d by the inequality of arithmetic and geometric means on the eigenvalues of V.
    return _width(radius, d * np.log(1.0 + radius.L * radius.L * rounds / (radius.lam * d)), horizon)


@beta.register(SelfNormalisedDet)
def _(radius: SelfNormalisedDet, n: Vector, est: Any, horizon: int) -> float:
    # The noise of the discounted sum has covariance Σ w²xxᵀ; Ṽ is its natural normaliser, and Ṽ ⪯ V since w ≤ 1.
    factor = est.factor2 if radius.squared else est.factor
    return _width(radius, log_det(factor) - est.theta.shape[0] * np.log(radius.lam), horizon)


@limits.register(SelfNormalised, SelfNormalisedDet)
def _(radius: Any) -> Limits:
    return Limits(L=radius.L, low=-math.inf, high=math.inf)


@noise_size.register(SelfNormalised, SelfNormalisedDet)
def _(radius: Any) -> float:
    return float(radius.R)


@wants_squares.register(SelfNormalisedDet)
def _(radius: SelfNormalisedDet) -> bool:
    return bool(radius.squared)


@wants_horizon.register(SelfNormalised, SelfNormalisedDet)
def _(radius: Any) -> bool:
    return bool(radius.uniform == ALL)


@anytime.register(SelfNormalised, SelfNormalisedDet)
def _(radius: Any) -> bool:
    return bool(radius.uniform == ANYTIME)
