"""What a user offers: names with features, some of them masked, in an order that does not depend on how they were given."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from ..errors import InvalidShape, InvalidValue, said
from .vectors import Row, Vectors, as_row, as_vectors

LARGEST = 2**63  # numbers as names: databases and other languages have 64 bits
PLAIN = {dict, type(None)}
VECTORS = {list, tuple, np.ndarray}
REMEMBERED = 256  # names in a list that is read once


def as_name(name: Any) -> Any:
    """An item's name: a string or a whole number."""
    if isinstance(name, str):
        return str(name)  # NumPy's strings would show themselves as np.str_('…') in sentences
    if isinstance(name, int | np.integer) and not isinstance(name, bool):
        if not -LARGEST <= name < LARGEST:
            raise InvalidValue("an item is named by a whole number of more than 64 bits; use a string for such names")
        return int(name)
    raise InvalidValue(f"item {said(name)} is named by a {type(name).__name__}; names are strings or whole numbers")


def _listed(given: Any) -> list[Any]:
    try:
        return list(given)
    except TypeError:  # an array without axes says that it can be iterated
        raise InvalidValue(f"{said(given)} is no list; it must have an entry for each item") from None


def as_items(items: Any) -> dict[Any, Any]:
    """What is on offer, from names to features."""
    if type(items) is dict and items and {*map(type, items)} == {str}:
        return items
    if isinstance(items, Mapping):
        given = {as_name(name): features for name, features in items.items()}
    elif isinstance(items, np.ndarray) and items.ndim == 2:
        given = dict(enumerate(items))
    elif hasattr(items, "toarray"):
        raise InvalidShape("items are a sparse matrix; give a dict from names to features, or .toarray()")
    elif isinstance(items, np.ndarray) and items.ndim > 2:
        raise InvalidShape(f"items have shape {items.shape}; an array of items has two axes, one row for each item")
    elif isinstance(items, str) or hasattr(items, "columns") or not hasattr(items, "__iter__"):
        items = type(items) if hasattr(items, "columns") else items  # a frame has many lines
        raise InvalidValue(
            f"items = {said(items)} is not allowed; it must be a dict from names to features, or a list of names"
        )
    else:
        names = [name if type(name) is str else as_name(name) for name in _listed(items)]
        given = dict.fromkeys(names)
        if len(given) < len(names):
            raise InvalidValue("an item is on offer twice; names must differ")
    if not given:
        raise InvalidValue("items is empty; there must be at least one item to choose")
    return given


class Listed(NamedTuple):
    """A list of names on offer; all decisions between them share these lists, and nothing writes to them."""

    names: list[Any]  # in an order that does not depend on how they were given
    rows: list[Row]  # no features
    first: Any  # the name that was given first


def listed(items: Any) -> Listed | None:
    """What a list of strings has on offer, which is read once however often it is; None if it must be looked at more closely.

    Examples
    --------
    >>> listed(["b", "a"]).names, listed(["b", "b"])
    (['a', 'b'], None)
    """
    if type(items) is not list and type(items) is not tuple:
        return None
    return _listed_names(tuple(items)) if {*map(type, items)} == {str} and len(items) <= REMEMBERED else None


@lru_cache(256)
def _listed_names(names: tuple[str, ...]) -> Listed | None:
    return Listed(sorted(names), [None] * len(names), names[0]) if len({*names}) == len(names) else None


def as_matrix(items: Any) -> Vectors | None:
    """An array (n, d) of numbers: the decision names a row by its position. None if what is on offer is anything else."""
    if type(items) is not np.ndarray or items.ndim != 2 or items.dtype.kind not in "fiub" or not len(items):
        return None
    return Vectors(items.astype(np.float64))


def in_rows(names: Sequence[Any], given: Mapping[Any, Any]) -> Sequence[Row]:
    """Features of the items as mappings, in the order of their names."""
    features = [*map(given.__getitem__, names)]
    kinds = {*map(type, features)}
    if kinds <= PLAIN:
        return features
    whole = as_vectors(features) if kinds <= VECTORS else None
    if whole is not None:
        return whole
    rows = [as_row(row, f"features of item {said(name)}") for name, row in zip(names, features, strict=True)]
    _one_length(names, features, rows)
    return rows


def _one_length(names: Sequence[Any], features: Sequence[Any], rows: Sequence[Row]) -> None:
    """Vectors in one offer have one length: the i-th number means the same for every item."""
    lengths = {
        name: len(row)
        for name, given, row in zip(names, features, rows, strict=True)
        if row is not None and not isinstance(given, Mapping)
    }
    first = next(iter(lengths), None)
    for name, d in lengths.items():
        if d != lengths[first]:
            raise InvalidShape(
                f"features of item {said(name)} are {d} numbers and those of item {said(first)} {lengths[first]}; "
                "the vectors in one offer must have one length"
            )


def masked(given: dict[Any, Any], mask: Any) -> dict[Any, Any]:
    """The items that may be chosen."""
    if isinstance(mask, Mapping):
        unknown = [name for name in mask if name not in given]
        if unknown:
            raise InvalidValue(f"mask names {said(unknown[0])}, which is not on offer")
        allowed = [mask.get(name, True) for name in given]
    elif isinstance(mask, str) or not hasattr(mask, "__iter__"):
        raise InvalidValue(
            f"mask = {said(mask)} is not allowed; it must be booleans in the order of items, or a dict by name"
        )
    else:
        allowed = _listed(mask)
    if len(allowed) != len(given):
        raise InvalidShape(
            f"mask has {len(allowed)} entries; it must have {len(given)}, a boolean for each item in their order"
        )
    for name, m in zip(given, allowed, strict=True):
        if not isinstance(m, bool | np.bool_) and (not isinstance(m, int | np.integer) or m not in (0, 1)):
            raise InvalidValue(f"mask of item {said(name)} = {said(m)} is not allowed; it must be True or False")
    left = {name: given[name] for name, m in zip(given, allowed, strict=True) if m}
    if not left:
        raise InvalidValue("mask allows no item; at least one must be left to choose")
    return left


def in_order(given: Mapping[Any, Any]) -> list[Any]:
    """Names in an order that does not depend on how they were given."""
    try:
        return sorted(given)
    except TypeError:
        return sorted(given, key=lambda name: (isinstance(name, str), name))
