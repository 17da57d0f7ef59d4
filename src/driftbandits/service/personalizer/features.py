"""Features as clients of the retired service send them: a list of dictionaries, each of which may hold dictionaries.

`Bandit` takes one flat dictionary. The list is merged, and nested names are joined with dots:

>>> flat([{"user": {"age": 31, "city": "Riga"}}, {"hour": 9}])
{'user.age': 31, 'user.city': 'Riga', 'hour': 9}

A list of words is a set of tags, each a feature of its own; a list of numbers stays what it is, a vector. A name that comes twice with
another value keeps both, since the old service kept both:

>>> flat([{"topic": ["politics", "local"], "vector": [0.5, 1.0]}, {"vector": [2.0, 0.0]}])
{'topic.politics': True, 'topic.local': True, 'vector': [0.5, 1.0], 'vector#2': [2.0, 0.0]}
"""

from collections.abc import Mapping, Sequence
from typing import Any

from ...errors import InvalidValue, said

DEPTH = 16  # of nested dictionaries
REPEATS = 100  # values of one name: each is compared with all before it


def flat(features: Sequence[Mapping[str, Any]] | None) -> dict[str, Any]:
    """One flat dictionary of a list of nested ones."""
    found: dict[str, Any] = {}
    for part in features or ():
        _collect(part, "", found, DEPTH)
    return found


def _collect(value: Any, name: str, found: dict[str, Any], depth: int) -> None:
    if isinstance(value, Mapping) and depth > 0:
        for key, inner in value.items():
            _collect(inner, f"{name}.{key}" if name else str(key), found, depth - 1)
    elif isinstance(value, list) and value and all(isinstance(word, str) for word in value):
        for word in value:
            _keep(f"{name}.{word}", True, found)
    elif isinstance(value, list) and any(isinstance(inner, Mapping) for inner in value) and depth > 0:
        for inner in value:
            _collect(inner, name, found, depth - 1)
    elif value is not None and value != []:
        _keep(name, value, found)


def _keep(name: str, value: Any, found: dict[str, Any]) -> None:
    free, count = name, 1
    while free in found and found[free] != value:
        count += 1
        if count > REPEATS:
            raise InvalidValue(
                f"feature {said(name)} has more than {REPEATS} values; give a list of numbers or of words"
            )
        free = f"{name}#{count}"
    found[free] = value
