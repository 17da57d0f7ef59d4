"""Sources of a log: files, whose format is determined by their suffix, or a frame in memory."""

import glob
import os
import pathlib
import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from functools import partial
from typing import Any

from ..errors import CannotRead
from ..io.files import as_path
from .batches import Source
from .columnar import read_arrow, read_parquet, source_of_frame
from .partitions import partition_of, with_partitions
from .text_files import read_csv, read_jsonl


def is_sqlite(path: object) -> bool:
    """Whether it is a file of SQLite, such as that of a durable bandit.

    SQLite itself is asked: to open and close the file in any other way would release the locks that a bandit of this process holds on it
    (POSIX locks belong to the process), and another process could then remove the write-ahead log with its newest rows.
    """
    if (
        not isinstance(path, str | os.PathLike)
        or not pathlib.Path(as_path(path)).is_file()
        or pathlib.Path(path).stat().st_size < 512
    ):
        return False
    try:
        with closing(sqlite3.connect(f"{pathlib.Path(path).resolve().as_uri()}?mode=ro", uri=True)) as db:
            db.execute("PRAGMA schema_version").fetchone()
    except sqlite3.DatabaseError:
        return False
    return True


def open_sources(given: Any) -> list[Source]:
    """A path, a pattern, a folder, a list of paths (read in this order), or a pandas, polars or Arrow frame."""
    if isinstance(given, str | os.PathLike):
        return _open_files(_paths(given))
    if isinstance(given, list | tuple) and given and all(isinstance(p, str | os.PathLike) for p in given):
        return _open_files([path for each in given for path in _paths(each)])
    return [source_of_frame(given)]


def _paths(given: str | os.PathLike[str]) -> list[pathlib.Path]:
    path = pathlib.Path(as_path(given))
    if path.is_dir():
        found = sorted((p for p in path.rglob("*") if p.is_file() and _is_log(p, path)), key=_in_sequence)
        if not found:
            raise CannotRead(f"the folder {path} holds no log; it must hold files that end in {', '.join(READERS)}")
        return found
    if path.exists():
        return [path]
    if not glob.has_magic(str(path)):
        raise CannotRead(f"{path} is not there")
    named = sorted(pathlib.Path(path.anchor).glob(str(path.relative_to(path.anchor))), key=_in_sequence)
    if not named:
        raise CannotRead(f"no file is named like {path}")
    return [file for each in named for file in _paths(each)]


def _is_log(path: pathlib.Path, folder: pathlib.Path) -> bool:
    """Whether a file in a folder is part of the log. Names that begin with "." or "_" are those of copies and notes of other programs."""
    hidden = any(part.startswith((".", "_")) for part in path.relative_to(folder).parts)
    return not hidden and _ending(path) in READERS


def _in_sequence(path: pathlib.Path) -> Any:
    """Sorts part.2 before part.10: files are read in this order, which is that of time."""
    parts = (re.split(r"([0-9]+)", part) for part in path.parts)  # texts and numbers in turn
    return [[int(t) if k % 2 else t for k, t in enumerate(texts)] for texts in parts], path


def _ending(path: pathlib.Path) -> str:
    name = path.name.lower().removesuffix(".gz")
    return pathlib.PurePath(name).suffix


def _open_files(paths: list[pathlib.Path]) -> list[Source]:
    return with_partitions([_open_file(path) for path in paths], [partition_of(path) for path in paths])


def _open_file(path: pathlib.Path) -> Source:
    ending = _ending(path)
    if ending not in READERS:
        raise CannotRead(
            f"{path} is of no kind that is known; a log ends in {', '.join(READERS)}, or is the file of a durable bandit"
        )
    try:
        return READERS[ending](path)
    except (OSError, UnicodeDecodeError, EOFError) as problem:
        reason = getattr(problem, "strerror", None) or problem
        raise CannotRead(f"{path} cannot be read: {reason}") from None


READERS: dict[str, Callable[[pathlib.Path], Source]] = {
    ".parquet": read_parquet,
    ".csv": read_csv,
    ".tsv": partial(read_csv, separator="\t"),
    ".jsonl": read_jsonl,
    ".ndjson": read_jsonl,
    ".arrow": read_arrow,
    ".feather": read_arrow,
    ".ipc": read_arrow,
}
