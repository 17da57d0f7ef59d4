"""The tuples that parts, strategies and loops exchange."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core.linalg import Matrix, Vector

Integers = NDArray[np.int64]
NO_SLOT = -1  # the slot of an observation when the arms on offer change from round to round
NEGLIGIBLE = 1e-12  # an observation of smaller weight has no visible effect on an estimate


class Setting(NamedTuple):
    """The information that a strategy has before round 1.

    `arms` (d, n) when the same arms are on offer in every round, else (d, 0); `horizon` T, or 0 if it is not known;
    `items` K when the arms are items with a model each and a round offers one context (d, 1) for all of them, else 0.
    """

    dim: int
    arms: Matrix
    horizon: int
    items: int = 0


class Limits(NamedTuple):
    """The assumptions of a guarantee on arms and rewards; infinite where there is none."""

    L: float  # ‖x‖₂ ≤ L
    low: float  # reward ≥ low
    high: float  # reward ≤ high
    fixed_arms: bool = False  # the same arms in every round


class History(NamedTuple):
    """The raw observations that a memory keeps: for a window, a ring buffer of the last W; otherwise none (W = 0)."""

    clock: Integers  # (1,) rounds so far: decisions, and observations given without a decision
    x: Matrix  # (W, d)
    r: Vector  # (W,)
    slot: Integers  # (W,)
    weight: Vector = np.zeros(0)  # (W,) of each observation; 0 where a round has none
    usual: Vector = np.zeros(0)  # (2,) running means of log₂ of the numbers added to Σ w x xᵀ and to Σ w r x


class Moments(NamedTuple):
    """The weighted sums of a linear learner."""

    n: Vector  # (2,)    Σ w_s and Σ w_s²
    A: Matrix  # (d, d)  Σ w_s x_s x_sᵀ = V − λI
    A2: Matrix  # (d, d)  Σ w_s² x_s x_sᵀ = Ṽ − λI, or (0, 0) where no part asks for it
    b: Vector  # (d,)    Σ w_s r_s x_s


class Estimate(NamedTuple):
    """θ̂ and the Cholesky factors (upper triangular, V = UᵀU) that define its confidence ellipsoid."""

    theta: Vector  # (d,)
    factor: Matrix  # (d, d)  of V
    factor2: Matrix  # (d, d)  of Ṽ, or (0, 0) where no part asks for it


class Choice(NamedTuple):
    """The state that every rule keeps."""

    value: Vector  # (1,) index of the last choice
