"""A log in pieces: batches of a few thousand rows, so that it may be larger than memory. Columns by name, rows by number."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..errors import InvalidValue

SIZE = 4096  # rows of a batch


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
