"""Plots hold the estimates, with gaps where there is none."""

import driftbandits as db
import logs
from driftbandits.plots.style import PALETTE
from driftbandits.replay.answer import answer
from driftbandits.replay.describe import against_half_life, memory, over_time, values


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


def test_policies_have_the_colours_of_their_roles():
    log = db.Log.read(logs.frame(300, 0), item="item", reward="r", propensity="p", time="at")
    found = answer(log, half_lives=["1d", "2d"])
    colours = {series.name: series.colour for series in against_half_life(found).series}
    assert colours == {
        "never forgets": PALETTE["black"],
        "tuning-free": PALETTE["blue"],
        "as logged": PALETTE["grey"],
        "half-life": PALETTE["red"],
    }
    assert [series.colour for series in over_time(found).series] == [PALETTE["red"], PALETTE["black"]]
    assert {s.name: s.colour for s in memory(found).series}["memory"] == PALETTE["blue"]
