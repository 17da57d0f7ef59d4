"""Labelled streams in CSV files, in order of time: choosing the correct label has reward 1."""

import csv
import os
import pathlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..core.linalg import Matrix
from ..errors import CannotRead
from .dataset import Dataset, from_labels
from .found import find_file

File = str | os.PathLike[str]
ELEC2 = ("period", "nswprice", "nswdemand", "vicprice", "vicdemand", "transfer")
OPENML = "openml.org (data set 151, 'electricity')"
COLLECTIONS = "the collections 'streaming-datasets' (github.com/vlosing/driftDatasets and others)"


def elec2(file: File | None = None, *, horizon: int | None = None) -> Dataset:
    """Elec2: did the price of electricity in New South Wales go up? Half-hourly, 1996–98; 2 items, 6 features, 45 312 rounds.

    Reads a CSV with a header and the columns period, nswprice, nswdemand, vicprice, vicdemand, transfer and class; others are left out.
    """
    path = find_file("Elec2", file, ("elec.csv", "elec2.csv", "electricity.csv"), f"{OPENML} or river.datasets.Elec2")
    return _read("elec2", path, label="class", only=ELEC2, horizon=horizon)


def weather(file: File | None = None, *, horizon: int | None = None) -> Dataset:
    """Weather (NOAA): did it rain at Offutt Air Force Base? Daily, 50 years; 2 items, 8 features, 18 159 rounds.

    Reads a CSV with a header whose last column is the label.
    """
    path = find_file("weather", file, ("weather.csv", "NOAA.csv"), COLLECTIONS)
    return _read("weather", path, horizon=horizon)


def sea(file: File | None = None, *, horizon: int | None = None) -> Dataset:
    """SEA concepts: abrupt changes, 10 % noise; 2 items, 3 features.

    Reads a CSV with a header whose last column is the label.
    """
    path = find_file("SEA", file, ("sea_stream.csv", "sea.csv"), COLLECTIONS)
    return _read("sea", path, horizon=horizon)


def keystroke(file: File | None = None, *, horizon: int | None = None) -> Dataset:
    """Keystroke (CMU): who of 51 is typing the password? 31 features, 20 400 rounds.

    Reads the authors' file, whose columns subject, sessionIndex and rep say who and when: rounds are in order of session and repetition,
    so that habits drift as they did. A CSV without these columns has its label in the last one, and is read in its own order.
    """
    where = "www.cs.cmu.edu/~keystroke/DSL-StrongPasswordData.csv or river.datasets.Keystroke"
    path = find_file("keystroke", file, ("DSL-StrongPasswordData.csv", "keystroke.csv"), where)
    header = _header(path)
    if "subject" not in header:
        return _read("keystroke", path, horizon=horizon)
    return _read(
        "keystroke", path, label="subject", order=[c for c in ("sessionIndex", "rep") if c in header], horizon=horizon
    )


def labelled(file: File, *, label: str | None = None, horizon: int | None = None) -> Dataset:
    """A labelled stream of your own: a CSV with a header, in order of time; all columns but `label` (by default the last) are numbers."""
    path = find_file("the stream", file, (), "where it was made")
    return _read(path.stem, path, label=label, horizon=horizon)


def _header(path: pathlib.Path) -> list[str]:
    with path.open(newline="", encoding="utf-8-sig") as lines:
        return [name.strip() for name in next(csv.reader(lines), [])]


def _read(
    name: str,
    path: pathlib.Path,
    *,
    label: str | None = None,
    only: Sequence[str] = (),
    order: Sequence[str] = (),
    horizon: int | None = None,
) -> Dataset:
    """The stream in a CSV; `order` names columns to sort by, which are no features."""
    header = _header(path)
    label = label or (header[-1] if header else "")
    missing = [column for column in (label, *only) if column not in header]
    if missing or len(header) < 2:
        raise CannotRead(f"{path}: no column {missing[0] if missing else 'of features'!r}; it has {', '.join(header)}")
    features = [c for c in only or header if c != label and c not in order]
    words, numbers = _columns(path, header, label, [*features, *order])
    items, labels = np.unique(words, return_inverse=True)
    keys = numbers[:, len(features) :]
    when = np.lexsort(keys.T[::-1]) if order else np.arange(len(words))  # stable: ties stay as they were
    data = from_labels(name, numbers[when, : len(features)], labels[when], [str(i) for i in items], features)
    return data if horizon is None else data.first(horizon)


def _columns(
    path: pathlib.Path, header: list[str], label: str, wanted: Sequence[str]
) -> tuple[NDArray[np.str_], Matrix]:
    """The labels as words, and the wanted columns (T, ·) as numbers."""
    places, at = [header.index(column) for column in wanted], header.index(label)
    words: list[str] = []
    rows: list[list[float]] = []
    with path.open(newline="", encoding="utf-8-sig") as lines:
        reader = csv.reader(lines)
        next(reader)
        for row in reader:
            if not row:
                continue
            try:
                rows.append([float(row[i]) for i in places])
                words.append(row[at].strip())
            except (ValueError, IndexError):
                raise CannotRead(f"{path}, line {reader.line_num}: {_wrong(row, header, wanted)}") from None
    numbers = np.array(rows, np.float64).reshape(len(rows), len(places))
    if not len(rows) or not np.isfinite(numbers).all():
        row_number = int(np.argmax(~np.isfinite(numbers).all(axis=1))) + 1 if rows else 0
        told = f"row {row_number} has NaN or infinity" if rows else "there is no row of data"
        raise CannotRead(f"{path}: {told}; every feature must be a finite number")
    return np.array(words), numbers


def _wrong(row: list[str], header: list[str], wanted: Sequence[str]) -> str:
    if len(row) < len(header):
        return f"{len(row)} columns; the header has {len(header)}"
    for column in wanted:
        text = row[header.index(column)]
        try:
            float(text)
        except ValueError:
            return f"{column} = {text!r} is no number"
    return "it cannot be read"


__all__ = ["elec2", "keystroke", "labelled", "sea", "weather"]
