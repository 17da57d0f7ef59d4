"""What a log must not hold: repeated ids, features that change their kind, outcomes among the features."""

import datetime

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import driftbandits as db
import logs
from driftbandits.errors import InvalidValue
from driftbandits.tables.arrow_types import to_list

ROLES = {"item": "item", "reward": "r"}


def test_repeated_ids_are_refused_or_dropped_and_counted(tmp_path):
    for name, ids in (("one", ["u", "v", "w"]), ("two", ["x", "v", "y", "x"])):
        rows = {"item": ["a", "b", "a", "b"][: len(ids)], "r": [1.0, 2.0, 3.0, 4.0][: len(ids)], "key": ids}
        pd.DataFrame(rows).to_csv(tmp_path / f"{name}.csv", index=False)
    with pytest.raises(InvalidValue, match=r"row 1 of .*two.csv has an id in column 'key' .* 2 rows in all") as raised:
        db.Log.read(tmp_path, **ROLES, id="key")
    assert "\n" not in str(raised.value)
    log = db.Log.read(tmp_path, **ROLES, id="key", repeats="drop")
    assert [row.reward for row in log] == [1.0, 2.0, 3.0, 1.0, 3.0]
    assert (len(log), log.facts.repeated) == (5, 2)
    assert len(db.Log.read(tmp_path, **ROLES)) == 7


def test_the_first_in_time_is_kept_and_an_empty_id_is_refused():
    frame = pd.DataFrame({"item": ["a", "b", "a"], "r": [1.0, 2.0, 3.0], "at": [3.0, 1.0, 2.0], "key": [7, 8, 7]})
    log = db.Log.read(frame, **ROLES, time="at", id="key", repeats="drop")
    assert [(row.number, row.reward) for row in log] == [(1, 2.0), (2, 3.0)]
    with pytest.raises(InvalidValue, match="row 1 of the frame: column 'key' is empty"):
        db.Log.read(frame.assign(key=["u", None, "w"]), **ROLES, id="key")
    with pytest.raises(InvalidValue, match="repeats = 'keep' is not allowed"):
        db.Log.read(frame, **ROLES, id="key", repeats="keep")
    with pytest.raises(InvalidValue, match="has no column 'no'"):
        db.Log.read(frame, **ROLES, id="no")


@pytest.mark.parametrize(
    ("role", "column", "said"),
    [
        ("propensity", "p", "the propensity"),
        ("reward", "r", "the reward"),
        ("item", "item", "the item chosen"),
        ("id", "x", "the id"),
    ],
)
def test_roles_are_no_features(role, column, said):
    roles = {**ROLES, "propensity": "p", role: column}
    with pytest.raises(InvalidValue, match=f"context names the column '{column}', which is {said}"):
        db.Log.read(logs.frame(40, 0), **roles, context=[column])


def test_a_copy_of_the_reward_is_no_feature():
    frame = logs.frame(60, 0)
    with pytest.raises(InvalidValue, match="'clicked', which tells the reward in all 60 rows"):
        db.Log.read(frame.assign(clicked=frame["r"] > 0.5), **ROLES, context=["x", "clicked"])
    for told in (1.0 - frame["r"], 3.0 + 2.0 * frame["r"]):
        with pytest.raises(InvalidValue, match="'other', which tells the reward"):
            db.Log.read(frame.assign(other=told), **ROLES, context=["other"])
    nearly = (frame["r"] > 0.5).to_numpy().copy()
    nearly[17] = not nearly[17]
    assert len(db.Log.read(frame.assign(clicked=nearly), **ROLES, context=["clicked"])) == 60


def test_a_feature_keeps_its_kind_in_a_frame_and_between_files(tmp_path):
    frame = pd.DataFrame({"item": ["a", "b", "a"], "r": [1.0, 0.0, 1.0], "x": [1, 2, "three"]})
    with pytest.raises(InvalidValue, match="row 2 of the frame: column 'x' holds a string, and numbers before"):
        db.Log.read(frame, **ROLES, context=["x"])
    frame.iloc[:2].to_csv(tmp_path / "one.csv", index=False)
    frame.iloc[2:].to_csv(tmp_path / "two.csv", index=False)
    with pytest.raises(InvalidValue, match=r"row 0 of .*two.csv: column 'x' holds a string"):
        db.Log.read(tmp_path, **ROLES, context=["x"])


def test_nanoseconds_need_no_pandas(tmp_path):
    at = pa.array(np.array([1_700_000_000_123_456_789, 1_700_000_001_000_000_001]), pa.timestamp("ns"))
    assert [type(value) for value in to_list(at)] == [datetime.datetime] * 2  # with pandas they would be its timestamps
    pq.write_table(pa.table({"item": ["a", "b"], "r": [1.0, 0.0], "at": at}), tmp_path / "log.parquet")
    rows = [*db.Log.read(tmp_path / "log.parquet", **ROLES, time="at")]
    assert [row.at for row in rows] == [1700000000.123456, 1700000001.0]


def test_wrong_arguments_are_one_line():
    frame = pd.DataFrame({"item": ["a", "b"] * 40, "r": np.arange(80.0), "x": 1.0, "p": 0.5})
    for wrong, says in (
        ({"reward": "p", "propensity": "p"}, "column 'p' is given as reward and as propensity"),
        ({"item": 3}, "item = 3 is not allowed; it must be the name of a column"),
        ({"context": 3}, "context = 3 is not allowed; it must be a list of names"),
        ({"context": [3]}, "it must be a list of names"),
        ({"without_reward": float("nan")}, "without_reward = nan is not allowed"),
    ):
        with pytest.raises(InvalidValue, match=says) as found:
            db.Log.read(frame, **ROLES | wrong)
        assert "\n" not in str(found.value)
    log = db.Log.read(frame, **ROLES, propensity="p")
    with pytest.raises(InvalidValue, match=r"gave the probability -0\.5; none may be below 0"):
        db.replay({"f": lambda items, context, at: {"a": 1.5, "b": -0.5}}, log, estimators="ips")
    with pytest.raises(InvalidValue, match="estimators = None is not allowed"):
        db.replay({"f": lambda items, context, at: "a"}, log, estimators=None)
    for over in (None, [1], {"half_life": 3}, {"half_life": []}, {"half_life": "2d"}):
        with pytest.raises(InvalidValue, match="over must be a dict"):
            db.tune(db.Bandit, log, over=over)
    with pytest.raises(InvalidValue, match="make = 3 is not allowed"):
        db.tune(3, log, over={"half_life": [1]})
