"""The rounds of a world, made in blocks in NumPy: arms, θ, the best predictors and random numbers. No strategy changes them."""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from ..core.linalg import Matrix, Vector
from ..env.bandit import Bandit
from ..env.rewards import draws
from .rounds import best_predictors

BLOCK = 4096  # rounds made at once
BLOCK_NUMBERS = 1 << 17  # so many features at once when the arms change: they stay in the cache until they are played
LOOKED_INTO = 1 << 20  # or so many where a strategy is asked about its course between blocks
CHECKPOINTS = 300


class Block(NamedTuple):
    """Consecutive rounds."""

    arms: Matrix  # (m, d, n), or (1, d, n) when they are fixed
    theta: Matrix  # (m, d)
    best: Vector  # (m,) max_a x_aᵀθ_t
    draw: Vector  # (m,) the random numbers of the rewards


def block_size(env: Bandit, *, looked_into: bool = False) -> int:
    """How many rounds to make at once; if the strategy is looked into, a multiple of the rounds between two looks."""
    numbers = LOOKED_INTO if looked_into else BLOCK_NUMBERS
    size = BLOCK if env.arms.fixed else max(1, min(BLOCK, numbers // (env.dim * env.arms.n)))
    return size - size % max(1, min(size, env.horizon // CHECKPOINTS)) if looked_into else size


def made(arms: Iterable[Matrix], theta: Iterable[Matrix], reward: Any, rng: np.random.Generator) -> Iterator[Block]:
    """The blocks of a world from those of its arms and its path, and random numbers.

    Examples
    --------
    >>> import numpy as np
    >>> import driftbandits as db
    >>> world = db.env.linear(np.eye(2), db.env.rotating(5))
    >>> (block,) = made(world.arms.blocks(5, 5), world.path.blocks(5), world.reward, np.random.default_rng(0))
    >>> block.arms.shape, block.best.round(3) + 0.0
    ((1, 2, 2), array([1., 1., 0., 0., 1.]))
    """
    for offered, path in zip(arms, theta, strict=True):
        best = np.empty(len(path))
        best_predictors(offered, path, np.zeros(offered.shape[2]), best)
        yield Block(offered, np.ascontiguousarray(path), best, draws(reward, rng, len(path)))
