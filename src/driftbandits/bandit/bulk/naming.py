"""Names of columns, as `fit` and `decide_batch` take them."""

from typing import Any

from ...errors import InvalidValue, said


def column(argument: str, given: Any) -> str | None:
    """The name of a column, or None."""
    if given is not None and not isinstance(given, str):
        raise InvalidValue(f"{argument} = {said(given)} is not allowed; it must be the name of a column, a string")
    return given


def columns(argument: str, given: Any) -> list[str] | None:
    """Names of columns, or None."""
    if given is None:
        return None
    if not isinstance(given, list | tuple) or not all(isinstance(name, str) for name in given):
        raise InvalidValue(f"{argument} = {said(given)} is not allowed; it must be a list of names of columns, strings")
    return list(given)
