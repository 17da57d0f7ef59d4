"""A strategy as nested JSON: the name of each part and its fields.

A name is looked up among the registered parts: those of this package and of modules the user has imported. Reading a file never imports
a module, so that a file cannot make this process run code.
"""

import math
from typing import Any

from ..errors import InvalidValue
from .frozen_array import Frozen
from .registry import find_part, part_name


def encode(value: Any) -> Any:
    """A strategy, or any of its fields, as JSON.

    Examples
    --------
    >>> from driftbandits import memory
    >>> encode(memory.Discounted(gamma=0.9))
    {'part': 'Discounted', 'gamma': 0.9}
    >>> decode(encode(memory.Discounted(gamma=0.9)))
    Discounted(gamma=0.9)
    """
    if isinstance(value, tuple):
        if hasattr(value, "_fields"):
            fields = {name: encode(field) for name, field in zip(value._fields, value, strict=True)}
            return {"part": part_name(type(value)), **fields}
        return [encode(item) for item in value]
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"float": str(value)}
    if isinstance(value, Frozen):
        return {"numbers": value.array.tolist()}
    raise InvalidValue(
        f"a strategy with a field of type {type(value).__name__} cannot be saved; fields are numbers and parts"
    )


def decode(value: Any) -> Any:
    """The inverse of `encode`. Only registered parts are built, and every part validates its fields."""
    if isinstance(value, list):
        return tuple(decode(item) for item in value)
    if not isinstance(value, dict):
        return value
    if set(value) == {"float"}:
        return float(value["float"])
    if set(value) == {"numbers"}:
        return Frozen("numbers", value["numbers"])
    fields = {name: decode(field) for name, field in value.items() if name != "part"}
    kind: Any = find_part(str(value.get("part")))
    return kind(**fields)
