"""Policies of a replay: copies of a `Bandit`, a strategy of the zoo, or any object that decides."""

import math
import sys
from collections.abc import Mapping
from typing import Any

from ..bandit import Bandit
from ..bandit.bulk.blocks import accepted
from ..bandit.events import DriftEvent
from ..bandit.pending import Open
from ..bandit.rewards import as_reward
from ..core.linalg import Vector
from ..errors import InvalidValue, said
from ..meta.self_tuning import SelfTuning
from ..protocol import act, learn_late, limits, settle
from .log import Log
from .objects import ObjectPolicy
from .policy import Asked, OwnOnly, Policy
from .rows import Row


def policy_of(name: str, given: Any, log: Log, *, foreign: bool, seed: int = 0) -> Policy:
    """A copy of the user's policy; with `foreign` it must also learn from choices that are not its own.

    `seed` is used for draws from the probabilities of a policy; bandits and strategies have their own seed.
    """
    if isinstance(given, Bandit):
        _needs_time(name, given, log)
        return BanditPolicy(copied(name, given))
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
    """A bandit that is asked at every row, and learns the logged choice as if it were its own."""

    learns = True

    def __init__(self, bandit: Bandit, low: float = -math.inf, high: float = math.inf) -> None:
        self.bandit, self.low, self.high = bandit, low, high
        bandit._pending.limit = sys.maxsize  # rewards that are late are in the log: none is given up

    def accepts(self, rewards: Vector) -> bool:
        """Whether all of these (n,) are rewards of its kind and in its range."""
        inside = (rewards >= self.low) & (rewards <= self.high)
        return bool((inside & accepted(self.bandit._config["reward"], rewards)).all())

    def ask(self, t: int, row: Row) -> Asked:
        """Decide, then replace the pending item by the logged one, so that its reward will be learned."""
        bandit = self.bandit
        as_reward(bandit._config["reward"], row.reward)
        if not self.low <= row.reward <= self.high:
            raise InvalidValue(
                f"reward = {said(row.reward)} is not allowed; it must be in [{self.low:g}, {self.high:g}]: "
                "the strategy was made for rewards in this range"
            )
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
        """Learn the reward with its delay."""
        id_ = str(t)
        self.bandit._reward(id_, self.bandit._pending.open[id_], [row.reward], 1.0)

    def skip(self, t: int) -> None:
        """Drop the decision: its reward will not be learned."""
        self.bandit._pending.give_up(str(t))

    def memory(self) -> float | None:
        """The effective number of observations."""
        known = self.bandit.info().get("effective_memory")
        return None if known is None else float(known)

    def events(self) -> list[DriftEvent]:
        """The times of drift that it detected."""
        return self.bandit.drift_events()


def _needs_time(name: str, bandit: Bandit, log: Log) -> None:
    if bandit._clocked and not log.timed:
        raise InvalidValue(
            f"policy {name!r} forgets by the clock, and the log has no time=…; give half_life in decisions"
        )


def copied(name: str, bandit: Bandit) -> Bandit:
    """A copy of the bandit with its state, without the callback for drift."""
    from ..bandit.saving import from_bytes, to_bytes
    from ..bandit.wrapped import Wrapped

    learner = bandit._learner
    strategy = learner.strategy if isinstance(learner, Wrapped) else None
    with bandit._turn():
        if bandit._tick == 0:
            return _fresh(bandit, strategy)
        return from_bytes(to_bytes(bandit), f"policy {name!r}", features=bandit._function, strategy=strategy)


def _fresh(bandit: Bandit, strategy: Any) -> Bandit:
    """A new bandit with the same settings and no observations."""
    settings = dict(bandit._config)
    if settings.pop("clocked"):
        settings["half_life"] = f"{settings['half_life']!r}s"
    settings["features"] = bandit._function or settings["features"]
    return Bandit(**settings, strategy=strategy)


def _of_strategy(strategy: Any, log: Log) -> BanditPolicy:
    """A strategy wrapped in a bandit without an exploration floor; all features of the log are registered at the start.

    `self_tuning` needs no wrapping: it is the learner of a bandit, which knows items by their names and reads a log by columns.
    """
    if isinstance(strategy, SelfTuning):
        known = limits(strategy)
        bandit = Bandit(features="disjoint" if strategy.disjoint else "interact", explore=strategy.explore)
        return BanditPolicy(bandit, known.low, known.high)
    first = next(iter(log))
    bandit = Bandit(strategy=strategy, features="item" if first.context is None else "interact", explore=0.0)
    learner: Any = bandit._learner
    items, contexts = _shown(log)
    learner.items.write(learner.items.read(items), learn=True)
    learner.context.write(learner.context.read(contexts or [None]), learn=True)
    return BanditPolicy(bandit)


def _shown(log: Log) -> tuple[list[Any], list[Any]]:
    """The rows in which a feature or category occurs for the first time."""
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
