"""What can be asked of a strategy or a part from outside: assumptions, estimates, soundness, reports."""

from typing import Any

from ..core.kernel import generic
from ..core.linalg import Matrix, Vector
from .tuples import Limits


@generic
def size(strategy: Any, state: Any) -> float:
    """Σ|θ̂_i| + β, or any number that is not finite when they are not; by default nothing is known, and 0."""
    return 0.0


@generic
def conditioning(strategy: Any, state: Any) -> tuple[float, float, float]:
    """tr Σ w x xᵀ, the λ added to it, and an estimate of V's condition number. (Python only; optional.)"""


@generic
def sound(state: Any) -> bool:
    """Are all places and counts inside the arrays they point into? Asked of every tuple in a loaded state. (Python only.)"""
    return True


@generic
def limits(part: Any) -> Limits:
    """What the guarantee of a radius or a strategy assumes of its input. (Python only.)"""


@generic
def noise_size(part: Any) -> float:
    """R: how large the noise is that a radius or a strategy assumes. (Python only; only where it is one number.)"""


@generic
def estimator(strategy: Any, state: Any) -> Vector:
    """The current estimate of θ, (d,). (Python only.)"""


@generic
def ellipsoid(strategy: Any, state: Any) -> tuple[Vector, Matrix]:
    """θ̂ (d,) and C (d, d): the bonus of an arm x is √(xᵀCx). (Python only; only rules whose bonus is a norm of x.)

    For linear rewards the confidence set is {θ : (θ−θ̂)ᵀC⁻¹(θ−θ̂) ≤ 1}; for a random bonus or a random θ̃, one standard deviation.
    C = 0 before the first estimate.
    """


@generic
def describe(strategy: Any, state: Any) -> dict[str, Any]:
    """What a user may want to know about the state: plain numbers, strings and arrays by name. (Python only.)"""
    return {}


@generic
def report(part: Any, own: Any) -> dict[str, Any]:
    """What a model tells of its estimate, or a rule of its workspace, for `describe`; by default nothing. (Python only.)"""
    return {}


@generic
def trace(strategy: Any, state: Any) -> dict[str, Any]:
    """Quantities worth a curve over time; by default none. (Python only.)"""
    return {}
