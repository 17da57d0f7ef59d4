"""The open functions of a model: the estimate, and the expected reward it implies."""

from typing import Any

import numpy as np

from ..core.kernel import generic
from ..core.parts import Model
from .tuples import Estimate, Moments, Setting


@generic
def blank_sums(model: Model, setting: Setting, room: int, squares: bool) -> Any:
    """The weighted sums that the model estimates from, as they are before round 1: by default `Moments`. (Python only.)

    `room` is the memory's capacity for raw observations (0: unbounded); with `squares`, Σ w² x xᵀ is kept too.
    """
    d, d2 = setting.dim, setting.dim if squares else 0
    return Moments(n=np.zeros(2), A=np.zeros((d, d)), A2=np.zeros((d2, d2)), b=np.zeros(d))


@generic
def blank_estimate(model: Model, setting: Setting, squares: bool) -> Any:
    """The estimate before round 1: a tuple with at least the fields of `Estimate`, by default these. (Python only.)"""
    d, d2 = setting.dim, setting.dim if squares else 0
    return Estimate(theta=np.zeros(d), factor=np.zeros((d, d)), factor2=np.zeros((d2, d2)))


@generic
def estimate(model: Model, sums: Any, est: Any) -> None:
    """Refresh the estimate from the sums."""


@generic
def mean(model: Model, z: float) -> float:
    """Expected reward at linear predictor z = xᵀθ; increasing in z. By default z."""
    return z


@generic
def merit(model: Model, z: float) -> float:
    """The value at linear predictor z to which a rule adds its bonus, increasing in z: by default the mean."""
    return mean(model, z)


@generic
def promise(model: Model, value: float) -> float:
    """The expected reward that corresponds to an index of this value: by default the index itself."""
    return value


@generic
def linearises(model: Model) -> bool:
    """Whether every observation is linearised once, on arrival, instead of being kept: by default not.

    Such a model needs an `estimate` after every `absorb`. Observations cannot be removed from it, and a late one is linearised at the
    estimate of its arrival.
    """
    return False
