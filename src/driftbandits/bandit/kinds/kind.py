"""A kind of reward: which numbers are allowed, and the range of their mean."""

import math
from collections.abc import Callable
from typing import NamedTuple


def any_number(_: float) -> bool:
    """Every real number is a reward."""
    return True


class Kind(NamedTuple):
    """A kind of reward. Estimates are cut to [low, high]: the learner is linear, and a mean cannot lie outside."""

    allowed: str  # ends the sentence "it must be …"
    low: float = -math.inf
    high: float = math.inf
    accepts: Callable[[float], bool] = any_number
