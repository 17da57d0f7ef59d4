"""Durations (PT10M, P1DT2H, PT30.5S) and moments as ISO 8601 writes them, which clients of the retired service send and expect."""

import datetime
import re
import time

from ...errors import InvalidValue, said

FORM = re.compile(
    r"P(?:(?P<days>\d+(?:\.\d+)?)D)?(?:T(?:(?P<hours>\d+(?:\.\d+)?)H)?(?:(?P<minutes>\d+(?:\.\d+)?)M)?(?:(?P<seconds>\d+(?:\.\d+)?)S)?)?"
)
SECONDS = {"days": 86400.0, "hours": 3600.0, "minutes": 60.0, "seconds": 1.0}


def seconds_of(text: object, name: str) -> float:
    """The seconds of a duration.

    >>> seconds_of("PT10M", "rewardWaitTime"), seconds_of("P1DT2H", "rewardWaitTime")
    (600.0, 93600.0)
    """
    found = FORM.fullmatch(text) if isinstance(text, str) and len(text) <= 64 else None
    parts = {} if found is None else {unit: value for unit, value in found.groupdict().items() if value is not None}
    if not parts:
        raise InvalidValue(f"{name} = {said(text)} is not allowed; it must be a duration as in ISO 8601, such as PT10M")
    return sum(SECONDS[unit] * float(value) for unit, value in parts.items())


def duration_of(seconds: float) -> str:
    """A duration of so many seconds.

    >>> duration_of(600.0), duration_of(93600.0), duration_of(0.5), duration_of(0.0)
    ('PT10M', 'P1DT2H', 'PT0.5S', 'PT0S')
    """
    rest, date, time = seconds, "", ""
    for unit, size in SECONDS.items():
        many = rest // size if unit != "seconds" else round(rest, 6)
        rest -= many * size
        if many:
            letter = unit[0].upper()
            date, time = (f"{many:g}{letter}", time) if unit == "days" else (date, f"{time}{many:g}{letter}")
    return f"P{date}{f'T{time}' if time else ''}" if date or time else "PT0S"


def moment_of(seconds: float) -> str:
    """A moment, given in seconds since 1970, with its zone.

    >>> moment_of(0.0)
    '1970-01-01T00:00:00+00:00'
    """
    return datetime.datetime.fromtimestamp(seconds, datetime.UTC).isoformat()


def now() -> str:
    """The time."""
    return moment_of(time.time())
