"""What weighted sums answer: a model's past, as a memory weighs it."""

from typing import Any

from ..core.kernel import generic
from ..core.linalg import Vector


@generic
def fade(sums: Any, g: float) -> None:
    """Multiply the weight of every past observation by g (squared weights by g²); g = 0 forgets all."""


@generic
def absorb(sums: Any, x: Vector, r: float, slot: int, weight: float) -> None:
    """Add an observation, or take back (weight < 0) the oldest, whose weight is |weight|."""


@generic
def gained(sums: Any) -> float:
    """How much of xxᵀ the last observation x added to V, known once the model has estimated: by default 1."""
    return 1.0


@generic
def grow(holder: Any) -> Any:
    """The weighted sums, or a strategy's state, with more room if they are full; else, and by default, themselves. (Python only.)

    Only agents need it: a model that keeps raw observations cannot know how many will come, nor when. Nothing is overwritten that
    has a weight above `NEGLIGIBLE`.
    """
    return holder


@generic
def widen(holder: Any) -> Any:
    """The same with more room, needed or not: many states that are stored together have equal shapes. (Python only.)

    By default itself.
    """
    return holder
