"""Past choices as blocks of columns: which column is what, each block checked, a broken row named."""

import datetime
import math
import time as clock
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...core.linalg import Vector
from ...errors import InvalidValue, said
from ...tables.batches import Batch, Source
from ...tables.frames import missing, plain_value
from ...tables.kinds import Categories, Codes, Column, Numbers, Objects, feature
from ..clock import AHEAD
from ..kinds import KINDS
from ..offers import as_name
from ..rewards import HEAVY
from ..rewards import HUGE as HUGE_REWARD
from ..values import HUGE, as_float
from . import naming
from .stretches import codes_of, first_true

ITEM = "item."  # columns that begin so are features of the item


class Roles(NamedTuple):
    """Which column is what."""

    item: str
    reward: str
    time: str | None
    propensity: str | None
    weight: str | None
    id: str | None
    own: tuple[str, ...]
    context: tuple[str, ...]

    def wanted(self) -> list[str]:
        """The columns to read."""
        return [*dict.fromkeys(name for name in (*self[:6], *self.own, *self.context) if name is not None)]


def roles_of(
    columns: Sequence[str],
    *,
    item: str,
    reward: str,
    time: str | None = None,
    propensity: str | None = None,
    weight: str | None = None,
    id: str | None = None,  # noqa: A002
    context: Sequence[str] | None = None,
    item_features: Sequence[str] | None = None,
) -> Roles:
    """The role of each column; those that are left, and look like features, are the context."""
    taken = [name for name in (item, reward, time, propensity, weight, id) if name is not None]
    for name in taken:
        if taken.count(name) > 1:
            raise InvalidValue(
                f"column {name!r} is given twice; item, reward, time, propensity, weight and id are different columns"
            )
    if context is None or item_features is None:
        naming.texts(columns)
    own = (
        [n for n in columns if n.startswith(ITEM)] if item_features is None else _listed("item_features", item_features)
    )
    if context is None:
        rest = naming.features([n for n in columns if n not in taken and n not in own])
    else:
        rest = _listed("context", context)
    for name in (*own, *rest):
        if name in taken and name != time:
            raise InvalidValue(f"column {name!r} cannot be a feature: it is the item, reward, propensity, weight or id")
    return Roles(item, reward, time, propensity, weight, id, tuple(own), tuple(rest))


def _listed(name: str, given: Any) -> list[str]:
    return [given] if isinstance(given, str) else list(given)


@dataclass(frozen=True)
class Block:
    """Some past choices, in order of time."""

    number: Codes  # in their file or frame, from 0
    source: str  # its name
    names: list[Any]  # of items
    item: Codes  # into names
    reward: Vector
    at: Vector | None
    propensity: Vector | None  # NaN: not known
    weight: Vector | None
    own: dict[str, Column]  # features of the item chosen, without "item."
    context: dict[str, Column]

    def __len__(self) -> int:
        return len(self.item)

    def take(self, kept: NDArray[np.bool_] | slice) -> "Block":
        """Some of its rows."""
        at, propensity, weight = (None if c is None else c[kept] for c in (self.at, self.propensity, self.weight))
        own = {name: column.take(kept) for name, column in self.own.items()}
        context = {name: column.take(kept) for name, column in self.context.items()}
        return replace(
            self,
            number=self.number[kept],
            item=self.item[kept],
            reward=self.reward[kept],
            at=at,
            propensity=propensity,
            weight=weight,
            own=own,
            context=context,
        )

    @property
    def plain(self) -> bool:
        """Whether all features are numbers or strings."""
        return not any(isinstance(column, Objects) for column in (*self.own.values(), *self.context.values()))

    def choice(self, t: int) -> dict[str, Any]:
        """Row t as `Bandit.observe` takes it."""
        one = self.take(slice(t, t + 1))
        p = None if self.propensity is None or math.isnan(self.propensity[t]) else float(self.propensity[t])
        return {
            "item": _features(one.own),
            "context": _features(one.context),
            "name": self.names[self.item[t]],
            "reward": float(self.reward[t]),
            "at": None if self.at is None else float(self.at[t]),
            "propensity": p,
            "weight": 1.0 if self.weight is None else float(self.weight[t]),
        }

    def where(self, t: int) -> str:
        """Row t, as messages name it."""
        return f"row {self.number[t]} of {self.source}"


def _features(columns: Mapping[str, Column]) -> dict[str, Any] | None:
    row = {name: column.listed()[0] for name, column in columns.items()}
    return {name: value for name, value in row.items() if value is not None} or None


# ---------------------------------------------------------------------------------------------------------------- reading


def blocks_of(sources: Iterable[Source], roles: Roles) -> Iterator[Block]:
    """The rows of all sources, block by block."""
    for source in sources:
        for batch in source.batches(roles.wanted(), (roles.item,)):
            if len(batch.numbers):
                yield _block(batch, roles, source.name)


def _block(batch: Batch, roles: Roles, source: str) -> Block:
    def at(t: int) -> str:
        return f"row {batch.numbers[t]} of {source}"

    def number(name: str | None, empty: float | None) -> Vector | None:
        return None if name is None else _numbers(batch, name, empty, at)

    names, item = _items(batch, roles.item, at)
    own = {name.removeprefix(ITEM): feature_of(batch, name, source) for name in roles.own}
    context = {name: feature_of(batch, name, source) for name in roles.context}
    reward = number(roles.reward, None)
    assert reward is not None
    when = None if roles.time is None else times_of(batch, roles.time, source)
    numbers = np.asarray(batch.numbers, np.int64)
    weight = number(roles.weight, 1.0)
    return Block(numbers, source, names, item, reward, when, number(roles.propensity, math.nan), weight, own, context)


Where = Callable[[int], str]


