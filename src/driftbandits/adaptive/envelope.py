r"""The law of argmax_k c_k + ξ·s_k for one ξ ~ |N(0, 1)|, exactly.

Each arm is a line in ξ. The largest at ξ is the upper envelope of the lines, walked from left to right: from line k the next is the one,
among the steeper, that crosses it first. Between two corners one arm is the largest, with the mass of ξ there. No sampling, no error but
rounding.
"""

import math

import numpy as np

from ..core.kernel import kernel, solver
from ..core.linalg import Vector

SAME = 1e-10  # scores closer than this, in units of the largest, tie
ROOT2 = math.sqrt(2.0)


@kernel
def half_normal_cdf(x: float) -> float:
    """P(|ξ| ≤ x)."""
    return math.erf(x / ROOT2) if x > 0.0 else 0.0


@kernel
def tolerance(c: Vector, s: Vector) -> float:
    """How far apart two lines may be and still be the same."""
    size = 0.0
    for a in range(c.shape[0]):
        if c[a] > -np.inf:
            size = max(size, abs(c[a]), abs(s[a]))
    return SAME * size


@solver
def add_law(c: Vector, s: Vector, weight: float, p: Vector) -> None:
    """p_k += weight·P(k = argmax c + ξs), ξ ~ |N(0, 1)|; arms that tie share. c_k = −∞: never."""
    n, tol = c.shape[0], tolerance(c, s)
    k = -1
    for a in range(n):  # the largest at ξ = 0, of those the steepest
        if c[a] == -np.inf:
            continue
        if k < 0 or c[a] > c[k] + tol or (c[a] > c[k] - tol and s[a] > s[k]):
            k = a
    low, mass = 0.0, 0.0
    while True:
        corner, following = np.inf, -1
        for a in range(n):
            if s[a] > s[k] + tol and c[a] > -np.inf:
                # Only steeper lines can overtake line k to the right of where it took over; parallel ones never do.
                crossing = (c[k] - c[a]) / (s[a] - s[k])
                # Of lines through the same corner the steepest is the largest immediately to its right.
                if crossing < corner or (crossing == corner and s[a] > s[following]):
                    corner, following = crossing, a
        high = half_normal_cdf(corner) if following >= 0 else 1.0
        mass = max(high - low, 0.0)
        if mass > 0.0:
            _share(c, s, k, tol, weight * mass, p)
        if following < 0:
            return
        # Rounding may put a corner left of the one before; the mass between them is then 0, and probabilities stay non-negative.
        low, k = max(high, low), following


@kernel
def _share(c: Vector, s: Vector, k: int, tol: float, mass: float, p: Vector) -> None:
    """Arm k's mass, shared equally with those whose lines are the same."""
    ties = 0
    for a in range(c.shape[0]):
        # Equal lines are equal everywhere, so ties of positive probability occur only between identical arms.
        ties += abs(c[a] - c[k]) <= tol and abs(s[a] - s[k]) <= tol
    for a in range(c.shape[0]):
        if abs(c[a] - c[k]) <= tol and abs(s[a] - s[k]) <= tol:
            p[a] += mass / ties


@kernel
def pick(weight: Vector, key: Vector, u: float) -> int:
    """The arm where the weights, summed in increasing order of the key, pass the share u: the order of the arms plays no part."""
    total = 0.0
    for a in range(weight.shape[0]):
        total += weight[a]
    target, below, last = u * total, -np.inf, -1
    passed = 0.0
    while True:
        following = -1
        for a in range(weight.shape[0]):
            later = key[a] > below or (key[a] == below and a > last)
            if weight[a] > 0.0 and later and (following < 0 or key[a] < key[following]):
                following = a
        if following < 0:
            return last
        passed += weight[following]
        below, last = key[following], following
        if passed > target:
            return last
