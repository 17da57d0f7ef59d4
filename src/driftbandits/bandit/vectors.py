"""Features as users give them: a mapping, a vector, a matrix, or nothing. Anything else is refused with a one-line error."""

import functools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..core.linalg import Matrix, Vector
from ..errors import InvalidShape, InvalidValue

Row = Mapping[str, Any] | None


def as_row(features: Any, whose: str) -> Row:
    """What a user gave as features, as a mapping; a vector is a mapping from positions, nothing is no features."""
    if features is None or isinstance(features, Mapping):
        return features
    return {str(i): v for i, v in enumerate(as_vector(features, whose).tolist())}


def as_vector(features: Any, whose: str) -> Vector:
    """A plain vector (d,), or one line that says why not."""
    if hasattr(features, "toarray"):
        raise InvalidShape(f"{whose} are a sparse matrix; give a dict of the features that are not zero, or .toarray()")
    if hasattr(features, "to_dict") and any(isinstance(name, str) for name in getattr(features, "index", ())):
        raise InvalidValue(
            f"{whose} are a {type(features).__name__} with names, which a vector has not; give .to_dict()"
        )
    if isinstance(features, str) or not (isinstance(features, Sequence) or hasattr(features, "__array__")):
        kind = type(features).__name__
        raise InvalidValue(f"{whose} are of type {kind}; they must be a dict of features, a vector of numbers, or None")
    try:
        given = np.asarray(features)
    except ValueError:
        raise InvalidShape(f"{whose} are a ragged list; a vector has one number per feature") from None
    if given.dtype.kind == "c":
        raise InvalidValue(f"{whose} are complex numbers; features are real: give real and imaginary part by name")
    if given.dtype.kind not in "fiub":
        raise InvalidValue(f"{whose} have dtype {given.dtype}; a vector holds numbers: give strings in a dict, by name")
    if given.ndim != 1:
        raise InvalidShape(f"{whose} have shape {given.shape}; a vector of features has one axis")
    return given.astype(np.float64)


class Vectors(Sequence[Row]):
    """The rows of a matrix (n, d) as mappings from positions, each made when it is asked for.

    Examples
    --------
    >>> Vectors(np.array([[0.5, 2.0]]))[0]
    {'0': 0.5, '1': 2.0}
    """

    __slots__ = ("names", "values")

    def __init__(self, values: Matrix) -> None:
        self.values, self.names = values, positions(values.shape[1])

    def __len__(self) -> int:
        return len(self.values)

    def __bool__(self) -> bool:
        """Whether there are features: rows without any are told apart by their positions alone."""
        return bool(self.values.size)

    def __getitem__(self, a: Any) -> Any:
        return dict(zip(self.names, self.values[a].tolist(), strict=True))


@functools.cache
def positions(d: int) -> tuple[str, ...]:
    """Names of the features of a vector."""
    return tuple(map(str, range(d)))


def as_vectors(rows: Sequence[Any]) -> Vectors | None:
    """Vectors of one length and of numbers, in one piece; None if they must be read one by one."""
    try:
        given = np.array(rows)
    except ValueError:
        return None
    return Vectors(given.astype(np.float64)) if given.ndim == 2 and given.dtype.kind in "fiub" else None
