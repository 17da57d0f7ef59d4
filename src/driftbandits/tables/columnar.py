"""Columnar logs: Parquet and Arrow files, and frames in memory."""

import pathlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

from ..errors import CannotRead, InvalidValue
from .batches import SIZE, Batch, Source, distinct, undamaged
from .structs import there

BUFFER = 1 << 20  # bytes of each column of a Parquet file that are read at once


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

    def batches(wanted: Sequence[str], names: Collection[str] = ()) -> Iterator[Batch]:
        # By default Arrow keeps all that it has read until the end: memory would grow with the file.
        with pq.ParquetFile(path, pre_buffer=False, buffer_size=BUFFER) as file:
            found = _from_arrow(file.iter_batches(batch_size=SIZE, columns=list(wanted)))
            yield from undamaged(str(path), found, (pa.ArrowException, OSError))

    try:
        schema = pq.read_schema(path)
    except pa.ArrowInvalid as problem:
        raise CannotRead(f"{path} is no Parquet file, or it is damaged: {_first_line(problem)}") from None
    return Source(str(path), distinct(str(path), schema.names), batches)


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

    def batches(wanted: Sequence[str], names: Collection[str] = ()) -> Iterator[Batch]:
        rest = pieces()
        next(rest)
        parts = (batch.slice(i, SIZE) for batch in rest for i in range(0, batch.num_rows, SIZE))
        found = _from_arrow(_valid(part.select(list(wanted))) for part in parts)
        yield from undamaged(str(path), found, (pa.ArrowException, OSError))

    try:
        schema = next(pieces())
    except pa.ArrowInvalid as problem:
        raise CannotRead(f"{path} is no Arrow file, or it is damaged: {_first_line(problem)}") from None
    return Source(str(path), distinct(str(path), schema.names), batches)


def _valid(part: Any) -> Any:
    """Refuses what points outside of its buffers: the file is mapped into memory as it is, and reading on would crash."""
    part.validate(full=True)
    return part


def _first_line(problem: Exception) -> str:
    return str(problem).splitlines()[0]


def _from_arrow(parts: Iterable[Any]) -> Iterator[Batch]:
    start = 0
    for part in parts:
        end = start + part.num_rows
        yield Batch(range(start, end), {field.name: part.column(field.name) for field in part.schema})
        start = end


def source_of_frame(given: Any) -> Source:
    """A frame of pandas, polars or Arrow."""
    from .frames import read_frame

    table = read_frame(given, ())
    return _of_frame(table, {}, None)


def _of_frame(table: Any, known: dict[str, Any], order: Any) -> Source:
    """A frame, its rows in an order; `known` keeps the columns that were asked for, each converted once."""

    def column(name: str) -> Any:
        if name not in known:
            found = _converted(table[name])
            if order is not None:
                found = [found[k] for k in order.tolist()] if isinstance(found, list) else found.take(order)
            known[name] = found
        return known[name]

    def batches(wanted: Sequence[str], names: Collection[str] = ()) -> Iterator[Batch]:
        for start in range(0, len(table), SIZE):
            end = min(start + SIZE, len(table))
            numbers = range(start, end) if order is None else order[start:end].tolist()
            yield Batch(numbers, {name: column(name)[start:end] for name in wanted})

    return Source("the frame", list(table.columns), batches, lambda given: _of_frame(table, {}, given))


def _converted(series: Any) -> Any:
    """A column as an Arrow array where Arrow holds the same values, else as a list."""
    try:
        import pyarrow as pa
    except ImportError:
        return _listed(series)
    from .arrow_types import simple

    native = series.to_native()
    try:
        if isinstance(native, pa.Array | pa.ChunkedArray):
            return native
        found = native.to_arrow() if hasattr(native, "to_arrow") else pa.array(native, from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError, OverflowError, NotImplementedError):
        return _listed(series)
    return found if simple(found.type) else _listed(series)


def _listed(column: Any) -> list[Any]:
    fields = getattr(column.dtype, "fields", None)
    if not fields:
        return column.to_list()  # type: ignore[no-any-return]
    absent = {field.name for field in fields if "Unknown" not in str(field.dtype)}
    return [there(value, absent) for value in column.to_list()]
