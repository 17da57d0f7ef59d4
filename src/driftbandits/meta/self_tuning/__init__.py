"""The engine of `driftbandits.adaptive` behind `select` and `update`: `zoo.self_tuning`."""

from . import strategy as strategy  # its methods
from . import telling as telling
from .parts import SelfTuning

__all__ = ["SelfTuning"]
