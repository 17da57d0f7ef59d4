"""Parameters that are a function of the episode: rows are made when they are needed, a block of them at a time.

A drift over a million episodes then needs no more memory than one over a thousand. Because rows are made more than once (to be checked, to
find the optimal values, to play), the function must return the same row whenever it is asked for the same episode: a digest of every block
is kept, and a block that comes out differently the second time is refused.
"""

import hashlib
from collections.abc import Callable
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike

from ..core.checks import as_numbers
from ..core.linalg import Matrix
from ..errors import InvalidShape, InvalidValue
from .protocol import Cube

BLOCK = 1024  # episodes whose rows are made at once
KEPT = 2  # blocks: a reader that compares an episode with the one before it needs two at their border


class FunctionPath:
    """The parameters (K, 1 or H, d) of K episodes, given by a function of k = 0..K−1 that returns (d,), (1, d) or (H, d).

    It is indexed as an array of that shape would be: `path[k]` is (1 or H, d), `path[i:j]` is (j − i, 1 or H, d). `np.asarray(path)` makes
    all rows.

    Examples
    --------
    >>> path = FunctionPath("w", lambda k: [k / 10, 1 - k / 10], episodes=10, horizon=3, dim=2)
    >>> path.shape, path[4].tolist(), path[8:].shape
    ((10, 1, 2), [[0.4, 0.6]], (2, 1, 2))
    """

    def __init__(
        self, name: str, function: Callable[[int], ArrayLike], *, episodes: int, horizon: int, dim: int
    ) -> None:
        self.name, self.function = name, function
        row = as_numbers(f"{name}(0)", function(0))
        if row.shape not in ((dim,), (1, dim), (horizon, dim)):
            raise InvalidShape(
                f"{name}(0) has shape {row.shape}; it must be ({dim},), or ({horizon}, {dim}) if stages differ"
            )
        self.row = row.shape
        self.shape = (episodes, 1 if row.ndim == 1 else len(row), dim)
        self._digests: dict[int, bytes] = {}
        self._blocks: dict[int, Cube] = {}

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        return f"FunctionPath({self.name}, shape={self.shape})"

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Cube:
        return np.asarray(self[:], dtype)

    @overload
    def __getitem__(self, where: int) -> Matrix: ...
    @overload
    def __getitem__(self, where: slice) -> Cube: ...
    def __getitem__(self, where: int | slice) -> Matrix | Cube:
        if not isinstance(where, slice):
            k = range(len(self))[where]
            row: Matrix = self._block(k // BLOCK)[k % BLOCK]
            return row
        first, last, step = where.indices(len(self))
        if step != 1:
            raise InvalidValue(f"a path is read in steps of 1, not of {step}")
        if first >= last:
            return np.zeros((0, *self.shape[1:]))
        blocks = range(first // BLOCK, (last - 1) // BLOCK + 1)
        parts = [self._block(i)[max(first - i * BLOCK, 0) : last - i * BLOCK] for i in blocks]
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def _block(self, i: int) -> Cube:
        """Rows i·BLOCK and on, from those made last or made anew."""
        found = self._blocks.get(i)
        if found is not None:
            return found
        rows = [
            as_numbers(f"{self.name}({k})", self.function(k)) for k in range(i * BLOCK, min((i + 1) * BLOCK, len(self)))
        ]
        odd = next((j for j, row in enumerate(rows) if row.shape != self.row), None)
        if odd is not None:
            k = i * BLOCK + odd
            raise InvalidShape(
                f"{self.name}({k}) has shape {rows[odd].shape}, {self.name}(0) {self.row}; it must be the same in all episodes"
            )
        block: Cube = np.stack(rows).reshape(len(rows), *self.shape[1:])
        if not np.isfinite(block).all():
            raise InvalidValue(f"{self.name} contains NaN or infinity; every parameter must be finite")
        digest = hashlib.blake2b(block.tobytes(), digest_size=16).digest()
        if self._digests.setdefault(i, digest) != digest:
            raise InvalidValue(
                f"{self.name}(k) was not the same when it was asked for episodes {i * BLOCK}..{i * BLOCK + len(rows) - 1} again; "
                "a function of the episode must always return the same: draw what is random before, or give an array"
            )
        last = list(self._blocks.items())[-(KEPT - 1) :]
        self._blocks = dict([*last, (i, block)])  # replaced, not changed: threads may share a world
        return block


def blocks(path: "Cube | FunctionPath") -> Any:
    """(first episode, parameters of the episodes of a block) for the whole path, array or function."""
    for first in range(0, len(path), BLOCK):
        yield first, path[first : first + BLOCK]
