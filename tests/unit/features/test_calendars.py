"""The calendar: hours and weekdays on circles, and no hour that is a guess."""

import datetime
import math

import pytest

import driftbandits as db
from driftbandits.errors import InvalidValue

UTC = datetime.UTC


def test_hours_and_weekdays_are_points_on_circles():
    for hours in range(0, 24 * 7, 5):
        when = datetime.datetime(2026, 11, 16, tzinfo=UTC) + datetime.timedelta(hours=hours, minutes=30)  # a Monday
        got = db.features.calendar(when, harmonics=3)
        day, week = 2 * math.pi * (hours + 0.5) / 24, 2 * math.pi * (hours + 0.5) / (24 * 7)
        for n, end in ((1, ""), (2, "2"), (3, "3")):
            for name, angle in (("hour", day), ("weekday", week)):
                assert got[f"{name}_sin{end}"] == pytest.approx(math.sin(n * angle), abs=1e-12)
                assert got[f"{name}_cos{end}"] == pytest.approx(math.cos(n * angle), abs=1e-12)
        assert len(got) == 12


def test_midnight_has_no_jump():
    before, after = (
        datetime.datetime(2026, 11, 15, 23, 59, 59, tzinfo=UTC) + datetime.timedelta(seconds=s) for s in (0, 2)
    )
    a, b = db.features.calendar(before), db.features.calendar(after)
    assert all(abs(a[name] - b[name]) < 1e-3 for name in a)


def test_the_zone_is_where_the_hour_is_read():
    noon = datetime.datetime(2026, 7, 1, 12, tzinfo=UTC)
    assert db.features.calendar(noon, zone="Europe/Stockholm") == db.features.calendar(
        noon + datetime.timedelta(hours=2)
    )
    assert db.features.calendar(noon.timestamp(), zone="UTC") == db.features.calendar(noon)
    naive = datetime.datetime(2026, 7, 1, 14)
    assert db.features.calendar(naive, zone="Europe/Stockholm") == db.features.calendar(noon, zone="Europe/Stockholm")


@pytest.mark.parametrize(
    ("when", "settings", "says"),
    [
        (datetime.datetime(2026, 7, 1), {}, "has no time zone"),
        (1.7e9, {}, "its hour depends on the zone"),
        ("2026-07-01", {}, "must be a datetime"),
        (True, {}, "must be a datetime"),
        (1e300, {"zone": "UTC"}, "year"),
        (datetime.datetime(2026, 7, 1), {"zone": "Nowhere/City"}, "zone = 'Nowhere/City'"),
        (datetime.datetime(2026, 7, 1), {"zone": 2}, "zone = 2"),
        (datetime.datetime(2026, 7, 1, tzinfo=UTC), {"harmonics": 13}, "harmonics = 13"),
    ],
)
def test_what_is_no_moment_is_refused(when, settings, says):
    with pytest.raises(InvalidValue, match=says):
        db.features.calendar(when, **settings)
