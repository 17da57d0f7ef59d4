"""Challengers: other learners, or functions, that observe the decisions of a bandit and report what they would have chosen. They never act.

A challenger that learns is a bandit in the shadow: it reads every offer, keeps the features of what was shown in its own slots, and learns
every reward. What it would have chosen, as probabilities, is kept with the decision and valued when the reward comes (`ledger`). A function
of (items, context) learns nothing. An error of a challenger never disturbs the bandit: the challenger is suspended, and `info` says why.

Every step of a challenger made twice is the same as made once. A bandit that was interrupted while its challengers followed a change
therefore makes the step again with all of them (`Rewarding._tell`).
"""

import copy
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.linalg import Vector
from ..errors import DriftBanditsError, InvalidValue, one_line, said
from ..protocol import limits
from .alarms import Alarms
from .changes import Request
from .learner import Draft
from .ledger import Ledger
from .pending import DONE, Closed, Open, Pending, own_id
from .policy_sums import FIRST, RANDOM

if TYPE_CHECKING:
    from .bandit import Bandit

LOG = logging.getLogger("driftbandits")
SETTINGS = ("half_life", "features", "explore")  # what a challenger may do otherwise
ABSENT = "a function, which files do not hold; it has not run since this bandit was opened"
TOLD = 300  # characters of an error that are kept
RECENT_COST = 200.0  # decisions over which its cost is measured
Policy = Callable[[dict[Any, Any], Any], Any]


class Challenger:
    """One challenger: a bandit in the shadow, or a function that gives probabilities."""

    def __init__(self, name: str, shadow: "Bandit | None", policy: Policy | None = None) -> None:
        self.name, self.shadow, self.policy = name, shadow, policy
        self.problem: str | None = None  # why it was suspended
        self.seconds, self.asked = 0.0, 0.0
        # The number of the choice made elsewhere that was learned last, and how many decisions the shadow had made before it.
        self._observing = -1, -1
        self._asked: tuple[str, int] | None = None  # the decision asked for last …
        self._draft: Draft | None = None  # … and how far it came

    def ask(self, request: Request, id_: str, shown: Sequence[int], opened: Open) -> Vector | None:
        """The probabilities with which it would have chosen the items, in their order; None if it cannot tell."""
        found: Vector | None = self._guarded(lambda: self._ask(request, id_, shown, opened), 1)
        return found

    def _ask(self, request: Request, id_: str, shown: Sequence[int], opened: Open) -> Vector:
        if self.policy is not None:
            items = dict(zip(request.names, request.rows, strict=True))
            return _probabilities(self.policy(items, request.context), request.names)
        shadow = self.shadow
        assert shadow is not None
        named = request.offer.named
        offer = shadow._learner.read(request.names, request.rows, request.context, named=named)
        asked, draft = (id_, opened.tick), self._draft
        if self._asked != asked or draft is None:
            draft = Draft(shadow._tick + 1)
            self.__dict__.update(_asked=asked, _draft=draft)
        placed, choice = shadow._draw(request._replace(offer=offer, k=1), draft)
        if id_ not in shadow._pending.open:
            memos = [shadow._learner.memo(placed, a) for a in shown]
            shadow._pending.put(id_, opened._replace(tick=shadow._tick, memos=memos, law=None))
        return np.array(choice.propensities)

    def reward(self, id_: str, rewards: list[float], w: float) -> None:
        """Learn a reward, if the decision was made since it is a challenger."""
        if self.shadow is not None:
            self._guarded(lambda: self._reward(id_, rewards, w), 0)

    def _reward(self, id_: str, rewards: list[float], w: float) -> None:
        shadow = self.shadow
        assert shadow is not None
        found: Open | Closed | None = shadow._pending.open.get(id_) or shadow._pending.closed.get(id_)
        if isinstance(found, Closed) and (found.open is None or (found.rewards, found.weight) == (rewards, w)):
            return  # not known any more, or learned already
        if found is not None:
            shadow._check_reward(found, rewards, w)
            shadow._reward(id_, found, rewards, w)
            shadow._unreported.clear()

    def observe(self, request: Request, r: float, w: float, number: int) -> None:
        """Learn a choice made elsewhere, of this number among the bandit's decisions."""
        names, rows, context = request.names, request.rows, request.context
        named = request.offer.named

        def observe(s: "Bandit") -> None:
            if self._observing[0] != number:
                self._observing = number, s._tick
            if s._tick == self._observing[1]:  # not learned yet
                s._observe(request._replace(offer=s._learner.read(names, rows, context, named=named)), r, w)

        self.follow(observe)

    def give_up(self, id_: str) -> None:
        """A decision that is answered without a reward."""
        self.follow(lambda s: s._pending.close([(id_, DONE)]))

    def follow(self, change: "Callable[[Bandit], Any]") -> None:
        """Repeat another change of the bandit in the challenger."""
        if self.shadow is not None:
            shadow = self.shadow
            self._guarded(lambda: change(shadow), 0)

    def _guarded(self, step: Callable[[], Any], asked: int) -> Any:
        if self.problem is not None:
            return None
        start = time.perf_counter()
        try:
            return step()
        except MemoryError:  # like Ctrl-C: the bandit makes the step again
            raise
        except Exception as problem:
            self.problem = one_line(f"{type(problem).__name__}: {problem}", TOLD)
            LOG.warning("challenger %r is suspended: %s", self.name, self.problem)
            return None
        finally:
            kept = 1.0 - asked / RECENT_COST  # decisions before code was compiled are forgotten
            self.seconds = kept * self.seconds + time.perf_counter() - start
            self.asked = kept * self.asked + asked

    def info(self) -> dict[str, Any]:
        """What it costs, in microseconds per decision over about the last 200; whether it is a function; and why it was suspended."""
        cost = 1e6 * self.seconds / self.asked if self.asked else None
        return {"microseconds": cost, "function": self.policy is not None, "problem": self.problem}


