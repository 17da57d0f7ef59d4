"""What if nobody knows how fast the world changes? Strategies made of strategies."""

from .adaptive import Adaptive
from .bob import Bob
from .exp3ix import Exp3IX
from .igw_mix import IgwMix
from .master import Master
from .self_tuning import SelfTuning

__all__ = ["Adaptive", "Bob", "Exp3IX", "IgwMix", "Master", "SelfTuning"]
