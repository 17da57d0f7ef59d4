"""Plots hold the estimates, with gaps where there is none."""

import driftbandits as db
import logs
from driftbandits.replay.describe import values


def test_values_leave_out_windows_without_an_estimate():
    frame = logs.frame(300, 0)
    frame = frame[(frame["at"].dt.day != 4) | (frame.index % 10 == 0)]  # the fourth day has three rows
    log = db.Log.read(frame, item="item", reward="r", propensity="p", time="at", context=["x"])
    plot = values(db.replay({"soft": logs.soft}, log, estimators="snips"), "snips")
    [series] = plot.series
    assert plot.x.time
    assert [round((x - logs.START) / 86400.0) for x in series.x] == [0, 1, 2, 4, 5, 6, 7, 8, 9]
    assert all(low <= y <= high for low, y, high in zip(series.low, series.y, series.high, strict=True))


def test_without_times_the_axis_counts_rows():
    bare = db.Log.read(logs.frame(300, 0), item="item", reward="r", propensity="p")
    plot = values(db.replay({"soft": logs.soft}, bare, estimators="snips"), "snips")
    assert (plot.x.time, plot.x.label) == (False, "row")
