"""Logs in columns: Parquet and Arrow files, and frames in memory."""

import pathlib
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any

from ..errors import CannotRead, InvalidValue
from .batches import SIZE, Batch, Source


def _pyarrow() -> Any:
    try:
        import pyarrow
    except ImportError:
        raise InvalidValue(
            "Parquet and Arrow files need pyarrow: pip install 'driftbandits[frames]'; CSV and JSON lines need nothing"
        ) from None
    return pyarrow


def read_parquet(path: pathlib.Path) -> Source:
    """A file of Parquet."""
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


def read_arrow(path: pathlib.Path) -> Source:
    """A file or a stream of Arrow."""
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


def source_of_frame(given: Any) -> Source:
    """A frame of pandas, polars or Arrow."""
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
