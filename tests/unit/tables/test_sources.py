"""The same rows come out of every format; what is wrong is named with its row."""

import gzip
import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import driftbandits as db
from driftbandits.errors import CannotRead, InvalidValue
from driftbandits.tables import columnar, text_files

ROWS = [
    {"item": "a", "r": 1.0, "p": 0.5, "offer": ["a", "b"], "age": 31.0, "land": "se", "at": "2024-05-01T10:00:00"},
    {"item": "b", "r": 0.0, "p": 0.25, "offer": ["b", "c"], "age": None, "land": "no", "at": "2024-05-01T10:01:00"},
    {"item": "c", "r": 2.5, "p": 1.0, "offer": ["c"], "age": 7.0, "land": None, "at": "2024-05-02T00:00:00"},
]
COLUMNS = {
    "item": "item",
    "reward": "r",
    "propensity": "p",
    "time": "at",
    "offered": "offer",
    "context": ["age", "land"],
}


def write_csv(folder):
    flat = [{**row, "offer": "|".join(row["offer"])} for row in ROWS]
    pd.DataFrame(flat).to_csv(folder / "log.csv", index=False)
    return folder / "log.csv"


def write_semicolons(folder):
    flat = [{**row, "offer": "|".join(row["offer"])} for row in ROWS]
    pd.DataFrame(flat).to_csv(folder / "log.csv", index=False, sep=";")
    return folder / "log.csv"


def write_json_offers(folder):
    flat = [{**row, "offer": json.dumps(row["offer"])} for row in ROWS]
    pd.DataFrame(flat).to_csv(folder / "log.tsv", index=False, sep="\t")
    return folder / "log.tsv"


def write_jsonl(folder):
    (folder / "log.jsonl").write_text("\n\n".join(map(json.dumps, ROWS)))
    return folder / "log.jsonl"


def write_gzip(folder):
    with gzip.open(folder / "log.jsonl.gz", "wt") as file:
        file.write("\n".join(map(json.dumps, ROWS)))
    return folder / "log.jsonl.gz"


def write_parquet(folder):
    pq.write_table(pa.Table.from_pylist(ROWS), folder / "log.parquet")
    return folder / "log.parquet"


def write_arrow_file(folder):
    table = pa.Table.from_pylist(ROWS)
    with pa.OSFile(str(folder / "log.arrow"), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)
    return folder / "log.arrow"


def write_arrow_stream(folder):
    table = pa.Table.from_pylist(ROWS)
    with pa.OSFile(str(folder / "log.ipc"), "wb") as file, pa.ipc.new_stream(file, table.schema) as writer:
        writer.write_table(table)
    return folder / "log.ipc"


def write_many(folder):
    for k, row in enumerate(ROWS):
        (folder / f"{k}.jsonl").write_text(json.dumps(row))
    return folder


MADE = {
    "csv": write_csv,
    "tsv": write_json_offers,
    "csv with semicolons": write_semicolons,
    "jsonl": write_jsonl,
    "gz": write_gzip,
    "parquet": write_parquet,
    "arrow": write_arrow_file,
    "stream": write_arrow_stream,
    "folder": write_many,
    "pattern": lambda folder: write_many(folder) / "*.jsonl",
    "list": lambda folder: sorted(write_many(folder).glob("*.jsonl")),
    "pandas": lambda _: pd.DataFrame(ROWS).assign(at=lambda f: pd.to_datetime(f["at"])),
    "polars": lambda _: pl.DataFrame(ROWS),
    "table": lambda _: pa.Table.from_pylist(ROWS),
}


@pytest.mark.parametrize("kind", MADE)
def test_every_format_gives_the_same_rows(kind, tmp_path, monkeypatch):
    for module in (text_files, columnar):
        monkeypatch.setattr(module, "SIZE", 2)  # several batches
    log = db.Log.read(MADE[kind](tmp_path), **COLUMNS)
    found = [(r.item, r.reward, r.propensity, r.at, list(r.items), r.context) for r in log]
    assert found == [
        ("a", 1.0, 0.5, 1714557600.0, ["a", "b"], {"age": 31.0, "land": "se"}),
        ("b", 0.0, 0.25, 1714557660.0, ["b", "c"], {"land": "no"}),
        ("c", 2.5, 1.0, 1714608000.0, ["c"], {"age": 7.0}),
    ]
    assert len(log) == 3
    assert log.items == ["a", "b", "c"]


