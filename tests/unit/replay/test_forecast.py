"""Forecasts know the rows before, and nothing of this one."""

import logs
from driftbandits.replay.forecast import Forecast


def test_it_is_made_before_the_row_is_learned():
    log = [*logs.log(60, 0)]
    one, two = Forecast(), Forecast()
    for t, row in enumerate(log):
        changed = row._replace(reward=1.0 - row.reward) if t == 59 else row
        a, b = one.ahead(t, row), two.ahead(t, changed)
        assert a == b
        one.learn(t, row)
        two.learn(t, changed)
    assert one.ahead(60, log[0]) != two.ahead(60, log[0])


def test_it_learns_what_items_earn():
    forecast = Forecast()
    for t, row in enumerate(logs.log(400, 0, uniform=True)):
        last = forecast.ahead(t, row)
        forecast.learn(t, row._replace(reward={"a": 0.0, "b": 1.0, "c": 5.0}[row.item]))
    assert last["c"] > 4.0 > 2.0 > last["b"] > last["a"]
