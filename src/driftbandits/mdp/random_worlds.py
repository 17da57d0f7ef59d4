"""Random MDPs of any size, for tests and benchmarks."""

from typing import Any

import numpy as np

from ..core.linalg import Matrix
from ..errors import integer, positive, require
from .drift import Drift, between, phase
from .environment import MDP
from .mixtures import linear_mixture, mnl_mixture


def random_linear_mixture(
    *,
    states: int = 6,
    actions: int = 2,
    horizon: int = 10,
    episodes: int = 1000,
    dim: int = 4,
    dim_theta: int | None = None,
    drift: Drift = "gradual",
    seed: int = 0,
    start: int = 0,
    noise: float = 0.0,
    **path: Any,
) -> MDP:
    """A mixture of `dim` random chains; rewards are a mixture of `dim_theta` random reward tables.

    Rows of the base chains are Dirichlet(0.3); w moves between two random points of the simplex, θ between two of the unit cube.

    Examples
    --------
    >>> world = random_linear_mixture(states=5, actions=3, dim=4, dim_theta=2, episodes=10)
    >>> world.psi.shape, world.phi.shape
    ((5, 3, 5, 4), (5, 3, 2))
    """
    S, A, d, d_theta = _sizes(states, actions, dim, dim_theta)
    rng = np.random.default_rng(seed)
    q = phase(episodes, drift, **path)
    psi = np.moveaxis(rng.dirichlet(np.full(S, 0.3), (d, S, A)), 0, -1)
    ends = rng.dirichlet(np.full(d, 0.5), 2)
    w = between(ends[0], ends[1], q)
    phi, theta = _rewards(rng, S, A, d_theta, q)
    bounds = {"S_theta": d_theta**0.5, "S_w": 1.0}
    return linear_mixture(phi, psi, theta, w, horizon=horizon, start=start, noise=noise, **bounds)


def random_mnl(
    *,
    states: int = 6,
    actions: int = 2,
    horizon: int = 10,
    episodes: int = 1000,
    dim: int = 4,
    dim_theta: int | None = None,
    successors: int = 3,
    S_w: float = 2.0,
    drift: Drift = "gradual",
    seed: int = 0,
    start: int = 0,
    noise: float = 0.0,
    **path: Any,
) -> MDP:
    """A multinomial-logit mixture: every pair has `successors` random successors with random unit features.

    w moves between two random points of the sphere of radius S_w.
    """
    S, A, d, d_theta = _sizes(states, actions, dim, dim_theta)
    U = integer("successors", successors, least=1, why="every pair leads somewhere")
    require(S >= U, "successors", U, f"≤ states = {S}", "successors are states")
    positive("S_w", S_w, "it bounds the norm of w")
    rng = np.random.default_rng(seed)
    q = phase(episodes, drift, **path)
    reachable = np.zeros((S, A, S), bool)
    for s in range(S):
        for a in range(A):
            reachable[s, a, rng.choice(S, U, replace=False)] = True
    psi = rng.standard_normal((S, A, S, d))
    psi /= np.linalg.norm(psi, axis=-1, keepdims=True)
    ends = rng.standard_normal((2, d))
    ends *= S_w / np.linalg.norm(ends, axis=1, keepdims=True)
    phi, theta = _rewards(rng, S, A, d_theta, q)
    w = between(ends[0], ends[1], q)
    bounds = {"S_theta": d_theta**0.5, "S_w": S_w}
    return mnl_mixture(phi, psi, reachable, theta, w, horizon=horizon, start=start, noise=noise, **bounds)


def _sizes(states: int, actions: int, dim: int, dim_theta: int | None) -> tuple[int, int, int, int]:
    S = integer("states", states, least=1, why="an MDP has states")
    A = integer("actions", actions, least=1, why="an MDP has actions")
    d = integer("dim", dim, least=1, why="it is the number of features")
    return (
        S,
        A,
        d,
        d if dim_theta is None else integer("dim_theta", dim_theta, least=1, why="it is the number of features"),
    )


def _rewards(rng: np.random.Generator, S: int, A: int, d: int, q: Matrix) -> tuple[Matrix, Matrix]:
    """φ in the simplex and θ in the unit cube: rewards in [0, 1]."""
    phi, ends = rng.dirichlet(np.full(d, 0.3), (S, A)), rng.uniform(size=(2, d))
    return phi, between(ends[0], ends[1], q)
