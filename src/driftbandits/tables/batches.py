"""Batches of a few thousand rows, so that a log may be larger than memory."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from ..errors import CannotRead, InvalidValue

SIZE = 16384  # rows of a batch


class Batch(NamedTuple):
    """Some rows: their numbers, counted from 0 in their source, and their values by column.

    A column is an Arrow array where Arrow can hold it, else a list, with None where there is no value.
    """

    numbers: Sequence[int]
    columns: dict[str, Any]

    def listed(self, name: str) -> list[Any]:
        """A column as Python's own values."""
        column = self.columns[name]
        if isinstance(column, list):
            return column
        from .arrow_types import to_list

        return to_list(column)


class Batches(Protocol):
    """Reads a source from its beginning."""

    def __call__(self, wanted: Sequence[str], names: Collection[str] = ()) -> Iterator[Batch]:
        """The columns wanted; digits in those of `names` are a name: "007" is not 7."""


def undamaged(name: str, batches: Iterable[Batch], errors: tuple[type[Exception], ...]) -> Iterator[Batch]:
    """The batches of a file; what its reader raises for bytes that it cannot read becomes one line that says where."""
    start, rest = 0, iter(batches)
    while True:
        try:
            batch = next(rest)
        except StopIteration:
            return
        except errors as problem:
            reason = getattr(problem, "strerror", None) or str(problem).partition("\n")[0]
            raise CannotRead(f"{name} cannot be read, from row {start} on or soon after: {reason}") from None
        yield batch
        start += len(batch.numbers)


def distinct(name: str, columns: Sequence[str]) -> list[str]:
    """Names of columns, of which no two are the same."""
    twice = next((column for k, column in enumerate(columns) if column in columns[:k]), None)
    if twice is not None:
        raise CannotRead(f"{name} has two columns named {twice!r}; names must differ")
    return list(columns)


@dataclass(frozen=True)
class Source:
    """One file, or one frame."""

    name: str  # as messages call it
    columns: list[str]
    batches: "Batches"  # of the columns asked for
    reordered: Callable[[Any], "Source"] | None = None  # the same with rows in another order, where that is possible
    partition: tuple[str, ...] = ()  # columns that the names of folders give it

    def require(self, wanted: Iterable[str]) -> None:
        """Raise if a column does not exist."""
        for name in wanted:
            if name not in self.columns:
                raise InvalidValue(f"{self.name} has no column {name!r}; it has {', '.join(map(repr, self.columns))}")
