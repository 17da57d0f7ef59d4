"""Data frames in and out: pandas, polars and Arrow alike, through narwhals."""

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import DriftBanditsError, InvalidValue

if TYPE_CHECKING:
    from .bandit import Bandit

ITEM = "item."  # columns that begin so are features of the item


def _narwhals() -> Any:
    try:
        import narwhals
    except ImportError:
        raise InvalidValue("frames need narwhals: pip install 'driftbandits[frames]'") from None
    return narwhals


def read_frame(frame: Any, needed: Sequence[str]) -> Any:
    """A pandas, polars or Arrow frame, with the columns that are needed."""
    try:
        table = _narwhals().from_native(frame, eager_only=True)
    except TypeError:
        kind = type(frame).__name__
        raise InvalidValue(f"frame is of type {kind}; it must be a pandas, polars or Arrow data frame") from None
    for name in needed:
        if name not in table.columns:
            raise InvalidValue(f"the frame has no column {name!r}; it has {', '.join(map(repr, table.columns))}")
    return table


def _column(table: Any, name: str) -> list[Any]:
    """Values of a column, None where there is none."""
    values = table[name].to_list()
    return [None if missing(v) else v for v in values]


def missing(value: Any) -> bool:
    """NaN, NaT and NA are how frames say that there is nothing."""
    return (
        value is None
        or (isinstance(value, float) and math.isnan(value))
        or type(value).__name__ in ("NAType", "NaTType")
    )


def _features(table: Any, names: Sequence[str], strip: str = "") -> Iterator[dict[str, Any]]:
    """One dict per row, without what is missing."""
    columns = [(name.removeprefix(strip), _column(table, name)) for name in names]
    for row in range(len(table)):
        yield {name: plain_value(values[row]) for name, values in columns if values[row] is not None}


def plain_value(value: Any) -> Any:
    """A NumPy number as one of Python's."""
    return value.item() if isinstance(value, np.generic) else value


def fit(
    bandit: "Bandit",
    frame: Any,
    *,
    item: str,
    reward: str,
    time: str | None = None,
    propensity: str | None = None,
    weight: str | None = None,
    context: Sequence[str] | None = None,
    item_features: Sequence[str] | None = None,
) -> None:
    """Learn one past choice per row, in order of time; all rows are checked before the first is learned."""
    roles = [name for name in (item, reward, time, propensity, weight) if name is not None]
    table = read_frame(frame, [*roles, *(context or ()), *(item_features or ())])
    if time is not None:
        table = table.sort(time, nulls_last=True)
    own = [name for name in table.columns if name.startswith(ITEM)] if item_features is None else list(item_features)
    rest = [n for n in table.columns if n not in roles and n not in own] if context is None else list(context)
    names, rewards = _column(table, item), _column(table, reward)
    times = _column(table, time) if time is not None else [None] * len(table)
    optional = [_column(table, c) if c else [None] * len(table) for c in (propensity, weight)]
    for row, (name, r) in enumerate(zip(names, rewards, strict=True)):
        if name is None or r is None or (time is not None and times[row] is None):
            raise InvalidValue(
                f"row {row} of the frame, in order of time, has no item, reward or time; drop such rows first"
            )
    for column in (*own, *rest):
        _one_kind(table, column)
    every = zip(_features(table, own, ITEM), _features(table, rest), strict=True)
    given = [
        {
            "item": features or None,
            "context": who or None,
            "name": plain_value(names[row]),
            "reward": plain_value(rewards[row]),
            "at": times[row],
            "propensity": optional[0][row],
            "weight": 1.0 if optional[1][row] is None else optional[1][row],
        }
        for row, (features, who) in enumerate(every)
    ]
    for row, choice in enumerate(given):
        try:
            bandit._observation(**choice)
        except DriftBanditsError as problem:
            raise type(problem)(f"row {row} of the frame, in order of time: {problem} (no row was learned)") from None
    with bandit._whole():
        for choice in given:
            bandit.observe(**choice)


def _one_kind(table: Any, name: str) -> None:
    """A feature is a number in every row, or a string in every row."""
    kinds = {isinstance(value, str) for value in _column(table, name) if value is not None}
    if len(kinds) > 1:
        raise InvalidValue(
            f"column {name!r} has numbers and strings; a feature keeps its kind: make it one (no row was learned)"
        )


def decide_batch(bandit: "Bandit", frame: Any, *, offers: Any, time: str | None, context: Sequence[str] | None) -> Any:
    """One decision per row, as three more columns."""
    column = offers if isinstance(offers, str) else None
    roles = [name for name in (column, time) if name is not None]
    table = read_frame(frame, [*roles, *(context or ())])
    who = [name for name in table.columns if name not in roles] if context is None else list(context)
    times = _column(table, time) if time is not None else [None] * len(table)
    lists = table[column].to_list() if column is not None else None
    taken = [name for name in ("id", "item", "propensity") if name in table.columns]
    if taken:
        raise InvalidValue(
            f"the frame has a column {taken[0]!r} already, which the decision would overwrite; rename it"
        )
    rows = list(_features(table, who))
    requests = [
        bandit._request(offers if lists is None else list(lists[row]), rows[row] or None, times[row], None, 1)
        for row in range(len(table))
    ]  # all are checked before the first is made
    del requests
    with bandit._whole():
        made = [
            bandit.decide(offers if lists is None else list(lists[row]), rows[row] or None, at=times[row])
            for row in range(len(table))
        ]
    nw, native = _narwhals(), table.implementation
    new = [
        nw.new_series("id", [d.id for d in made], backend=native),
        nw.new_series("item", [d.item for d in made], backend=native),
        nw.new_series("propensity", [d.propensity for d in made], backend=native),
    ]
    if native.is_pandas_like():
        new = [nw.from_native(s.to_native().set_axis(table.to_native().index), series_only=True) for s in new]
    return table.with_columns(*new).to_native()


def reward_batch(bandit: "Bandit", frame: Any) -> int:
    """Learn a frame of rewards; every row is checked before the first is learned."""
    table = read_frame(frame, ["id", "reward"])
    ids, rewards = _column(table, "id"), _column(table, "reward")
    optional = {name: _column(table, name) for name in ("at", "weight") if name in table.columns}
    given = [
        {"at": None, "weight": 1.0}
        | {name: values[row] for name, values in optional.items() if values[row] is not None}
        for row in range(len(ids))
    ]
    for row, (id_, r) in enumerate(zip(ids, rewards, strict=True)):
        try:
            with bandit._turn():
                bandit._answer(id_, plain_value(r), **given[row])
        except DriftBanditsError as problem:
            raise type(problem)(f"row {row} of the frame: {problem} (no row was learned)") from None
    if len(set(ids)) < len(ids) and bandit._config["on_repeat"] == "error":
        raise InvalidValue("an id is in the frame twice; a decision is learned once (no row was learned)")
    with bandit._whole():
        for row, (id_, r) in enumerate(zip(ids, rewards, strict=True)):
            bandit.reward(id_, plain_value(r), **given[row])
    return len(ids)
