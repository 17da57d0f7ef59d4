"""Batches as chunks: columns of Arrow become arrays without a loop over rows.

Batches that arrays cannot represent (offers with features, contexts that are dicts, names given as numbers) and batches that may contain an
error are passed to `rows.parse`, which reads every row and names the one that is wrong. The rules for a row therefore exist in one place.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..bandit.offers import as_name
from ..errors import DriftBanditsError
from ..tables.batches import Batch
from ..tables.kinds import Plain, feature
from .chunks import Chunk, Codes, Floats, Offers
from .rows import MILLISECONDS, Columns, Row, as_offer, parse

REMEMBERED = 100_000  # offers as text whose meaning is kept


class Decoder:
    """Turns the batches of a log into chunks, and keeps the codes of the items met so far."""

    def __init__(self, columns: Columns, items: Mapping[Any, Any]) -> None:
        self.columns, self.items = columns, items
        self.names: list[Any] = []
        self._codes: dict[Any, int] = {}
        self._always = self._offers_of(np.zeros(0, np.int64), [items]) if items else None
        self._read: dict[str, Mapping[Any, Any]] = {}  # offers as text, each read once

    def chunk(self, batch: Batch, source: str) -> Chunk:
        """The rows of a batch, by columns if they can be, else one by one."""
        found = self._by_columns(batch, source)
        return self._by_rows(batch, source) if found is None else found

    def code(self, name: Any) -> int:
        """The code of an item."""
        code = self._codes.get(name)
        if code is None:
            code = self._codes[name] = len(self.names)
            self.names.append(name)
        return code

    # ------------------------------------------------------------------------------------------------------------- by rows

    def _by_rows(self, batch: Batch, source: str) -> Chunk:
        listed = batch._replace(columns={name: batch.listed(name) for name in batch.columns})
        found = [*parse(listed, self.columns, source, self.items)]
        rows = [row for row in found if row is not None]
        return replace(self.of_rows(rows, source), dropped=len(found) - len(rows))

    def of_rows(self, rows: list[Row], source: str) -> Chunk:
        """A chunk of rows that were read one by one."""
        n = len(rows)
        which, distinct = np.zeros(n, np.int64), {}  # type: Codes, dict[int, Mapping[Any, Any]]
        places: dict[int, int] = {}
        for t, row in enumerate(rows):
            distinct[id(row.items)] = row.items
            which[t] = places.setdefault(id(row.items), len(places))
        known = self.columns.propensity is not None
        timed = self.columns.time is not None
        late = any(row.rewarded is not None for row in rows)
        return Chunk(
            number=np.array([row.number for row in rows], np.int64),
            source=source,
            names=self.names,
            item=np.array([self.code(row.item) for row in rows], np.int64),
            reward=np.array([row.reward for row in rows], float),
            propensity=np.array([row.propensity for row in rows], float) if known else None,
            at=np.array([row.at for row in rows], float) if timed else None,
            rewarded=np.array([row.rewarded for row in rows], float) if late else None,
            offers=self._offers_of(which, [*distinct.values()]),
            context={},
            contexts=[row.context for row in rows],
        )

    def _offers_of(self, which: Codes, distinct: Sequence[Mapping[Any, Any]]) -> Offers:
        indices = [self.code(name) for offer in distinct for name in offer]
        offsets = np.cumsum([0, *map(len, distinct)], dtype=np.int64)
        return Offers(which, distinct, offsets, np.array(indices, np.int64))

    # ---------------------------------------------------------------------------------------------------------- by columns

    def _by_columns(self, batch: Batch, source: str) -> Chunk | None:
        """None where a column is of another kind than its role needs, or where a value may be wrong."""
        if any(isinstance(column, list) for column in batch.columns.values()):
            return None
        from ..tables import arrow_types

        columns, given = self.columns, batch.columns
        n = len(batch.numbers)
        reward = arrow_types.numbers(given[columns.reward])
        if reward is None:
            return None
        kept = np.ones(n, bool)
        empty = np.isnan(reward)
        if empty.any():
            if columns.without_reward is None:
                return None
            if columns.without_reward == "drop":
                kept = ~empty
                given = {name: column.filter(_mask(kept)) for name, column in given.items()}
                reward = reward[kept]
            else:
                reward = np.where(empty, float(columns.without_reward), reward)
        propensity = None if columns.propensity is None else arrow_types.numbers(given[columns.propensity])
        at = None if columns.time is None else arrow_types.seconds(given[columns.time])
        rewarded = None if columns.reward_time is None else arrow_types.seconds(given[columns.reward_time])
        unread = (
            (propensity is None and columns.propensity is not None)
            or (at is None and columns.time is not None)
            or (rewarded is None and columns.reward_time is not None)
        )
        if unread or not _sound(reward, propensity, at, rewarded):
            return None
        try:
            chosen = self._chosen(given, len(reward))
        except DriftBanditsError:
            return None
        context = _context(given, columns.context)
        if chosen is None or context is None:
            return None
        numbers = np.asarray(batch.numbers, np.int64)[kept]
        dropped = n - len(reward)
        item, offers = chosen
        return Chunk(
            numbers, source, self.names, item, reward, propensity, at, rewarded, offers, context, None, dropped
        )

    def _chosen(self, given: Mapping[str, Any], n: int) -> tuple[Codes, Offers] | None:
        """The items chosen with what was on offer; None unless each was on offer."""
        from ..tables import arrow_types

        found = arrow_types.coded(given[self.columns.item])
        if found is None or (found.codes < 0).any():
            return None
        used = np.bincount(found.codes, minlength=len(found.values)) > 0
        names = [as_name(value) for value, there in zip(found.values, used.tolist(), strict=True) if there]
        place = np.cumsum(used) - 1
        if self.columns.offered is None:
            assert self._always is not None
            named = [name if name in self.items else str(name) for name in names]
            if not all(name in self.items for name in named):
                return None
            codes = np.array([self.code(name) for name in named], np.int64)
            return codes[place[found.codes]], self._always._replace(which=np.zeros(n, np.int64))
        offers = self._offered(given[self.columns.offered])
        if offers is None:
            return None
        for said in (
            names,
            [str(name) for name in names],
        ):  # a number where the offer, being text, names it by its digits
            if all(name in self._codes for name in said):
                item = np.array([self._codes[name] for name in said], np.int64)[place[found.codes]]
                if _on_offer(item, offers):
                    return item, offers
        return None

    def _offered(self, column: Any) -> Offers | None:
        from ..tables import arrow_types

        flat = arrow_types.lists(column)
        if flat is not None:
            return self._of_lists(*flat)
        texts = arrow_types.coded(column)
        if texts is None or (texts.codes < 0).any() or not all(isinstance(text, str) for text in texts.values):
            return None
        if len(self._read) > REMEMBERED:
            self._read.clear()
        for text in texts.values:
            if text not in self._read:
                self._read[text] = as_offer(text)
        distinct = [self._read[text] for text in texts.values]
        return self._offers_of(texts.codes, distinct)

    def _of_lists(self, offsets: Codes, flat: Any) -> Offers | None:
        """Lists of names; those that are equal become one offer."""
        lengths = np.diff(offsets)
        if not len(lengths) or not lengths.all():
            return None
        codes = np.array([self.code(as_name(value)) for value in flat.values], np.int64)[flat.codes]
        wide = np.full((len(lengths), int(lengths.max())), -1, np.int64)
        wide[np.arange(wide.shape[1]) < lengths[:, None]] = codes
        first, which = _equal_rows(wide)
        distinct = [dict.fromkeys(self.names[k] for k in row if k >= 0) for row in wide[first].tolist()]
        if [len(offer) for offer in distinct] != lengths[first].tolist():
            return None  # an item is on offer twice
        return self._offers_of(which, distinct)


def chosen_names(batch: Batch, columns: Columns) -> list[Any] | None:
    """The items chosen in a batch, each once; None where it must be read row by row."""
    if any(isinstance(column, list) for column in batch.columns.values()):
        return None
    from ..tables import arrow_types

    found, reward = arrow_types.coded(batch.columns[columns.item]), arrow_types.numbers(batch.columns[columns.reward])
    if found is None or reward is None:
        return None
    codes, empty = found.codes, np.isnan(reward)
    if not np.isfinite(reward[~empty]).all() or (empty.any() and columns.without_reward is None):
        return None
    codes = codes[~empty] if columns.without_reward == "drop" else codes
    if (codes < 0).any():
        return None
    return [as_name(found.values[k]) for k in np.unique(codes).tolist()]


def _mask(kept: NDArray[np.bool_]) -> Any:
    import pyarrow as pa

    return pa.array(kept)


def _sound(reward: Floats, propensity: Floats | None, at: Floats | None, rewarded: Floats | None) -> bool:
    """Whether all values are ones that a row may have (`rows.parse`)."""
    if not np.isfinite(reward).all():
        return False
    if propensity is not None and not ((propensity >= 0.0) & (propensity <= 1.0)).all():
        return False
    if at is not None and not (np.abs(at) <= MILLISECONDS).all():
        return False
    if rewarded is not None:
        known = ~np.isnan(rewarded)
        if not (np.abs(rewarded[known]) <= MILLISECONDS).all():
            return False
        if at is not None and not (rewarded[known] >= at[known]).all():
            return False
    return True


def _on_offer(item: Codes, offers: Offers) -> bool:
    """Whether each item is in the offer of its row: a table with a row for each distinct offer answers for all rows at once."""
    sizes = np.diff(offers.offsets)
    wide = np.full((len(sizes), int(sizes.max())), -1, np.int64)
    wide[np.arange(wide.shape[1]) < sizes[:, None]] = offers.indices
    return bool((wide[offers.which] == item[:, None]).any(axis=1).all())


def _equal_rows(wide: Codes) -> tuple[Codes, Codes]:
    """The first row of each group of equal rows, and the group of each row.

    Rows are compared by a 64-bit sum with fixed odd weights, then whole: if two that differ had one sum, by sorting them.
    """
    sums = (wide * _weights(wide.shape[1])).sum(axis=1)  # whole numbers wrap around at 2⁶⁴
    _, first, which = np.unique(sums, return_index=True, return_inverse=True)
    if not (wide[first][which] == wide).all():
        _, first, which = np.unique(wide, axis=0, return_index=True, return_inverse=True)
    return first.astype(np.int64), which.reshape(-1).astype(np.int64)


def _weights(n: int) -> Codes:
    return np.random.default_rng(0).integers(2**62, size=n, dtype=np.int64) * 2 + 1


def _context(given: Mapping[str, Any], wanted: tuple[str, ...]) -> dict[str, Plain] | None:
    """Features that are numbers in all rows, or strings in all rows; None if one is anything else."""
    import pyarrow as pa

    answer: dict[str, Plain] = {}
    for name in wanted:
        if pa.types.is_null(given[name].type):
            continue
        found = feature(given[name])
        if found is None:
            return None
        answer[name] = found
    return answer
