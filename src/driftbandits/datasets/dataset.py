"""A stream with full information: one context per round, and the reward of every item."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core.linalg import Matrix, Vector
from ..env import Table, from_rewards
from ..errors import InvalidValue, integer
from ..util.words import counted


class Round(NamedTuple):
    """The input of `Bandit.decide`, and the reward of each choice."""

    t: int  # 0, 1, …
    items: list[str]
    context: dict[str, float]
    rewards: dict[str, float]


@dataclass(frozen=True, repr=False)
class Dataset:
    """Contexts X (T, d) and rewards R (T, n) of named items."""

    name: str
    X: Matrix  # (T, d)
    R: Matrix  # (T, n)
    items: tuple[str, ...]  # n names
    features: tuple[str, ...]  # d names

    def __len__(self) -> int:
        return len(self.R)

    def __iter__(self) -> Iterator[Round]:
        items = list(self.items)
        for t, (x, r) in enumerate(zip(self.X.tolist(), self.R.tolist(), strict=True)):
            yield Round(t, items, dict(zip(self.features, x, strict=True)), dict(zip(items, r, strict=True)))

    def first(self, rounds: int) -> "Dataset":
        """The first `rounds` rounds, or all if there are fewer."""
        m = integer("rounds", rounds, least=1, why="there must be a round to play")
        return replace(self, X=self.X[:m], R=self.R[:m])

    def world(self, features: Literal["disjoint", "interact"] = "disjoint") -> Table:
        """A world for `simulate`, `trials` and experiments.

        Parameters
        ----------
        features
            "disjoint": the context itself, for strategies with a model per item. "interact": item k's features are (1, x) in the k-th of
            n blocks and 0 elsewhere, n(d+1) in all, for strategies with one model of all arms.
        """
        if features == "disjoint":
            return from_rewards(self.X, self.R)
        if features != "interact":
            raise InvalidValue(f"features = {features!r} is not allowed; it must be 'disjoint' or 'interact'")
        n, width = len(self.items), self.X.shape[1] + 1
        rows = np.hstack([np.ones((len(self.X), 1)), self.X])

        def blocks(t: int) -> Any:
            return np.kron(np.eye(n), rows[t]).reshape(n, n * width)

        return from_rewards(blocks, self.R)

    def __repr__(self) -> str:
        sizes = (counted(len(self), "round"), counted(len(self.items), "item"), counted(len(self.features), "feature"))
        return f"Dataset({self.name}: {', '.join(sizes)})"


def from_labels(
    name: str, X: Matrix, labels: NDArray[np.int64] | Vector, items: Sequence[str], features: Sequence[str]
) -> Dataset:
    """A data set in which choosing the correct label has reward 1, any other 0. `labels` are indices into `items`."""
    R = np.zeros((len(X), len(items)))
    R[np.arange(len(X)), np.asarray(labels, np.int64)] = 1.0
    return Dataset(name, np.ascontiguousarray(X, np.float64), R, tuple(items), tuple(features))
