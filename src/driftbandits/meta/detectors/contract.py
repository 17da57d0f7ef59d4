"""What `meta.dal` asks of a detector: `blank_watch`, `refuted` and `forget`; `weigh` has a default."""

from typing import Any

from ...core.kernel import generic
from ...core.linalg import Matrix, Vector, dot
from ...errors import positive, probability
from ...strategy import Optimistic, OptimisticState


@generic
def blank_watch(detector: Any, dim: int, cover: Matrix) -> Any:
    """What the detector keeps, before the first observation; `cover` (N, d). (Python only.)"""


@generic
def weigh(detector: Any, base: Any, state: Any, x: Vector, r: float) -> tuple[float, float]:
    """(h, y): the weight and the working response of an observation that the base, in this state, has not learned yet."""
    return 1.0, r


@generic
def predictor(base: Any, state: Any, x: Vector) -> float:
    """xᵀθ̂ by the base's estimate, in compiled code: what `Linked` needs of a base."""


@predictor.register(Optimistic)
def _(base: Optimistic, state: OptimisticState, x: Vector) -> float:
    return dot(x, state.est.theta)


@generic
def refuted(detector: Any, watch: Any, x: Vector, h: float, y: float, weight: float) -> int:
    """Note an observation that counts as `weight`; 0, or the block length or covering arm (from 1) that says: the world has changed."""


@generic
def forget(watch: Any) -> None:
    """Begin an epoch."""


def check_settings(noise: float, delta: float) -> None:
    """Refuse settings that no detector can use: the size of the noise, and the probability δ of a false alarm."""
    positive("noise", noise, "it is the size of the noise, by which a change is told from chance")
    probability("delta", delta)
