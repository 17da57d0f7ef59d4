"""Conversion of times that users give: moments to seconds since 1970, durations to seconds."""

import datetime
import math
import re
import time
from numbers import Real
from typing import Any

from ..errors import InvalidValue, real, said
from .values import as_float

UNITS = {"s": 1.0, "sec": 1.0, "min": 60.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0, "ms": 1e-3}
NEVER_FORGETS = 1e15  # a half-life, in decisions or seconds, after which nothing is forgotten
AHEAD = 3600.0  # clocks of machines may disagree by an hour, not by more


def moment(at: Any, *, name: str = "at") -> float:
    """A datetime, a number of seconds since 1970, or nothing (now), in seconds since 1970.

    A datetime without a time zone is in the local one, as everywhere in Python. More than an hour ahead of the system clock is refused.

    Examples
    --------
    >>> moment(datetime.datetime(2024, 1, 1, tzinfo=datetime.timezone.utc))
    1704067200.0
    """
    if at is None:
        return time.time()
    now = time.time()
    known = isinstance(at, Real | datetime.datetime) and not isinstance(at, bool)
    try:
        seconds = math.nan if not known else at.timestamp() if isinstance(at, datetime.datetime) else as_float(at)
    except (ValueError, OverflowError, OSError):  # NaT, or a year that the system's calendar does not have
        seconds = math.nan
    if not math.isfinite(seconds):
        hint = " (datetime.fromisoformat reads a string)" if isinstance(at, str) else ""
        raise InvalidValue(
            f"{name} = {said(at)} is no moment; it must be a datetime, seconds since 1970, or None for now{hint}"
        )
    if seconds > now + AHEAD:
        hint = "; is it in milliseconds?" if seconds > 1e11 else ""
        raise InvalidValue(
            f"{name} = {said(at)} is in the future by {_say(seconds - now)}; at most an hour is allowed: clocks differ no more{hint}"
        )
    return seconds


def duration(given: Any, *, name: str, zero: bool = False, number: str = "seconds") -> float:
    """A timedelta, "90min", "3d", "1.5h", or a number of seconds, in seconds > 0, or ≥ 0; `number` is what the error calls a number.

    Examples
    --------
    >>> duration("90min", name="half_life")
    5400.0
    """
    seconds = math.nan
    if isinstance(given, datetime.timedelta):
        seconds = given.total_seconds()
    elif isinstance(given, str):
        match = re.fullmatch(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*([a-z]+)\s*", given)
        if match and match[2] in UNITS:
            seconds = float(match[1]) * UNITS[match[2]]
    elif given is not None:
        seconds = _number(name, given)
    if not 0.0 <= seconds < math.inf or (seconds == 0.0 and not zero):
        raise InvalidValue(
            f"{name} = {said(given)} is no duration; it must be {'≥' if zero else '>'} 0, "
            f"like '3d', '90min', '1.5h', a timedelta or {number}"
        )
    return seconds


def written(seconds: float) -> str:
    """A duration as a user would give it.

    Examples
    --------
    >>> written(172800.0), written(5400.0), written(0.5)
    ('2d', '90min', '0.5s')
    """
    unit = next((u for u in ("d", "h", "min") if seconds % UNITS[u] == 0.0), "s")
    return f"{seconds / UNITS[unit]:.12g}{unit}"


def _number(name: str, value: Any) -> float:
    if isinstance(value, bool | str):
        raise InvalidValue(f"{name} = {said(value)} is not a number")
    return real(name, value)


def _say(seconds: float) -> str:
    unit, size = next(((u, UNITS[u]) for u in ("d", "h", "min") if seconds >= UNITS[u]), ("s", 1.0))
    return f"{seconds / size:,.3g} {unit}" if seconds < 1000 * size else f"{seconds / size:,.0f} {unit}"
