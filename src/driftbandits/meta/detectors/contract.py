"""The open functions of a detector for `meta.dal`: `blank_watch`, `refuted` and `forget` are required; `weigh` has a default."""

from typing import Any

from ...core.kernel import generic
from ...core.linalg import Matrix, Vector, dot
from ...errors import positive, probability
from ...strategy import Optimistic, OptimisticState


@generic
def blank_watch(detector: Any, dim: int, cover: Matrix) -> Any:
    """The state of the detector before the first observation; `cover` is (N, d). (Python only.)"""


@generic
def weigh(detector: Any, base: Any, state: Any, x: Vector, r: float) -> tuple[float, float]:
    """(h, y): the weight and the working response of an observation that the base, in this state, has not learned yet."""
    return 1.0, r


@generic
def predictor(base: Any, state: Any, x: Vector) -> float:
    """xᵀθ̂ by the base's estimate, in compiled code; `Linked` requires a method for its base."""


@predictor.register(Optimistic)
def _(base: Optimistic, state: OptimisticState, x: Vector) -> float:
    return dot(x, state.est.theta)


@generic
def refuted(detector: Any, watch: Any, x: Vector, h: float, y: float, weight: float) -> int:
    """Add an observation with this weight. Returns 0, or on an alarm its cause: the length of a block, or a covering arm from 1."""


@generic
def forget(watch: Any) -> None:
    """Forget all observations: a new epoch begins."""


def check_settings(noise: float, delta: float) -> None:
    """The noise must be positive, and δ, the probability of a false alarm, in (0, 1)."""
    positive("noise", noise, "it is the standard deviation of the noise, with which differences of means are compared")
    probability("delta", delta)
