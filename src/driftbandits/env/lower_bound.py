r"""The worlds in which the lower bound for drifting linear bandits is proved (Cheung, Simchi-Levi, Zhu 2019).

    arms       the 2^d corners of the cube {±1/√d}^d, all of norm 1
    parameter  blocks of H rounds; in each block a corner θ ∈ {±ε}^d is drawn anew, ε = √(d/(4H))
    noise      N(0, 1)

Within a block a coordinate's sign can just not be told: the wrong sign costs 2ε/√d a round, and H rounds of unit noise separate ±ε/√d
by about one standard deviation. So a block costs a constant times d√H and T rounds cost c·dT/√H. A change of corner is at most 2ε√d =
d/√H long, T/H blocks at most dT/H^{3/2}. With H = (dT/B)^{2/3} the path is no longer than B and the regret at least of order
d^{2/3}B^{1/3}T^{2/3}. The length that a draw really has is `theory.path_length`.
"""

from itertools import product
from math import ceil, sqrt

import numpy as np

from ..core.linalg import Matrix
from ..errors import integer, positive, require
from .paths import Path, piecewise


def corner_arms(*, dim: int) -> Matrix:
    """The 2^d corners of the cube {±1/√d}^d, (2^d, d).

    Examples
    --------
    >>> corner_arms(dim=2).round(4).tolist()
    [[-0.7071, -0.7071], [-0.7071, 0.7071], [0.7071, -0.7071], [0.7071, 0.7071]]
    """
    d = integer("dim", dim, least=1, why="it is the number of features d")
    require(d <= 12, "dim", dim, "≤ 12", "there are 2^d arms")
    arms: Matrix = np.array(list(product((-1.0, 1.0), repeat=d))) / sqrt(d)
    return arms


def hard_blocks(horizon: int, *, dim: int = 2, variation: float = 1.0, seed: int = 0) -> Path:
    """θ of the lower bound: a random corner of {±ε}^d in every block of H = (dT/B)^{2/3} rounds, ε = √(d/(4H)); the path is at most B long.

    `variation` is B. H is at least d²/4, so that ‖θ‖ ≤ 1, and at most T.

    Examples
    --------
    >>> path = hard_blocks(6000, dim=4, variation=5.0)
    >>> round(path.norm, 4), len(np.unique(path.to_array(), axis=0)) > 1
    (0.1185, True)
    """
    T = integer("horizon", horizon, least=2, why="it is the number of rounds T")
    d = integer("dim", dim, least=1, why="it is the number of features d")
    B = positive("variation", variation, "it bounds the length of the path")
    H = min(max(ceil((d * T / B) ** (2.0 / 3.0)), ceil(d * d / 4.0)), T)
    blocks = ceil(T / H)
    eps = sqrt(d / (4.0 * H))
    corners = eps * np.random.default_rng(seed).choice([-1.0, 1.0], (blocks, d))
    starts = 1 + H * np.arange(1, blocks)
    return piecewise(T, dim=d, norm=eps * sqrt(d), changes=blocks - 1, values=corners, at=starts)
