"""The time of day and the day of the week as points on circles.

A linear model of the hour 0…23 has a jump at midnight. A point on a circle has none, so a moment becomes sines and cosines,

    hour_sin = sin(2πh/24) ,  hour_cos = cos(2πh/24) ,       h ∈ [0, 24) hours since local midnight,
    weekday_sin = sin(2πw/7) , weekday_cos = cos(2πw/7) ,    w ∈ [0, 7) days since local Monday 00:00,

and with `harmonics=2` also those of twice the frequency (hour_sin2 = sin(4πh/24), …), and so on.
"""

import datetime
import math
from numbers import Real
from typing import Any
from zoneinfo import ZoneInfo

from ..errors import InvalidValue, integer, said

MOST = 12  # harmonics: the twelfth of the day has a period of two hours


def calendar(
    when: datetime.datetime | float, *, zone: str | datetime.tzinfo | None = None, harmonics: int = 1
) -> dict[str, float]:
    """The hour of the day and the day of the week as points on circles: numbers to put into a context.

    One harmonic describes one high and one low per day, at any hour. Two peaks a day need `harmonics=2`. A peak of one hour, or a
    weekend that differs abruptly from Friday, is better described by a category, such as `{"weekday": "sat"}`.

    Parameters
    ----------
    when
        A datetime, or seconds since 1970.
    zone
        Where the hour is read: a name such as "Europe/Stockholm", or a tzinfo. A datetime that has a time zone is read in its own if none
        is given; one that has none, and a number of seconds, need `zone`: the hour would depend on the machine.
    harmonics
        Sines and cosines of 1, 2, …, `harmonics` times the frequency, at most 12.

    Examples
    --------
    >>> import datetime
    >>> noon = datetime.datetime(2026, 11, 16, 12, tzinfo=datetime.timezone.utc)  # a Monday
    >>> {name: round(x, 3) for name, x in calendar(noon).items()}
    {'hour_sin': 0.0, 'hour_cos': -1.0, 'weekday_sin': 0.434, 'weekday_cos': 0.901}
    """
    many = integer("harmonics", harmonics, least=1, why="it is a number of frequencies")
    if many > MOST:
        raise InvalidValue(
            f"harmonics = {many} is not allowed; it must be ≤ {MOST}: the last has a period of two hours"
        )
    local = _local(when, _zone(zone))
    day = (local.hour + (local.minute + (local.second + local.microsecond / 1e6) / 60.0) / 60.0) / 24.0
    week = (local.weekday() + day) / 7.0
    out = {}
    for name, turn in (("hour", day), ("weekday", week)):
        for n in range(1, many + 1):
            end = "" if n == 1 else str(n)
            out[f"{name}_sin{end}"] = math.sin(2.0 * math.pi * n * turn)
            out[f"{name}_cos{end}"] = math.cos(2.0 * math.pi * n * turn)
    return out


def _zone(zone: Any) -> datetime.tzinfo | None:
    if zone is None or isinstance(zone, datetime.tzinfo):
        return zone
    if isinstance(zone, str):
        try:
            return ZoneInfo(zone)
        except (OSError, ValueError, LookupError):
            pass
    raise InvalidValue(f'zone = {said(zone)} is not allowed; it must be a name such as "Europe/Stockholm", or a tzinfo')


def _local(when: Any, zone: datetime.tzinfo | None) -> datetime.datetime:
    """A moment on the clock of its zone."""
    if isinstance(when, datetime.datetime):
        if when.utcoffset() is not None:
            return when if zone is None else when.astimezone(zone)
        if zone is None:
            raise InvalidValue(
                f'when = {when} has no time zone; give zone="Europe/Stockholm", say, or a datetime with one: its hour would be a guess'
            )
        return when.replace(tzinfo=zone)
    if isinstance(when, bool) or not isinstance(when, Real):
        raise InvalidValue(f"when = {said(when)} is not allowed; it must be a datetime, or seconds since 1970")
    if zone is None:
        raise InvalidValue(
            'when is in seconds since 1970; give zone="Europe/Stockholm", say: its hour depends on the zone'
        )
    try:
        return datetime.datetime.fromtimestamp(float(when), zone)
    except (OverflowError, ValueError, OSError):
        raise InvalidValue(
            f"when = {said(when)} is not allowed; it must be seconds since 1970, of a year ≤ 9999"
        ) from None
