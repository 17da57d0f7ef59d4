"""Parquet, Arrow and frames: columns of structs."""

import json

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

import driftbandits as db


def test_offers_with_features_survive_columns_of_structs(tmp_path):
    offers = [{"a": {"price": 1.0}, "b": {"kind": "new"}}, {"b": {"kind": "old"}}]
    rows = [{"item": "b", "r": 1.0, "offer": offer} for offer in offers]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "log.parquet")
    (tmp_path / "log.jsonl").write_text("\n".join(map(json.dumps, rows)))
    for source in (tmp_path / "log.parquet", tmp_path / "log.jsonl", pl.DataFrame(rows), pd.DataFrame(rows)):
        log = db.Log.read(source, item="item", reward="r", offered="offer")
        assert [row.items for row in log] == offers
