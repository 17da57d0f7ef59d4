"""What the service answers, as the objects that `Bandit` returns."""

import math
from collections.abc import Mapping
from dataclasses import fields
from typing import Any, TypeVar

from ..bandit.explanation import Explanation, Part
from ..bandit.value import Comparison, Value
from ..inference.policy_value import Interval

T = TypeVar("T")
Told = Mapping[str, Any]


def explanation(told: Told) -> Explanation:
    """Why an item was chosen."""
    other = told["runner_up"]
    return _of(Explanation, {**told, "sd": _number(told["sd"]), "runner_up": None if other is None else _part(other)})


def _part(told: Told) -> Part:
    return _of(Part, {**told, "sd": _number(told["sd"])})


def value(told: Told) -> Value:
    """What a loop earns."""
    windows = {name: _of(Comparison, _with_intervals(window)) for name, window in told["windows"].items()}
    return _of(Value, {**_with_intervals(told), "windows": windows})


def _with_intervals(told: Told) -> dict[str, Any]:
    return {**told, **{side: _interval(told[side]) for side in ("own", "other", "lift")}}


def _interval(told: Told) -> Interval:
    """An interval; what JSON could not say is infinite, or no number."""
    known = {name: x for name, x in told.items() if x is not None}
    return Interval(**{"mean": math.nan, "lower": -math.inf, "upper": math.inf, **known})


def _number(told: Any) -> Any:
    return math.nan if told is None else told


def _of(kind: type[T], told: Told) -> T:
    """An object of what it has, without what it derives."""
    return kind(**{field.name: told[field.name] for field in fields(kind)})  # type: ignore[arg-type]
