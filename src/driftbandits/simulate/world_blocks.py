"""The rounds of a world, generated in blocks by NumPy: arms, θ, the best predictors and random numbers, independent of any strategy."""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from ..core.linalg import Matrix, Vector
from ..env.rewards import draws
from ..env.world import World
from .rounds import best_predictors

BLOCK = 4096  # rounds per block
# If the arms change, a block has this many features at most, so that they stay in the processor's cache until they are used; or this many
# if the state is watched, because each block is then cut at checkpoints anyway.
BLOCK_NUMBERS = 1 << 17
LOOKED_INTO = 1 << 20
CHECKPOINTS = 300  # the default number


class Block(NamedTuple):
    """Consecutive rounds."""

    arms: Matrix  # (m, d, n), or (1, d, n) when they are fixed
    theta: Matrix  # (m, d)
    best: Vector  # (m,) max_a x_aᵀθ_t
    draw: Vector  # (m,) the random numbers of the rewards


def block_size(env: World, *, looked_into: bool = False) -> int:
    """The number of rounds per block; if the state is watched, a multiple of the rounds between two calls of the watching function."""
    numbers = LOOKED_INTO if looked_into else BLOCK_NUMBERS
    size = BLOCK if env.arms.fixed else max(1, min(BLOCK, numbers // (env.dim * env.arms.n)))
    return size - size % max(1, min(size, env.horizon // CHECKPOINTS)) if looked_into else size


def made(arms: Iterable[Matrix], theta: Iterable[Matrix], reward: Any, rng: np.random.Generator) -> Iterator[Block]:
    """Generate the blocks of a world from the blocks of its arms and of its path.

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
