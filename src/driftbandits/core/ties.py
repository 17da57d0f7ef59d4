"""The index of the largest score, with ties broken at random.

With arms of equal norm all scores tie in round 1, and saturated bonuses tie for many rounds. Rounding errors must not decide between them,
or results would depend on the machine. All scores within 1e-10·(1+|best|) of the best count as tied; the seeded generator picks one.
"""

import numpy as np

from .kernel import kernel
from .linalg import Vector, largest

TIE = 1e-10


@kernel
def tie_level(best: float) -> float:
    """The least score that ties with the best."""
    return best - TIE * (1.0 + abs(best))


@kernel
def best_arm(score: Vector, rng: np.random.Generator) -> int:
    """Index of the largest score; among ties, one at random."""
    level = tie_level(largest(score))
    ties = 0
    for a in range(score.shape[0]):
        ties += score[a] >= level
    # A random number is drawn only if there is a tie.
    skip = 0
    if ties > 1:
        skip = int(rng.random() * ties)
    for a in range(score.shape[0]):
        if score[a] >= level:
            if skip == 0:
                return a
            skip -= 1
    return 0
