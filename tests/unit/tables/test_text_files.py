"""CSV and JSON lines: what is a number, and which line is broken."""

import pytest

import driftbandits as db
from driftbandits.errors import InvalidValue
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