def test_what_cannot_be_read_is_one_line(tmp_path):
    for name, content, problem in [
        ("no.parquet", b"PAR1 but no more", "no Parquet file"),
        ("no.arrow", b"nonsense", "no Arrow file"),
        ("no.xlsx", b"PK", "no kind that is known"),
        ("empty.csv", b"", "is empty"),
        ("empty.jsonl", b"\n", "is empty"),
        ("twice.csv", b"item,item\na,b\n", "two columns named 'item'"),
    ]:
        (tmp_path / name).write_bytes(content)
        with pytest.raises(CannotRead, match=problem) as raised:
            db.Log.read(tmp_path / name, item="item", reward="r")
        assert "\n" not in str(raised.value)
    with pytest.raises(CannotRead, match="is not there"):
        db.Log.read(tmp_path / "missing.csv", item="item", reward="r")
    with pytest.raises(InvalidValue, match="pandas, polars or Arrow"):
        db.Log.read(3, item="item", reward="r")
    with pytest.raises(InvalidValue, match="has no column 'price'; it has 'item', 'r'"):
        db.Log.read(pd.DataFrame({"item": ["a"], "r": [1]}), item="item", reward="r", context=["price"])


def test_files_are_read_in_the_order_of_their_numbers_and_hidden_ones_not(tmp_path):
    for part in (0, 2, 10):
        name = tmp_path / "log" / f"day={part}" / "part.csv"
        name.parent.mkdir(parents=True)
        name.write_text(f"item,r\na,{part}\n")
    for name in (".ipynb_checkpoints/part-checkpoint.csv", "_old.csv", "._part.csv"):
        (tmp_path / "log" / name).parent.mkdir(exist_ok=True)
        (tmp_path / "log" / name).write_text("item,r\na,99\n")
    for given in (tmp_path / "log", tmp_path / "log" / "day=*" / "part.csv", tmp_path / "log" / "day*"):
        assert [row.reward for row in db.Log.read(given, item="item", reward="r")] == [0.0, 2.0, 10.0]
    (tmp_path / "log[1].csv").write_text("item,r\na,5\n")
    assert [row.reward for row in db.Log.read(tmp_path / "log[1].csv", item="item", reward="r")] == [5.0]


def test_damage_within_a_file_names_it(tmp_path):
    frame = pd.DataFrame({"item": ["a", "b"] * 2000, "r": range(4000)})
    frame.to_parquet(tmp_path / "log.parquet", row_group_size=500)
    frame.to_feather(tmp_path / "log.feather", compression="uncompressed")
    for name in ("log.parquet", "log.feather"):
        found = bytearray((tmp_path / name).read_bytes())
        offsets = [found.find(np.arange(50, 60, dtype=kind).tobytes()) for kind in ("i4", "i8")]
        place = 600 if name == "log.parquet" else max(offsets)  # a page; where the texts of the items begin and end
        assert place > 0
        found[place : place + 40] = b"\x7f" * 40
        (tmp_path / name).write_bytes(found)
        for learn in (db.Log.read, db.Bandit().fit):
            with pytest.raises(CannotRead, match=rf"{name} (cannot be read, from row \d+ on|is no Arrow)") as caught:
                learn(tmp_path / name, item="item", reward="r")
            assert "\n" not in str(caught.value)
    pq.write_table(pa.table([["a"], [1.0], [2.0]], ["item", "r", "r"]), tmp_path / "twice.parquet")
    with pytest.raises(CannotRead, match="two columns named 'r'"):
        db.Log.read(tmp_path / "twice.parquet", item="item", reward="r")
