"""CSV and JSON lines: what is a number, and which line is broken."""

import gzip
import json

import pytest

import driftbandits as db
from driftbandits.errors import DriftBanditsError, InvalidValue
from driftbandits.tables import sources, text_files


def test_a_file_is_read_in_pieces(tmp_path, monkeypatch):
    monkeypatch.setattr(text_files, "SIZE", 10)
    path = tmp_path / "log.csv"
    path.write_text("item,r\n" + "a,1\n" * 35)
    [source] = sources.open_sources(path)
    assert [len(batch.numbers) for batch in source.batches(["item"])] == [10, 10, 10, 5]


def test_lines_that_are_broken_have_their_row_and_line(tmp_path):
    (tmp_path / "log.csv").write_text("item,r\na,1\nb\n")
    with pytest.raises(InvalidValue, match=r"row 1 of .*log.csv \(line 3\) has 1 values; there are 2 columns"):
        db.Log.read(tmp_path / "log.csv", item="item", reward="r")
    (tmp_path / "log.jsonl").write_text('{"item": "a", "r": 1}\n{"item": \n')
    with pytest.raises(InvalidValue, match=r"row 1 of .*log.jsonl \(line 2\) is no JSON object"):
        db.Log.read(tmp_path / "log.jsonl", item="item", reward="r")


def test_text_that_looks_like_a_number_is_one_only_if_it_is_written_as_one(tmp_path):
    (tmp_path / "log.csv").write_text("item,r,x,yes\n001,1,5,true\n1,0,0.5,false\n")
    log = db.Log.read(tmp_path / "log.csv", item="item", reward="r", context=["x", "yes"])
    assert log.items == ["001", "1"]
    assert [row.context for row in log] == [{"x": 5.0, "yes": True}, {"x": 0.5, "yes": False}]
    (tmp_path / "log.csv").write_text('item,r,offer\n1,1,1|2\n2,0,"[1, 2]"\n')
    log = db.Log.read(tmp_path / "log.csv", item="item", reward="r", offered="offer")
    assert [(row.item, list(row.items)) for row in log] == [("1", ["1", "2"]), (2, [1, 2])]


def test_where_arrow_has_no_memory_python_s_reader_goes_on(tmp_path, monkeypatch):
    import pyarrow as pa
    import pyarrow.csv

    def no_memory(*args, **options):
        raise pa.ArrowMemoryError("malloc of size 1048576 failed")

    (tmp_path / "log.csv").write_text("item,r,x\n" + "a,1,2.5\nb,0,3.5\n" * 20)
    whole = [(row.item, row.reward, row.context) for row in db.Log.read(tmp_path / "log.csv", item="item", reward="r")]
    monkeypatch.setattr(pyarrow.csv, "open_csv", no_memory)
    log = db.Log.read(tmp_path / "log.csv", item="item", reward="r")
    assert [(row.item, row.reward, row.context) for row in log] == whole


def contexts(path, *names):
    [source] = sources.open_sources(path)
    return [value for batch in source.batches(names) for value in zip(*map(batch.listed, names), strict=True)]


def test_marks_of_missing_values_among_numbers_are_missing_values(tmp_path):
    (tmp_path / "log.csv").write_text("x,y,land\n1,NA,NA\nNA,0.5,se\n3,null,de\n")
    assert contexts(tmp_path / "log.csv", "x", "y", "land") == [(1, None, "NA"), (None, 0.5, "se"), (3, None, "de")]


def test_a_column_that_begins_late_is_of_the_kind_of_its_first_values(tmp_path):
    rows = [f"a,{n % 7}," for n in range(1500)] + ["a,1,0.25", "a,NA,4"]
    (tmp_path / "log.csv").write_text("item,x,late\n" + "\n".join(rows))
    assert contexts(tmp_path / "log.csv", "x", "late")[-3:] == [(1499 % 7, None), (1, 0.25), (None, 4.0)]
    rows = [{"item": "a", "r": 1}] * 1500 + [{"item": "a", "r": 1, "late": 3}]
    (tmp_path / "log.jsonl").write_text("\n".join(map(json.dumps, rows)))
    log = db.Log.read(tmp_path / "log.jsonl", item="item", reward="r", context=["late"])
    assert [row.context for row in log][-2:] == [None, {"late": 3.0}]


@pytest.mark.compiled  # 40,000 rows are learned before the damage
def test_damage_behind_the_first_rows_is_one_line_with_the_file(tmp_path):
    text = ("item,r\n" + "".join(f"a,{n * 0.37}\n" for n in range(40_000))).encode()
    broken = {
        "cut.csv.gz": gzip.compress(text)[:-3000],
        "latin.csv": text + "café,1\n".encode("latin1"),
        "field.csv": text + b'"' + b"a" * 200_000 + b'",oops\n',
        "deep.jsonl": b'{"item": "a", "r": 1}\n' + b"[" * 100_000,
    }
    for name, found in broken.items():
        (tmp_path / name).write_bytes(found)
        bandit = db.Bandit()
        with pytest.raises(
            DriftBanditsError, match=rf"{name}( cannot be read, from row \d+ on| \(line 2\) is no JSON)"
        ) as caught:
            bandit.fit(tmp_path / name, item="item", reward="r")
        assert "\n" not in str(caught.value)
        assert bandit.info()["observed"] == 0
