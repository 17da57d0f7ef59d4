"""Which item is drawn: probabilities that are exact, and a floor. The law is `self_tuning`'s."""

from collections.abc import Sequence

import numpy as np

from ..core.kernel import entry, kernel
from ..core.linalg import Matrix, Vector
from ..meta.self_tuning.choice import CHECKS, OPTIMISM, weights_of_checks
from ..meta.self_tuning.envelope import add_law
from .coordinates import Integers


@kernel
def choose(mean: Vector, sd: Vector, open_: Integers, explore: float, u: float, p: Vector, line: Matrix) -> int:
    """Choose among the open items with probabilities p, which are written; u ∈ [0, 1) decides. line (2, n) is workspace.

    p is that of argmax mean + ½(1+|ξ|)sd, one ξ ~ N(0, 1) for all items; to it come 1 % of checks and the floor explore/n.
    """
    n, low, step = mean.shape[0], line[0], line[1]
    many, total = 0.0, 0.0
    for k in range(n):
        low[k] = mean[k] if open_[k] == 1 else -np.inf
        step[k] = OPTIMISM * sd[k]
    weights_of_checks(low, sd, False, p)
    for k in range(n):
        many += open_[k]
        total += p[k]
    for k in range(n):
        low[k] += step[k]
        p[k] *= CHECKS / total
    add_law(low, step, 1.0 - CHECKS, p)
    whole = 0.0
    for k in range(n):
        if open_[k] == 1:
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


@entry(brief=True)
def draw(mean: Vector, sd: Vector, open_: Integers, explore: float, u: float, p: Vector, line: Matrix) -> int:
    """`choose`, for Python."""
    return choose(mean, sd, open_, explore, u, p, line)


def draw_ranking(mean: Vector, sd: Vector, explore: float, chance: Sequence[float]) -> tuple[list[int], float, Vector]:
    """One item per chance, without replacement; the ranking's probability, and that of every item to be the first."""
    left, first = np.ones(len(mean), np.int64), np.zeros(0)
    drawn: list[int] = []
    propensity, line = 1.0, np.empty((2, len(mean)))
    for u in chance:
        p = np.empty(len(mean))
        a = draw(mean, sd, left, explore, u, p, line)
        first = first if drawn else p
        drawn.append(a)
        propensity *= float(p[a])
        left[a] = 0
    return drawn, propensity, first
