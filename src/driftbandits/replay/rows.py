"""Rows of a log: decisions with their rewards. Values are validated here; an error names the number of the row."""

import contextlib
import datetime
import decimal
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ..bandit.offers import as_items, as_name
from ..errors import DriftBanditsError, InvalidValue
from ..tables.batches import Batch
from ..tables.frames import missing, plain_value

MILLISECONDS = 1e11  # seconds since 1970 beyond the year 5000 are milliseconds


class Row(NamedTuple):
    """A decision of the log."""

    number: int  # in its file or frame, from 0
    item: Any
    reward: float
    propensity: float | None  # the probability with which the logging policy chose the item
    at: float | None  # seconds since 1970
    rewarded: float | None  # when the reward came; None: at once
    items: Mapping[Any, Any]  # what was on offer, with features
    context: dict[str, Any] | None


class Columns(NamedTuple):
    """The names of the columns."""

    item: str
    reward: str
    propensity: str | None
    time: str | None
    reward_time: str | None
    offered: str | None
    context: tuple[str, ...]
    without_reward: float | str | None  # "drop", or what counts as the reward; None: refuse

    def wanted(self) -> list[str]:
        """The columns to read."""
        roles = (self.item, self.reward, self.propensity, self.time, self.reward_time, self.offered)
        return list(dict.fromkeys([name for name in (*roles, *self.context) if name is not None]))


def check_context(columns: Columns, id_: str | None) -> None:
    """Refuse a context column that a policy could not have known, or that names the decision."""
    told = {
        columns.item: "the item chosen",
        columns.reward: "the reward",
        columns.propensity: "the propensity",
        columns.reward_time: "the time of the reward",
        columns.offered: "what was on offer",
        id_: "the id",
    }
    for name in columns.context:
        if name in told:
            raise InvalidValue(
                f"context names the column {name!r}, which is {told[name]}: it is no feature of who asked"
            )


def parse(batch: Batch, columns: Columns, source: str, items: Mapping[Any, Any]) -> Iterator[Row | None]:
    """The rows of a batch; None for one that is dropped because it has no reward."""
    none = [None] * len(batch.numbers)
    values = [batch.columns[name] if name is not None else none for name in columns[:6]]
    context = [(name, batch.columns[name]) for name in columns.context]
    for place, number in enumerate(batch.numbers):
        item, reward, propensity, at, rewarded, offered = (_known(column[place]) for column in values)
        try:
            if reward is None and columns.without_reward == "drop":
                yield None
                continue
            offer = items if columns.offered is None else as_offer(offered)
            row = Row(
                number,
                _item(item, columns.item, offer),
                _reward(reward, columns),
                None if columns.propensity is None else _propensity(propensity, columns.propensity),
                None if columns.time is None else as_time(at, columns.time),
                None if rewarded is None else as_time(rewarded, columns.reward_time),
                offer,
                _context(context, place),
            )
            _fits(row, columns)
        except DriftBanditsError as problem:
            raise type(problem)(f"row {number} of {source}: {problem}") from None
        yield row


def _known(value: Any) -> Any:
    if isinstance(value, list | dict | tuple):
        return value
    return None if missing(value) else plain_value(value)


def _item(value: Any, column: str, offer: Mapping[Any, Any]) -> Any:
    """The item's name; a number where the offer, being text, names it by its digits."""
    if value is None:
        raise InvalidValue(f"column {column!r} is empty; each row must say which item was chosen")
    name = as_name(value)
    return str(name) if name not in offer and str(name) in offer else name


def _number(value: Any, column: str | None, what: str) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise InvalidValue(f"{column} = {value!r} is no {what}; it must be a number") from None
    if not math.isfinite(number):
        raise InvalidValue(f"{column} = {value!r} is no {what}; it must be finite")
    return number


def _reward(value: Any, columns: Columns) -> float:
    if value is None:
        if columns.without_reward is None:
            raise InvalidValue(
                f"column {columns.reward!r} is empty; say without_reward=0.0 if that means a reward of 0, "
                "without_reward='drop' to leave such rows out"
            )
        value = columns.without_reward
    return _number(value, columns.reward, "reward")


