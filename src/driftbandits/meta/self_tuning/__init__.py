"""The learner that needs nothing set: banks of forgetting models, judged by forecasts inside a bank and by reward between banks."""

from . import strategy as strategy  # its methods
from .family import Click, Count, Value
from .parts import SelfTuning
from .telling import BANK_NAMES

__all__ = ["BANK_NAMES", "Click", "Count", "SelfTuning", "Value"]
