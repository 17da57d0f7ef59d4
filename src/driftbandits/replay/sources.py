"""Where a log comes from: files that are read in pieces, or a frame in memory. Columns by name, rows by number.

Every source yields batches of a few thousand rows, so that a log may be larger than memory.
"""

import csv
import gzip
import json
import os
import pathlib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import IO, Any, NamedTuple

from ..errors import CannotRead, InvalidValue

SIZE = 4096  # rows of a batch
LOOKED_AT = 1000  # rows of a CSV file that say whether a column holds numbers
SQLITE = b"SQLite format 3\x00"


class Batch(NamedTuple):
    """Some rows: their numbers, counted from 0 in their source, and their values by column; None where there is none."""

    numbers: Sequence[int]
    columns: dict[str, list[Any]]


@dataclass(frozen=True)
class Source:
    """One file, or one frame."""

    name: str  # as messages call it
    columns: list[str]
    batches: Callable[[Sequence[str]], Iterator[Batch]]  # of the columns asked for
    reordered: Callable[[Any], "Source"] | None = None  # the same with rows in another order, where that is possible

    def require(self, wanted: Iterable[str]) -> None:
        """Refuse columns that are not there."""
        for name in wanted:
            if name not in self.columns:
                raise InvalidValue(f"{self.name} has no column {name!r}; it has {', '.join(map(repr, self.columns))}")


def is_sqlite(path: Any) -> bool:
    """Is it a file of SQLite, such as that of a durable bandit?"""
    if not isinstance(path, str | os.PathLike) or not pathlib.Path(path).is_file():
        return False
    with pathlib.Path(path).open("rb") as file:
        return file.read(len(SQLITE)) == SQLITE


def open_sources(given: Any) -> list[Source]:
    """A path, a pattern, a folder, a list of paths (read in this order), or a pandas, polars or Arrow frame."""
    if isinstance(given, str | os.PathLike):
        return [_open_file(path) for path in _paths(given)]
    if isinstance(given, list | tuple) and given and all(isinstance(p, str | os.PathLike) for p in given):
        return [_open_file(path) for each in given for path in _paths(each)]
    return [_frame(given)]


def _paths(given: str | os.PathLike[str]) -> list[pathlib.Path]:
    path = pathlib.Path(given)
    if path.is_dir():
        found = sorted(p for p in path.rglob("*") if p.is_file() and _ending(p) in READERS)
        if not found:
            raise CannotRead(f"the folder {path} holds no log; it must hold files that end in {', '.join(READERS)}")
        return found
    if any(sign in path.name for sign in "*?["):
        found = sorted(path.parent.glob(path.name))
        if not found:
            raise CannotRead(f"no file is named like {path}")
        return found
    if not path.exists():
        raise CannotRead(f"{path} is not there")
    return [path]


def _ending(path: pathlib.Path) -> str:
    name = path.name.lower().removesuffix(".gz")
    return pathlib.PurePath(name).suffix


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


def _text(path: pathlib.Path) -> IO[str]:
    """A text file, perhaps compressed; a mark of byte order is no part of the first column's name."""
    if path.name.lower().endswith(".gz"):
        return gzip.open(path, "rt", encoding="utf-8-sig", newline="")
    return path.open(encoding="utf-8-sig", newline="")


# ----------------------------------------------------------------------------------------------------------------- CSV


def _csv(path: pathlib.Path, separator: str = ",") -> Source:
    with _text(path) as file:
        reader = csv.reader(file, delimiter=separator)
        head = next(reader, None)
        if not head:
            raise CannotRead(f"{path} is empty; its first line must name the columns")
        other = next((sign for sign in ";\t" if sign != separator and sign in head[0]), None)
        if len(head) == 1 and other is not None:  # as spreadsheets write it where numbers have a decimal comma
            return _csv(path, other)
        if len(set(head)) < len(head):
            twice = next(name for name in head if head.count(name) > 1)
            raise CannotRead(f"{path} has two columns named {twice!r}; names must differ")
        kinds = _kinds(head, [row for row, _ in zip(reader, range(LOOKED_AT), strict=False)])
    return Source(str(path), head, partial(_csv_batches, path, separator, head, kinds))


