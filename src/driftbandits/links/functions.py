"""The open functions of a link, and their values computed by compiled code."""

import math
from typing import Any, Literal

import numpy as np

from ..core.kernel import entry, generic
from ..core.linalg import Vector

Law = Literal["bernoulli", "poisson", "gaussian"]


@generic
def mu(link: Any, z: float) -> float:
    """μ(z), the expected reward; increasing."""


@generic
def dmu(link: Any, z: float) -> float:
    """μ′(z) > 0."""


@generic
def ddmu(link: Any, z: float) -> float:
    """μ″(z)."""


@generic
def log_partition(link: Any, z: float) -> float:
    """b(z) with b′ = μ; only the parameter-based rules need it."""


@generic
def extreme_slopes(link: Any, LS: float) -> tuple[float, float]:
    """(k_μ, c_μ), the largest and the smallest μ′ on [−LS, LS]. (Python only; by default found numerically.)"""
    return -_lowest(link, LS, -1.0), _lowest(link, LS, 1.0)


@generic
def law(link: Any) -> Law | None:
    """The distribution of rewards of mean μ(z), if the link implies one; None by default. (Python only.)

    Bernoulli rewards lie in [0, 1] and are ½-sub-Gaussian, so learners then need neither a range nor R.
    """
    return None


@entry
def _evaluate(link: Any, z: Vector, m: Vector, dm: Vector, ddm: Vector) -> None:
    for a in range(z.shape[0]):
        m[a] = mu(link, z[a])
        dm[a] = dmu(link, z[a])
        ddm[a] = ddmu(link, z[a])


def values(link: Any, z: Vector) -> tuple[Vector, Vector, Vector]:
    """μ, μ′ and μ″ at z (n,)."""
    m, dm, ddm = np.zeros_like(z), np.zeros_like(z), np.zeros_like(z)
    _evaluate(link, z, m, dm, ddm)
    return m, dm, ddm


def _lowest(link: Any, LS: float, sign: float) -> float:
    """min of sign·μ′ on [−LS, LS], by a grid and then finer grids around its best point."""
    low, high, best = -LS, LS, math.inf
    for _ in range(6):
        z = np.linspace(low, high, 2001)
        slope = sign * values(link, z)[1]
        i = int(np.argmin(slope))
        low, high, best = float(z[max(i - 1, 0)]), float(z[min(i + 1, 2000)]), min(best, float(slope[i]))
    return best
