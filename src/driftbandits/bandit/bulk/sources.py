"""Where `Bandit.fit` reads from: a frame, files, or a `Log`; rows in order of time, each id once."""

import copy
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import replace
from numbers import Real
from typing import Any, Literal

import numpy as np

from ...errors import InvalidValue, said
from ...tables.batches import Source
from ...tables.kinds import Categories, Codes, Column, Numbers, Objects
from ...tables.repeats import refuse_repeats, repeated_rows
from ...tables.sources import open_sources
from .blocks import Block, Roles, blocks_of, feature_of, roles_of, times_of
from .stretches import codes_of

Repeats = Literal["error", "drop"]
IDS_FROM = 30  # texts, all of them different, before a column is called an id


class Data:
    """The rows to learn from; `blocks` reads them once."""

    def __init__(self, given: Any, repeats: Repeats, columns: Mapping[str, Any], name: str | None = None) -> None:
        self.repeated = 0
        self._log: Any = None
        if hasattr(given, "chunks") and hasattr(given, "facts"):
            if any(value is not None for value in columns.values()):
                raise InvalidValue("a Log knows its columns; give fit nothing else, or the file itself")
            self._log, self.repeated = given, int(given.facts.repeated)
            return
        self.sources = open_sources(given)
        if name is not None:
            self.sources = [replace(source, name=name) for source in self.sources]
        if columns.get("item") is None or columns.get("reward") is None:
            raise InvalidValue("item=… and reward=… are needed: the columns with the item chosen and with its reward")
        self.sources[0].require(name for name in columns.values() if isinstance(name, str))
        self.roles: Roles = roles_of(_of_files(self.sources[0], columns), **columns)
        for source in self.sources:
            source.require(self.roles.wanted())
        if columns.get("context") is None:
            self.roles = _without_ids(self.roles, self.sources[0])
            _warn_of_others(self.sources)
        if self.roles.time is not None:
            self.sources = [_in_order(source, self.roles.time) for source in self.sources]
        self._again = _repeated(self.sources, self.roles.id, repeats)
        self.repeated = 0 if self._again is None else sum(map(len, self._again))

    def each(self) -> "Iterator[Data]":
        """A part for each file."""
        if self._log is not None or len(self.sources) == 1:
            yield self
            return
        for k, source in enumerate(self.sources):
            part = copy.copy(self)
            part.sources = [source]
            part._again = None if self._again is None else [self._again[k]]
            part.repeated = 0 if self._again is None else len(self._again[k])
            yield part

    def blocks(self) -> Iterator[Block]:
        """All rows, block by block."""
        if self._log is not None:
            for chunk in self._log.chunks():
                if len(chunk):
                    yield _of_chunk(chunk)
            return
        for k, source in enumerate(self.sources):
            for block in blocks_of([source], self.roles):
                if self._again is not None and len(self._again[k]):
                    block = block.take(~np.isin(block.number, self._again[k]))
                if len(block):
                    yield block


def _of_files(source: Source, columns: Mapping[str, Any]) -> list[str]:
    """Columns of which those that nobody named are features: of the files, not of the names of their folders, which often are days."""
    left = [name for name in source.partition if name not in columns.values()]
    if left and columns.get("context") is None:
        warnings.warn(
            f"{', '.join(map(repr, left))} is in the names of folders, and is left out; name it in context=[…] if it is a feature",
            stacklevel=4,
        )
    return [name for name in source.columns if name not in left]


def _in_order(source: Source, time: str) -> Source:
    """A frame sorted by time. A file is not sorted; learning raises if it is out of order."""
    if source.reordered is None:
        return source
    found = [times_of(batch, time, source.name) for batch in source.batches([time])]
    order = np.argsort(np.concatenate([np.zeros(0), *found]), kind="stable")
    return source if bool((np.diff(order) == 1).all()) else replace(source.reordered(order), name=source.name)