def _kinds(head: list[str], rows: list[list[str]]) -> dict[str, Callable[[str], Any]]:
    """How each column's text is read: as whole numbers, numbers or truth values where all of the first rows are such."""
    answer: dict[str, Callable[[str], Any]] = {}
    for place, name in enumerate(head):
        values = [row[place] for row in rows if len(row) == len(head) and row[place] != ""]
        answer[name] = next((kind for kind in (_whole, _decimal, _truth) if values and _reads(kind, values)), str)
    return answer


def _reads(kind: Callable[[str], Any], values: list[str]) -> bool:
    try:
        for value in values:
            kind(value)
    except ValueError:
        return False
    return True


def _whole(text: str) -> int:
    """A whole number as it is usually written: "007" is a name."""
    if str(int(text)) != text.strip():
        raise ValueError
    return int(text)


def _decimal(text: str) -> float:
    if "_" in text or re.fullmatch(r"\s*[+-]?0\d+\s*", text):
        raise ValueError
    return float(text)


def _truth(text: str) -> bool:
    known = {"true": True, "false": False}
    if text.lower() not in known:
        raise ValueError
    return known[text.lower()]


def _csv_batches(
    path: pathlib.Path,
    separator: str,
    head: list[str],
    kinds: dict[str, Callable[[str], Any]],
    wanted: Sequence[str],
) -> Iterator[Batch]:
    places = [(name, head.index(name), kinds[name]) for name in wanted]
    with _text(path) as file:
        reader = csv.reader(file, delimiter=separator)
        next(reader)
        start = 0
        columns: dict[str, list[Any]] = {name: [] for name in wanted}
        for number, row in enumerate(reader):
            if len(row) != len(head):
                raise InvalidValue(
                    f"row {number} of {path} (line {reader.line_num}) has {len(row)} values; there are {len(head)} columns"
                )
            for name, place, kind in places:
                columns[name].append(_value(row[place], kind))
            if number - start + 1 == SIZE:
                yield Batch(range(start, number + 1), columns)
                start, columns = number + 1, {name: [] for name in wanted}
        end = start + len(next(iter(columns.values())))
        if end > start:
            yield Batch(range(start, end), columns)


def _value(text: str, kind: Callable[[str], Any]) -> Any:
    """A number where it is one; else the text, which whoever needs a number refuses."""
    if text == "":
        return None
    for reads in (kind, _decimal) if kind is _whole else (kind,):
        try:
            return reads(text)
        except ValueError:
            continue
    return text


# --------------------------------------------------------------------------------------------------------------- JSON lines


def _jsonl(path: pathlib.Path) -> Source:
    columns: dict[str, None] = {}
    for _, row in zip(range(LOOKED_AT), _json_rows(path), strict=False):
        columns |= dict.fromkeys(row)
    if not columns:
        raise CannotRead(f"{path} is empty; each of its lines must be a JSON object")
    return Source(str(path), list(columns), partial(_json_batches, path))


def _json_rows(path: pathlib.Path) -> Iterator[dict[str, Any]]:
    with _text(path) as file:
        number = 0
        for line, text in enumerate(file, start=1):
            if not text.strip():
                continue
            try:
                row = json.loads(text)
            except ValueError:
                row = None
            if not isinstance(row, dict):
                raise InvalidValue(f"row {number} of {path} (line {line}) is no JSON object")
            yield row
            number += 1


def _json_batches(path: pathlib.Path, wanted: Sequence[str]) -> Iterator[Batch]:
    start, rows = 0, []
    for row in _json_rows(path):
        rows.append(row)
        if len(rows) == SIZE:
            yield Batch(range(start, start + SIZE), {name: [r.get(name) for r in rows] for name in wanted})
            start, rows = start + SIZE, []
    if rows:
        yield Batch(range(start, start + len(rows)), {name: [r.get(name) for r in rows] for name in wanted})


# -------------------------------------------------------------------------------------------------------- Parquet and Arrow


