"""Values are read as people write them; what is wrong is refused with the number of its row."""

import datetime
import decimal

import numpy as np
import pandas as pd
import pytest

import driftbandits as db
from driftbandits.errors import InvalidValue
from driftbandits.replay.rows import as_offer, as_time

GOOD = {"item": "a", "r": 1.0, "p": 0.5, "at": 100.0, "late": 200.0, "offer": ["a", "b"]}
COLUMNS = {
    "item": "item",
    "reward": "r",
    "propensity": "p",
    "time": "at",
    "reward_time": "late",
    "offered": "offer",
}


def read(**changed):
    """A log of two rows, the second of which is changed."""
    return db.Log.read(pd.DataFrame([GOOD, {**GOOD, **changed}], dtype=object), **COLUMNS)


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"item": None}, "column 'item' is empty"),
        ({"item": "z"}, "'z' was chosen but is not on offer; on offer are 'a', 'b'"),
        ({"item": 0.5}, "named by a float"),
        ({"r": None}, "without_reward=0.0"),
        ({"r": "much"}, "r = 'much' is no reward"),
        ({"r": float("inf")}, "must be finite"),
        ({"p": 1.5}, "p = 1.5 is no probability"),
        ({"p": -0.1}, "p = -0.1 is no probability"),
        ({"p": None}, "column 'p' is empty"),
        ({"at": "soon"}, "at = 'soon' is no time; it must be a datetime, ISO 8601"),
        ({"at": 1.7e12}, "milliseconds"),
        ({"late": 50.0}, "a reward cannot come before its decision"),
        ({"offer": None}, "nothing is on offer"),
        ({"offer": ["a", "a"]}, "on offer twice"),
        ({"offer": "{a: 1"}, "neither JSON nor names between bars"),
        ({"offer": [{"price": 1.0}]}, "has no name"),
    ],
)
def test_what_is_wrong_is_refused_by_its_row(changed, problem):
    with pytest.raises(InvalidValue, match=problem) as raised:
        read(**changed)
    assert str(raised.value).startswith("row 1 of the frame: ")
    assert "\n" not in str(raised.value)


def test_good_rows_are_read():
    assert [row.rewarded for row in read(late=None)] == [200.0, None]
    assert [row.reward for row in read(r=True)] == [1.0, 1.0]
    assert [row.reward for row in read(r=decimal.Decimal("0.5"))] == [1.0, 0.5]


def test_rows_without_a_reward_count_as_the_user_says():
    frame = pd.DataFrame({"item": ["a", "b", "a"], "r": [1.0, None, 0.5]})
    with pytest.raises(InvalidValue, match="row 1 of the frame"):
        db.Log.read(frame, item="item", reward="r")
    zero = db.Log.read(frame, item="item", reward="r", without_reward=0.0)
    assert [row.reward for row in zero] == [1.0, 0.0, 0.5]
    dropped = db.Log.read(frame, item="item", reward="r", without_reward="drop")
    assert ([row.reward for row in dropped], len(dropped), dropped.items) == ([1.0, 0.5], 2, ["a"])
    with pytest.raises(InvalidValue, match="must be a number or 'drop'"):
        db.Log.read(frame, item="item", reward="r", without_reward="forget")


def test_times_are_read_as_people_write_them():
    utc, plus2 = datetime.UTC, datetime.timezone(datetime.timedelta(hours=2))
    for given in (
        86400,
        86400.0,
        "86400",
        "1970-01-02",
        "1970-01-02T00:00:00+00:00",
        datetime.datetime(1970, 1, 2),
        datetime.datetime(1970, 1, 2, 2, tzinfo=plus2),
        datetime.datetime(1970, 1, 2, tzinfo=utc),
        datetime.date(1970, 1, 2),
        pd.Timestamp("1970-01-02"),
    ):
        assert as_time(given, "at") == 86400.0, given


def test_offers_are_read_as_people_write_them():
    names = {"a": None, "b": None}
    for given in (["a", "b"], ("a", "b"), np.array(["a", "b"]), "a|b", '["a", "b"]', {"a": None, "b": None}):
        assert as_offer(given) == names, given
    featured = {"a": {"price": 3.0}, "b": {"price": 2.0}}
    for given in (
        featured,
        '{"a": {"price": 3.0}, "b": {"price": 2.0}}',
        [{"item": "a", "price": 3.0}, {"item": "b", "price": 2.0}],
        [{"name": "a", "price": decimal.Decimal(3), "kind": None}, {"name": "b", "price": 2.0}],
        [("a", {"price": 3.0}), ("b", {"price": 2.0})],
    ):
        assert as_offer(given) == featured, given


def test_a_column_of_dicts_is_a_context():
    frame = pd.DataFrame({"item": ["a", "b"], "r": [0, 1], "who": [{"age": 3, "land": None}, {"land": "se"}]})
    log = db.Log.read(frame, item="item", reward="r", context=["who"])
    assert [row.context for row in log] == [{"age": 3}, {"land": "se"}]
