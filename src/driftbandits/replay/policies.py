"""Who is asked in a replay: a `Bandit`, a strategy of the zoo, or any object that decides; always a copy."""

import copy
import inspect
import sys
import zlib
from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

import numpy as np

from ..bandit import Bandit
from ..bandit.core import DriftEvent
from ..bandit.pending import Open
from ..bandit.rewards import as_reward
from ..errors import InvalidState, InvalidValue
from ..protocol import act, learn_late, settle
from .log import Log
from .rows import Row

SUM = 1e-6  # by which probabilities may miss 1


class OwnOnly(InvalidState):
    """A policy that cannot learn from what others chose."""


class Asked(NamedTuple):
    """What a policy would have chosen, and the probability of each item on offer."""

    item: Any
    p: Mapping[Any, float]


class Policy(Protocol):
    """One copy of a policy on its way through a log, whose rows are numbered t = 0, 1, …"""

    learns: bool  # does it hear rewards at all?

    def ask(self, t: int, row: Row) -> Asked:
        """What it would choose."""

    def tell(self, t: int, row: Row) -> None:
        """The reward of the logged choice, of a row it was asked about."""

    def skip(self, t: int) -> None:
        """It will never hear of this row."""

    def memory(self) -> float | None:
        """How many observations it rests on, if it knows."""

    def events(self) -> list[DriftEvent]:
        """Drift that it dated."""


def policy_of(name: str, given: Any, log: Log, *, foreign: bool, seed: int = 0) -> Policy:
    """A copy of what a user gave, ready to walk through a log; with `foreign` it is told of choices that are not its own.

    `seed` is of the draws for a policy that answers with probabilities; bandits and strategies have their own.
    """
    if isinstance(given, Bandit):
        _needs_time(name, given, log)
        return BanditPolicy(_copied(name, given))
    if isinstance(given, type):
        raise InvalidValue(f"policy {name!r} is the class {given.__name__}; give an object of it")
    if act.knows(type(given)) or settle.knows(type(given)):
        if foreign and not learn_late.knows(type(given)):
            raise OwnOnly(
                f"policy {name!r}: {type(given).__name__} learns from its own choices only; "
                "use estimators=('replay',) or history='own'"
            )
        return _of_strategy(given, log)
    if hasattr(given, "decide") or callable(given):
        return ObjectPolicy(name, given, seed)
    raise InvalidValue(
        f"policy {name!r} is of type {type(given).__name__}; it must be a Bandit, a strategy of the zoo, "
        "or have decide(items, context, at)"
    )


# ------------------------------------------------------------------------------------------------------------------ bandits


class BanditPolicy:
    """A bandit that is asked at every row, and learns what the log chose as if it had chosen it."""

    learns = True

    def __init__(self, bandit: Bandit) -> None:
        self.bandit = bandit
        bandit._pending.limit = sys.maxsize  # rewards that are late are in the log: none is given up

    def ask(self, t: int, row: Row) -> Asked:
        """Draw; what waits for its reward is the item that the log has."""
        bandit = self.bandit
        as_reward(bandit._config["reward"], row.reward)
        request = bandit._request(row.items, row.context, 0.0, None, 1)._replace(
            at=float(t) if row.at is None else row.at
        )
        placed, choice = bandit._draw(request)
        logged = request.names.index(row.item)
        memo = choice.memos[0] if choice.drawn[0] == logged else bandit._learner.memo(placed, logged)
        bandit._pending.put(str(t), Open(bandit._tick, request.at, [memo]))
        return Asked(
            request.names[choice.drawn[0]], dict(zip(request.names, choice.propensities.tolist(), strict=True))
        )

    def tell(self, t: int, row: Row) -> None:
        """Learn the reward, as late as it is."""
        id_ = str(t)
        self.bandit._reward(id_, self.bandit._pending.open[id_], [row.reward], 1.0)

    def skip(self, t: int) -> None:
        """Nothing waits any more."""
        del self.bandit._pending.open[str(t)]

    def memory(self) -> float | None:
        """How many observations the estimate rests on."""
        known = self.bandit.info().get("effective_memory")
        return None if known is None else float(known)

    def events(self) -> list[DriftEvent]:
        """Drift that it dated."""
        return self.bandit.drift_events()


def _needs_time(name: str, bandit: Bandit, log: Log) -> None:
    if bandit._clocked and not log.timed:
        raise InvalidValue(
            f"policy {name!r} forgets by the clock, and the log has no time=…; give half_life in decisions"
        )


def _copied(name: str, bandit: Bandit) -> Bandit:
    """The same bandit, with all it knows; nobody is called when it sees drift."""
    from ..bandit.saving import from_bytes, to_bytes
    from ..bandit.wrapped import Wrapped

    learner = bandit._learner
    strategy = learner.strategy if isinstance(learner, Wrapped) else None
    with bandit._turn():
        if bandit._tick == 0:
            return _fresh(bandit, strategy)
        return from_bytes(to_bytes(bandit), f"policy {name!r}", features=bandit._function, strategy=strategy)


