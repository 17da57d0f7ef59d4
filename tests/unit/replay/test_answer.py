"""The verdict says what the numbers say, in every case."""

import datetime

import numpy as np
import pandas as pd
import pytest

import driftbandits as db
import logs
from driftbandits.bandit.events import DriftEvent
from driftbandits.errors import InvalidValue
from driftbandits.replay.answer import (
    ADAPTIVE,
    NEVER,
    Honest,
    _stretches,
    _suitable,
    amount,
    answer,
    dated,
    name_of,
    spoken,
)


class Made:
    """What stands for a bandit: good from `after` on, if its half-life is short."""

    def __init__(self, *, reward, half_life, seed, good="short"):
        self.best = "c" if (half_life == 1e12) != (good == "short") else "a"

    def decide(self, items, context, at):
        return self.best


@pytest.fixture(scope="module")
def log():
    return logs.log(900, 0, uniform=True, drift=True, days=30)


def test_forgetting_that_pays_is_said_with_its_gain(log):
    found = answer(log, half_lives=["1d", "4d"], estimator="snips", make=Made)
    assert found.verdict.startswith("Forgetting with a half-life near ")
    assert " more than never forgetting; no drift was noticed." in found.verdict
    assert found.gain.gain_low > 0.0
    assert found.replay.policies == [NEVER, "half-life 1d", "half-life 4d", ADAPTIVE]
    assert found.replay.difference(found.best.name, NEVER).low > 0.0


def test_forgetting_that_costs_is_said(log):
    found = answer(log, half_lives=["1d", "4d"], estimator="snips", make=Made, good="long")
    assert found.verdict.startswith("Forgetting does not pay here: ")
    assert found.gain.gain_high < 0.0


def test_what_the_log_does_not_say_is_not_claimed():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"item": rng.choice(["a", "c"], 400), "r": rng.normal(size=400)})
    found = answer(db.Log.read(frame, item="item", reward="r"), half_lives=[30, 100], estimator="snips", make=Made)
    assert found.verdict.startswith("This log is not conclusive about forgetting")
    assert "per decision; no drift was noticed." in found.verdict  # per cent of nothing would say nothing


def test_real_bandits_walk_through_it():
    found = answer(logs.log(200, 0, drift=True), half_lives=["1d"], estimator="snips")
    assert [h.name for h in found.tried] == ["half-life 1d"]
    assert len(found.replay.walks[ADAPTIVE].memory) > 100
    assert 0.0 < found.replay.walks[ADAPTIVE].memory[-1][1] <= 200.0


def test_half_lives_suit_the_log(log):
    assert _suitable(log) == ["1d", "2d", "4d", "7d", "14d"]  # twenty decisions take 16 hours; half of it is 15 days
    bare = db.Log.read(logs.frame(1000, 0), item="item", reward="r", propensity="p")
    assert _suitable(bare) == [30, 100, 300]
    with pytest.raises(InvalidValue, match="too few to compare half-lives"):
        answer(logs.log(30, 0))


@pytest.mark.parametrize(
    ("rows", "days", "by"),
    [(900, 10, "day"), (900, 1000, "day"), (900, 100, "week"), (900, 2, "6h"), (900, 0.3, "hour"), (900, 0.01, "day")],
)
def test_stretches_suit_the_log(rows, days, by):
    assert _stretches(logs.log(rows, 0, days=days)) == by


def noticed(at):
    return DriftEvent(at, "reward level", 9, 7, 12.5)


def test_drift_is_dated_as_people_say_it(log):
    def at(*days):
        moments = [datetime.datetime(2024, m, d, 12, tzinfo=datetime.UTC).timestamp() for m, d in days]
        return dated([noticed(moment) for moment in moments], log)

    assert at() == "no drift was noticed"
    assert at((5, 3)) == "drift was noticed on 3 May 2024"
    assert at((5, 3), (5, 3), (5, 17)) == "drift was noticed on 3 and 17 May 2024"
    assert at((5, 3), (5, 17), (6, 2)) == "drift was noticed on 3 and 17 May 2024 and 2 June 2024"
    assert at(*((5, d) for d in range(1, 9))) == "drift was noticed on 8 days from 1 May 2024 to 8 May 2024"
    bare = db.Log.read(logs.frame(50, 0), item="item", reward="r", propensity="p")
    assert dated([noticed(7.0), noticed(9.0)], bare) == "drift was noticed at rows 7 and 9"


def test_words():
    assert name_of(datetime.timedelta(days=1.5)) == "half-life 1.5d"
    assert [spoken(text) for text in ("1d", "90min", "300")] == ["1 day", "90 minutes", "300 decisions"]
    gain = Honest(0.0, 0.0, 0.0, -0.002, -0.004, 0.0, [])
    assert amount(gain, 1.0) == "-0.2 % ± 0.2 %"
    assert amount(gain, 0.0) == "-0.002 ± 0.002 per decision"
