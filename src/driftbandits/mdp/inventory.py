r"""Inventory control with drifting demand: a shop whose season is unknown.

At the start of a day the shop holds s items and orders a more, at most up to its capacity C. Demand D then comes, sales are
min(D, s+a), and what is left is tomorrow's stock:

    s' = max(0, min(s+a, C) − D),      profit = price·E[sales] − cost·order − holding·E[leftover]

Demand follows one of a few known patterns (quiet, normal, busy), mixed by unknown weights w^k that change with the season: a linear mixture
MDP with base chains P_i, and with rewards φᵀw, φ_i the expected profit under pattern i, mapped to [0, 1].
"""

import math
from typing import Any

import numpy as np

from ..errors import integer, positive
from .drift import Drift, between, phase
from .environment import MDP
from .mixtures import linear_mixture

PRICE, COST, HOLDING = 1.0, 0.4, 0.1
QUIET, BUSY = np.array([0.8, 0.2, 0.0]), np.array([0.0, 0.2, 0.8])


def inventory(
    *,
    capacity: int = 8,
    largest_order: int = 4,
    demand: tuple[float, float, float] = (0.5, 2.0, 4.0),
    horizon: int = 12,
    episodes: int = 1000,
    drift: Drift = "gradual",
    start: int = 0,
    noise: float = 0.0,
    **path: Any,
) -> MDP:
    """A shop of `capacity` items that orders 0..`largest_order` a day; an episode is `horizon` days.

    `demand`: mean demand of a day under the quiet, normal and busy pattern (Poisson). The season moves from quiet to busy and back.

    Examples
    --------
    >>> world = inventory(episodes=10)
    >>> world.states, world.actions, world.psi.shape[-1]
    (9, 5, 3)
    """
    C = integer("capacity", capacity, least=1, why="the shop must hold an item")
    A = integer("largest_order", largest_order, least=1, why="there must be something to decide") + 1
    psi, profit = np.zeros((C + 1, A, C + 1, 3)), np.zeros((C + 1, A, 3))
    for i, mean in enumerate(demand):
        positive("demand", mean, "it is a mean number of items")
        share = np.array([math.exp(-mean) * mean**x / math.factorial(x) for x in range(C)])
        for s in range(C + 1):
            for a in range(A):
                stock = min(s + a, C)
                p = np.append(share[:stock], 1.0 - share[:stock].sum())  # demands 0..stock−1, and stock or more
                psi[s, a, stock - np.arange(stock + 1), i] = p
                sold = p @ np.arange(stock + 1)
                profit[s, a, i] = PRICE * sold - COST * (stock - s) - HOLDING * (stock - sold)
    phi = (profit - profit.min()) / (profit.max() - profit.min())
    season = between(QUIET, BUSY, phase(episodes, drift, **path))
    return linear_mixture(phi, psi, season, season, horizon=horizon, start=start, noise=noise, S_theta=1.0, S_w=1.0)
