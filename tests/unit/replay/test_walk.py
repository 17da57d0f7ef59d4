"""Walking by chunks gives what walking row by row gives, to the last digit."""

import numpy as np
import pandas as pd
import pytest
from conftest import sized
from naive import walk as naive

import driftbandits as db
import logs
from driftbandits.replay import walk
from driftbandits.replay.estimators import EACH, ESTIMATORS, HEAD
from driftbandits.replay.forecast import Forecast
from driftbandits.replay.sums import Sums
from driftbandits.replay.windows import windows

ROWS = sized(45, 90)


def late_log():
    """Rewards that come late, in another order than their decisions."""
    frame = logs.frame(ROWS, 3)
    delay = pd.to_timedelta(np.random.default_rng(4).integers(0, 20_000, ROWS), unit="s")
    frame["late"] = frame["at"] + delay
    frame.loc[::3, "late"] = pd.NaT
    return db.Log.read(frame, item="item", reward="r", propensity="p", time="at", reward_time="late", context=["x"])


@pytest.mark.parametrize("history", ["log", "own"])
@pytest.mark.parametrize("made", [lambda: logs.log(ROWS, 0), lambda: logs.log(ROWS, 1, uniform=True), late_log])
def test_chunks_give_the_sums_of_rows(made, history, monkeypatch):
    monkeypatch.setattr(walk, "SIZE", 17)
    log = made()
    policies = {"t": logs.threshold, "soft": logs.soft, "learner": logs.Learner(), "bandit": db.Bandit(reward="click")}

    def walkers():
        return [walk.Walker(name, given, log, ESTIMATORS, history, 5) for name, given in policies.items()]

    clock, width = windows("day", log), HEAD + EACH * len(policies)
    found, expected = Sums(width), Sums(width)
    walk.walk(log, walkers(), Forecast(), found, clock, True, np.random.default_rng(2), None)
    values = naive.walk(log, walkers(), Forecast(), True, np.random.default_rng(2))
    [at] = [np.concatenate([chunk.at for chunk in log.chunks()])]
    expected.add(clock.places(at, 0, ROWS), values)
    assert [window.place for window in found.windows] == [window.place for window in expected.windows]
    assert (found.blocks() == expected.blocks()).all()
    assert (values[:, HEAD:] != 0.0).any(axis=0).reshape(len(policies), EACH).all()  # every sum has something in it
