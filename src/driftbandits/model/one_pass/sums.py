"""The weighted sums and the estimate of a one-pass learner, and how observations are added and discounted."""

from typing import NamedTuple

import numpy as np

from ...core.linalg import Matrix, Vector, add_outer
from ...core.state import scratch
from ...protocol import absorb, fade, gained
from ...sums.moments import fade_moments


class Observation(NamedTuple):
    """The last observation, which waits for its step or has been added already."""

    x: Vector  # (d,)
    reward: Vector  # (1,)
    weight: Vector  # (1,)
    waits: Vector  # (1,) 1 until the step is taken


class OnePassSums(NamedTuple):
    """The weighted sums of a one-pass learner, and the observation that is not yet in them."""

    n: Vector  # (2,)    Σ w and Σ w²
    A: Matrix  # (d, d)  the matrix of the bonus minus λI: Σ w a x xᵀ, or Σ w x xᵀ if V is kept beside H
    A2: Matrix  # (d, d)  the same with w², or (0, 0) where no part asks for it
    b: Vector  # (d,)    Hθ
    H: Matrix  # (d, d)  Σ w a x xᵀ, or (0, 0) where A is that
    upsilon: Vector  # (1,)    Υ
    gain: Vector  # (1,)    weight of the last x in A
    last: Observation


@scratch
class OnePassWork(NamedTuple):
    """Workspace of a step."""

    p: Vector  # (d,)    U⁻ᵀx
    g: Vector  # (d,)    U⁻ᵀ(Āθ̄)
    t: Vector  # (d,)
    s: Vector  # (d,)
    spare: Matrix  # (d, d)  a factor, or (0, 0) where nothing is projected


class OnePassEstimate(NamedTuple):
    """θ, the factors that define its uncertainty, and Υ."""

    theta: Vector  # (d,)
    factor: Matrix  # (d, d)  of H, or of V if it is kept beside H
    factor2: Matrix  # (d, d)  with squared weights, or (0, 0)
    inner: Matrix  # (d, d)  of Ā where `factor` is of V, or (0, 0)
    upsilon: Vector  # (1,)
    cut: Vector  # (1,)    residuals cut so far
    work: OnePassWork


def fresh_sums(d: int, squares: bool, beside: bool) -> OnePassSums:
    """The sums before round 1; with `beside`, V is kept beside H."""
    d2, dh = d if squares else 0, d if beside else 0
    return OnePassSums(
        n=np.zeros(2),
        A=np.zeros((d, d)),
        A2=np.zeros((d2, d2)),
        b=np.zeros(d),
        H=np.zeros((dh, dh)),
        upsilon=np.zeros(1),
        gain=np.zeros(1),
        last=Observation(x=np.zeros(d), reward=np.zeros(1), weight=np.zeros(1), waits=np.zeros(1)),
    )


def fresh_estimate(d: int, squares: bool, beside: bool, projected: bool) -> OnePassEstimate:
    """The estimate before round 1."""
    d2, dh, ds = d if squares else 0, d if beside else 0, d if projected else 0
    return OnePassEstimate(
        theta=np.zeros(d),
        factor=np.zeros((d, d)),
        factor2=np.zeros((d2, d2)),
        inner=np.zeros((dh, dh)),
        upsilon=np.zeros(1),
        cut=np.zeros(1),
        work=OnePassWork(np.zeros(d), np.zeros(d), np.zeros(d), np.zeros(d), np.zeros((ds, ds))),
    )


@fade.register(OnePassSums)
def _(sums: OnePassSums, g: float) -> None:
    fade_moments(sums, g)
    for i in range(sums.H.shape[0]):
        for j in range(sums.H.shape[0]):
            sums.H[i, j] *= g
    sums.upsilon[0] *= g
    sums.last.weight[0] *= g
    if g == 0.0:
        sums.last.waits[0] = 0.0


@absorb.register(OnePassSums)
def _(sums: OnePassSums, x: Vector, r: float, slot: int, weight: float) -> None:
    # Removing an observation, or adding a second one before `estimate`, is a bug of the caller. NaN makes it visible at the next check;
    # compiled code cannot raise.
    if weight < 0.0 or sums.last.waits[0] != 0.0:
        sums.b[0] = np.nan
    for i in range(x.shape[0]):
        sums.last.x[i] = x[i]
    sums.last.reward[0] = r
    sums.last.weight[0] = weight
    sums.last.waits[0] = 1.0
    sums.n[0] += weight
    sums.n[1] += weight * weight
    if sums.H.shape[0] > 0:
        add_outer(sums.A, x, weight)
        add_outer(sums.A2, x, weight * weight)
        sums.gain[0] = weight


@gained.register(OnePassSums)
def _(sums: OnePassSums) -> float:
    return float(sums.gain[0])
