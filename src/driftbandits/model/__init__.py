"""Estimators: weighted ridge regression, weighted Bayes, weighted quasi-likelihood with a projection, or one step per observation."""

from .bayes import WeightedBayes
from .generalized import Generalized
from .linear import Linear
from .one_pass import OnePass, OnePassMean
from .projection import FixedMetric, LocalMetric, SquaredMetric, TwoStep, Unprojected

__all__ = [
    "FixedMetric",
    "Generalized",
    "Linear",
    "LocalMetric",
    "OnePass",
    "OnePassMean",
    "SquaredMetric",
    "TwoStep",
    "Unprojected",
    "WeightedBayes",
]