def _fresh(bandit: Bandit, strategy: Any) -> Bandit:
    """A bandit with the same settings, that knows nothing."""
    settings = dict(bandit._config)
    if settings.pop("clocked"):
        settings["half_life"] = f"{settings['half_life']!r}s"
    settings["features"] = bandit._function or settings["features"]
    return Bandit(**settings, strategy=strategy)


def _of_strategy(strategy: Any, log: Log) -> BanditPolicy:
    """A strategy behind names: it decides alone (no floor), and sees at the start every feature that the log will show."""
    first = next(iter(log))
    mode = "item" if first.context is None else "interact"
    bandit = Bandit(strategy=strategy, features=mode, explore=0.0)
    learner: Any = bandit._learner
    items, contexts = _shown(log)
    learner.items.write(learner.items.read(items), learn=True)
    learner.context.write(learner.context.read(contexts or [None]), learn=True)
    return BanditPolicy(bandit)


def _shown(log: Log) -> tuple[list[Any], list[Any]]:
    """Of all rows, those that show a feature or category for the first time."""
    from ..bandit.vectors import as_row
    from ..bandit.wrapped import NAME

    seen: set[Any] = set()
    items: list[Any] = []
    contexts: list[Any] = []

    def note(kept: list[Any], side: str, row: Mapping[str, Any]) -> None:
        new = {(side, k, v if isinstance(v, str) else None) for k, v in row.items()} - seen
        if new:
            seen.update(new)
            kept.append(row)

    last: object = None
    for row in log:
        if row.items is not last:
            last = row.items
            for name, features in row.items.items():
                note(items, "item", as_row(features, f"features of item {name!r}") or {NAME: str(name)})
        if row.context:
            note(contexts, "context", row.context)
    return items, contexts


# ------------------------------------------------------------------------------------------------------------------ objects


class ObjectPolicy:
    """Any object with decide(items, context, at), or a function of these; with reward(item, reward, …) it learns."""

    def __init__(self, name: str, given: Any, seed: int = 0) -> None:
        self._name = name
        try:
            self._own = copy.deepcopy(given)
        except Exception as problem:
            raise InvalidValue(
                f"policy {name!r} cannot be copied, and a replay must not change it: {problem}"
            ) from None
        self._decide = Called(getattr(self._own, "decide", self._own), ("items", "context", "at"), "items")
        told = getattr(self._own, "reward", None)
        self.learns = callable(told)
        known = ("item", "reward", "context", "at", "items", "propensity")
        self._reward = Called(told, known, "reward") if self.learns else None
        self._chance = np.random.default_rng([zlib.crc32(name.encode()), 1, seed])  # of nobody else
        self._chosen: dict[int, Any] = {}

    def ask(self, t: int, row: Row) -> Asked:
        """Its answer: a name, something with `.item` and perhaps `.propensities`, or probabilities by name."""
        answer = self._decide(items=row.items, context=row.context, at=row.at)
        if isinstance(answer, Mapping):
            asked = self._drawn(answer, row)
        else:
            item = answer.item if hasattr(answer, "item") and not isinstance(answer, np.generic) else answer
            item = item.item() if isinstance(item, np.generic) else item
            self._on_offer(item, row)
            p = getattr(answer, "propensities", None)
            asked = Asked(item, p if isinstance(p, Mapping) else {item: 1.0})
        self._chosen[t] = asked.item
        return asked

    def _drawn(self, p: Mapping[Any, float], row: Row) -> Asked:
        for item in p:
            self._on_offer(item, row)
        chances = np.array(list(p.values()), float)
        if not (chances >= 0.0).all() or not abs(chances.sum() - 1.0) < SUM:
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
        """The reward; one that does not say of which item is told only if it chose it itself."""
        chosen = self._chosen.pop(t)
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
        """It will never hear of this row."""
        self._chosen.pop(t, None)

    def memory(self) -> float | None:
        """Not known."""
        return None

    def events(self) -> list[DriftEvent]:
        """What it has dated, if it says so."""
        told = getattr(self._own, "drift_events", None)
        return list(told()) if callable(told) else []


ALIASES = {
    **dict.fromkeys(("name", "decision", "id", "arm", "action", "choice"), "item"),
    **dict.fromkeys(("r", "value", "y"), "reward"),
    **dict.fromkeys(("offers", "arms", "actions"), "items"),
    **dict.fromkeys(("ctx", "x", "features"), "context"),
    **dict.fromkeys(("time", "t", "now"), "at"),
}


class Called:
    """A user's function, called with those of our arguments that it takes: by their names, names close to them, or their order."""

    def __init__(self, function: Any, known: tuple[str, ...], alone: str) -> None:
        self._function = function
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
        """Is it told this argument?"""
        return name in self.order or name in self.named

    def __call__(self, **values: Any) -> Any:
        """Call it with our values, by our names."""
        return self._function(*(values[name] for name in self.order), **{name: values[name] for name in self.named})