def _items(batch: Batch, name: str, at: Where) -> tuple[list[Any], Codes]:
    column = batch.columns[name]
    found = None
    if not isinstance(column, list):
        from ...tables.arrow_types import coded

        found = coded(column)
    if found is None:  # values of several types, or numbers with a point
        values = [None if missing(v) else plain_value(v) for v in batch.listed(name)]
        codes, distinct = codes_of([_whole(v) for v in values])
        empty = [t for t, v in enumerate(values) if v is None][:1]
    else:
        codes, distinct = found
        empty = first_true(codes < 0)
    if empty:
        raise InvalidValue(f"{at(empty[0])} has no item in column {name!r}; drop such rows first (no row was learned)")
    names = []
    for code, value in enumerate(distinct):
        try:
            names.append(as_name(value))
        except InvalidValue as problem:
            row = int(np.argmax(codes == code))
            raise InvalidValue(f"{at(row)}: {problem} (no row was learned)") from None
    return names, codes


def _whole(value: Any) -> Any:
    """A whole number that a frame made a float of because a value is missing elsewhere."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _numbers(batch: Batch, name: str, empty: float | None, at: Where) -> Vector:
    """A column of numbers; `empty` stands where there is none, None: there must be one."""
    column = batch.columns[name]
    found = None
    if not isinstance(column, list):
        from ...tables.arrow_types import numbers

        found = numbers(column)
    if found is None:
        values = batch.listed(name)
        found = np.empty(len(values))
        for t, value in enumerate(values):
            if not missing(value) and not isinstance(value, Real):
                raise InvalidValue(f"{at(t)}: {name} = {said(value)} is not a number (no row was learned)")
            found[t] = math.nan if missing(value) else as_float(value)
    gaps = np.isnan(found)
    if not gaps.any():
        return found
    if empty is None:
        row = int(gaps.argmax())
        raise InvalidValue(f"{at(row)} has nothing in column {name!r}; drop such rows first (no row was learned)")
    return np.where(gaps, empty, found)


def times_of(batch: Batch, name: str, source: str) -> Vector:
    """A column of times, in seconds since 1970; without a time zone they are in UTC."""
    column, found = batch.columns[name], None
    if not isinstance(column, list):
        from ...tables.arrow_types import seconds

        found = seconds(column)
    if found is None:
        values = batch.listed(name)
        found = np.array([math.nan if missing(value) else moment_of(value) for value in values], float)
    gaps = first_true(np.isnan(found))
    if gaps:
        raise InvalidValue(
            f"row {batch.numbers[gaps[0]]} of {source} has no time in column {name!r}; it must be a datetime, ISO 8601 or seconds since "
            "1970: drop such rows first (no row was learned)"
        )
    return found


def moment_of(value: Any) -> float:
    """A time in seconds since 1970, NaN if it is none."""
    if isinstance(value, datetime.datetime):
        return (value if value.tzinfo else value.replace(tzinfo=datetime.UTC)).timestamp()
    if isinstance(value, str):
        try:
            return moment_of(datetime.datetime.fromisoformat(value))
        except ValueError:
            return math.nan
    return math.nan if isinstance(value, bool) or not isinstance(value, Real) else float(value)


def feature_of(batch: Batch, name: str, source: str) -> Column:
    """A column of features: all numbers, all strings, or objects of another kind."""

    def at(t: int) -> str:
        return f"row {batch.numbers[t]} of {source}"

    column = batch.columns[name]
    found = None if isinstance(column, list) else feature(column)
    if found is not None:
        return found
    values = [None if missing(v) else plain_value(v) for v in batch.listed(name)]
    texts = np.array([isinstance(v, str) for v in values], np.bool_)
    there = np.array([v is not None for v in values], np.bool_)
    if texts.any() and (there & ~texts).any():
        row = int((there & ~texts).argmax()) if texts[there.argmax()] else int(texts.argmax())
        raise InvalidValue(
            f"{at(row)}: column {name!r} has numbers and strings; a feature keeps its kind: make it one (no row was learned)"
        )
    if texts.any():
        codes, distinct = codes_of([None, *values])  # None has code 0
        return Categories(codes[1:] - 1, distinct[1:])
    if not all(v is None or isinstance(v, Real) for v in values):
        return Objects(values)
    return Numbers(np.array([0.0 if v is None else as_float(v) for v in values]), ~there if not there.all() else None)


# --------------------------------------------------------------------------------------------------------------- checking


def accepted(kind: str, rewards: Vector) -> NDArray[np.bool_]:
    """Which rewards a bandit that learns this kind of them accepts."""
    good = np.abs(rewards) < HUGE_REWARD
    if kind == "value":
        return good
    distinct, which = np.unique(rewards, return_inverse=True)
    return good & np.array([KINDS[kind].accepts(r) for r in distinct.tolist()], np.bool_)[which.reshape(-1)]


def check(block: Block, kind: str) -> int | None:
    """The first row that `Bandit.observe` would refuse, whatever it has learned; None if there is none."""
    bad = ~accepted(kind, block.reward)
    if block.propensity is not None:
        known = ~np.isnan(block.propensity)
        bad |= known & ~((block.propensity > 0.0) & (block.propensity <= 1.0))
    if block.weight is not None:
        bad |= ~((block.weight >= 0.0) & (block.weight <= HEAVY))
    if block.at is not None:
        bad |= ~(np.isfinite(block.at) & (block.at <= clock.time() + AHEAD))
    for column in (*block.own.values(), *block.context.values()):
        if isinstance(column, Numbers) and column.values.dtype.kind == "f":
            bad |= column.present() & ~(np.abs(column.values.astype(np.float64)) < HUGE)  # beyond what a float32 holds
    found = first_true(bad)
    return found[0] if found else None
