"""What `fit` makes of columns that nobody named, of wrong arguments, and of rows that it has learned before."""

import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import driftbandits as db
from driftbandits.bandit.saving import digest
from driftbandits.errors import InvalidValue

pytestmark = pytest.mark.xdist_group("bandit")


def random_log(seed, rows=70):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"item": rng.choice(["a", "b"], rows), "x": rng.normal(size=rows).round(3)})
    frame["c"] = rng.choice(np.array(["r", "s", None], object), rows)
    frame["r"] = (frame["x"] + (frame["item"] == "a") + rng.normal(size=rows)).round(3)
    frame["at"] = 1.7e9 + np.arange(rows)
    return frame


def not_learned(data, match, **more):
    """In one line, with nothing learned."""
    bandit = db.Bandit()
    before = digest(bandit)
    with pytest.raises(InvalidValue, match=match) as caught:
        bandit.fit(data, **{"item": "item", "reward": "r", **more})
    assert "\n" not in str(caught.value)
    assert digest(bandit) == before


def test_wrong_columns_are_refused():
    frame = random_log(0)[["item", "r", "x", "at"]]
    frame["at"] *= 2.0  # else it counts rows
    not_learned(frame, "column 'item' is given twice", reward="item")
    not_learned(frame, "column 'at' is given twice", time="at", id="at")
    not_learned(frame.rename(columns={"x": 7}), "a column named 7; names of features are strings")
    not_learned(pd.concat([frame, frame[["x"]]], axis=1), "two columns named 'x'")
    not_learned(pa.table([["a"], [1.0], [1.0]], ["item", "r", "r"]), "two columns named 'r'")
    not_learned(frame, "tail = -3", tail=-3)
    not_learned(frame, "needs exact=False", scheduler="threads")
    not_learned(frame, "it must be 'threads', 'processes'", exact=False, scheduler="bogus")


@pytest.mark.parametrize("exact", [True, False])
def test_the_reward_in_other_units_is_refused_and_names_that_say_so_are_left_out(exact):
    frame = random_log(0)[["item", "r", "x"]]
    not_learned(frame.assign(missed=1.0 - frame["r"]), "'missed' tells the reward in all 70 rows", exact=exact)
    not_learned(frame.assign(twice=2.0 * frame["r"]), "'twice' tells the reward", exact=exact)
    with pytest.warns(UserWarning, match="'revenue', 'p_chosen', 'Unnamed: 0' is no feature"):
        bandit = db.Bandit().fit(
            frame.assign(revenue=1.0, p_chosen=0.5, **{"Unnamed: 0": range(70)}), item="item", reward="r", exact=exact
        )
    assert set(bandit.importance()) <= {"x", "item"}


def test_a_column_that_equals_the_item_is_refused():
    frame = random_log(0)[["item", "r", "x"]]
    not_learned(frame.assign(banner=frame["item"]), "'banner' tells the item in all 70 rows")
    not_learned(frame.assign(item=[1, 2] * 35, number=[1.0, 2.0] * 35), "'number' tells the item", exact=False)
    db.Bandit().fit(frame.assign(last=frame["item"].shift()), item="item", reward="r")


@pytest.mark.parametrize("exact", [True, False])
def test_texts_that_are_all_different_are_an_id_unless_they_are_named(exact):
    frame = random_log(0)[["item", "r", "x"]].assign(request=[f"r{k}" for k in range(70)])
    with pytest.warns(UserWarning, match="'request' has another text in each of the first 70 rows"):
        bandit = db.Bandit().fit(frame, item="item", reward="r", exact=exact)
    assert [*bandit._learner.context.strings] == []
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        named = db.Bandit().fit(frame[:40], item="item", reward="r", context=["request"], exact=exact)
    assert [*named._learner.context.strings] == ["request"]


@pytest.mark.parametrize("exact", [True, False])
def test_what_counts_rows_is_no_feature_unless_it_is_named(exact):
    frame = random_log(0)[["item", "r", "x"]].assign(row=np.arange(70) + 7, second=1.7e9 + np.arange(70.0), orders=0)
    with pytest.warns(UserWarning, match="no feature|grows by one") as warned:
        bandit = db.Bandit(features="linear").fit(frame, item="item", reward="r", exact=exact)
    told = "\n".join(str(one.message) for one in warned)
    assert "by its name 'orders' is no feature" in told
    assert "'row', 'second' grows by one with each of the first 70 rows" in told
    bandit.decide(["a", "b"], {"x": 1.0})
    assert not {"row", "second", "orders"} & {*bandit.importance()}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        named = db.Bandit().fit(frame, item="item", reward="r", context=["x", "row"], exact=exact)
    named.decide(["a", "b"], {"x": 1.0, "row": 80.0})
    assert "row" in named.importance()


def test_columns_of_later_files_only_are_named_in_a_warning(tmp_path):
    frame = random_log(0)[["item", "r", "x"]]
    frame.to_csv(tmp_path / "1.csv", index=False)
    frame.assign(extra=1).to_csv(tmp_path / "2.csv", index=False)
    with pytest.warns(UserWarning, match=r"2.csv has 'extra', which .*1.csv has not"):
        db.Bandit().fit(tmp_path, item="item", reward="r")


def test_numbers_of_half_precision_are_numbers():
    frame = random_log(0)[["item", "r", "x"]].astype({"x": np.float32})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        a = db.Bandit().fit(frame, item="item", reward="r")
        b = db.Bandit().fit(frame.astype({"x": np.float64}), item="item", reward="r")
        a.decide_batch(frame[["x"]], offers=["a", "b"])
    assert a.estimate(["a"], {"x": 1.0}) == b.estimate(["a"], {"x": 1.0})


def test_the_same_rows_are_recognised_however_they_are_read(tmp_path):
    frame = random_log(3)[["item", "r", "x", "c", "at"]]
    for part in range(3):
        frame[part * 30 : part * 30 + 30].to_parquet(tmp_path / f"{part}.parquet")
    columns = {"item": "item", "reward": "r", "time": "at"}
    for first, exact in ((frame, True), (frame, False), (tmp_path, False)):
        bandit = db.Bandit().fit(first, **columns, exact=exact)
        with pytest.warns(UserWarning, match="these 70 rows were learned before"):
            bandit.fit(frame.sample(frac=1.0, random_state=1), **columns)
    for other in (frame.assign(x=frame["x"] + 1e-9), frame[:-1], frame.assign(c=frame["c"].mask(frame["c"] == "r"))):
        bandit = db.Bandit().fit(frame, **columns)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            bandit.fit(other, **columns)
    before = digest(bandit)
    with warnings.catch_warnings():  # a warning that is an error undoes the fit
        warnings.simplefilter("error")
        with pytest.raises(UserWarning):
            bandit.fit(frame, **columns)
    assert digest(bandit) == before
