"""Paths of the drifting parameter: θ_1, …, θ_T in the ball of radius `norm`.

A path is generated block by block while a simulation runs, so that memory does not grow with T. `to_array` returns the whole path.

=============  =============================================================================
`rotating`     one or more turns of a circle at constant speed (the paper's experiment)
`static`       the same θ in all rounds
`piecewise`    constant between abrupt changes
`random_walk`  Gaussian steps, projected onto the ball
`sinusoidal`   every coordinate is a sine with its own phase
`swinging`     two values that swing against each other (swinging.py)
`waypoints`    linear interpolation between given points
`from_array`   your own (T, d) array
`joined`       one path after another
=============  =============================================================================
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..core.kernel import entry
from ..core.linalg import Matrix, Vector
from ..errors import InvalidShape, InvalidValue, integer, positive, real, require

Rounds = NDArray[np.int64]


@dataclass(frozen=True)
class Path:
    """θ_1..θ_T; subclasses define how it is computed."""

    horizon: int
    dim: int
    norm: float

    def __post_init__(self) -> None:
        """Validate the horizon, the dimension and the bound."""
        integer("horizon", self.horizon, least=1, why="it is the number of rounds T")
        integer("dim", self.dim, least=1, why="it is the number of features d")
        positive("norm", self.norm, "it bounds ‖θ_t‖")

    def blocks(self, size: int) -> Iterator[Matrix]:
        """θ in consecutive blocks of at most `size` rounds, each (m, d)."""
        for first in range(0, self.horizon, size):
            yield self.at(np.arange(first, min(first + size, self.horizon)))

    def at(self, t: Rounds) -> Matrix:
        """θ in rounds t = 0..T−1, for paths that are a function of t."""
        raise NotImplementedError

    def to_array(self) -> Matrix:
        """The whole path, (T, d)."""
        return np.concatenate(list(self.blocks(65_536)))


# -------------------------------------------------------------------------------------------------------------- rotating


@dataclass(frozen=True)
class _Rotating(Path):
    turns: float

    def at(self, t: Rounds) -> Matrix:
        angle = 2.0 * np.pi * self.turns * t / max(self.horizon - 1, 1)
        theta = np.zeros((len(t), self.dim))
        theta[:, 0] = self.norm * np.cos(angle)
        if self.dim > 1:
            theta[:, 1] = self.norm * np.sin(angle)
        return theta


def rotating(horizon: int, *, dim: int = 2, norm: float = 1.0, turns: float = 1.0) -> Path:
    """A circle of radius `norm` in the first two coordinates, back at its start in round T (resolution A9).

    Examples
    --------
    >>> rotating(5).to_array().round(3) + 0.0
    array([[ 1.,  0.],
           [ 0.,  1.],
           [-1.,  0.],
           [ 0., -1.],
           [ 1.,  0.]])
    """
    return _Rotating(horizon, dim, norm, real("turns", turns))


# -------------------------------------------------------------------------------------------------- static and piecewise


@dataclass(frozen=True)
class _Piecewise(Path):
    starts: Rounds
    values: Matrix

    def at(self, t: Rounds) -> Matrix:
        return self.values[np.searchsorted(self.starts, t, side="right") - 1]


def static(horizon: int, *, dim: int = 2, norm: float = 1.0, theta: ArrayLike | None = None, seed: int = 0) -> Path:
    """One θ for all rounds: the given one, or a random one of length `norm`."""
    if theta is None:
        return piecewise(horizon, dim=dim, norm=norm, changes=0, seed=seed)
    value = np.atleast_2d(np.asarray(theta, float))
    return piecewise(horizon, dim=value.shape[1], norm=norm, changes=0, values=value)


def piecewise(
    horizon: int,
    *,
    dim: int = 2,
    norm: float = 1.0,
    changes: int = 5,
    values: ArrayLike | None = None,
    at: ArrayLike | None = None,
    seed: int = 0,
) -> Path:
    """Constant between `changes` abrupt changes.

    `values` (changes+1, d): the parameters, by default random directions of length `norm`. `at` (changes,): the first
    round (1-based) of each new parameter, by default evenly spaced.
    """
    changes = integer("changes", changes, least=0, why="it counts abrupt changes")
    horizon = integer("horizon", horizon, least=1, why="it is the number of rounds T")
    require(
        changes < horizon,
        "changes",
        changes,
        f"< horizon = {horizon}",
        "there is at most one change between two rounds",
    )
    if values is None:
        theta = np.random.default_rng(seed).standard_normal((changes + 1, dim))
        theta *= norm / np.linalg.norm(theta, axis=1, keepdims=True)
    else:
        theta = _inside(np.asarray(values, float), norm)
    if theta.shape != (changes + 1, dim):
        raise InvalidShape(f"values has shape {theta.shape}; {changes} changes in d = {dim} need {(changes + 1, dim)}")
    starts = np.arange(changes + 1) * horizon // (changes + 1)
    if at is not None:
        given = np.asarray(at, np.int64)
        bounds = [1, *given.tolist(), horizon + 1]
        if given.shape != (changes,) or any(a >= b for a, b in pairwise(bounds)):
            raise InvalidValue(
                f"at = {given.tolist()} must be {changes} increasing rounds in 2..{horizon}: θ changes there"
            )
        starts[1:] = given - 1
    return _Piecewise(horizon, dim, norm, starts, theta)


# ------------------------------------------------------------------------------------------------------------ sinusoidal


@dataclass(frozen=True)
class _Sinusoidal(Path):
    periods: float
    phase: Vector

    def at(self, t: Rounds) -> Matrix:
        angle = 2.0 * np.pi * self.periods * t / self.horizon
        theta: Matrix = self.norm / np.sqrt(self.dim) * np.sin(angle[:, None] + self.phase)
        return theta


def sinusoidal(horizon: int, *, dim: int = 2, norm: float = 1.0, periods: float = 1.0, seed: int = 0) -> Path:
    """θ_{t,i} = (norm/√d)·sin(2π·periods·t/T + phase_i), phases drawn from the seed."""
    phase = np.random.default_rng(seed).uniform(0.0, 2.0 * np.pi, dim)
    return _Sinusoidal(horizon, dim, norm, periods, phase)


# ----------------------------------------------------------------------------------------------------------- random walk


@entry
def _walk(theta: Vector, steps: Matrix, norm: float) -> None:
    """steps[t] ← θ_t, then θ_{t+1} = Π(θ_t + step_t), Π the projection onto the ball."""
    for t in range(steps.shape[0]):
        square = 0.0
        for i in range(theta.shape[0]):
            move = steps[t, i]
            steps[t, i] = theta[i]
            theta[i] += move
            square += theta[i] * theta[i]
        if square > norm * norm:
            for i in range(theta.shape[0]):
                theta[i] *= norm / np.sqrt(square)


@dataclass(frozen=True)
class _RandomWalk(Path):
    step: float
    seed: int

    def blocks(self, size: int) -> Iterator[Matrix]:
        rng = np.random.default_rng(self.seed)
        theta = rng.standard_normal(self.dim)
        theta *= self.norm / np.linalg.norm(theta)
        for first in range(0, self.horizon, size):
            steps = rng.standard_normal((min(size, self.horizon - first), self.dim))
            steps *= self.step / np.sqrt(self.dim)
            _walk(theta, steps, self.norm)
            yield steps


def random_walk(horizon: int, *, dim: int = 2, norm: float = 1.0, step: float = 0.01, seed: int = 0) -> Path:
    """θ_{t+1} = Π(θ_t + step·ξ_t/√d), ξ_t ~ N(0, I), Π the projection onto the ball; θ_1 is a random direction of length `norm`."""
    positive("step", step, "it is the expected length of a step")
    return _RandomWalk(horizon, dim, norm, step, seed)


# -------------------------------------------------------------------------------------------------------------- waypoints


@dataclass(frozen=True)
class _Waypoints(Path):
    points: Matrix

    def at(self, t: Rounds) -> Matrix:
        place = t * (len(self.points) - 1) / max(self.horizon - 1, 1)
        k = np.minimum(place.astype(np.int64), max(len(self.points) - 2, 0))
        following = self.points[np.minimum(k + 1, len(self.points) - 1)]
        theta: Matrix = self.points[k] + (place - k)[:, None] * (following - self.points[k])
        return theta


def waypoints(horizon: int, points: ArrayLike, *, norm: float | None = None) -> Path:
    """Linear interpolation between points (m, d), with the same number of rounds for each segment: θ moves faster on a longer segment.

    `norm` is the bound S, by default the largest norm of a point.

    Examples
    --------
    >>> waypoints(5, [[1.0, 0.0], [0.0, 0.0], [0.0, 1.0]]).to_array()
    array([[1. , 0. ],
           [0.5, 0. ],
           [0. , 0. ],
           [0. , 0.5],
           [0. , 1. ]])
    """
    given = from_array(points, norm=norm)
    return _Waypoints(horizon, given.dim, given.norm, given.to_array())


# ------------------------------------------------------------------------------------------------------ given and joined


@dataclass(frozen=True)
class _Given(Path):
    values: Matrix

    def at(self, t: Rounds) -> Matrix:
        return self.values[t]


def from_array(path: ArrayLike, *, norm: float | None = None) -> Path:
    """A path given as an array θ_1..θ_T, (T, d); `norm` is the bound S, by default the largest ‖θ_t‖."""
    values = np.ascontiguousarray(path, float)
    if values.ndim != 2 or 0 in values.shape:
        raise InvalidShape(f"path has shape {values.shape}; it must be (T, d): one parameter for each round")
    bound = float(np.linalg.norm(values, axis=1).max()) or 1.0 if norm is None else norm
    return _Given(values.shape[0], values.shape[1], bound, _inside(values, bound))


@dataclass(frozen=True)
class _Joined(Path):
    paths: tuple[Path, ...]

    def blocks(self, size: int) -> Iterator[Matrix]:
        rest = np.zeros((0, self.dim))
        for block in (b for p in self.paths for b in p.blocks(size)):
            rest = np.concatenate((rest, block))
            while len(rest) >= size:
                yield rest[:size]
                rest = rest[size:]
        if len(rest):
            yield rest


def joined(*paths: Path) -> Path:
    """One path after another, e.g. slow drift followed by fast drift."""
    require(
        len({p.dim for p in paths}) == 1,
        "dim",
        [p.dim for p in paths],
        "the same for all paths",
        "θ keeps its dimension",
    )
    return _Joined(sum(p.horizon for p in paths), paths[0].dim, max(p.norm for p in paths), paths)


def _inside(values: Matrix, norm: float) -> Matrix:
    """Raise if a parameter is not finite or not in the ball."""
    if not np.isfinite(values).all():
        raise InvalidValue("the path contains NaN or infinity; every θ_t must be finite")
    largest = float(np.linalg.norm(values, axis=-1).max())
    require(largest <= norm * (1.0 + 1e-9), "‖θ‖", largest, f"≤ norm = {norm}", "S must bound every parameter")
    return values
