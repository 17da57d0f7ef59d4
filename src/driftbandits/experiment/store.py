"""Where results live: one small Parquet file a cell, written at once and in one piece, and the folder that holds them.

    OUT/experiment.json        which experiment this folder belongs to
    OUT/cells/ab/abcd….parquet rounds and regret of a cell; its specification, time, info and trace as metadata

A file is written under another name and then renamed, so a reader sees all of it or nothing, whenever the process dies.
A file that cannot be read (a full disk, a power cut) counts as absent.
"""

import json
import os
import pathlib
import threading
from dataclasses import dataclass
from typing import Any

import numpy as np

from .cells import Cell, Result, digest
from .source import SpecError

MANIFEST = "experiment.json"


@dataclass(frozen=True)
class Store:
    """A folder of finished cells."""

    root: pathlib.Path

    @staticmethod
    def open(root: pathlib.Path, name: str) -> "Store":
        """The folder of this experiment; refuse one that holds something else. Nothing is written yet."""
        holder = root / MANIFEST
        if root.exists() and not root.is_dir():
            raise SpecError(f"{root} is a file; --out must be a folder")
        if holder.is_file():
            try:
                owner = json.loads(holder.read_text(encoding="utf-8"))["name"]
            except (ValueError, KeyError, TypeError):
                raise SpecError(f"{holder} is not readable; choose another --out, or delete that folder") from None
            if owner != name:
                raise SpecError(f"{root} holds the results of '{owner}', not of '{name}'; choose another --out")
        elif root.is_dir() and any(root.iterdir()):
            raise SpecError(f"{root} is not empty and holds no experiment; choose another --out")
        existing = next(p for p in (root, *root.absolute().parents) if p.exists())
        if not os.access(existing, os.W_OK):
            raise SpecError(f"{root} cannot be written: no permission in {existing}")
        return Store(root)

    def claim(self, name: str, **more: Any) -> None:
        """Write down whose folder this is."""
        self.root.mkdir(parents=True, exist_ok=True)
        write_text(self.root / MANIFEST, json.dumps({"name": name, **more}, indent=1))

    def file(self, key: str) -> pathlib.Path:
        """The file of a cell."""
        return self.root / "cells" / key[:2] / f"{key}.parquet"

    def put(self, cell: Cell, result: Result) -> None:
        """Keep a result, in one piece."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        rows = len(result.rounds)
        table = pa.table(
            {
                "environment": pa.array([cell.environment] * rows).dictionary_encode(),
                "strategy": pa.array([cell.strategy] * rows).dictionary_encode(),
                "trial": np.full(rows, cell.trial, np.int64),
                "round": result.rounds,
                "regret": result.regret,
            }
        )
        about = {"spec": cell.spec, "seconds": result.seconds, "info": result.info, "trace": result.trace}
        table = table.replace_schema_metadata({"driftbandits": json.dumps(about)})
        path = self.file(cell.key)
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_name(f"{path.name}.{os.getpid()}-{threading.get_ident()}.part")
        pq.write_table(table, part)
        part.replace(path)

    def get(self, key: str) -> Result | None:
        """A kept result, or None."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        path = self.file(key)
        try:
            table = pq.ParquetFile(path, memory_map=False).read()
            about = json.loads(table.schema.metadata[b"driftbandits"])
        except (OSError, ValueError, KeyError, TypeError, pa.ArrowException):
            return None
        if digest(about["spec"]) != key:
            return None
        return Result(
            table["round"].to_numpy().astype(np.int64, copy=False),
            table["regret"].to_numpy(),
            float(about["seconds"]),
            about["info"],
            about["trace"],
        )


def write_text(path: pathlib.Path, text: str) -> None:
    """Write a file in one piece."""
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    part.write_text(text, encoding="utf-8")
    part.replace(path)
