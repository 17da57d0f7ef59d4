r"""The drift of an MDP: the phase q_k ∈ [0, 1] of episode k, between a first world (q = 0) and a second one (q = 1).

==========  ===========================================================================================
static      q = 0
gradual     q_k = sin²(π·turns·(k−1)/(K−1)): there and back, `turns` times
abrupt      0, 1, 0, 1, … on `changes`+1 equal stretches of episodes
==========  ===========================================================================================
"""

from typing import Literal

import numpy as np

from ..core.linalg import Matrix, Vector
from ..errors import InvalidValue, integer, require

Drift = Literal["static", "gradual", "abrupt"]


def phase(
    episodes: int, drift: Drift = "gradual", *, turns: float = 1.0, changes: int = 2, extent: float = 1.0
) -> Vector:
    """The phase of every episode, (K,), times `extent` ∈ [0, 1].

    Examples
    --------
    >>> phase(5, "gradual").round(3)
    array([0. , 0.5, 1. , 0.5, 0. ])
    >>> phase(6, "abrupt", changes=2)
    array([0., 0., 1., 1., 0., 0.])
    """
    K = integer("episodes", episodes, least=1, why="it is the number of episodes K")
    require(0.0 <= extent <= 1.0, "extent", extent, "in [0, 1]", "it says how far the worlds drift apart")
    k = np.arange(K)
    if drift == "static":
        return np.zeros(K)
    if drift == "gradual":
        return np.array(extent * np.sin(np.pi * turns * k / max(K - 1, 1)) ** 2, np.float64)
    if drift == "abrupt":
        stretches = integer("changes", changes, least=0, why="it counts abrupt changes") + 1
        return np.array(extent * (k * stretches // K % 2), np.float64)
    raise InvalidValue(f"drift = {drift!r} is not allowed; it must be 'static', 'gradual' or 'abrupt'")


def between(first: Vector, second: Vector, q: Vector) -> Matrix:
    """The parameters (1−q_k)·first + q_k·second of every episode, (K, d)."""
    path: Matrix = np.outer(1.0 - q, first) + np.outer(q, second)
    return path
