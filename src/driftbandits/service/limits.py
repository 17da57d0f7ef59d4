"""Limits on the JSON of a request, checked before anything else reads it."""

from typing import Any

import orjson

from .config import Config
from .problems import Problem

NUL = b"\\u0000"  # the only way to write U+0000 in JSON; its absence spares looking into each string


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
    _check(value, config.max_depth, config.max_name, NUL in body)
    return value


def _check(whole: Any, depth: int, longest: int, nul: bool) -> None:
    """Refuse JSON that is too deep or too long or, if `nul`, contains U+0000.

    Objects are visited level by level, because a call for each object would dominate the cost.
    """
    level: list[Any] = [[whole]]
    for _ in range(depth + 1):
        below: list[Any] = []
        for one in level:
            if type(one) is dict:
                for name in one:
                    if len(name) > longest or (nul and "\0" in name):
                        raise _bad_name(name, longest)
                one = one.values()
            for value in one:
                kind = type(value)
                if kind is str:
                    if len(value) > longest or (nul and "\0" in value):
                        raise _bad_string(value, longest)
                elif kind is dict or kind is list:
                    below.append(value)
        if not below:
            return
        level = below
    raise Problem(422, "too_deep", "the JSON is nested too deeply")


def _bad_name(name: str, longest: int) -> Problem:
    words = f"a name has {len(name)} characters, or U+0000; at most {longest} are allowed"
    return Problem(422, "too_long", words)


def _bad_string(value: str, longest: int) -> Problem:
    if len(value) > longest:
        words = f"a string of {len(value)} characters was given; at most {longest} are allowed"
        return Problem(422, "too_long", words)
    return Problem(422, "invalid", "a string has the character U+0000, which databases cannot keep")


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
    if type(features) is not dict:
        return len(features) if type(features) is list else 1
    many = len(features)
    for value in features.values():
        if type(value) is list:
            many += len(value) - 1
    return many
