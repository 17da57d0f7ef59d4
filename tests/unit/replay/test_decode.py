"""Columns hold what reading row by row gives, whatever the file, the types and what is missing."""

import datetime
import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import driftbandits as db
from driftbandits.errors import InvalidValue
from driftbandits.replay.chunks import Categories, Numbers
from driftbandits.replay.decode import Decoder, _equal_rows
from driftbandits.tables import arrow_csv, text_files

NAMES = ["a", "b", "c", 'it\'s, "quoted"', "é"]


def random_log(seed):
    """Columns as lists, and how to read them: missing numbers, new items late, several kinds of offers and times."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 60))
    names = [1, 2, 30] if seed % 3 == 0 else NAMES
    known = [names[: 2 + (t > n // 2)] for t in range(n)]
    offers = [[*rng.permutation(np.array(k, object))] for k in known]
    start = datetime.datetime(2024, 5, 1, 10)
    times = [start + datetime.timedelta(seconds=float(s)) for s in np.sort(rng.random(n) * 1e5).round(6)]
    late = [t + datetime.timedelta(seconds=int(rng.integers(0, 99))) if rng.random() < 0.5 else None for t in times]
    frame = {
        "item": [o[rng.integers(len(o))] for o in offers],
        "r": [None if rng.random() < 0.1 else float(v) for v in rng.normal(size=n)],
        "p": rng.uniform(0.05, 1.0, n).tolist(),
        "offer": offers,
        "at": times,
        "late": late,
        "x": [None if rng.random() < 0.2 else float(v) for v in rng.normal(size=n)],
        "k": rng.integers(5, size=n).tolist(),
        "yes": (rng.random(n) < 0.5).tolist(),
        "land": [None if rng.random() < 0.2 else f"l{v}" for v in rng.integers(4, size=n)],
    }
    options = {
        "item": "item",
        "reward": "r",
        "propensity": "p" if seed % 2 else None,
        "time": "at" if seed % 4 else None,
        "reward_time": "late" if seed % 4 > 1 else None,
        "offered": [None, "offer"][seed // 2 % 2],
        "context": [[], ["x", "k", "yes", "land"]][seed // 3 % 2],
        "without_reward": ["drop", 0.5][seed // 5 % 2],
    }
    return frame, options


def write(kind, frame, folder):
    """The log in a file, or a frame of it."""
    if kind == "parquet":
        pq.write_table(pa.table(frame), folder / "log.parquet")
        return folder / "log.parquet"
    if kind == "nanoseconds":
        table = pa.table(frame)
        at = table.schema.get_field_index("at")
        pq.write_table(table.set_column(at, "at", table["at"].cast(pa.timestamp("ns"))), folder / "log.parquet")
        return folder / "log.parquet"
    if kind == "pandas":
        return pd.DataFrame(frame)
    flat = pd.DataFrame(frame)
    joined = (lambda o: "|".join(map(str, o))) if kind == "csv" else json.dumps
    flat["offer"] = [joined(o) for o in frame["offer"]]
    for name in ("at", "late"):
        flat[name] = [None if t is None else t.isoformat(" " if kind == "csv" else "T") for t in frame[name]]
    flat.to_csv(folder / f"log.{kind}", index=False, sep="," if kind == "csv" else "\t")
    return folder / f"log.{kind}"


def read(source, options):
    """Every row, what the scan found, or the error."""
    try:
        log = db.Log.read(source, **options)
    except InvalidValue as problem:
        return str(problem)
    return [*log], log.facts


@pytest.mark.parametrize("kind", ["csv", "tsv", "parquet", "nanoseconds", "pandas"])
@pytest.mark.parametrize("seed", range(12))
def test_columns_hold_what_rows_one_by_one_give(kind, seed, tmp_path, monkeypatch):
    frame, options = random_log(seed)
    source = write(kind, frame, tmp_path)
    by_columns, by_rows = [], []
    monkeypatch.setattr(Decoder, "_by_rows", _noted(Decoder._by_rows, by_rows))
    monkeypatch.setattr(Decoder, "_by_columns", _noted(Decoder._by_columns, by_columns))
    found = read(source, options)
    assert not by_rows  # none of these needs a loop over its rows
    assert by_columns
    monkeypatch.setattr(Decoder, "_by_columns", lambda *_: None)

    def gives_up(*_):
        raise arrow_csv.GaveUp

    monkeypatch.setattr(text_files, "csv_by_arrow", gives_up)
    assert read(source, options) == found
    assert by_rows


def _noted(function, calls):
    def called(*args):
        calls.append(args)
        return function(*args)

    return called


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("a,1,x\n,0,x\n", "row 1 of .*log.csv: column 'item' is empty"),
        ("a,1,x\nb,nan,x\n", "row 1 of .*log.csv: column 'r' is empty"),
        ("a,1,x\nb,inf,x\n", "row 1 of .*log.csv: r = inf is no reward"),
        ("a,1,x\nb,yes,x\n", "row 1 of .*log.csv: r = 'yes' is no reward"),
        ("a,1,x\nb,0\n", r"row 1 of .*log.csv \(line 3\) has 2 values; there are 3 columns"),
        ("a,1,x\n\nb,0,x\n", r"row 1 of .*log.csv \(line 3\) has 0 values; there are 3 columns"),
    ],
)
def test_a_broken_row_is_named_by_its_file_and_number(content, problem, tmp_path):
    (tmp_path / "log.csv").write_text("item,r,x\n" + content)
    with pytest.raises(InvalidValue, match=problem):
        db.Log.read(tmp_path / "log.csv", item="item", reward="r", context=["x"])


def test_a_file_that_arrow_gives_up_in_the_middle_is_read_to_its_end(tmp_path, monkeypatch):
    """Whole numbers in the first thousand rows and a decimal in the last: names keep their digits."""
    rows = [f"{k % 3},{k},{k}" for k in range(1500)] + ["007,0.5,0.25", "2,1,1"]
    (tmp_path / "log.csv").write_text("item,r,x\n" + "\n".join(rows) + "\n")
    log = db.Log.read(tmp_path / "log.csv", item="item", reward="r", context=["x"])
    found = [*log]
    assert len(found) == 1502
    assert [row.number for row in found] == [*range(1502)]
    assert [(row.item, row.reward, row.context) for row in found[-2:]] == [
        ("007", 0.5, {"x": 0.25}),
        (2, 1.0, {"x": 1}),
    ]
    assert log.items == [0, 1, 2, "007"]


def test_chunks_hold_numbers_codes_and_offers(tmp_path):
    frame = pd.DataFrame(
        {"i": ["b", "a", "b"], "r": [1, 0, 1], "o": ["a|b", "a", "a|b"], "x": [1.5, None, 2.0], "k": ["u", None, "v"]}
    )
    frame.to_csv(tmp_path / "log.csv", index=False)
    log = db.Log.read(tmp_path / "log.csv", item="i", reward="r", offered="o", context=["x", "k"])
    [chunk] = log.chunks()
    assert [chunk.names[k] for k in chunk.item] == ["b", "a", "b"]
    assert chunk.reward.tolist() == [1.0, 0.0, 1.0]
    assert chunk.offers.sizes().tolist() == [2, 1, 2]
    assert [dict(o) for o in chunk.offers.distinct] == [{"a": None, "b": None}, {"a": None}]
    k = chunk.offers.which[1]
    assert [chunk.names[i] for i in chunk.offers.indices[chunk.offers.offsets[k] : chunk.offers.offsets[k + 1]]] == [
        "a"
    ]
    x, category = chunk.context["x"], chunk.context["k"]
    assert isinstance(x, Numbers)
    assert isinstance(category, Categories)
    assert x.missing.tolist() == [False, True, False]
    assert category.listed() == ["u", None, "v"]


def test_equal_rows_are_grouped_even_where_their_sums_agree(monkeypatch):
    wide = np.array([[1, 2], [3, 4], [1, 2], [2, 1]])
    for weights in (None, [1, 1]):
        if weights is not None:  # [1, 2] and [2, 1] then have one sum
            monkeypatch.setattr("driftbandits.replay.decode._weights", lambda _: np.array([1, 1]))
        first, which = _equal_rows(wide)
        assert (wide[first][which] == wide).all()
        assert len(first) == 3
