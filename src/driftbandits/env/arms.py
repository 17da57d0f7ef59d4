"""Sets of arms on offer: the same in every round, given for every round, or redrawn in every round."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ..core.linalg import Matrix
from ..errors import InvalidShape, InvalidValue, integer


def unit_arms(n: int, *, dim: int, seed: int = 0) -> Matrix:
    """n arms (n, d): Gaussian directions, each rescaled to norm 1 (the paper's; resolution A8, reading i).

    Examples
    --------
    >>> unit_arms(50, dim=2, seed=0).shape
    (50, 2)
    """
    return _unit(_gaussian(n, dim, seed), axis=1)


def max_norm_arms(n: int, *, dim: int, seed: int = 0) -> Matrix:
    """Arms (n, d): the same Gaussian arms, all divided by the norm of the longest (resolution A8, reading ii).

    Examples
    --------
    >>> float(np.linalg.norm(max_norm_arms(50, dim=2, seed=0), axis=1).max())
    1.0
    """
    arms = _gaussian(n, dim, seed)
    scaled: Matrix = arms / np.linalg.norm(arms, axis=1).max()
    return scaled


def clipped_arms(n: int, *, dim: int, seed: int = 0) -> Matrix:
    """Arms (n, d): the same Gaussian arms, those longer than 1 shortened to norm 1 (resolution A8, reading iii).

    Examples
    --------
    >>> bool((np.linalg.norm(clipped_arms(50, dim=2, seed=0), axis=1) < 1.0).any())
    True
    """
    arms = _gaussian(n, dim, seed)
    clipped: Matrix = arms / np.maximum(np.linalg.norm(arms, axis=1, keepdims=True), 1.0)
    return clipped


def _gaussian(n: int, dim: int, seed: int) -> Matrix:
    """Standard Gaussian vectors (n, d)."""
    integer("n", n, least=1, why="there must be an arm to play")
    integer("dim", dim, least=1, why="it is the number of features d")
    return np.random.default_rng(seed).standard_normal((n, dim))


def redrawn_arms(n: int, *, dim: int, seed: int = 0) -> "Arms":
    """n fresh unit-norm Gaussian arms in every round, made while the simulation runs."""
    integer("n", n, least=1, why="there must be an arm to play")
    return _Redrawn(n, dim, seed)


@dataclass(frozen=True)
class Arms:
    """A source of arm sets."""

    n: int
    dim: int

    @property
    def fixed(self) -> bool:
        """Whether the same arms are on offer in every round."""
        return False

    def blocks(self, horizon: int, size: int) -> Iterator[Matrix]:
        """Arms of consecutive blocks of rounds, each (m, d, n); a fixed set is (1, d, n)."""
        raise NotImplementedError


@dataclass(frozen=True)
class _Fixed(Arms):
    values: Matrix  # (1, d, n)

    @property
    def fixed(self) -> bool:
        return True

    def blocks(self, horizon: int, size: int) -> Iterator[Matrix]:
        for _ in range(0, horizon, size):
            yield self.values


@dataclass(frozen=True)
class _Given(Arms):
    values: Matrix  # (T, n, d)

    def blocks(self, horizon: int, size: int) -> Iterator[Matrix]:
        for first in range(0, horizon, size):
            yield np.ascontiguousarray(self.values[first : first + size].transpose(0, 2, 1))


@dataclass(frozen=True)
class _Redrawn(Arms):
    seed: int

    def blocks(self, horizon: int, size: int) -> Iterator[Matrix]:
        rng = np.random.default_rng(self.seed)
        for first in range(0, horizon, size):
            yield _unit(rng.standard_normal((min(size, horizon - first), self.dim, self.n)), axis=1)


def as_arms(arms: "ArrayLike | Arms", *, horizon: int) -> Arms:
    """An arm source from a source, an (n, d) array or a (T, n, d) array."""
    if isinstance(arms, Arms):
        return arms
    values = np.ascontiguousarray(arms, float)
    if values.ndim not in (2, 3) or 0 in values.shape:
        raise InvalidShape(
            f"arms has shape {values.shape}; it must be (n, d), or (T, n, d) when the arm set changes, with n, d ≥ 1"
        )
    if not np.isfinite(values).all():
        raise InvalidValue("arms contains NaN or infinity; every feature must be finite")
    if values.ndim == 2:
        return _Fixed(values.shape[0], values.shape[1], np.ascontiguousarray(values.T)[None])
    if values.shape[0] != horizon:
        raise InvalidShape(f"arms has {values.shape[0]} rounds but the path has {horizon}; both must cover rounds 1..T")
    return _Given(values.shape[1], values.shape[2], values)


def _unit(values: Matrix, axis: int) -> Matrix:
    unit: Matrix = values / np.linalg.norm(values, axis=axis, keepdims=True)
    return unit
