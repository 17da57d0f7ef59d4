r"""Weighted sequential Bayes: ridge regression with a prior (Werge, Wu, Akgül, Kandemir 2026).

Prior θ ~ N(m₀, Λ₀⁻¹), rewards xᵀθ + σ·noise. The posterior is N(m, Λ⁻¹); with P = σ²Λ₀, V = σ²Λ and Ṽ = σ²Λ̃ it is weighted ridge
regression around m₀:

    V = c·P + Σ w x xᵀ,      Ṽ = c²·P + Σ w² x xᵀ,      m = V⁻¹(c·Pm₀ + Σ w r x),      c ← γc + (1−γ)ρ,   c = 1 in round 1

ρ is the share of the prior that is never forgotten:

ρ = 1         the prior is *refreshed*: c = 1 in every round. With m₀ = 0 and P = λI this is LB-WeightUCB's and D-LinUCB's estimator.
ρ = `FAINT`   the prior *fades* like an observation of the first round, c ≈ γᵗ. The positive floor keeps V invertible in directions that
              are never played: there m stays m₀, and ‖x‖_{V⁻¹ṼV⁻¹} stays what it was under the prior.

We could not verify which of the two the paper means; both are in successors §C.
"""

from typing import NamedTuple

import numpy as np

from ..core.frozen_array import Frozen
from ..core.kernel import kernel
from ..core.linalg import Matrix, Vector, cholesky, log_det, scale_vector, solve
from ..core.parts import Model
from ..errors import InvalidShape, positive, require
from ..protocol import Setting, absorb, blank_estimate, blank_sums, estimate, fade
from ..sums.moments import absorb_moments, fade_moments

FAINT = 1e-6  # the share of a fading prior that stays


class WeightedBayes(Model):
    """Rewards xᵀθ + noise of standard deviation σ, with a normal prior on θ.

    `mean` is m₀ (d,), or one number for all features; `precision` is Λ₀ (d, d), its diagonal (d,), or one number; `lam` is the smallest
    eigenvalue of ρσ²Λ₀, a lower bound of V in every direction.
    """

    mean: Frozen
    precision: Frozen
    sigma: float
    keep: float
    lam: float

    def check(self) -> None:
        """The noise, the share ρ and the prior precision must be positive."""
        positive("sigma", self.sigma, "it is the standard deviation of the noise")
        require(0.0 < self.keep <= 1.0, "keep", self.keep, "in (0, 1]", "it is the share of the prior that stays")
        positive("lam", self.lam, "the prior precision must be positive in every direction")


class BayesSums(NamedTuple):
    """The weighted past, as in `Moments`, and the prior."""

    n: Vector  # (2,)    Σ w_s and Σ w_s²
    A: Matrix  # (d, d)  Σ w_s x_s x_sᵀ
    A2: Matrix  # (d, d)  Σ w_s² x_s x_sᵀ, or (0, 0) where no part asks for it
    b: Vector  # (d,)    Σ w_s r_s x_s
    P: Matrix  # (d, d)  σ²Λ₀
    start: Vector  # (d,)    P m₀
    left: Vector  # (1,)    the weight that an observation made before round 1 would have now


class BayesEstimate(NamedTuple):
    """m and the factors of V and Ṽ."""

    theta: Vector  # (d,)
    factor: Matrix  # (d, d)  of V
    factor2: Matrix  # (d, d)  of Ṽ, or (0, 0)
    sum: Matrix  # (d, d)  workspace
    inverse: Matrix  # (d, d)  P⁻¹
    log_det: Vector  # (1,)    log det P
    volume: Vector  # (1,)    log det(P + Σ w² x xᵀ) − log det P if the prior is refreshed, else a bound of it


@blank_sums.register(WeightedBayes)
def _(model: WeightedBayes, setting: Setting, room: int, squares: bool) -> BayesSums:
    d = setting.dim
    d2 = d if squares else 0
    P = _spread(model, d)
    mean = _of_length(model.mean, d, "prior_mean")
    return BayesSums(
        n=np.zeros(2), A=np.zeros((d, d)), A2=np.zeros((d2, d2)), b=np.zeros(d), P=P, start=P @ mean, left=np.ones(1)
    )


@blank_estimate.register(WeightedBayes)
def _(model: WeightedBayes, setting: Setting, squares: bool) -> BayesEstimate:
    d = setting.dim
    d2 = d if squares else 0
    P = _spread(model, d)
    return BayesEstimate(
        theta=np.zeros(d),
        factor=np.zeros((d, d)),
        factor2=np.zeros((d2, d2)),
        sum=np.zeros((d, d)),
        inverse=np.asarray(np.linalg.inv(P), np.float64),
        log_det=np.array([np.linalg.slogdet(P)[1]]),
        volume=np.zeros(1),
    )


def _spread(model: WeightedBayes, d: int) -> Matrix:
    """P = σ²Λ₀ as a matrix (d, d)."""
    given = model.precision.array
    if given.ndim < 2:
        given = np.diag(_of_length(model.precision, d, "prior_precision"))
    if given.shape != (d, d):
        raise InvalidShape(
            f"prior_precision has shape {given.shape}; the arms have {d} features: it must be ({d}, {d})"
        )
    return np.asarray(model.sigma**2 * given)


def _of_length(values: Frozen, d: int, name: str) -> Vector:
    """One number per feature."""
    given = values.array
    if given.ndim == 0:
        return np.full(d, float(given))
    if given.shape != (d,):
        raise InvalidShape(
            f"{name} has shape {given.shape}; the arms have {d} features: it must be ({d},) or one number"
        )
    return given


@fade.register(BayesSums)
def _(sums: BayesSums, g: float) -> None:
    fade_moments(sums, g)
    scale_vector(sums.left, g)


@absorb.register(BayesSums)
def _(sums: BayesSums, x: Vector, r: float, slot: int, weight: float) -> None:
    absorb_moments(sums, x, r, weight)


@kernel
def _with_prior(A: Matrix, P: Matrix, c: float, out: Matrix) -> None:
    """out = A + cP."""
    for i in range(A.shape[0]):
        for j in range(A.shape[0]):
            out[i, j] = A[i, j] + c * P[i, j]


@estimate.register(WeightedBayes)
def _(model: WeightedBayes, sums: BayesSums, est: BayesEstimate) -> None:
    c = model.keep + (1.0 - model.keep) * sums.left[0]
    _with_prior(sums.A, sums.P, c, est.sum)
    cholesky(est.sum, 0.0, est.factor)
    for i in range(sums.b.shape[0]):
        est.theta[i] = sums.b[i] + c * sums.start[i]
    solve(est.factor, est.theta, est.theta)
    if sums.A2.shape[0] > 0:
        _with_prior(sums.A2, sums.P, c * c, est.sum)
        cholesky(est.sum, 0.0, est.factor2)
        est.volume[0] = _volume(model, sums, est)


@kernel
def _volume(model: WeightedBayes, sums: BayesSums, est: BayesEstimate) -> float:
    """log det(I + P⁻¹Ã) with Ã = Σ w² x xᵀ, or the bound d·log(1 + tr(P⁻¹Ã)/d) where Ṽ does not contain the whole prior."""
    if model.keep == 1.0:
        return log_det(est.factor2) - float(est.log_det[0])
    d, trace = sums.b.shape[0], 0.0
    for i in range(d):
        for j in range(d):
            trace += est.inverse[i, j] * sums.A2[i, j]
    # det(I + M) ≤ (1 + tr M/d)^d for M ⪰ 0. A fading prior leaves no determinant that could be read from a factor.
    bound: float = d * np.log(1.0 + trace / d)
    return bound
