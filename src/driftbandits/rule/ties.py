"""The best of many scores, ties broken at random.

With arms of equal norm all scores tie in round 1, and saturated bonuses tie for long: rounding must not decide. A tie is any score within
1e-10·(1+|best|) of the best; the seeded generator picks one.
"""

import numpy as np

from ..kernel import kernel
from ..linalg import Vector

TIE = 1e-10


@kernel
def tie_level(best: float) -> float:
    """The least score that ties with the best."""
    return best - TIE * (1.0 + abs(best))


@kernel
def largest(score: Vector) -> float:
    """max score, by four running maxima that the processor keeps apart."""
    n = score.shape[0]
    m0 = m1 = m2 = m3 = -np.inf
    for a in range(0, n - 3, 4):
        m0 = score[a] if score[a] > m0 else m0
        m1 = score[a + 1] if score[a + 1] > m1 else m1
        m2 = score[a + 2] if score[a + 2] > m2 else m2
        m3 = score[a + 3] if score[a + 3] > m3 else m3
    for a in range(n - n % 4, n):
        m0 = score[a] if score[a] > m0 else m0
    m0 = m1 if m1 > m0 else m0
    m2 = m3 if m3 > m2 else m2
    return m2 if m2 > m0 else m0


@kernel
def best_arm(score: Vector, rng: np.random.Generator) -> int:
    """Index of the largest score; among ties, one at random."""
    level = tie_level(largest(score))
    ties = 0
    for a in range(score.shape[0]):
        ties += score[a] >= level
    skip = 0
    if ties > 1:
        skip = int(rng.random() * ties)
    for a in range(score.shape[0]):
        if score[a] >= level:
            if skip == 0:
                return a
            skip -= 1
    return 0
