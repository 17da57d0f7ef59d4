"""What is estimated, and how? Weighted ridge regression, or weighted quasi-likelihood with a projection."""

from .bayes import WeightedBayes
from .generalized import Generalized
from .linear import Linear
from .projection import FixedMetric, LocalMetric, SquaredMetric, TwoStep, Unprojected

__all__ = [
    "FixedMetric",
    "Generalized",
    "Linear",
    "LocalMetric",
    "SquaredMetric",
    "TwoStep",
    "Unprojected",
    "WeightedBayes",
]
