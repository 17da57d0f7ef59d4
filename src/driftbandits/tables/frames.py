"""Data frames in and out: pandas, polars and Arrow alike, through narwhals."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import InvalidValue


def narwhals() -> Any:
    """The library, or one line that says how to get it."""
    try:
        import narwhals as found
    except ImportError:
        raise InvalidValue("frames need narwhals: pip install 'driftbandits[frames]'") from None
    return found


def read_frame(frame: Any, needed: Sequence[str]) -> Any:
    """A pandas, polars or Arrow frame, with the columns that are needed."""
    try:
        table = narwhals().from_native(frame, eager_only=True)
    except TypeError:
        kind = type(frame).__name__
        raise InvalidValue(f"frame is of type {kind}; it must be a pandas, polars or Arrow data frame") from None
    except narwhals().exceptions.DuplicateError:
        names = [str(name) for name in getattr(frame, "column_names", None) or frame.columns]
        twice = next(name for k, name in enumerate(names) if name in names[:k])
        raise InvalidValue(f"the frame has two columns named {twice!r}; names must differ") from None
    for name in needed:
        if name not in table.columns:
            raise InvalidValue(f"the frame has no column {name!r}; it has {', '.join(map(repr, table.columns))}")
    return table


def missing(value: Any) -> bool:
    """NaN, NaT and NA are how frames say that there is nothing."""
    return (
        value is None
        or (isinstance(value, float) and math.isnan(value))
        or type(value).__name__ in ("NAType", "NaTType")
    )


def plain_value(value: Any) -> Any:
    """A NumPy number as one of Python's."""
    return value.item() if isinstance(value, np.generic) else value
