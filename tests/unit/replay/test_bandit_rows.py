"""A bandit replayed by columns: the same values, memories and events as row by row."""

import numpy as np
import pytest

import driftbandits as db
import logs
from driftbandits.replay import walk

pytestmark = pytest.mark.xdist_group("bandit")


@pytest.mark.parametrize(
    ("estimators", "history", "late"),
    [(("ips", "replay"), "log", False), (("snips", "dr"), "own", False), (("ips",), "log", True)],
)
def test_the_values_are_those_of_row_by_row(estimators, history, late, monkeypatch):
    frame = logs.frame(60, 1).assign(c=np.where(np.arange(60) < 30, "r", "s"))
    frame.loc[::7, "x"] = np.nan
    columns = {"item": "item", "reward": "r", "propensity": "p", "time": "at", "context": ["x", "c"]}
    if late:
        frame["came"] = frame["at"].where(np.arange(60) % 3 > 0)
        columns["reward_time"] = "came"
    log = db.Log.read(frame, **columns)
    made = {
        "reward": "click",
        "features": "item",
        "explore": 0.8,
    }  # near to the log's own choices, so that rows are worth much
    policies = {"now": db.Bandit(**made), "3h": db.Bandit(**made, half_life="3h")}
    answers = []
    for by_columns in (True, False):
        if not by_columns:
            monkeypatch.setattr(walk, "can_replay", lambda *_: False)
        else:
            calls = []
            go = walk.replay_chunk
            monkeypatch.setattr(walk, "replay_chunk", lambda *args: (calls.append(1), go(*args))[1])
        found = db.replay(policies, log, estimators=estimators, history=history, seed=3)
        answers.append((found.rows(), [(each.memory, each.events) for each in found.walks.values()]))
    assert bool(calls) != late  # rewards that come later are told row by row
    assert repr(answers[0]) == repr(answers[1])


def test_a_reward_that_a_bandit_refuses_is_named_by_its_row():
    frame = logs.frame(30, 1).assign(r=lambda f: f["r"] * 0.5)
    log = db.Log.read(frame, item="item", reward="r", propensity="p", time="at", context=["x"])
    if not (frame["r"] == 0.5).any():
        pytest.fail("the log must have a reward of 0.5")
    with pytest.raises(db.DriftBanditsError, match=r"row .* 0 or 1"):
        db.replay({"b": db.Bandit(reward="click", features="item")}, log, estimators=("ips",))


@pytest.mark.parametrize("features", ["shared", "disjoint"])
def test_self_tuning_is_replayed_as_the_bandit_that_it_is(features):
    """By columns, with the values of a `Bandit` of the same settings, whatever the kind of reward."""
    frame = logs.frame(60, 1).assign(r=lambda f: f["r"] * 0.5)  # a click of 0.5 is in [0, 1]
    log = db.Log.read(frame, item="item", reward="r", propensity="p", time="at", context=["x"])
    bandit = db.Bandit(features="disjoint" if features == "disjoint" else "interact", explore=0.25)
    strategy = db.zoo.self_tuning(reward="click", features=features, explore=0.25)
    found = db.replay({"b": bandit, "s": strategy}, log, estimators=("ips",))
    rows = {row["policy"]: {key: value for key, value in row.items() if key != "policy"} for row in found.rows()}
    assert rows["s"] == rows["b"]
    assert found.walks["s"].memory == found.walks["b"].memory


@pytest.mark.parametrize("late", [False, True])
def test_a_reward_outside_of_the_range_of_self_tuning_is_named_by_its_row(late):
    frame = logs.frame(30, 1).assign(r=lambda f: f["r"] * 2.0)
    row = int(frame["r"].to_numpy().argmax())
    columns = {"item": "item", "reward": "r", "propensity": "p", "time": "at", "context": ["x"]}
    if late:
        frame["came"] = frame["at"]
        columns["reward_time"] = "came"
    log = db.Log.read(frame, **columns)
    with pytest.raises(db.DriftBanditsError, match=rf"row {row} .*reward = 2.* \[0, 1\]"):
        db.replay({"s": db.zoo.self_tuning(reward="click")}, log, estimators=("ips",))
