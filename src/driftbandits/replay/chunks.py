"""A chunk of a log as columns: one array for each role, one for each feature of the context.

    row t chose names[item[t]] of offers.distinct[offers.which[t]]

Replay, and whatever learns from a log, reads numbers and codes from here; `rows` gives the same decisions one by one, for policies that are
Python functions. `names` belongs to the whole log and grows at its end, so a code means the same item in every chunk.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..tables.kinds import Categories, Codes, Numbers, Plain, listed
from .rows import Row

Floats = NDArray[np.float64]


class Offers(NamedTuple):
    """What was on offer: row t had distinct[which[t]], whose items are indices[offsets[k]:offsets[k + 1]] for k = which[t]."""

    which: Codes
    distinct: Sequence[Mapping[Any, Any]]  # from names to features
    offsets: Codes
    indices: Codes

    def sizes(self) -> Codes:
        """How many items each row had on offer."""
        return np.diff(self.offsets)[self.which]

    def take(self, kept: NDArray[np.bool_] | slice) -> "Offers":
        """The offers of some rows."""
        return self._replace(which=self.which[kept])


@dataclass(frozen=True)
class Chunk:
    """Some rows of a log, in its order."""

    number: Codes  # in their file or frame, from 0
    source: str  # its name
    names: list[Any]  # of all items of the log so far
    item: Codes  # into names
    reward: Floats
    propensity: Floats | None
    at: Floats | None  # seconds since 1970
    rewarded: Floats | None  # when the reward came; NaN: at once
    offers: Offers
    context: dict[str, Plain]
    contexts: list[dict[str, Any] | None] | None = None  # by row, where a column holds dicts or values of no one kind
    dropped: int = 0  # rows that were left out, having no reward
    repeated: int = 0  # … and having the id of an earlier row

    def __len__(self) -> int:
        return len(self.item)

    def take(self, kept: NDArray[np.bool_] | slice) -> "Chunk":
        """Some of its rows, by a mask or a slice."""
        context: dict[str, Plain] = {name: column.take(kept) for name, column in self.context.items()}
        every = self.contexts
        if every is not None:
            every = (
                every[kept] if isinstance(kept, slice) else [c for c, k in zip(every, kept.tolist(), strict=True) if k]
            )
        return replace(
            self,
            number=self.number[kept],
            item=self.item[kept],
            reward=self.reward[kept],
            propensity=None if self.propensity is None else self.propensity[kept],
            at=None if self.at is None else self.at[kept],
            rewarded=None if self.rewarded is None else self.rewarded[kept],
            offers=self.offers.take(kept),
            context=context,
            contexts=every,
        )

    def without(self, numbers: Codes) -> "Chunk":
        """The chunk without the rows of these numbers, which are duplicates."""
        kept = ~np.isin(self.number, numbers)
        return self if kept.all() else replace(self.take(kept), repeated=int((~kept).sum()))

    def rows(self) -> Iterator[Row]:
        """The same decisions one by one."""
        n, distinct, names = len(self), self.offers.distinct, self.names
        none = [None] * n
        columns = (
            self.number.tolist(),
            [names[k] for k in self.item.tolist()],
            self.reward.tolist(),
            none if self.propensity is None else self.propensity.tolist(),
            none if self.at is None else self.at.tolist(),
            none if self.rewarded is None else listed(self.rewarded, np.isnan(self.rewarded)),
            [distinct[k] for k in self.offers.which.tolist()],
            self.each_context(),
        )
        return map(Row._make, zip(*columns, strict=True))

    def each_context(self) -> list[dict[str, Any] | None]:
        """The context of each row, without what is missing; None if it has none."""
        if self.contexts is not None:
            return self.contexts
        if not self.context:
            return [None] * len(self)
        names = list(self.context)
        values = zip(*(column.listed() for column in self.context.values()), strict=True)
        whole = all(
            column.missing is None if isinstance(column, Numbers) else bool((column.codes >= 0).all())
            for column in self.context.values()
        )
        if whole:
            return [dict(zip(names, row, strict=True)) for row in values]
        return [{k: v for k, v in zip(names, row, strict=True) if v is not None} or None for row in values]

    def pieces(self, size: int) -> Iterator["Chunk"]:
        """The same rows, at most `size` at a time."""
        for start in range(0, len(self), size):
            yield self.take(slice(start, start + size))


__all__ = ["Categories", "Chunk", "Codes", "Floats", "Numbers", "Offers"]
