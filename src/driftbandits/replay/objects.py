"""A user's object or function as a policy: it is called with the arguments that it accepts, and its answers are validated."""

import copy
import inspect
import zlib
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..bandit.events import DriftEvent
from ..errors import InvalidValue
from .policy import Asked
from .rows import Row

SUM = 1e-6  # the allowed deviation of the sum of probabilities from 1
ALIASES = {
    **dict.fromkeys(("name", "decision", "id", "arm", "action", "choice"), "item"),
    **dict.fromkeys(("r", "value", "y"), "reward"),
    **dict.fromkeys(("offers", "arms", "actions"), "items"),
    **dict.fromkeys(("ctx", "x", "features"), "context"),
    **dict.fromkeys(("time", "t", "now"), "at"),
}


class ObjectPolicy:
    """An object with decide(items, context, at), or such a function; it learns if it has reward(item, reward, …)."""

    def __init__(self, name: str, given: Any, seed: int = 0) -> None:
        self._name = name
        try:
            self._own = copy.deepcopy(given)
        except Exception as problem:
            raise InvalidValue(
                f"policy {name!r} cannot be copied, and a replay must not change it: {problem}"
            ) from None
        self._decide = _of_row(Called(getattr(self._own, "decide", self._own), ("items", "context", "at"), "items"))
        told = getattr(self._own, "reward", None)
        self.learns = callable(told)
        known = ("item", "reward", "context", "at", "items", "propensity")
        self._reward = Called(told, known, "reward") if self.learns else None
        self._chance = np.random.default_rng([zlib.crc32(name.encode()), 1, seed])  # a generator of its own
        self._chosen: dict[int, Any] = {}

    def ask(self, t: int, row: Row) -> Asked:
        """Its answer: a name, something with `.item` and perhaps `.propensities`, or probabilities by name."""
        answer = self._decide(row)
        if type(answer) is str and answer in row.items:  # most policies
            asked = Asked(answer, {answer: 1.0})
        elif isinstance(answer, Mapping):
            asked = self._drawn(answer, row)
        else:
            item = answer.item if hasattr(answer, "item") and not isinstance(answer, np.generic) else answer
            item = item.item() if isinstance(item, np.generic) else item
            self._on_offer(item, row)
            p = getattr(answer, "propensities", None)
            asked = Asked(item, p if isinstance(p, Mapping) else {item: 1.0})
        if self.learns:
            self._chosen[t] = asked.item
        return asked

    def _drawn(self, p: Mapping[Any, float], row: Row) -> Asked:
        for item in p:
            self._on_offer(item, row)
        chances = np.array(list(p.values()), float)
        if (chances < 0.0).any():
            raise InvalidValue(f"policy {self._name!r} gave the probability {chances.min():g}; none may be below 0")
        if not abs(chances.sum() - 1.0) < SUM:
            raise InvalidValue(
                f"policy {self._name!r} gave probabilities that sum to {chances.sum():g}; they must sum to 1"
            )
        return Asked(list(p)[int(self._chance.choice(len(p), p=chances / chances.sum()))], p)

    def _on_offer(self, item: Any, row: Row) -> None:
        try:
            there = item in row.items
        except TypeError:
            there = False
        if not there:
            names = ", ".join(map(repr, list(row.items)[:8]))
            raise InvalidValue(f"policy {self._name!r} chose {item!r}, which is not on offer; on offer are {names}")

    def tell(self, t: int, row: Row) -> None:
        """Pass the reward on; a function without an `item` argument receives it only for its own choices."""
        chosen = self._chosen.pop(t, None)
        if self._reward is None or not (chosen == row.item or self._reward.takes("item")):
            return
        self._reward(
            item=row.item,
            reward=row.reward,
            context=row.context,
            at=row.at if row.rewarded is None else row.rewarded,
            items=row.items,
            propensity=row.propensity,
        )

    def skip(self, t: int) -> None:
        """Do nothing: the policy does not receive the reward of this row."""
        self._chosen.pop(t, None)

    def memory(self) -> float | None:
        """None: the memory of a user's policy is not known."""
        return None

    def events(self) -> list[DriftEvent]:
        """The times of drift that the policy detected, if it reports them."""
        told = getattr(self._own, "drift_events", None)
        return list(told()) if callable(told) else []


class Called:
    """A user's function, called with those of our arguments that it accepts, matched by name, similar name, or position."""

    def __init__(self, function: Any, known: tuple[str, ...], alone: str) -> None:
        self.function = function
        try:
            parameters = list(inspect.signature(function).parameters.values())
        except (TypeError, ValueError):  # written in another language
            self.order, self.named = list(known[:3]), []
            return
        places = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        self.order = []
        for place, p in enumerate(places):
            name = ALIASES.get(p.name, p.name)
            if name not in known:
                if p.default is not p.empty or place >= len(known):
                    break
                name = alone if len(places) == 1 else known[place]
            self.order.append(name)
        if not self.order and any(p.kind is p.VAR_POSITIONAL for p in parameters):
            self.order = list(known[:2])
        left = [name for name in known if name not in self.order]
        anything = any(p.kind is p.VAR_KEYWORD for p in parameters)
        own = {p.name for p in parameters if p.kind in (p.KEYWORD_ONLY, p.POSITIONAL_OR_KEYWORD)}
        self.named = [name for name in left if anything or name in own]

    def takes(self, name: str) -> bool:
        """Whether the function receives this argument."""
        return name in self.order or name in self.named

    def __call__(self, **values: Any) -> Any:
        """Call it with our values, by our names."""
        return self.function(*(values[name] for name in self.order), **{name: values[name] for name in self.named})


def _of_row(decide: Called) -> Callable[[Row], Any]:
    """A policy as a function of a row; those that take our three arguments in our order are called without a detour."""
    if decide.order == ["items", "context", "at"] and not decide.named:
        function = decide.function
        return lambda row: function(row.items, row.context, row.at)
    return lambda row: decide(items=row.items, context=row.context, at=row.at)
