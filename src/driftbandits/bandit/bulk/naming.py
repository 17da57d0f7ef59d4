"""Names of columns, as `fit` and `decide_batch` take them."""

import re
import warnings
from collections.abc import Sequence
from typing import Any

from ...errors import InvalidValue, said

WORDS = frozenset(
    [
        "id",
        "ids",
        "uuid",
        "guid",
        "propensity",
        "propensities",
        "pscore",
        "prob",
        "probability",
        "reward",
        "rewards",
        "rewarded",
    ]
)  # in a name
NAMES = frozenset(
    [
        "p",
        "p_chosen",
        "p_action",
        "click",
        "clicks",
        "clicked",
        "conversion",
        "conversions",
        "converted",
        "revenue",
        "purchase",
        "purchased",
        "bought",
        "sold",
        "sale",
        "sales",
        "order",
        "orders",
        "order_value",
        "spent",
        "price_paid",
        "amount_paid",
        "profit",
        "gmv",
        "outcome",
        "label",
        "target",
        "weight",
        "index",
        "offered",
    ]
)  # a whole name
UNNAMED = "unnamed:"  # what pandas calls an index that it has written


def no_feature(name: str) -> bool:
    """Whether a column is by its name an id, a propensity or a reward: it is not taken for a feature unless somebody says so.

    Examples
    --------
    >>> [no_feature(name) for name in ("user_id", "requestId", "action_prob", "Reward 2", "age", "paid", "video")]
    [True, True, True, True, False, False, False]
    """
    words = re.split(r"[^a-z0-9]+", re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", name).lower())
    return name.lower() in NAMES or name.lower().startswith(UNNAMED) or not WORDS.isdisjoint(words)


def texts(columns: Sequence[Any]) -> None:
    """Raise if a column is not named by a string: names of features are."""
    for name in columns:
        if not isinstance(name, str):
            raise InvalidValue(
                f"the frame has a column named {said(name)}; names of features are strings: rename it, or list the columns to use in "
                "context=[…]"
            )


def features(left: Sequence[str]) -> list[str]:
    """Of the columns that nobody gave a role, those that look like features; a warning names the others."""
    texts(left)
    doubtful = [name for name in left if no_feature(name)]
    if doubtful:
        names = ", ".join(map(repr, doubtful))
        warnings.warn(
            f"by its name {names} is no feature, and is left out; name it in context=[…] if it is one, or say what it is "
            "(propensity=…, id=…)",
            stacklevel=5,
        )
    return [name for name in left if not no_feature(name)]


def column(argument: str, given: Any) -> str | None:
    """The name of a column, or None."""
    if given is not None and not isinstance(given, str):
        raise InvalidValue(f"{argument} = {said(given)} is not allowed; it must be the name of a column, a string")
    return given


def columns(argument: str, given: Any) -> list[str] | None:
    """Names of columns, or None."""
    if given is None:
        return None
    if not isinstance(given, list | tuple) or not all(isinstance(name, str) for name in given):
        raise InvalidValue(f"{argument} = {said(given)} is not allowed; it must be a list of names of columns, strings")
    return list(given)