def _pyarrow() -> Any:
    try:
        import pyarrow
    except ImportError:
        raise InvalidValue(
            "Parquet and Arrow files need pyarrow: pip install 'driftbandits[frames]'; CSV and JSON lines need nothing"
        ) from None
    return pyarrow


def _parquet(path: pathlib.Path) -> Source:
    pa = _pyarrow()
    import pyarrow.parquet as pq

    def batches(wanted: Sequence[str]) -> Iterator[Batch]:
        with pq.ParquetFile(path) as file:
            yield from _from_arrow(file.iter_batches(batch_size=SIZE, columns=list(wanted)))

    try:
        schema = pq.read_schema(path)
    except pa.ArrowInvalid as problem:
        raise CannotRead(f"{path} is no Parquet file, or it is damaged: {_first_line(problem)}") from None
    return Source(str(path), list(schema.names), batches)


def _arrow(path: pathlib.Path) -> Source:
    pa = _pyarrow()

    def pieces() -> Iterator[Any]:
        with pa.memory_map(str(path)) as file:
            try:
                reader = pa.ipc.open_file(file)
                yield reader.schema
                yield from (reader.get_batch(i) for i in range(reader.num_record_batches))
            except pa.ArrowInvalid:  # the other form: a stream
                file.seek(0)
                reader = pa.ipc.open_stream(file)
                yield reader.schema
                yield from reader

    def batches(wanted: Sequence[str]) -> Iterator[Batch]:
        rest = pieces()
        next(rest)
        parts = (batch.slice(i, SIZE) for batch in rest for i in range(0, batch.num_rows, SIZE))
        yield from _from_arrow(part.select(list(wanted)) for part in parts)

    try:
        schema = next(pieces())
    except pa.ArrowInvalid as problem:
        raise CannotRead(f"{path} is no Arrow file, or it is damaged: {_first_line(problem)}") from None
    return Source(str(path), list(schema.names), batches)


def _first_line(problem: Exception) -> str:
    return str(problem).splitlines()[0]


def _from_arrow(parts: Iterable[Any]) -> Iterator[Batch]:
    start = 0
    for part in parts:
        end = start + part.num_rows
        columns = {field.name: part.column(field.name).to_pylist() for field in part.schema}
        for field in part.schema:
            if hasattr(field.type, "fields"):
                absent = {child.name for child in field.type.fields if str(child.type) != "null"}
                columns[field.name] = [_there(value, absent) for value in columns[field.name]]
        yield Batch(range(start, end), columns)
        start = end


def _there(value: Any, absent: set[str]) -> Any:
    """A struct has all its fields in every row: None means that this row has none."""
    return value if value is None else {k: v for k, v in value.items() if not (v is None and k in absent)}


READERS: dict[str, Callable[[pathlib.Path], Source]] = {
    ".parquet": _parquet,
    ".csv": _csv,
    ".tsv": partial(_csv, separator="\t"),
    ".jsonl": _jsonl,
    ".ndjson": _jsonl,
    ".arrow": _arrow,
    ".feather": _arrow,
    ".ipc": _arrow,
}


# ------------------------------------------------------------------------------------------------------------------- frames


def _frame(given: Any) -> Source:
    from ..bandit.frames import read_frame

    return _of_frame(read_frame(given, ()), None)


def _of_frame(table: Any, order: Any) -> Source:
    """A frame, its rows in an order."""

    def batches(wanted: Sequence[str]) -> Iterator[Batch]:
        for start in range(0, len(table), SIZE):
            numbers = range(len(table))[start : start + SIZE] if order is None else order[start : start + SIZE].tolist()
            part = table[start : start + SIZE] if order is None else table[numbers]
            yield Batch(numbers, {name: _listed(part[name]) for name in wanted})

    return Source("the frame", list(table.columns), batches, partial(_of_frame, table))


def _listed(column: Any) -> list[Any]:
    fields = getattr(column.dtype, "fields", None)
    if not fields:
        return column.to_list()  # type: ignore[no-any-return]
    absent = {field.name for field in fields if "Unknown" not in str(field.dtype)}
    return [_there(value, absent) for value in column.to_list()]