def _without_ids(roles: Roles, source: Source) -> Roles:
    """Without columns of the context that nobody named and that have another text in each of the first rows, or count them."""
    first = next(iter(source.batches([*roles.context])), None) if roles.context else None
    if first is None:
        return roles
    found = {name: feature_of(first, name, source.name) for name in roles.context}
    rows = f"each of the first {len(first.numbers)} rows"
    ids = [name for name, column in found.items() if isinstance(column, Categories) and _is_id(column)]
    counters = [name for name, column in found.items() if isinstance(column, Numbers) and _counts_rows(column)]
    for names, what in (
        (ids, f"has another text in {rows}, as an id has,"),
        (counters, f"grows by one with {rows}, as the number of a row does,"),
    ):
        if names:
            told = f"{', '.join(map(repr, names))} {what} and is left out; name it in context=[…] if it is a feature"
            warnings.warn(told, stacklevel=4)
    return roles._replace(context=tuple(name for name in roles.context if name not in (*ids, *counters)))


def _counts_rows(column: Numbers) -> bool:
    values = column.values
    return len(values) >= IDS_FROM and bool(column.present().all()) and bool((np.diff(values * 1.0) == 1.0).all())


def _is_id(column: Categories) -> bool:
    there = column.codes[column.present()]
    return len(there) >= IDS_FROM and len(np.unique(there)) == len(there)


def _warn_of_others(sources: list[Source]) -> None:
    """Say that the columns of the first file are the features."""
    for source in sources[1:]:
        others = [name for name in source.columns if name not in sources[0].columns]
        if others:
            warnings.warn(
                f"{source.name} has {', '.join(map(repr, others))}, which {sources[0].name} has not: only columns of the first file are "
                "features. Add them there, empty where they are not known, or list the features in context=[…]",
                stacklevel=4,
            )
            return


def _repeated(sources: list[Source], id_: str | None, repeats: Repeats) -> list[Codes] | None:
    if not isinstance(repeats, str) or repeats not in ("error", "drop"):
        raise InvalidValue(f"repeats = {said(repeats)} is not allowed; it must be 'error' or 'drop'")
    if id_ is None:
        return None
    again = repeated_rows(sources, id_)
    if repeats == "error":
        refuse_repeats(sources, again, id_)
    return again


# ------------------------------------------------------------------------------------------------------------------- logs


def _of_chunk(chunk: Any) -> Block:
    """A chunk of a `Log`: features of the item chosen are those it had on offer."""
    context = chunk.context if chunk.contexts is None else _columns(chunk.contexts)
    offers, names = chunk.offers.distinct, chunk.names
    own: dict[str, Column] = {}
    if any(features is not None for offer in offers for features in offer.values()):
        chosen = zip(chunk.offers.which.tolist(), chunk.item.tolist(), strict=True)
        own = _columns([offers[k][names[i]] for k, i in chosen])
    return Block(
        chunk.number,
        chunk.source,
        list(names),
        chunk.item,
        chunk.reward,
        chunk.at,
        chunk.propensity,
        None,
        own,
        context,
    )


def _columns(rows: list[Any]) -> dict[str, Column]:
    """Dicts by columns; those that learn check what is in them."""
    from ..vectors import as_row

    dicts = [as_row(row, "features") or {} for row in rows]
    names = dict.fromkeys(name for row in dicts for name in row)
    return {name: _column([row.get(name) for row in dicts], name) for name in names}


def _column(values: list[Any], name: str) -> Column:
    texts = [isinstance(value, str) for value in values if value is not None]
    if all(texts):
        codes, distinct = codes_of([None, *values])
        return Categories(codes[1:] - 1, distinct[1:])
    if any(texts):
        raise InvalidValue(f"feature {name!r} has numbers and strings; a feature keeps its kind (no row was learned)")
    if not all(value is None or isinstance(value, Real) for value in values):
        return Objects(values)
    there = np.array([value is not None for value in values], np.bool_)
    numbers = np.array([0.0 if value is None else float(value) for value in values])
    return Numbers(numbers, None if there.all() else ~there)
