"""The weighted moments from which every model of xᵀθ estimates: how they are discounted, and what an observation adds.

    n = (Σw, Σw²),   A = Σ w x xᵀ,   A2 = Σ w² x xᵀ,   b = Σ w r x

Any sums with these four fields may use the two kernels; `Moments` has them as its methods.
"""

from typing import Any

from ..core.kernel import kernel
from ..core.linalg import Vector, add_outer, scale, scale_vector
from ..protocol import Moments, absorb, fade


@kernel
def fade_moments(sums: Any, g: float) -> None:
    """Multiply the weight of every past observation by g."""
    scale_vector(sums.b, g)
    scale(sums.A, g)
    scale(sums.A2, g * g)
    sums.n[0] *= g
    sums.n[1] *= g * g


@kernel
def absorb_moments(sums: Any, x: Vector, r: float, weight: float) -> None:
    """Add an observation, or remove one (weight < 0)."""
    square = weight * abs(weight)  # w², negative if the observation is removed
    add_outer(sums.A, x, weight)
    add_outer(sums.A2, x, square)
    for i in range(x.shape[0]):
        sums.b[i] += weight * r * x[i]
    sums.n[0] += weight
    sums.n[1] += square


@fade.register(Moments)
def _(sums: Moments, g: float) -> None:
    fade_moments(sums, g)


@absorb.register(Moments)
def _(sums: Moments, x: Vector, r: float, slot: int, weight: float) -> None:
    absorb_moments(sums, x, r, weight)
