"""Storage of results: one small Parquet file per cell, written atomically, in the folder of the experiment.

    OUT/experiment.json        which experiment this folder belongs to
    OUT/cells/ab/abcd….parquet rounds and regret of a cell; its specification, platform, time, info and trace as metadata
    OUT/.lock                  held while results, tables, figures and report are written

How files of cells are named, written and refused is `io.cell_store`'s; here is what their bytes are.
"""

import base64
import hashlib
import json
import os
import pathlib
import zlib
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ...io.cell_store import CellStore, digest
from ...io.files import locked, make_folder, remove_abandoned, write_atomically
from ..spec.source import SpecError
from .cells import Cell, Result

MANIFEST = "experiment.json"
LOCK = ".lock"
CHECKSUM = b"sha256:"
BLANK = CHECKSUM + b"0" * 64  # stands where the checksum will, while it is computed


@dataclass(frozen=True)
class ResultStore(CellStore[Result]):
    """The folder of an experiment, which holds its finished cells."""

    suffix: ClassVar[str] = ".parquet"

    @staticmethod
    def open(root: pathlib.Path, name: str) -> "ResultStore":
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
        elif root.is_dir() and any(
            not p.name.startswith(".") for p in root.iterdir()
        ):  # another process may be claiming it
            raise SpecError(f"{root} is not empty and holds no experiment; choose another --out")
        existing = next(p for p in (root, *root.absolute().parents) if p.exists())
        if not os.access(existing, os.W_OK):
            raise SpecError(f"{root} cannot be written: no permission in {existing}")
        return ResultStore(root)

    def claim(self, name: str, **more: Any) -> None:
        """Record which experiment the folder belongs to, and delete unfinished files of killed processes."""
        make_folder(self.root)
        write_atomically(self.root / MANIFEST, json.dumps({"name": name, **more}, indent=1))
        remove_abandoned(self.root)

    def publishing(self) -> AbstractContextManager[None]:
        """Held while results are written, so that those of two processes are not mixed."""
        return publishing(self.root)

    def put(self, cell: Cell, result: Result) -> None:
        """Store a result atomically."""
        self.write(cell.key, encode(cell, result))

    def decode(self, data: bytes, key: str) -> Result | None:
        """The result of this cell, if these are its bytes."""
        return decode(data, key)


def publishing(root: pathlib.Path) -> AbstractContextManager[None]:
    """Wait until no other process writes the results of this folder."""
    return locked(root / LOCK)


def encode(cell: Cell, result: Result) -> bytes:
    """A cell as a Parquet file with a checksum of all other bytes in its metadata."""
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
    about = {
        "spec": cell.spec,
        "platform": result.platform,
        "seconds": result.seconds,
        "info": result.info,
        "trace": result.trace,
        "reward": result.reward,
        "plays": _pack(result.plays),
    }
    buffer = pa.BufferOutputStream()
    with pq.ParquetWriter(buffer, table.schema, store_schema=False) as writer:
        writer.write_table(table)
        writer.add_key_value_metadata({"driftbandits": json.dumps(about), "driftbandits.checksum": BLANK})
    data: bytes = buffer.getvalue().to_pybytes()
    start = data.rindex(CHECKSUM)  # metadata comes after the data and names, and the checksum is its last entry
    return data[:start] + CHECKSUM + hashlib.sha256(data).hexdigest().encode() + data[start + len(BLANK) :]


def _pack(counts: NDArray[np.int64]) -> dict[str, Any]:
    """Compress counts: most are 0, so that they take a tenth of the space."""
    packed = zlib.compress(counts.astype("<u4").tobytes())
    return {"shape": list(counts.shape), "u4": base64.b64encode(packed).decode()}


def _unpack(packed: dict[str, Any]) -> NDArray[np.int64]:
    data = zlib.decompress(base64.b64decode(packed["u4"]))
    return np.frombuffer(data, "<u4").reshape(packed["shape"]).astype(np.int64)


def decode(data: bytes, key: str) -> Result | None:
    """The result of this cell, if these are the bytes that `encode` made of it."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    start = data.rfind(CHECKSUM)
    if start < 0:
        return None
    found = data[start + len(CHECKSUM) : start + len(BLANK)]
    blank = data[:start] + BLANK + data[start + len(BLANK) :]
    if hashlib.sha256(blank).hexdigest().encode() != found:
        return None
    table = pq.ParquetFile(pa.BufferReader(data)).read(columns=["round", "regret"], use_threads=False)
    about = json.loads(table.schema.metadata[b"driftbandits"])
    if digest(about.pop("spec")) != key:  # another cell's file under this name
        return None
    about["plays"] = _unpack(about["plays"])
    return Result(table["round"].to_numpy().astype(np.int64, copy=False), table["regret"].to_numpy(), **about)
