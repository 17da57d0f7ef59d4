"""A world that was written down: features and the reward of every choice, round by round."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InvalidShape, InvalidValue
from ..linalg import Matrix, Vector

Cube = NDArray[np.float64]


@dataclass(frozen=True)
class Table:
    """In round t, choosing k pays rewards[t, k]; its mean, against which regret is counted, is expected[t, k]."""

    offers: Cube  # (T, d, n) features of the arms, or (T, d, 1) one context for all items
    rewards: Matrix  # (T, K)
    expected: Matrix  # (T, K)
    items: bool  # one context for all

    @property
    def horizon(self) -> int:
        """Number of rounds T."""
        return len(self.rewards)

    @property
    def dim(self) -> int:
        """Number of features d."""
        return int(self.offers.shape[1])

    @property
    def choices(self) -> int:
        """Number of arms or items K."""
        return int(self.rewards.shape[1])

    def best(self) -> Vector:
        """The largest expected reward of every round."""
        return np.asarray(self.expected.max(axis=1))


def table(features: ArrayLike, rewards: ArrayLike, *, expected: ArrayLike | None = None) -> Table:
    """A world of given features and rewards, for `simulate`.

    Parameters
    ----------
    features
        (T, d): one context per round, for strategies with a model per item (`zoo.self_tuning(features="disjoint")`); or (T, K, d): the
        features
        of every arm, for all others.
    rewards
        (T, K): what each choice would have paid.
    expected
        (T, K): their means, if known; regret is counted in them. By default the rewards themselves.

    Examples
    --------
    >>> import driftbandits as db
    >>> contexts = np.random.default_rng(0).standard_normal((500, 2))
    >>> rewards = np.stack([contexts[:, 0], contexts[:, 1], 0.1 + 0 * contexts[:, 0]], axis=1)
    >>> run = db.simulate(db.zoo.self_tuning(features="disjoint"), db.env.table(contexts, rewards), seed=0)
    >>> bool(run.reward[-1] / 500 > 0.5)
    True
    """
    X, R = np.asarray(features, np.float64), np.asarray(rewards, np.float64)
    means = R if expected is None else np.asarray(expected, np.float64)
    if R.ndim != 2 or 0 in R.shape:
        raise InvalidShape(f"rewards has shape {R.shape}; it must be (T, K) with T, K ≥ 1: one column per choice")
    if means.shape != R.shape:
        raise InvalidShape(f"expected has shape {means.shape} but rewards {R.shape}; both must be (T, K)")
    if X.ndim not in (2, 3) or len(X) != len(R) or 0 in X.shape or (X.ndim == 3 and X.shape[1] != R.shape[1]):
        T, K = R.shape
        raise InvalidShape(
            f"features has shape {X.shape}; with {T} rounds of {K} rewards it must be ({T}, d) or ({T}, {K}, d)"
        )
    for name, values in (("features", X), ("rewards", R), ("expected", means)):
        if not np.isfinite(values).all():
            raise InvalidValue(f"{name} contains NaN or infinity; every number must be finite")
    items = X.ndim == 2
    offers = np.ascontiguousarray(X[:, :, None] if items else X.transpose(0, 2, 1))
    return Table(offers, np.ascontiguousarray(R), np.ascontiguousarray(means), items)
