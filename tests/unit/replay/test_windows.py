"""Days begin at midnight in UTC, weeks on Mondays; a log without times is cut by rows."""

import numpy as np
import pytest

import driftbandits as db
import logs
from driftbandits.errors import InvalidValue
from driftbandits.replay.windows import windows


def labels(by, log):
    clock = windows(by, log)
    at = np.array([row.at for row in log], float) if log.timed else None
    return list(dict.fromkeys(clock.label(place) for place in clock.places(at, 0, len(log)).tolist()))


def test_windows_of_time():
    log = logs.log(100, 0, days=3)
    assert labels("day", log) == ["2024-05-01", "2024-05-02", "2024-05-03"]
    assert labels("week", log) == ["2024-04-29"]  # a Monday
    assert len(labels("hour", log)) == 72
    assert labels("12h", log)[:3] == ["2024-05-01T00:00", "2024-05-01T12:00", "2024-05-02T00:00"]
    assert labels("2d", log) == ["2024-05-01", "2024-05-03"]


def test_windows_of_rows():
    log = logs.log(100, 0)
    assert labels(40, log) == ["row 0", "row 40", "row 80"]
    bare = db.Log.read(logs.frame(100, 0), item="item", reward="r", propensity="p")
    assert labels("day", bare) == [f"row {5 * k}" for k in range(20)]
    with pytest.raises(InvalidValue, match="by = '6h' needs a log with time=…"):
        windows("6h", bare)
    for by in (0, -3, "fortnight", None):
        with pytest.raises(InvalidValue):
            windows(by, log)
    with pytest.raises(InvalidValue, match="'hour', 'day', 'week', a duration like '6h', or a number of rows"):
        windows("fortnight", log)
    with pytest.raises(InvalidValue, match="more than 100000 windows"):
        windows("1s", log)
