"""Strategies that wrap other strategies, for worlds whose rate of change is unknown."""

from .adaptive import Adaptive
from .bob import Bob
from .dal import Dal
from .detectors import ChiSquare, LikelihoodRatio, Linked
from .dlin_ucb import DLinUCB
from .exp3ix import Exp3IX
from .feature_map import FourierMap, LandmarkMap, OnFeatures
from .igw_mix import IgwMix
from .master import Master
from .random_restart import RandomRestart
from .self_tuning import SelfTuning

__all__ = [
    "Adaptive",
    "Bob",
    "ChiSquare",
    "DLinUCB",
    "Dal",
    "Exp3IX",
    "FourierMap",
    "IgwMix",
    "LandmarkMap",
    "LikelihoodRatio",
    "Linked",
    "Master",
    "OnFeatures",
    "RandomRestart",
    "SelfTuning",
]
