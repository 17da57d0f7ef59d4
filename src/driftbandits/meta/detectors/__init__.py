"""Change detectors for `meta.dal`: tests of whether the parameter has changed since the last restart.

`chi_square`        compares estimates of the parameter; our own, without forced exploration or fixed arms
`likelihood_ratio`  compares the rewards of each arm of a covering set: GLR and GSR, as published
`contract`          the open functions that a detector implements
"""

from .chi_square import ChiSquare, Linked
from .contract import blank_watch, forget, predictor, refuted, weigh
from .likelihood_ratio import BERNOULLI, GAUSSIAN, POISSON, LikelihoodRatio

__all__ = [
    "BERNOULLI",
    "GAUSSIAN",
    "POISSON",
    "ChiSquare",
    "LikelihoodRatio",
    "Linked",
    "blank_watch",
    "forget",
    "predictor",
    "refuted",
    "weigh",
]
