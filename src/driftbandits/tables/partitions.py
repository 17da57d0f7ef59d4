"""Columns in the names of folders, as Hive, Spark and Dask partition a data set: `log/country=de/day=2026-01-01/part.parquet`.

A folder `name=value` on the path of a file gives all its rows the column `name`. Its values are whole numbers if they are so in all
files, else texts; `%20` and the like are decoded, and `__HIVE_DEFAULT_PARTITION__` is a missing value. A column that is in the file itself
is read from the file.
"""

import pathlib
import re
import urllib.parse
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from .batches import Batch, Source

FOLDER = re.compile(r"([^=/\\]+)=(.*)", re.DOTALL)
NOTHING = "__HIVE_DEFAULT_PARTITION__"
WHOLE = re.compile(r"0|-?[1-9][0-9]{0,17}")  # "007" is a name, not 7

Texts = Mapping[str, str | None]


def partition_of(path: pathlib.Path) -> dict[str, str | None]:
    """What the folders of a path say.

    Examples
    --------
    >>> partition_of(pathlib.Path("log/country=de/shop=A%20B/part.parquet"))
    {'country': 'de', 'shop': 'A B'}
    """
    found = (FOLDER.fullmatch(part) for part in path.parts[:-1])
    pairs = ((m[1], urllib.parse.unquote(m[2])) for m in found if m is not None)
    return {urllib.parse.unquote(name): None if value == NOTHING else value for name, value in pairs}


def with_partitions(sources: Sequence[Source], texts: Sequence[Texts]) -> list[Source]:
    """The sources, each with the columns that its folders name."""
    every = {name for found in texts for name in found}
    whole = {name for name in every if all(_whole(found.get(name)) for found in texts)}
    return [_with(source, found, whole) for source, found in zip(sources, texts, strict=True)]


def _whole(value: str | None) -> bool:
    return value is None or WHOLE.fullmatch(value) is not None


def _with(source: Source, texts: Texts, whole: Collection[str]) -> Source:
    inside = source.columns
    said = {name: value for name, value in texts.items() if name not in inside}
    if not said:
        return source

    def batches(wanted: Sequence[str], names: Collection[str] = ()) -> Iterator[Batch]:
        read = [name for name in wanted if name not in said] or inside[:1]  # something has to count the rows
        for batch in source.batches(read, [name for name in names if name in read]):
            columns = {
                name: _repeated(said[name], name in whole and name not in names, len(batch.numbers))
                if name in said
                else batch.columns[name]
                for name in wanted
            }
            yield batch._replace(columns=columns)

    return replace(source, columns=[*inside, *said], batches=batches, partition=tuple(said))


def _repeated(text: str | None, whole: bool, rows: int) -> Any:
    """One value in all rows, as an Arrow array where Arrow is installed."""
    value = int(text) if whole and text is not None else text
    try:
        import pyarrow as pa
    except ImportError:
        return [value] * rows
    return pa.nulls(rows, pa.string()) if value is None else pa.repeat(value, rows)
