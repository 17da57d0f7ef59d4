"""Values of features as users give them: numbers, strings, vectors.

A *vector* (an embedding, say) is a list, a tuple or an array of numbers with one axis. Entry i of the vector `name` is the number
`name[i]`; all entries have one prior variance, because they share a unit.
"""

import datetime
import functools
import math
from collections.abc import Mapping, Sequence
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np

from ..core.linalg import Vector
from ..errors import InvalidShape, InvalidValue, said

HUGE = 1e50  # products of two numbers beyond it cannot be squared and summed
PLAIN = frozenset(
    {float, int, bool, np.float64, np.float32, np.int64, np.int32, np.bool_}
)  # numbers that are read without a closer look
WORDS = {str: "a string", float: "a number", list: "a vector"}


@functools.lru_cache(maxsize=1024)
def entries(name: str, d: int) -> tuple[str, ...]:
    """Names of the entries of a vector.

    Examples
    --------
    >>> entries("embedding", 2)
    ('embedding[0]', 'embedding[1]')
    """
    return tuple(f"{name}[{i}]" for i in range(d))


def is_vector(value: Any) -> bool:
    """Whether a value is to be read as a vector: a sequence or an array, and no single number or string."""
    if isinstance(value, str | bytes | Mapping):
        return False
    return isinstance(value, Sequence) or (hasattr(value, "__array__") and getattr(value, "ndim", 0) > 0)


def as_float(value: Any) -> float:
    """A real number, infinite where it is too large to be computed with, NaN where it is a NaN that must not be read."""
    try:
        return float(value)
    except OverflowError:
        return math.inf
    except ValueError:  # of Decimal("sNaN")
        return math.nan


def as_number(side: str, name: str, value: Any) -> float:
    """One finite number, or one line that says why not."""
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value.item()
    if isinstance(value, complex | np.complexfloating):
        raise InvalidValue(
            f"{side} feature {said(name)} = {said(value)} is complex; features are real numbers, booleans or strings"
        )
    if isinstance(value, datetime.date | datetime.time | datetime.timedelta | np.datetime64 | np.timedelta64):
        raise InvalidValue(
            f"{side} feature {said(name)} is a {type(value).__name__}; give **db.features.calendar(…), its hour and weekday as "
            "numbers, or an age in hours"
        )
    if not isinstance(value, Real | np.bool_ | Decimal):
        kind = type(value).__name__
        raise InvalidValue(
            f"{side} feature {said(name)} is of type {kind}; it must be a number, a boolean, a string or a vector of numbers"
        )
    number = as_float(value)
    if not math.isfinite(number):
        raise InvalidValue(f"{side} feature {said(name)} = {number} is not finite; leave out what is not known")
    if not -HUGE < number < HUGE:
        raise InvalidValue(f"{side} feature {said(name)} = {number:g} is not allowed; it must be within ± {HUGE:g}")
    return number


def as_entries(side: str, name: str, value: Any) -> Vector:
    """The entries (d,) of a vector, finite, or one line that says why not."""
    if np.ma.is_masked(value):
        raise InvalidValue(f"{side} feature {said(name)} has masked entries; a vector is there as a whole, or None")
    try:
        given = np.asarray(value)
    except (ValueError, TypeError, OverflowError):
        raise InvalidShape(f"{side} feature {said(name)} is a ragged list; a vector has one number per entry") from None
    if given.ndim != 1 or not len(given):
        raise InvalidShape(
            f"{side} feature {said(name)} has shape {given.shape}; a vector has one axis and at least one number"
        )
    if given.dtype.kind not in "fiub" and not all(isinstance(x, Real | np.bool_ | Decimal) for x in given):
        kind = "strings" if given.dtype.kind in "US" or any(isinstance(x, str) for x in given) else str(given.dtype)
        raise InvalidValue(
            f"{side} feature {said(name)} is a list of {kind}; a vector holds numbers: give each category a name of its own"
        )
    return np.array([as_number(side, entry, x) for entry, x in zip(entries(name, len(given)), given, strict=True)])


def plain(value: Any) -> Any:
    """A value as JSON holds it: a number, a string, a boolean, a list, None."""
    if isinstance(value, np.longdouble):
        return float(value)
    if isinstance(value, np.ndarray | np.generic):
        return value.astype(np.float64).tolist() if value.dtype == np.longdouble else value.tolist()
    if isinstance(value, str | bool | int | float | None):
        return value
    if is_vector(value):
        return [plain(x) for x in (value if isinstance(value, Sequence) else np.asarray(value))]
    return as_float(value) if isinstance(value, Real | Decimal) else value


def plain_row(row: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Features as JSON holds them."""
    return None if row is None else {name: plain(value) for name, value in row.items()}
