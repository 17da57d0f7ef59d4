r"""The MDPs in which lower bounds for drifting linear mixtures are proved (Zhong et al. 2022; Zhou, Gu, Szepesvári 2021).

States x_1, …, x_H, a dull end x_{H+1} and a good end x_{H+2}; both ends absorb and only the good one pays, 1 in every stage. Actions a
∈ {±1}^{d−1}. From x_h an action leads to the good end with a small probability that depends on how well it fits a hidden corner μ, else
onwards:

    P(x_{H+2} | x_h, a) = δ + ⟨μ, a⟩,     P(x_{h+1} | x_h, a) = 1 − δ − ⟨μ, a⟩,     δ = 1/H,     μ ∈ {±ε}^{d−1}

Linear in w = (1, μ) ∈ R^d: ψ(x_{H+2}|x_h, a) = (δ, a), ψ(x_{h+1}|x_h, a) = (1−δ, −a). The corner is drawn anew in every block of episodes;
ε is chosen such that a block is just too short to identify it, ε = min{√(δ/N)/2, δ/(2(d−1))} for N episodes a block, the second so that
probabilities stay in [0, 1]. The constants are ours; the form is theirs.
"""

from itertools import product
from math import ceil, sqrt

import numpy as np

from ..errors import integer, require
from .environment import MDP
from .mixtures import linear_mixture


def hard_mixture(*, dim: int = 3, horizon: int = 6, episodes: int = 1000, block: int = 100, seed: int = 0) -> MDP:
    """A drifting linear mixture MDP that is hard to learn: a hidden corner of a cube, drawn anew every `block` episodes.

    Examples
    --------
    >>> world = hard_mixture(dim=3, horizon=4, episodes=20, block=5)
    >>> world.psi.shape, round(float(world.kernel(0)[0, 0].sum(axis=1).max()), 12)
    ((6, 4, 6, 3), 1.0)
    """
    d = integer("dim", dim, least=2, why="one parameter is constant, the others are hidden")
    require(d <= 9, "dim", dim, "≤ 9", "there are 2^(d−1) actions")
    H = integer("horizon", horizon, least=2, why="it is the number of stages H")
    K = integer("episodes", episodes, least=1, why="it is the number of episodes K")
    N = integer("block", block, least=1, why="it is the number of episodes between changes")
    actions = np.array(list(product((-1.0, 1.0), repeat=d - 1)))
    S, A, delta = H + 2, len(actions), 1.0 / H
    eps = min(sqrt(delta / N) / 2.0, delta / (2.0 * (d - 1)))
    psi = np.zeros((S, A, S, d))
    for h in range(H):
        psi[h, :, H + 1, 0] = delta
        psi[h, :, H + 1, 1:] = actions
        psi[h, :, h + 1, 0] = 1.0 - delta
        psi[h, :, h + 1, 1:] = -actions
    psi[H, :, H, 0] = psi[H + 1, :, H + 1, 0] = 1.0
    phi = np.zeros((S, A, 1))
    phi[H + 1] = 1.0
    corners = eps * np.random.default_rng(seed).choice([-1.0, 1.0], (ceil(K / N), d - 1))
    w = np.column_stack([np.ones(K), np.repeat(corners, N, axis=0)[:K]])
    return linear_mixture(phi, psi, np.ones((K, 1)), w, horizon=H)
