"""What a radius answers: β, and what it must know for it."""

from typing import Any

from ..core.kernel import generic
from ..core.linalg import Vector
from ..core.parts import Radius


@generic
def beta(radius: Radius, n: Vector, est: Any, horizon: int) -> float:
    """β: half the confidence interval in units of the rule's norm, all factors included, from n = (Σw, Σw²).

    `horizon` is T, or 0 if it is not known; the round t ≥ 1 that β is for if the radius is `anytime`.
    """


@generic
def wants_squares(part: Any) -> bool:
    """Does this radius or rule need Σ w² x xᵀ and its factor? By default not. (Python only.)"""
    return False


@generic
def wants_horizon(radius: Radius) -> bool:
    """Does this radius need to know T? By default not. (Python only.)"""
    return False


@generic
def anytime(radius: Radius) -> bool:
    """Does this radius hold in all rounds at once without knowing T? Then `beta` is told the round t in the place of T. By default not."""
    return False
