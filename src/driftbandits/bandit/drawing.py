"""Which item is drawn: probabilities that are exact, and a floor."""

import math
from collections.abc import Sequence

import numpy as np

from ..kernel import entry, kernel
from ..linalg import Vector
from .coordinates import Integers


@kernel
def envelope(mean: Vector, sd: Vector, open_: Integers, p: Vector) -> int:
    """P(k = argmax mean_k + ½(1+|ξ|)sd_k) of the open items, exactly; returns the item that leads at ξ = 0.

    The lines (mean + ½sd) + |ξ|·½sd are walked along their upper envelope; each has the half-normal mass between its corners.
    """
    n = mean.shape[0]
    top = -1
    for k in range(n):
        p[k] = 0.0
        if open_[k] == 1:
            if top < 0:
                top = k
            else:
                a, b = mean[k] + 0.5 * sd[k], mean[top] + 0.5 * sd[top]
                if a > b or (a == b and sd[k] > sd[top]):
                    top = k
    now, start = top, 0.0
    while True:
        corner, following = math.inf, -1
        height = mean[now] + 0.5 * sd[now]
        for k in range(n):
            if open_[k] == 1 and sd[k] > sd[now]:
                c = (height - mean[k] - 0.5 * sd[k]) / (0.5 * (sd[k] - sd[now]))
                if c < corner or (c == corner and sd[k] > sd[following]):
                    corner, following = c, k
        end = max(corner, start)
        mass = (math.erf(end / 1.4142135623730951) if following >= 0 else 1.0) - math.erf(start / 1.4142135623730951)
        same = 0
        for k in range(n):
            if open_[k] == 1 and mean[k] == mean[now] and sd[k] == sd[now]:
                same += 1
        for k in range(n):
            if open_[k] == 1 and mean[k] == mean[now] and sd[k] == sd[now]:
                p[k] += mass / same
        if following < 0:
            break
        now, start = following, end
    return top


@kernel
def choose(mean: Vector, sd: Vector, open_: Integers, explore: float, u: float, p: Vector) -> int:
    """Choose among the open items with probabilities p, which are written; u ∈ [0, 1) decides.

    To the envelope come 1 % in proportion to v/(v + gap²), v the variance of the gap, and the floor explore/n.
    """
    n = mean.shape[0]
    top = envelope(mean, sd, open_, p)
    many, total = 0.0, 0.0
    for k in range(n):
        if open_[k] == 1:
            many += 1.0
            total += _near(mean, sd, top, k)
    whole = 0.0
    for k in range(n):
        if open_[k] == 1:
            p[k] = 0.99 * p[k] + 0.01 * _near(mean, sd, top, k) / total
            p[k] = (1.0 - explore) * p[k] + explore / many
            whole += p[k]
    chosen, reached = -1, 0.0
    for k in range(n):
        if open_[k] == 1:
            p[k] /= whole
            if chosen < 0 or reached <= u:
                chosen = k
            reached += p[k]
    return chosen


@entry
def draw(mean: Vector, sd: Vector, open_: Integers, explore: float, u: float, p: Vector) -> int:
    """`choose`, for Python."""
    return choose(mean, sd, open_, explore, u, p)


@kernel
def _near(mean: Vector, sd: Vector, top: int, k: int) -> float:
    gap = mean[top] - mean[k]
    v = sd[k] * sd[k] + sd[top] * sd[top]
    return 1.0 if gap <= 0.0 or v + gap * gap == 0.0 else v / (v + gap * gap)


def draw_ranking(mean: Vector, sd: Vector, explore: float, chance: Sequence[float]) -> tuple[list[int], float, Vector]:
    """One item per chance, without replacement; the ranking's probability, and that of every item to be the first."""
    left, first = np.ones(len(mean), np.int64), np.zeros(0)
    drawn: list[int] = []
    propensity = 1.0
    for u in chance:
        p = np.empty(len(mean))
        a = draw(mean, sd, left, explore, u, p)
        first = first if drawn else p
        drawn.append(a)
        propensity *= float(p[a])
        left[a] = 0
    return drawn, propensity, first
