"""A radius that does not depend on the data."""

import math
from typing import Any

from ..core.linalg import Vector
from ..core.parts import Radius
from ..errors import positive, require
from ..protocol import Limits, beta, limits


class Constant(Radius):
    """β = `value` in every round, for arms of norm ≤ L."""

    value: float
    L: float

    def check(self) -> None:
        """β must not be negative, L must be positive."""
        require(self.value >= 0.0, "value", self.value, "≥ 0", "it is the width of an interval")
        positive("L", self.L, "it bounds the norm of every arm")


@beta.register(Constant)
def _(radius: Constant, n: Vector, est: Any, horizon: int) -> float:
    return radius.value


@limits.register(Constant)
def _(radius: Constant) -> Limits:
    return Limits(L=radius.L, low=-math.inf, high=math.inf)