def new_challenger(bandit: "Bandit", name: str, policy: Any, settings: dict[str, Any]) -> Challenger:
    """A challenger of a bandit; raises, or changes nothing."""
    if isinstance(name, str) and name in (RANDOM, FIRST):
        raise InvalidValue(f"name = {name!r} is not allowed; value({name!r}) compares with another policy")
    own_id(name, "name")
    if bandit._ledger.knows_item(name):
        raise InvalidValue(
            f"name = {said(name)} is not allowed; an item has that name, and value({said(name)}) is what always showing it would earn: "
            "choose another name for the challenger"
        )
    unknown = [key for key in settings if key not in SETTINGS]
    if unknown:
        *first, last = SETTINGS
        raise InvalidValue(
            f"{unknown[0]} is no setting in which a challenger can differ; these are {', '.join(first)} and {last}"
        )
    function = callable(policy) and not hasattr(policy, "_fields")  # a strategy of the zoo is a tuple of numbers
    if name in bandit._challengers and not (function and bandit._challengers[name].policy is not None):
        raise InvalidValue(f"there is a challenger {said(name)} already; drop_challenger({said(name)}) ends it")
    if not function and bandit._ledger.knows_policy(name):
        raise InvalidValue(
            f"name = {said(name)} is not allowed; there are sums of a function of that name, which files do not hold: give it again, or "
            "choose another name"
        )
    if function:
        if settings:
            raise InvalidValue("a function has no settings; it gives probabilities for (items, context)")
        return Challenger(name, None, policy)
    if policy is not None and bandit._config["on_repeat"] == "replace":
        raise InvalidValue(
            "a strategy cannot be a challenger of a bandit with on_repeat='replace': what a strategy has learned cannot be taken back"
        )
    if policy is not None and not limits.knows(type(policy)):
        raise InvalidValue(
            f"policy = {said(policy)} is not allowed; it must be a strategy of the zoo (db.zoo.…), a function of (items, context) that "
            "gives probabilities, or None for the default learner with other settings"
        )
    return Challenger(name, new_shadow(bandit, policy, settings))


def new_shadow(bandit: "Bandit", strategy: Any, settings: Mapping[str, Any]) -> "Bandit":
    """A bandit of the same settings but for those given, which has learned nothing."""
    from .bandit import Bandit

    config = {key: value for key, value in bandit._config.items() if key != "clocked"}
    if bandit._clocked:
        config["half_life"] = f"{config['half_life']!r}s"
    if bandit._function is not None:
        config["features"] = bandit._function
    given = dict(settings)
    if strategy is not None and config["features"] in ("disjoint", "hybrid") and "features" not in given:
        given["features"] = "interact"
    shadow = Bandit(**{**config, **given}, strategy=strategy)
    shadow._watched = False
    shadow._tick = bandit._tick  # ages of observations go on when it is promoted
    return shadow


