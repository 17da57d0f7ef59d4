"""Columns in the names of folders (`day=2026-01-01/part.parquet`), as Hive partitions a data set."""

import numpy as np
import pandas as pd
import pytest

import driftbandits as db
from driftbandits.bandit.saving import digest
from driftbandits.tables.partitions import NOTHING
from driftbandits.tables.sources import open_sources

pytestmark = pytest.mark.xdist_group("bandit")


def a_log(rows=24):
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "item": rng.choice(["a", "b"], rows),
            "r": rng.normal(size=rows),
            "x": rng.normal(size=rows),
            "at": 1.7e9 + np.arange(rows, dtype=float),
        }
    )


def write(frame, folder, names, ending="parquet"):
    """One file for each name of a folder, of as many rows each."""
    each = len(frame) // len(names)
    for k, name in enumerate(names):
        (folder / name).mkdir(parents=True)
        part = frame[k * each : (k + 1) * each]
        path = folder / name / f"part.{ending}"
        part.to_parquet(path) if ending == "parquet" else part.to_csv(path, index=False)


def values(folder, *wanted, names=()):
    return [
        [*zip(*(batch.listed(name) for name in wanted), strict=True)]
        for source in open_sources(folder)
        for batch in source.batches(wanted, names)
    ]


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_folders_are_columns(tmp_path, ending):
    frame = a_log()
    write(frame, tmp_path, ["n=2/shop=A%20B", f"n=10/shop={NOTHING}", "n=11/shop=07"], ending)
    found = values(tmp_path, "shop", "x", "n")
    assert [rows[0][0] for rows in found] == ["A B", None, "07"]
    assert [rows[0][2] for rows in found] == [2, 10, 11]
    assert [row[1] for rows in found for row in rows] == pytest.approx(frame["x"].tolist())
    assert [{*rows} for rows in values(tmp_path, "n")] == [{(2,)}, {(10,)}, {(11,)}]  # no column of the file
    assert values(tmp_path, "n", names=("n",))[0][0] == ("2",)  # as the name of an item
    assert [{*rows} for rows in values(f"{tmp_path}/n=1*/*/*", "n")] == [{(10,)}, {(11,)}]


def test_a_column_of_the_file_is_read_from_the_file(tmp_path):
    write(a_log().assign(day="inside"), tmp_path, ["day=2026-01-01", "day=2026-01-02"])
    assert {row for rows in values(tmp_path, "day") for row in rows} == {("inside",)}


def test_they_are_learned_as_if_they_were_in_the_files(tmp_path):
    frame, days = a_log(), ["2026-01-01", "2026-01-02", "2026-01-03"]
    write(frame, tmp_path, [f"day={day}" for day in days])
    inside = frame.assign(day=np.repeat(days, 8))
    columns = {"item": "item", "reward": "r", "time": "at", "context": ["x", "day"]}
    assert digest(db.Bandit().fit(tmp_path, **columns)) == digest(db.Bandit().fit(inside, **columns))
    log = db.Log.read(tmp_path, **columns)
    assert [row.context["day"] for row in log] == inside["day"].tolist()
    by_day = db.Log.read(tmp_path, item="item", reward="r", time="day")
    assert by_day.end - by_day.start == 2 * 86400.0


def test_unnamed_they_are_no_features_and_a_missing_one_is_one_line(tmp_path):
    frame = a_log()
    write(frame, tmp_path, ["day=2026-01-01", "day=2026-01-02", "rest"])
    with pytest.warns(UserWarning, match="'day' is in the names of folders, and is left out"):
        bandit = db.Bandit().fit(tmp_path, item="item", reward="r", time="at")
    assert [*bandit._learner.context.strings] == []
    with pytest.raises(db.DriftBanditsError, match=r"rest.part.parquet has no column 'day'") as problem:
        db.Bandit().fit(tmp_path, item="item", reward="r", time="at", context=["x", "day"])
    assert "\n" not in str(problem.value)
