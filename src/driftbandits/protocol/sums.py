"""The open functions of weighted sums, the statistics of the past that a memory discounts and a model estimates from."""

from typing import Any

from ..core.kernel import generic
from ..core.linalg import Vector


@generic
def fade(sums: Any, g: float) -> None:
    """Multiply the weight of every past observation by g (squared weights by g²); g = 0 forgets all."""


@generic
def absorb(sums: Any, x: Vector, r: float, slot: int, weight: float) -> None:
    """Add an observation, or remove (weight < 0) the oldest one, whose weight is |weight|."""


@generic
def gained(sums: Any) -> float:
    """The factor c with which the last observation added c·xxᵀ to V, valid after the model's `estimate`: by default 1."""
    return 1.0


@generic
def grow(holder: Any) -> Any:
    """The weighted sums, or a strategy's state, with more capacity if they are full; otherwise, and by default, unchanged. (Python only.)

    Only agents need it: a model that keeps raw observations cannot know how many will arrive. No observation with a weight above
    `NEGLIGIBLE` is ever overwritten.
    """
    return holder


@generic
def widen(holder: Any) -> Any:
    """The same with more capacity, whether it is full or not, because states that are stored together must have equal shapes.

    By default unchanged. (Python only.)
    """
    return holder
