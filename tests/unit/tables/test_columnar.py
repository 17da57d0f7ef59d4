"""Parquet, Arrow and frames: columns of structs."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import driftbandits as db
from driftbandits.tables.sources import open_sources


def test_offers_with_features_survive_columns_of_structs(tmp_path):
    offers = [{"a": {"price": 1.0}, "b": {"kind": "new"}}, {"b": {"kind": "old"}}]
    rows = [{"item": "b", "r": 1.0, "offer": offer} for offer in offers]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "log.parquet")
    (tmp_path / "log.jsonl").write_text("\n".join(map(json.dumps, rows)))
    for source in (tmp_path / "log.parquet", tmp_path / "log.jsonl", pl.DataFrame(rows), pd.DataFrame(rows)):
        log = db.Log.read(source, item="item", reward="r", offered="offer")
        assert [row.items for row in log] == offers


@pytest.mark.parametrize("group", [50_000, 1_000_000])
def test_memory_does_not_grow_with_a_file_of_parquet(tmp_path, group):
    numbers = np.random.default_rng(0).normal(size=1_000_000)
    options = {"row_group_size": group, "use_dictionary": False, "compression": "none"}
    pq.write_table(pa.table({"x": numbers, "y": numbers}), tmp_path / "log.parquet", **options)
    [source] = open_sources(tmp_path / "log.parquet")
    before = pa.total_allocated_bytes()
    most = max(pa.total_allocated_bytes() - before for _ in source.batches(["x", "y"]))
    assert (tmp_path / "log.parquet").stat().st_size > 16e6
    assert most < 6e6