def _propensity(value: Any, column: str) -> float:
    if value is None:
        raise InvalidValue(f"column {column!r} is empty; the probability of each choice is needed")
    p = _number(value, column, "probability")
    if not 0.0 <= p <= 1.0:
        raise InvalidValue(f"{column} = {value!r} is no probability; it must be in (0, 1]")
    return p


def as_time(value: Any, column: str | None) -> float:
    """Seconds since 1970 from a datetime, a date, a number of seconds or a text in ISO 8601; without a time zone it is UTC."""
    if value is None:
        raise InvalidValue(f"column {column!r} is empty; each row must say when it was")
    if isinstance(value, str):
        with contextlib.suppress(ValueError):  # perhaps it is a number
            value = datetime.datetime.fromisoformat(value)
    if isinstance(value, datetime.datetime):
        return (value if value.tzinfo else value.replace(tzinfo=datetime.UTC)).timestamp()
    if isinstance(value, datetime.date):
        return datetime.datetime(value.year, value.month, value.day, tzinfo=datetime.UTC).timestamp()
    try:
        seconds = _number(value, column, "time")
    except InvalidValue:
        raise InvalidValue(
            f"{column} = {value!r} is no time; it must be a datetime, ISO 8601 like '2024-05-01 08:30', or seconds since 1970"
        ) from None
    if abs(seconds) > MILLISECONDS:
        raise InvalidValue(
            f"{column} = {value!r} is too large for seconds since 1970; is it in milliseconds? Give seconds or datetimes"
        )
    return seconds


def as_offer(value: Any) -> dict[Any, Any]:
    """What was on offer: names, or items with features; also as JSON, or as names between bars ("a|b|c")."""
    if isinstance(value, str):
        value = _parsed(value)
    if value is None:
        raise InvalidValue("nothing is on offer; each row must hold the items that could have been chosen")
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {as_name(name): _features(features) for name, features in value.items()}
    if isinstance(value, Sequence) and value and all(isinstance(entry, Mapping) for entry in value):
        return _named(value)
    if isinstance(value, Sequence) and value and all(isinstance(e, tuple) and len(e) == 2 for e in value):
        return {as_name(name): _features(features) for name, features in value}  # a map of Arrow
    return as_items(value)


def _parsed(text: str) -> Any:
    if text[:1] not in ("[", "{"):
        return text.split("|")
    try:
        return json.loads(text)
    except ValueError:
        raise InvalidValue(f"the offer {text[:40]!r} is neither JSON nor names between bars") from None


def _named(entries: Sequence[Mapping[str, Any]]) -> dict[Any, Any]:
    """A list of dicts, each with the item's name among its features."""
    answer = {}
    for entry in entries:
        key = next((k for k in ("item", "name", "id") if k in entry), None)
        if key is None:
            raise InvalidValue(f"an item on offer has no name; a dict must have a key 'item': {dict(entry)!r:.60}")
        name = as_name(plain_value(entry[key]))
        if name in answer:
            raise InvalidValue(f"item {name!r} is on offer twice; names must differ")
        answer[name] = _features({k: v for k, v in entry.items() if k != key})
    return answer


def _features(value: Any) -> Any:
    """Features without missing values, which columns of structs represent by None."""
    if isinstance(value, Mapping):
        return {name: as_feature(v) for name, v in value.items() if not missing(v)} or None
    return value


def as_feature(value: Any) -> Any:
    """A number, truth value or text of Python's own."""
    return float(value) if isinstance(value, decimal.Decimal) else plain_value(value)


def _context(columns: Sequence[tuple[str, list[Any]]], place: int) -> dict[str, Any] | None:
    answer: dict[str, Any] = {}
    for name, values in columns:
        value = _known(values[place])
        if isinstance(value, Mapping):
            answer |= _features(value) or {}
        elif value is not None:
            answer[name] = as_feature(value)
    return answer or None


def _fits(row: Row, columns: Columns) -> None:
    if row.item not in row.items:
        names = ", ".join(map(repr, list(row.items)[:8]))
        raise InvalidValue(f"item {row.item!r} was chosen but is not on offer; on offer are {names}")
    if row.rewarded is not None and row.at is not None and row.rewarded < row.at:
        raise InvalidValue(f"{columns.reward_time} is before {columns.time}: a reward cannot come before its decision")
