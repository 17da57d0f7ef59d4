"""A radius that does not depend on the data."""

import math
from typing import Any, NamedTuple

from ..errors import positive, require
from ..kernel import part
from ..linalg import Vector
from ..protocol import Limits, beta, limits, wants_horizon, wants_squares


@part
class Constant(NamedTuple):
    """β = `value` in every round, for arms of norm ≤ L."""

    value: float
    L: float

    def check(self) -> None:
        """A width is not negative."""
        require(self.value >= 0.0, "value", self.value, "≥ 0", "it is the width of an interval")
        positive("L", self.L, "it bounds the norm of every arm")


@beta.register(Constant)
def _(radius: Constant, n: Vector, est: Any, horizon: int) -> float:
    return radius.value


@limits.register(Constant)
def _(radius: Constant) -> Limits:
    return Limits(L=radius.L, low=-math.inf, high=math.inf)


@wants_squares.register(Constant)
@wants_horizon.register(Constant)
def _(radius: Constant) -> bool:
    return False
