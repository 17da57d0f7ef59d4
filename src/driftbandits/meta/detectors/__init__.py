"""Has the world changed since the last restart? Detectors for `meta.dal`.

`chi_square`        compares estimates of the parameter: ours, without forced exploration or fixed arms
`likelihood_ratio`  compares the rewards of each arm of a covering set: GLR and GSR, as published
`contract`          what `dal` asks of a detector
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
