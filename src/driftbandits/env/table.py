"""A world given as a table: features, and the reward of every choice, for each round."""

import datetime
import os
import pathlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..core.checks import as_numbers
from ..core.linalg import Matrix, Vector
from ..errors import CannotRead, InvalidShape, InvalidValue, integer
from ..util.notebook import card

Cube = NDArray[np.float64]
Features = Callable[[int], ArrayLike]  # round t = 0, 1, … → (n, d), or (d,): one context for all items
File = str | os.PathLike[str]
BLOCK_NUMBERS = 1 << 20  # numbers in the features of one block of rounds


@dataclass(frozen=True, repr=False)
class Table:
    """In round t, choosing k pays rewards[t, k]; its mean, against which regret is counted, is expected[t, k]."""

    features: Cube | Features  # (T, n, d) of the arms, or (T, d): one context for all items; or a function of the round
    rewards: Matrix  # (T, n)
    expected: Matrix  # (T, n)
    dim: int
    items: bool  # one context for all
    times: Vector | None = None  # (T,) seconds since 1970

    @property
    def horizon(self) -> int:
        """Number of rounds T."""
        return len(self.rewards)

    @property
    def choices(self) -> int:
        """Number of arms or items n."""
        return int(self.rewards.shape[1])

    def best(self) -> Vector:
        """The largest expected reward of every round."""
        return np.asarray(self.expected.max(axis=1))

    def first(self, rounds: int) -> "Table":
        """The same world with only the first `rounds` rounds."""
        given = self.features if callable(self.features) else self.features[:rounds]
        times = None if self.times is None else self.times[:rounds]
        return replace(
            self, features=given, rewards=self.rewards[:rounds], expected=self.expected[:rounds], times=times
        )

    def blocks(self, most: int) -> Iterator[tuple[slice, Cube]]:
        """Consecutive blocks of at most `most` rounds, with the arms on offer: (m, d, n), or (m, d, 1) for items."""
        width = self.dim * (1 if self.items else self.choices)
        size = max(1, min(most, BLOCK_NUMBERS // width))
        for t in range(0, self.horizon, size):
            now = slice(t, min(t + size, self.horizon))
            yield now, self._offers(now)

    def _offers(self, now: slice) -> Cube:
        if callable(self.features):
            X = np.stack([self._ask(self.features, t) for t in range(now.start, now.stop)])
        else:
            X = np.asarray(self.features[now], np.float64)
        return np.ascontiguousarray(X[:, :, None] if self.items else X.transpose(0, 2, 1))

    def _ask(self, function: Features, t: int) -> Cube:
        x = np.asarray(function(t), np.float64)
        wanted = (self.dim,) if self.items else (self.choices, self.dim)
        if x.shape != wanted:
            raise InvalidShape(
                f"the function of features gave shape {x.shape} in round {t}; in round 0 it was {wanted}"
            )
        return x

    def __repr__(self) -> str:
        what = "items" if self.items else "arms"
        return f"Table({self.choices} {what}, dim={self.dim}, horizon={self.horizon})"

    def _repr_html_(self) -> str:
        """The same as a small table, for notebooks."""
        rows = {"items" if self.items else "arms": self.choices, "features": self.dim, "rounds": f"{self.horizon:,}"}
        return card("World of a table", rows)


def from_rewards(
    X: "ArrayLike | Features | File",
    R: "ArrayLike | File",
    times: "ArrayLike | File | None" = None,
    *,
    expected: "ArrayLike | File | None" = None,
    horizon: int | None = None,
) -> Table:
    """A world from a table of features and rewards, measured or simulated elsewhere; for `simulate`, `trials` and experiments.

    Regret is relative to the best item of each round; `Run.reward` and `Run.reward_per_round` report the reward itself.

    Parameters
    ----------
    X
        (T, n, d): the features of every item in every round; or (T, d): one context per round, for strategies with a model per item
        (`zoo.self_tuning(features="disjoint")`); or a function of the round t = 0, 1, …, T−1 that returns (n, d) or (d,), for tables that
        do not fit into memory.
    R
        (T, n): the reward of each choice.
    times
        (T,): the time of each round, not decreasing: datetimes, or seconds since 1970. `Run.times` has those of the checkpoints.
    expected
        (T, n): the means of R, if they are known; regret and reward are computed from them. By default R itself.
    horizon
        Use only the first `horizon` rounds, if there are more.

    Each array may be the name of a file written by `np.save`; it is memory-mapped and read during the simulation.

    Examples
    --------
    >>> import driftbandits as db
    >>> contexts = np.random.default_rng(0).standard_normal((200, 2))
    >>> rewards = np.stack([contexts[:, 0], contexts[:, 1], 0.1 + 0 * contexts[:, 0]], axis=1)
    >>> world = db.env.from_rewards(contexts, rewards)
    >>> run = db.simulate(db.zoo.self_tuning(features="disjoint"), world, seed=0)
    >>> bool(run.reward_per_round[-1] > 0.5)
    True
    """
    rewards = _matrix("R", R)
    T, n = rewards.shape
    means = rewards if expected is None else _matrix("expected", expected)
    if means.shape != (T, n):
        raise InvalidShape(f"expected has shape {means.shape} but R {(T, n)}; both must be (T, n)")
    features, shape = (X, np.shape(X(0))) if callable(X) else _array(X)
    wanted = f"with {T} rounds of {n} rewards it must be"
    if callable(X):
        if len(shape) not in (1, 2) or 0 in shape or (len(shape) == 2 and shape[0] != n):
            raise InvalidShape(f"X(0) has shape {shape}; {wanted} ({n}, d), or (d,) for one context per round")
    elif len(shape) not in (2, 3) or 0 in shape or shape[0] != T or (len(shape) == 3 and shape[1] != n):
        raise InvalidShape(f"X has shape {shape}; {wanted} ({T}, {n}, d), or ({T}, d) for one context per round")
    items = len(shape) == (1 if callable(X) else 2)
    world = Table(features, rewards, means, int(shape[-1]), items, _seconds(times, T))
    if horizon is None:
        return world
    return world.first(integer("horizon", horizon, least=1, why="there must be a round to play"))


def _array(given: Any) -> tuple[Cube, tuple[int, ...]]:
    """Features as an array of finite numbers, and its shape."""
    X = _read("X", given) if isinstance(given, str | os.PathLike) else as_numbers("X", given)
    for now in range(0, len(X) if X.ndim else 0, 4096):  # a file is not read into memory as a whole
        if not np.isfinite(X[now : now + 4096]).all():
            raise InvalidValue("X contains NaN or infinity; every number must be finite")
    return X, X.shape


def _matrix(name: str, given: Any) -> Matrix:
    array = np.ascontiguousarray(as_numbers(name, _read(name, given)))
    if array.ndim != 2 or 0 in array.shape:
        raise InvalidShape(f"{name} has shape {array.shape}; it must be (T, n) with T, n ≥ 1: one column per choice")
    if not np.isfinite(array).all():
        row, column = np.argwhere(~np.isfinite(array))[0]
        raise InvalidValue(
            f"{name}[{row}, {column}] is {array[row, column]}; every number must be finite: each choice needs a reward in each round"
        )
    return array


def _read(name: str, given: Any) -> Any:
    """The array in a file if `given` is a file name, otherwise `given` itself."""
    if not isinstance(given, str | os.PathLike):
        return given
    path = pathlib.Path(given)
    if not path.is_file():
        raise CannotRead(
            f"{name} = {str(path)!r} is not a file; give an array, or the name of a file that np.save wrote"
        )
    try:
        return np.load(path, mmap_mode="r")
    except (ValueError, OSError, EOFError):
        raise CannotRead(
            f"{name} = {str(path)!r} is not an array; give the name of a file that np.save wrote"
        ) from None


def _seconds(times: Any, T: int) -> Vector | None:
    """Times as seconds since 1970, or None."""
    if times is None:
        return None
    given = np.asarray(_read("times", times))
    if given.dtype.kind == "O" and given.size and isinstance(given.flat[0], datetime.datetime):
        given = np.array([moment.timestamp() for moment in given.flat])
    if given.dtype.kind == "M":
        given = np.where(np.isnat(given), np.nan, given.astype("datetime64[us]").astype(np.int64) / 1e6)
    if given.dtype.kind not in "iuf":
        raise InvalidValue(f"times holds {given.dtype}; it must be datetimes, or seconds since 1970")
    seconds = given.astype(np.float64)
    if seconds.shape != (T,):
        raise InvalidShape(f"times has shape {seconds.shape}; with {T} rounds it must be ({T},)")
    late = ~(np.diff(seconds) >= 0)  # true for NaN
    if late.any() or not np.isfinite(seconds).all():
        row = int(np.argmax(late)) + 1 if late.any() else 0
        raise InvalidValue(
            f"times[{row}] is missing, or before times[{row - 1}]; rounds must be given in order of time"
        )
    return seconds
