"""Conversion of Arrow arrays to NumPy arrays, by their type; the result is None if the type does not hold values of the kind asked for.

Times are kept to the microsecond: nanoseconds are cut, whether pandas is installed or not.
"""

from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from .structs import there

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
MICROSECONDS = {"s": 1, "ms": 1000, "us": 1_000_000, "ns": 1_000_000_000}  # ticks of each unit in a second


class Coded(NamedTuple):
    """Values by their codes: row t has `values[codes[t]]`, or none where the code is −1."""

    codes: Codes
    values: list[Any]


def plain(array: Any) -> Any:
    """One array without chunks; a dictionary of anything but text as what it stands for."""
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    if pa.types.is_dictionary(array.type) and not is_text(array.type.value_type):
        return array.dictionary_decode()
    return array


def is_text(kind: Any) -> bool:
    """Whether a type holds strings."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def is_number(kind: Any) -> bool:
    """Whether a type holds numbers or truth values of the machine."""
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind))


def simple(kind: Any) -> bool:
    """Whether arrays of this type hold what Python's lists would, value by value: no structs, decimals or bytes."""
    if pa.types.is_dictionary(kind):
        return simple(kind.value_type)
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return is_text(kind.value_type) or bool(pa.types.is_integer(kind.value_type))
    return is_text(kind) or is_number(kind) or bool(pa.types.is_timestamp(kind) or pa.types.is_date(kind))


def numbers(array: Any) -> Floats | None:
    """Numbers and truth values, NaN where there is none."""
    array = plain(array)
    if pa.types.is_null(array.type):
        return np.full(len(array), np.nan)
    if not is_number(array.type):
        return None
    # NumPy converts without copying where it can; `float(n)` of a whole number rounds in the same way.
    found = array.cast(pa.float64(), safe=False) if array.null_count else array
    return found.to_numpy(zero_copy_only=False).astype(np.float64)  # type: ignore[no-any-return]


def coded(array: Any) -> Coded | None:
    """Strings or whole numbers, each distinct value once."""
    array = plain(array)
    if not pa.types.is_dictionary(array.type):
        if not (is_text(array.type) or pa.types.is_integer(array.type)):
            return None
        array = array.dictionary_encode()
    codes = array.indices.fill_null(-1) if array.indices.null_count else array.indices
    return Coded(codes.to_numpy(zero_copy_only=False).astype(np.int64), array.dictionary.to_pylist())


def seconds(array: Any) -> Floats | None:
    """Times as seconds since 1970, NaN where there is none: timestamps, dates, numbers, and ISO 8601 as Arrow reads it."""
    array = plain(array)
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if is_text(array.type):
        array = _parsed(array)
        if array is None:
            return None
    if pa.types.is_date(array.type):
        array = array.cast(pa.timestamp("us"))
    if pa.types.is_timestamp(array.type):
        unit = array.type.unit
        ticks = array.cast(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False)
        if unit == "ns":
            ticks, unit = ticks // 1000, "us"
        found = (
            ticks / MICROSECONDS[unit]
        )  # both are exact, so the quotient is rounded once, as by `datetime.timestamp`
        found[array.is_null().to_numpy(zero_copy_only=False)] = np.nan
        return found  # type: ignore[no-any-return]
    return None if pa.types.is_boolean(array.type) else numbers(array)


def _parsed(texts: Any) -> Any:
    """Texts as timestamps: without a time zone, or all with one."""
    for kind in (pa.timestamp("us"), pa.timestamp("us", "UTC")):
        try:
            return pc.cast(texts, kind)
        except pa.ArrowInvalid:
            continue
    return None


def lists(array: Any) -> tuple[Codes, Coded] | None:
    """Lists of names as offsets (n + 1) and the names in a row; None if a list or a name is missing."""
    array = plain(array)
    if not (pa.types.is_list(array.type) or pa.types.is_large_list(array.type)) or array.null_count:
        return None
    flat = coded(array.flatten())
    if flat is None or (flat.codes < 0).any():
        return None
    offsets = np.asarray(array.offsets.to_numpy(zero_copy_only=False), np.int64)
    return offsets - offsets[0], flat


def to_list(array: Any) -> list[Any]:
    """Python's own values, None where there is none; a struct without the fields that its row does not have."""
    array = plain(array)
    if pa.types.is_timestamp(array.type) and array.type.unit == "ns":
        array = array.cast(pa.timestamp("us", array.type.tz), safe=False)
    values = array.to_pylist()
    if not pa.types.is_struct(array.type):
        return values  # type: ignore[no-any-return]
    absent = {child.name for child in array.type.fields if not pa.types.is_null(child.type)}
    return [there(value, absent) for value in values]
