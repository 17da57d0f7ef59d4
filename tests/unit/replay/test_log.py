"""A log is checked once, whole, and iterated as often as one likes."""

import pathlib
import runpy

import pandas as pd
import pytest

import driftbandits as db
import logs
from driftbandits.errors import InvalidValue


def test_it_can_be_read_again_and_again():
    log = logs.log(50, 0)
    assert [*log] == [*log]
    assert len([*log]) == len(log) == 50
    assert repr(log) == "Log(the frame: 50 decisions between 3 items, 2024-05-01 to 2024-05-10, propensities)"


def test_a_frame_is_sorted_and_keeps_its_row_numbers():
    frame = logs.frame(30, 0)
    mixed = frame.sample(frac=1.0, random_state=1)
    a = db.Log.read(frame, item="item", reward="r", time="at", context=["x"])
    b = db.Log.read(mixed, item="item", reward="r", time="at", context=["x"])
    assert [row._replace(number=0) for row in a] == [row._replace(number=0) for row in b]
    assert [mixed.index[row.number] for row in b] == [*range(30)]


def test_a_file_out_of_order_is_refused_by_its_row(tmp_path):
    (tmp_path / "log.csv").write_text("item,r,at\na,1,100\na,0,300\nb,1,200\n")
    with pytest.raises(InvalidValue, match=r"row 2 of .*log.csv is earlier than the row before it"):
        db.Log.read(tmp_path / "log.csv", item="item", reward="r", time="at")


def test_without_an_offer_all_items_are_on_offer_or_those_that_are_given():
    frame = pd.DataFrame({"item": ["b", "a"], "r": [1, 0]})
    assert [list(row.items) for row in db.Log.read(frame, item="item", reward="r")] == [["a", "b"]] * 2
    given = db.Log.read(frame, item="item", reward="r", offered={"a": {"price": 1.0}, "b": {}, "c": {}})
    assert given.items == ["a", "b", "c"]
    assert next(iter(given)).items["a"] == {"price": 1.0}
    with pytest.raises(InvalidValue, match="row 0 of the frame: item 'b' was chosen but is not on offer"):
        db.Log.read(frame, item="item", reward="r", offered=["a", "c"])


def test_what_is_missing_is_said():
    frame = pd.DataFrame({"item": ["a"], "r": [1.0], "late": [3.0]})
    with pytest.raises(InvalidValue, match="item=… and reward=… are needed"):
        db.Log.read(frame)
    with pytest.raises(InvalidValue, match="reward_time=… needs time=…"):
        db.Log.read(frame, item="item", reward="r", reward_time="late")
    with pytest.raises(InvalidValue, match="has no decision"):
        db.Log.read(frame.iloc[:0], item="item", reward="r")


def test_a_propensity_of_zero_is_noted_with_its_row():
    frame = logs.frame(40, 0)
    frame.loc[7, "p"] = 0.0
    log = db.Log.read(frame, item="item", reward="r", propensity="p")
    assert log.facts.impossible == "row 7 of the frame"
    with pytest.raises(InvalidValue, match="row 7 of the frame has propensity 0"):
        db.replay({"t": logs.threshold}, log)


def test_the_log_of_the_docs_is_made_and_read(tmp_path):
    path = pathlib.Path(__file__).parents[3] / "examples" / "banner_log.py"
    frame = runpy.run_path(str(path))["log"](rows=400)
    frame.to_parquet(tmp_path / "log.parquet")
    found = db.Log.read(
        tmp_path / "log.parquet",
        item="banner",
        reward="clicked",
        propensity="p",
        time="shown_at",
        context=["age", "country"],
    )
    assert found.items == ["coats", "hats", "shoes", "socks"]
    assert len(found) == 400
    assert found.facts.least == 0.2
    assert [row.item for row in found] == list(frame["banner"])