def promoted(bandit: "Bandit", name: str) -> dict[str, Any]:
    """The attributes of a bandit after a challenger has taken its place; changes nothing.

    Decisions from before the challenge wait in slots of the learner that is given up. They are read again, as far as they are remembered:
    the last 64, or all that are in the log of a durable bandit. The others do not wait any more; their dict can still be learned.
    """
    challenger = _found(bandit, name)
    shadow = challenger.shadow
    if shadow is None:
        raise InvalidValue(f"challenger {said(name)} is a function, which learns nothing; call it in place of decide")
    if challenger.problem is not None:
        raise InvalidValue(f"challenger {said(name)} was suspended ({challenger.problem}); it cannot decide")
    older = [(id_, opened) for id_, opened in bandit._pending.open.items() if id_ not in shadow._pending.open]
    if older:
        shadow = copy.copy(shadow)  # an interrupt leaves the challenger as it is
    for id_, opened in older:
        _read_again(bandit, shadow, id_, opened)
    pending, mine, its = Pending(bandit._config["max_pending"]), bandit._pending, shadow._pending
    kept = [(id_, w._replace(memos=its.open[id_].memos)) for id_, w in mine.open.items() if id_ in its.open]
    answered = [(id_, _answered(done, its.closed.get(id_, DONE))) for id_, done in mine.closed.items()]
    pending.restore(kept, answered, mine.dropped)
    pending = _without(pending, name, bandit._config["max_pending"])
    config = bandit._config | {key: shadow._config[key] for key in (*SETTINGS, "clocked")}
    others = {key: value for key, value in bandit._challengers.items() if key != name}
    return {
        "_pending": pending,
        "_learner": shadow._learner,
        "_config": config,
        "_clocked": shadow._clocked,
        "_challengers": others,
        "_ledger": bandit._ledger.without(name),
        "_alarms": Alarms(),  # the challenger has features in other slots
    }


def _read_again(bandit: "Bandit", shadow: "Bandit", id_: str, opened: Open) -> None:
    """Let a decision from before its time wait with a challenger too, if it is remembered and can be read."""
    try:
        case = bandit._case(id_)
        shown = [case.item] if case.shown is None else case.shown
        rows = [case.rows[case.names.index(item)] for item in shown]
        placed = shadow._place(shadow._learner.read(shown, rows, case.context, named=case.named))
    except DriftBanditsError:
        return
    memos = [shadow._learner.memo(placed, a) for a in range(len(shown))]
    shadow._pending.put(id_, opened._replace(memos=memos, law=None))


def _answered(done: Closed, its: Closed) -> Closed:
    if done.open is None or its.open is None:
        return DONE
    return done._replace(open=done.open._replace(memos=its.open.memos))


def functions(challengers: Mapping[str, Challenger]) -> dict[str, Challenger]:
    """The challengers that are functions; files do not hold them."""
    return {name: challenger for name, challenger in challengers.items() if challenger.policy is not None}


def _found(bandit: "Bandit", name: Any) -> Challenger:
    if not isinstance(name, str) or name not in bandit._challengers:
        known = ", ".join(map(repr, bandit._challengers))
        raise InvalidValue(
            f"there is no challenger {said(name)}; {f'there are: {known}' if known else 'challenge(name, …) adds one'}"
        )
    return bandit._challengers[name]


def dropped(bandit: "Bandit", name: str) -> dict[str, Any]:
    """The attributes of a bandit without a challenger; changes nothing."""
    if name not in absent(bandit._ledger, bandit._challengers):
        _found(bandit, name)
    return {
        "_challengers": {key: value for key, value in bandit._challengers.items() if key != name},
        "_pending": _without(bandit._pending, name, bandit._config["max_pending"]),
        "_ledger": bandit._ledger.without(name),
    }


def _without(pending: Pending, name: str, limit: int) -> Pending:
    """Decisions without what a challenger would have done: another one may have its name, and is not to be valued by them."""

    def left(opened: Open) -> Open:
        law = opened.law
        if law is None or not law.others:
            return opened
        return opened._replace(law=law._replace(others=tuple(other for other in law.others if other[0] != name)))

    after = Pending(limit)
    closed = [(id_, d if d.open is None else d._replace(open=left(d.open))) for id_, d in pending.closed.items()]
    after.restore([(id_, left(opened)) for id_, opened in pending.open.items()], closed, pending.dropped)
    return after


def absent(ledger: Ledger, challengers: Mapping[str, Challenger]) -> list[str]:
    """Functions whose sums are there, but which were not given again since a file was read."""
    return [name for name in ledger.policies() if name not in challengers]


def _probabilities(given: Any, names: Sequence[Any]) -> Vector:
    """Probabilities as a function gives them: a dict by name, or one number for each item in the order of its argument."""
    if isinstance(given, Mapping):
        unknown = [name for name in given if name not in names]
        if unknown:
            raise InvalidValue(f"it gives {said(unknown[0])} a probability, which was not on offer")
        given = [given.get(name, 0.0) for name in names]
    p: Vector = np.array(given, np.float64)
    if p.shape != (len(names),) or not np.isfinite(p).all() or p.min() < 0.0 or abs(p.sum() - 1.0) > 1e-6:
        raise InvalidValue(f"it gives {said(given)}; it must be {len(names)} probabilities that add up to 1")
    p /= p.sum()
    return p


__all__ = ["Challenger", "dropped", "functions", "new_challenger", "promoted"]
