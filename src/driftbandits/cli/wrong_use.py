"""A wrong use of the command in one line of our own: the option, what was given, and what is allowed.

Recent versions of Typer check values with pydantic, whose sentences ("Input should be less than or equal to 2") say neither.
"""

from typing import Any


def wrong_use(problem: Any) -> str:
    """What is wrong with a call, from Typer's exception; unknown options and missing values are told in Typer's words."""
    param, details = getattr(problem, "param", None), getattr(problem.__cause__, "errors", None)
    if param is None or details is None:
        return str(problem.format_message()).rstrip(".")
    first = details()[0]
    name = next((each for each in param.opts if each.startswith("--")), param.metavar or param.name)
    allowed = _names(first) if first["type"] == "value_error" else _numbers(param, first["type"])
    return f"{name} {first['input']} is not allowed; it must be {allowed}"


def _names(found: dict[str, Any]) -> str:
    """The names that there are to choose from, out of "'x' is not one of 'a', 'b'."."""
    _, _, names = str(found["msg"]).partition(" is not one of ")
    return f"one of {names.rstrip('.').replace(chr(39), '')}"


def _numbers(param: Any, kind: str) -> str:
    """The range of an option that is a number."""
    low, high = getattr(param, "min", None), getattr(param, "max", None)
    ends = [end for end in (low, high) if end is not None]
    whole = kind.startswith("int") or (not kind.startswith("float") and all(isinstance(end, int) for end in ends))
    number = "an integer" if whole else "a number"
    if len(ends) == 2:
        return f"{number} from {low} to {high}"
    return f"{number} {'≥' if low is not None else '≤'} {ends[0]:g}" if ends else number
