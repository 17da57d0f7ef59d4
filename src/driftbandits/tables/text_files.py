"""Logs in text files, optionally compressed: CSV, with types of columns inferred from the first rows, and JSON lines."""

import csv
import gzip
import json
import pathlib
import zlib
from collections.abc import Collection, Iterator, Sequence
from functools import partial
from typing import IO, Any

from ..errors import CannotRead, InvalidValue
from .arrow_csv import GaveUp, csv_by_arrow
from .batches import SIZE, Batch, Source, distinct, undamaged
from .csv_values import Kind, kinds_of, known, value_of

LOOKED_AT = 1000  # rows of a CSV file from which the types of columns are inferred
DAMAGE = (
    OSError,
    EOFError,
    UnicodeDecodeError,
    zlib.error,
    csv.Error,
)  # what readers raise for bytes that they cannot read


def _text(path: pathlib.Path) -> IO[str]:
    """A text file, possibly compressed; a byte-order mark is removed."""
    if path.name.lower().endswith(".gz"):
        return gzip.open(path, "rt", encoding="utf-8-sig", newline="")
    return path.open(encoding="utf-8-sig", newline="")


def read_csv(path: pathlib.Path, separator: str = ",") -> Source:
    """A file of separated values, whose first line names the columns."""
    with _text(path) as file:
        reader = csv.reader(file, delimiter=separator)
        head = next(reader, None)
        if not head:
            raise CannotRead(f"{path} is empty; its first line must name the columns")
        other = next((sign for sign in ";\t" if sign != separator and sign in head[0]), None)
        if len(head) == 1 and other is not None:  # as spreadsheets write it where numbers have a decimal comma
            return read_csv(path, other)
        distinct(str(path), head)
        kinds = kinds_of(head, _first_values(head, reader))
    return Source(str(path), head, partial(_csv_batches, path, separator, head, kinds))


def _first_values(head: list[str], reader: Iterator[list[str]]) -> dict[str, list[str]]:
    """Values of each column in the first rows; a column that has none there is looked up in the rows that follow."""
    values: dict[str, list[str]] = {name: [] for name in head}
    empty = dict(enumerate(head))
    for number, row in enumerate(reader):
        if number >= LOOKED_AT and not empty:
            break
        if len(row) != len(head):
            continue
        for place, name in [*(enumerate(head) if number < LOOKED_AT else empty.items())]:
            if known(row[place]):
                values[name].append(row[place])
                empty.pop(place, None)
    return values


def _csv_batches(
    path: pathlib.Path,
    separator: str,
    head: list[str],
    kinds: dict[str, Kind],
    wanted: Sequence[str],
    names: Collection[str] = (),
) -> Iterator[Batch]:
    """By Arrow as far as it can read the file; Python's reader, which names the line that is broken, goes on where Arrow gives up."""
    yield from undamaged(str(path), _csv_rows(path, separator, head, kinds, wanted, names), DAMAGE)


def _csv_rows(
    path: pathlib.Path,
    separator: str,
    head: list[str],
    kinds: dict[str, Kind],
    wanted: Sequence[str],
    names: Collection[str],
) -> Iterator[Batch]:
    done = 0
    try:
        for batch in csv_by_arrow(path, separator, {name: kinds[name] for name in wanted}, names, SIZE):
            yield batch
            done += len(batch.numbers)
    except GaveUp:
        yield from _csv_by_python(path, separator, head, kinds, wanted, done)


def _csv_by_python(
    path: pathlib.Path, separator: str, head: list[str], kinds: dict[str, Kind], wanted: Sequence[str], start: int
) -> Iterator[Batch]:
    """From row `start` on."""
    places = [(name, head.index(name), kinds[name]) for name in wanted]
    with _text(path) as file:
        reader = csv.reader(file, delimiter=separator)
        next(reader)
        columns: dict[str, list[Any]] = {name: [] for name in wanted}
        for number, row in enumerate(reader):
            if number < start:
                continue
            if len(row) != len(head):
                raise InvalidValue(
                    f"row {number} of {path} (line {reader.line_num}) has {len(row)} values; there are {len(head)} columns"
                )
            for name, place, kind in places:
                columns[name].append(value_of(row[place], kind))
            if number - start + 1 == SIZE:
                yield Batch(range(start, number + 1), columns)
                start, columns = number + 1, {name: [] for name in wanted}
        end = start + len(next(iter(columns.values())))
        if end > start:
            yield Batch(range(start, end), columns)


def read_jsonl(path: pathlib.Path) -> Source:
    """A file with one JSON object per line."""
    columns: dict[str, None] = {}
    for row in _json_rows(path):  # all of them: a feature that appears late is a column too
        if not row.keys() <= columns.keys():
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
            except (ValueError, RecursionError):  # the second: brackets without end
                row = None
            if not isinstance(row, dict):
                raise InvalidValue(f"row {number} of {path} (line {line}) is no JSON object")
            yield row
            number += 1


def _json_batches(path: pathlib.Path, wanted: Sequence[str], names: Collection[str] = ()) -> Iterator[Batch]:
    yield from undamaged(str(path), _batches_of_rows(path, wanted), DAMAGE)


def _batches_of_rows(path: pathlib.Path, wanted: Sequence[str]) -> Iterator[Batch]:
    start, rows = 0, []
    for row in _json_rows(path):
        rows.append(row)
        if len(rows) == SIZE:
            yield Batch(range(start, start + SIZE), {name: [r.get(name) for r in rows] for name in wanted})
            start, rows = start + SIZE, []
    if rows:
        yield Batch(range(start, start + len(rows)), {name: [r.get(name) for r in rows] for name in wanted})
