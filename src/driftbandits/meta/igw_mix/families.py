"""Reward families, values and clicks: how an expert learns from an observation, and its predictive distribution."""

import math
from typing import Any, NamedTuple

import numpy as np

from ...core.kernel import generic, kernel, part
from ...core.linalg import Matrix, Vector, inner_products
from ...errors import positive, require


@part
class GaussianForecasts(NamedTuple):
    """Values with R-sub-Gaussian noise: predictive densities N(xᵀθ̂, s²(1+q)), s² = 2R²."""

    R: float

    def check(self) -> None:
        """R must be positive."""
        positive("R", self.R, "it bounds the noise")


@part
class LogisticForecasts(NamedTuple):
    """Clicks; `curvature` is c = min μ′ over all possible forecasts."""

    curvature: float

    def check(self) -> None:
        """The curvature must be in the range of μ′ of the logistic link."""
        require(
            0.0 < self.curvature <= 0.25,
            "curvature",
            self.curvature,
            "in (0, ¼]",
            "μ′ of the logistic link is in this range",
        )


@generic
def pull(family: Any, z: float, r: float) -> tuple[float, float]:
    """(a, ρ) of an observation r whose forecast was z = xᵀθ̂: V′ = V + a·xxᵀ, V′θ̂′ = Vθ̂ + ρ·x."""


@generic
def log_density(family: Any, z: float, q: float, r: float) -> float:
    """The log density of r under a forecast z with q = xᵀV⁻¹x, up to a constant."""


@generic
def predict(family: Any, state: Any, arms: Matrix, out: Vector) -> None:
    """ŷ (n,) of the arms (d, n)."""


@generic
def noise(family: Any) -> float:
    """The sub-Gaussian parameter R of the rewards."""


@generic
def rewards(family: Any) -> tuple[float, float]:
    """The least and the largest reward. (Python only.)"""


@pull.register(GaussianForecasts)
def _(family: GaussianForecasts, z: float, r: float) -> tuple[float, float]:
    return 1.0, r


@log_density.register(GaussianForecasts)
def _(family: GaussianForecasts, z: float, q: float, r: float) -> float:
    v = 2.0 * family.R**2 * (1.0 + q)
    return -0.5 * math.log(v) - 0.5 * (r - z) ** 2 / v


@predict.register(GaussianForecasts)
def _(family: GaussianForecasts, state: Any, arms: Matrix, out: Vector) -> None:
    inner_products(arms, state.mixed, out)


@noise.register(GaussianForecasts)
def _(family: GaussianForecasts) -> float:
    return family.R


@rewards.register(GaussianForecasts)
def _(family: GaussianForecasts) -> tuple[float, float]:
    return -np.inf, np.inf


@kernel
def _mean(z: float) -> float:
    """μ(z)."""
    return 1.0 / (1.0 + math.exp(-z))


@pull.register(LogisticForecasts)
def _(family: LogisticForecasts, z: float, r: float) -> tuple[float, float]:
    return family.curvature, family.curvature * z + r - _mean(z)


@log_density.register(LogisticForecasts)
def _(family: LogisticForecasts, z: float, q: float, r: float) -> float:
    return math.log(_mean(z)) if r > 0.5 else math.log(_mean(-z))


@predict.register(LogisticForecasts)
def _(family: LogisticForecasts, state: Any, arms: Matrix, out: Vector) -> None:
    score = state.work.score[: out.shape[0]]
    for a in range(out.shape[0]):
        out[a] = 0.0
    for k in range(state.weight.shape[0]):
        inner_products(arms, state.theta[k], score)
        for a in range(out.shape[0]):
            out[a] += state.weight[k] * _mean(score[a])


@noise.register(LogisticForecasts)
def _(family: LogisticForecasts) -> float:
    return 0.5  # any distribution on [0, 1] is ½-sub-Gaussian


@rewards.register(LogisticForecasts)
def _(family: LogisticForecasts) -> tuple[float, float]:
    return 0.0, 1.0
