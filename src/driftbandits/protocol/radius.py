"""The open functions of a radius: β, and the statistics it depends on."""

from typing import Any

from ..core.kernel import generic
from ..core.linalg import Vector
from ..core.parts import Radius


@generic
def beta(radius: Radius, n: Vector, est: Any, horizon: int) -> float:
    """β: half the width of the confidence interval in units of the rule's norm, all factors included, from n = (Σw, Σw²).

    `horizon` is T, or 0 if T is not known; if the radius is `anytime`, it is the round t ≥ 1 for which β is computed.
    """


@generic
def wants_squares(part: Any) -> bool:
    """Whether this radius or rule needs Σ w² x xᵀ and its factor: by default not. (Python only.)"""
    return False


@generic
def wants_horizon(radius: Radius) -> bool:
    """Whether this radius depends on T: by default not. (Python only.)"""
    return False


@generic
def anytime(radius: Radius) -> bool:
    """Whether this radius holds in all rounds simultaneously without T; `beta` then receives the round t instead of T. By default not."""
    return False
