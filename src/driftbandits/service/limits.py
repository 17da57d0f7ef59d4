"""Limits on the JSON of a request, checked before anything else reads it."""

from collections.abc import Iterable
from typing import Any

import orjson

from .config import Config
from .problems import Problem


def parsed(body: bytes, config: Config) -> Any:
    """JSON within the limits of depth and of the length of names and strings.

    Examples
    --------
    >>> parsed(b'{"a": [1, 2.5]}', Config())
    {'a': [1, 2.5]}
    """
    if not body:
        return None
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError as problem:
        raise Problem(400, "malformed", f"the body is no JSON: {str(problem).partition(':')[0]}") from None
    _check(value, config.max_depth, config.max_name)
    return value


def _check(value: Any, depth: int, longest: int) -> None:
    kind = type(value)
    if kind is dict:
        for name in value:
            if len(name) > longest or "\0" in name:
                raise Problem(
                    422, "too_long", f"a name has {len(name)} characters, or U+0000; at most {longest} are allowed"
                )
        _check_all(value.values(), depth, longest)
    elif kind is list:
        _check_all(value, depth, longest)
    elif kind is str:
        _check_all((value,), 1, longest)


def _check_all(values: Iterable[Any], depth: int, longest: int) -> None:
    """The values of an object or of a list; most are numbers and strings, for which no function is called."""
    if depth == 0:
        raise Problem(422, "too_deep", "the JSON is nested too deeply")
    for value in values:
        kind = type(value)
        if kind is str:
            if len(value) > longest:
                raise Problem(
                    422, "too_long", f"a string of {len(value)} characters was given; at most {longest} are allowed"
                )
            if "\0" in value:
                raise Problem(422, "invalid", "a string has the character U+0000, which databases cannot keep")
        elif kind is dict or kind is list:
            _check(value, depth - 1, longest)


def check_offer(items: Any, context: Any, config: Config) -> None:
    """Refuse a decision with more items, or more features, than the service allows.

    Examples
    --------
    >>> check_offer({"a": {"price": 3.0, "size": [1, 2]}}, {"age": 31}, Config())
    """
    if len(items) > config.max_items:
        raise Problem(422, "too_many_items", f"{len(items)} items are on offer; at most {config.max_items} are allowed")
    most = config.max_features
    for features in (context, *(items.values() if type(items) is dict else ())):
        if features is None:
            continue
        many = _counted(features)
        if many > most:
            raise Problem(
                422,
                "too_many_features",
                f"an item, or the context, has {many} features; at most {most} are allowed, and each number of a vector is one",
            )


def _counted(features: Any) -> int:
    """Numbers and strings in what was given as features."""
    if type(features) is dict:
        return len(features) + sum(len(value) - 1 for value in features.values() if type(value) is list)
    return len(features) if type(features) is list else 1
