"""Open functions by which a strategy or a part is inspected: assumptions, estimates, validity of indices, reports."""

from typing import Any

from ..core.kernel import generic
from ..core.linalg import Matrix, Vector
from .tuples import Limits


@generic
def magnitude(strategy: Any, state: Any) -> float:
    """Σ|θ̂_i| + β, or any number that is not finite whenever they are not: one number by which overflow is detected. By default 0."""
    return 0.0


@generic
def conditioning(strategy: Any, state: Any) -> tuple[float, float, float]:
    """tr Σ w x xᵀ, the λ added to it, and an estimate of V's condition number. (Python only; optional.)"""


@generic
def indices_valid(state: Any) -> bool:
    """Whether all indices and counts lie inside the arrays they refer to; called on every tuple of a loaded state. (Python only.)"""
    return True


@generic
def limits(part: Any) -> Limits:
    """The assumptions of a radius or a strategy on its input. (Python only.)"""


@generic
def noise_size(part: Any) -> float:
    """R: the sub-Gaussian parameter of the noise that a radius or a strategy assumes. (Python only; only where it is one number.)"""


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
    """A summary of the state for users: plain numbers, strings and arrays by name. (Python only.)"""
    return {}


@generic
def report(part: Any, own: Any) -> dict[str, Any]:
    """Entries that a model adds to `describe` about its estimate, or a rule about its workspace; by default none. (Python only.)"""
    return {}


@generic
def trace(strategy: Any, state: Any) -> dict[str, Any]:
    """Quantities to be plotted over time; by default none. (Python only.)"""
    return {}
