"""What if nobody knows how fast the world changes? Strategies made of strategies."""

from .adaptive import Adaptive
from .bob import Bob
from .dal import Dal
from .detectors import ChiSquare, LikelihoodRatio, Linked
from .exp3ix import Exp3IX
from .igw_mix import IgwMix
from .master import Master
from .self_tuning import SelfTuning

__all__ = [
    "Adaptive",
    "Bob",
    "ChiSquare",
    "Dal",
    "Exp3IX",
    "IgwMix",
    "LikelihoodRatio",
    "Linked",
    "Master",
    "SelfTuning",
]
