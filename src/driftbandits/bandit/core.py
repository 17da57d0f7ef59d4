"""What happens when a bandit decides or learns, once everything has been checked.

Each change is one of `_decide`, `_reward`, `_observe`, `_expire`, `_drop`; a durable bandit writes each down and can do each again.
"""

import datetime
import logging
import math
from collections.abc import Callable, Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..errors import InvalidValue, integer, real, said
from ..util.fair_lock import FairLock
from .adaptive import Adaptive, TooWide
from .arguments import FeatureMap
from .chance import seed_of, uniform
from .clock import duration
from .decision import Decision, Features
from .kinds import KINDS
from .learner import Choice, Learner, Memo, Offer, Placed, Refuted
from .ledger import Law, Ledger
from .logged import Logged
from .pending import DEFERRED, DONE, REPEATS, Closed, Open, Pending
from .transformers import Transformer
from .vectors import Row

if TYPE_CHECKING:
    from .challengers import Challenger

MODES = ("item", "interact", "disjoint", "hybrid", "linear")
EVENTS = 1000  # drift events kept
RECENT = 64  # decisions kept to be explained by their id; a durable bandit has them all in its log
LOG = logging.getLogger("driftbandits")
COUNTED = ("decisions", "observed", "rewards", "late", "expired", "replaced", "ignored", "unmatched", "backwards")
ALSO_COUNTED = ("guided", "agreed")  # only where a policy outside decides what is shown


class DriftEvent(NamedTuple):
    """When the longest memory was refuted, how many observations it rested on before and after, and the evidence in nats."""

    at: float
    memory_before: float
    memory_after: float
    evidence: float

    @property
    def time(self) -> datetime.datetime:
        """`at` as a time in UTC; in a replay of a log without times, `at` is a row and no time.

        Examples
        --------
        >>> DriftEvent(1715299200.0, 200.0, 20.0, 8.0).time.isoformat()
        '2024-05-10T00:00:00+00:00'
        """
        return datetime.datetime.fromtimestamp(self.at, datetime.UTC)


class Request(NamedTuple):
    """A decision asked for, checked; nothing has changed yet."""

    names: list[Any]
    rows: Sequence[Row]
    context: Row
    offer: Offer
    at: float
    given: bool  # was the time given?
    k: int
    first: Any = None  # the item that the application listed first


class Way(NamedTuple):
    """How a decision is made, where it is not the ordinary way."""

    defer: bool = False  # no reward is expected before `activate`
    show: list[Any] | None = None  # what is shown, whatever the learner would choose
    learn: bool = True  # False: the log alone keeps the reward


ORDINARY = Way()


class Answer(NamedTuple):
    """A reward that came, checked; nothing has changed yet."""

    id: str
    found: Open | Closed | Logged | None  # None: it is to be ignored
    rewards: list[float]  # one for each item shown, NaN where there is none
    weight: float
    came: float | None  # when, if that was given
    learn: bool = True  # False: of a decision that is for the log alone


class Core:
    """The state of a bandit, and its changes."""

    _together = False  # many changes are being made that are undone together

    def _begin(self, strategy: Any, on_drift: Callable[[DriftEvent], Any] | None) -> None:
        """The state of a bandit that has seen nothing."""
        if on_drift is not None and not callable(on_drift):
            raise InvalidValue(
                f"on_drift = {said(on_drift)} is not allowed; it must be a function of a DriftEvent, or None"
            )
        self._on_drift = on_drift
        self._lock = FairLock()
        self._pending = Pending(self._config["max_pending"])
        self._tick = 0  # decisions made, here and elsewhere
        self._counts = dict.fromkeys(COUNTED, 0)
        self._newest = -math.inf  # the latest time seen
        self._given = False  # do users give the time?
        self._events: list[DriftEvent] = []
        self._recent: dict[str, Decision] = {}
        self._challengers: dict[str, Challenger] = {}
        self._ledger = Ledger(bounded=self._config["reward"] == "click", explore=self._config["explore"])
        self._unreported: list[DriftEvent] = []  # those that on_drift has not been called with
        self._learner: Learner = self._new_learner(strategy)

    def _configure(
        self,
        reward: str,
        features: str | FeatureMap,
        half_life: Any,
        explore: float,
        seed: int,
        on_repeat: str,
        buckets: int,
        max_items: int,
        max_pending: int,
    ) -> None:
        _one_of("reward", reward, [*KINDS])
        _one_of("on_repeat", on_repeat, REPEATS)
        if isinstance(features, str) or not (callable(features) or isinstance(features, Transformer)):
            _one_of("features", features, MODES, ", a function or a fitted transformer")
        self._function: FeatureMap | None = None if isinstance(features, str) else features
        explore = real("explore", explore)
        if not 0.0 <= explore <= 1.0:
            raise InvalidValue(
                f"explore = {said(explore)} is not allowed; it must be in [0, 1]: it is shared among the items on offer"
            )
        self._clocked = half_life is not None and not isinstance(half_life, Real)
        if half_life is not None:
            half_life = duration(half_life, name="half_life")
        self._config: dict[str, Any] = {
            "reward": reward,
            "features": features if isinstance(features, str) else "function",
            "half_life": half_life,
            "clocked": self._clocked,
            "explore": explore,
            "seed": _seed(seed),
            "on_repeat": on_repeat,
            "buckets": integer("buckets", buckets, least=1, why="strings are hashed into them"),
            "max_items": integer("max_items", max_items, least=1, why="so many items have a model of their own"),
            "max_pending": integer("max_pending", max_pending, least=1, why="so many decisions wait for a reward"),
        }
        self._chance = seed_of(self._config["seed"])

    def _new_learner(self, strategy: Any) -> Learner:
        c = self._config
        if strategy is not None:
            from .wrapped import Wrapped

            return Wrapped(strategy, c["features"], c["seed"], c["buckets"])
        mode = "item" if self._function else c["features"]
        rates = None if c["half_life"] is None else [math.log(2.0) / c["half_life"]]
        return Adaptive(mode, rates, c["buckets"], c["max_items"])

    def _decide(self, request: Request, id_: str, way: Way = ORDINARY) -> Decision:
        placed, choice = self._draw(request)
        would = None
        if way.show is not None:
            would = [request.names[a] for a in choice.drawn]
            choice = self._shown_instead(request, placed, choice, way.show)
            self._count_agreement(would == way.show)
        law = Law(request.names, choice.propensities, choice.scores, choice.drawn[0], _first(request))
        since = DEFERRED if way.defer else None
        opened = Open(self._tick, request.at, choice.memos, since, way.learn, law)
        self._pending.put(id_, self._asked(request, id_, choice.drawn, opened) if self._challengers else opened)
        items = [request.names[a] for a in choice.drawn]
        features = Features([request.rows[a] for a in choice.drawn], request.context, request.rows)
        decision = Decision(
            id_,
            request.names,
            items,
            choice.propensity,
            choice.propensities,
            choice.scores,
            request.at,
            self._tick,
            features,
        )
        decision.defer, decision.learn, decision.would = way.defer, way.learn, would
        self._note_decision(request, decision)
        self._recent[id_] = decision
        if len(self._recent) > RECENT:
            del self._recent[next(iter(self._recent))]
        return decision

    def _asked(self, request: Request, id_: str, drawn: Sequence[int], opened: Open) -> Open:
        """The decision with what each challenger would have done."""
        found = [(name, c.ask(request, id_, drawn, opened)) for name, c in self._challengers.items()]
        law = opened.law
        return (
            opened
            if law is None
            else opened._replace(law=law._replace(others=tuple((n, p) for n, p in found if p is not None)))
        )

    def _shown_instead(self, request: Request, placed: Placed, choice: Choice, show: list[Any]) -> Choice:
        """The choice of a policy outside, which is certain to be shown."""
        drawn = [request.names.index(item) for item in show]
        propensities = np.zeros(len(request.names))
        propensities[drawn[0]] = 1.0
        memos = [self._learner.memo(placed, a) for a in drawn]
        return Choice(drawn, 1.0, propensities, choice.scores, memos)

    def _count_agreement(self, agreed: bool) -> None:
        """How often the learner would have chosen what a policy outside showed; these counts exist once there is such a policy."""
        for name, step in (("guided", 1), ("agreed", int(agreed))):
            self._counts[name] = self._counts.get(name, 0) + step

    def _activate(self, id_: str, at: float) -> None:
        """From now on the reward of a deferred decision is expected."""
        waiting = self._pending.open.get(id_)
        if waiting is not None and waiting.since == DEFERRED:
            self._pending.open[id_] = waiting._replace(since=at)

    def _draw(self, request: Request) -> tuple[Placed, Choice]:
        """Everything that a decision changes, but for the table of those that wait."""
        self._clock(request)
        self._tick += 1
        self._counts["decisions"] += 1
        placed = self._place(request.offer)
        chance = [uniform(self._chance, self._tick, place) for place in range(request.k)]
        return placed, self._learner.choose(placed, self._config["explore"], chance)

    def _place(self, offer: Offer) -> Placed:
        """An offer in the learner's slots; above 500 columns the covariance becomes diagonal."""
        try:
            return self._learner.place(offer, self._tick, awaited=self._pending.awaited)
        except TooWide:
            from .diagonal import Diagonal

            old, new = self._learner, Diagonal.of(self._learner)  # type: ignore[arg-type]
            answered = (row.open for row in self._pending.closed.values() if row.open is not None)
            for waiting in (*self._pending.open.values(), *answered):
                waiting.memos[:] = [new.convert(memo, old) for memo in waiting.memos]  # type: ignore[arg-type]
            self._learner = new
            return new.place(offer, self._tick)

    def _clock(self, request: Request) -> None:
        self._given = request.given
        if request.at < self._newest:
            self._counts["backwards"] += 1
        else:
            self._newest = request.at

    def _admit(self, found: Open | Closed | Logged) -> Open | Closed:
        """A decision from a log, as if it waited here."""
        if not isinstance(found, Logged):
            return found
        self._tick = max(self._tick, found.tick)
        placed = self._place(found.offer)
        return Open(found.tick, found.at, [self._learner.memo(placed, a) for a in range(len(found.offer.names))])

    def _reward(self, id_: str, found: Open | Closed, rewards: list[float], w: float) -> None:
        opened, old = (found, None) if isinstance(found, Open) else (found.open, found)
        assert opened is not None
        if old is not None:
            self._learn(opened, old.rewards, -old.weight, judge=False)
        self._learn(opened, rewards, w, judge=old is None)
        if old is not None:
            self._counts["replaced"] += 1
        else:
            self._counts["rewards"] += 1
            self._counts["late"] += opened.tick < self._tick
        if opened.law is not None:
            self._enter(opened, opened.law, rewards, old)
        for challenger in self._challengers.values():
            challenger.reward(id_, rewards, w)
        self._pending.close(id_, Closed(opened, rewards, w) if self._config["on_repeat"] == "replace" else DONE)

    def _enter(self, opened: Open, law: Law, rewards: Sequence[float], old: Closed | None) -> None:
        """Count what the first item shown earned, in place of what it was said to have earned before."""
        if old is not None and not math.isnan(old.rewards[0]):
            self._ledger.add(law, old.rewards[0], opened.at, sign=-1.0)
        if not math.isnan(rewards[0]):
            self._ledger.add(law, rewards[0], opened.at)

    def _learn(self, opened: Open, rewards: Sequence[float], w: float, *, judge: bool) -> None:
        if w == 0.0 or not opened.learn:
            return
        tick = opened.at if self._clocked else float(opened.tick)
        for memo, r in zip(opened.memos, rewards, strict=True):
            if not math.isnan(r):
                refuted = self._learner.learn(memo, tick, r, w, judge=judge, awaited=self._pending.awaited)
                if refuted is not None:
                    self._drifted(refuted, opened.at)

    def _drifted(self, refuted: Refuted, at: float) -> None:
        event = DriftEvent(max(at, self._newest), *refuted)
        self._events.append(event)
        del self._events[:-EVENTS]
        if self._on_drift is not None:
            self._unreported.append(event)

    def _report_drift(self) -> None:
        """Call `on_drift`, after everything that led to it is learned and kept; what it raises is its own problem, and is reported."""
        while self._unreported and self._on_drift is not None and not self._together:
            event = self._unreported.pop(0)
            try:
                self._on_drift(event)
            except Exception:
                LOG.exception("on_drift raised an error with %r; the bandit has learned the reward and goes on", event)

    def _check_reward(self, found: Open | Closed | Logged, rewards: Sequence[float], w: float) -> None:
        """Whether rewards can be learned, all of them; changes nothing."""
        opened = found.open if isinstance(found, Closed) else found
        memos: Sequence[Memo | None] = opened.memos if isinstance(opened, Open) else [None] * len(rewards)
        known = [(memo, r) for memo, r in zip(memos, rewards, strict=True) if not math.isnan(r)]
        if known and w != 0.0:
            self._learner.accepts([m for m, _ in known], [r for _, r in known], w, again=isinstance(found, Closed))

    def _older_than(self, before: float) -> list[Open]:
        return [waiting for waiting in self._pending.open.values() if waiting.overdue(before)]

    def _expire(self, before: float, r: float | None) -> int:
        old = [(id_, waiting) for id_, waiting in self._pending.open.items() if waiting.overdue(before)]
        for id_, waiting in old:
            if r is None or waiting.since == DEFERRED:  # what was never shown has earned nothing
                self._pending.close(id_, DONE)
                for challenger in self._challengers.values():
                    challenger.give_up(id_)
                self._counts["expired"] += 1
            else:
                self._reward(id_, waiting, [r] * len(waiting.memos), 1.0)
                self._counts["expired"] += 1
        return len(old)

    def _observe(self, request: Request, r: float, w: float) -> None:
        self._clock(request)
        self._tick += 1
        self._counts["observed"] += 1
        placed = self._place(request.offer)
        self._learn(Open(self._tick, request.at, [self._learner.memo(placed, 0, chosen=False)]), [r], w, judge=True)
        for challenger in self._challengers.values():
            challenger.observe(request, r, w)

    def _drop(self, name: Any) -> None:
        for challenger in self._challengers.values():
            challenger.follow(lambda shadow: shadow._drop(name))
        self._learner.drop(name)
        for id_ in [i for i, waiting in self._pending.open.items() if any(m.item == name for m in waiting.memos)]:
            self._pending.close(id_, DONE)

    def _forget(self, name: str) -> None:
        for challenger in self._challengers.values():
            challenger.follow(lambda shadow: shadow._forget(name))
        self._learner.forget_feature(name)

    def _turn(self) -> Any:
        """One caller at a time; a durable bandit makes it a transaction."""
        return self._lock

    def _note_decision(self, request: Request, decision: Decision) -> None:
        """A durable bandit writes it down."""

    def _note_reward(self, given: Answer) -> None:
        """A durable bandit writes it down."""

    def _note(self, kind: str, **row: Any) -> None:
        """A durable bandit writes it down."""


def shown(found: Open | Closed | Logged) -> list[Any]:
    """The items that a decision showed."""
    if isinstance(found, Logged):
        return list(found.offer.names)
    opened = found if isinstance(found, Open) else found.open
    assert opened is not None
    return [memo.item for memo in opened.memos]


def _first(request: Request) -> int:
    """The place of the item that the application listed first."""
    return 0 if request.first is None else request.names.index(request.first)


def _seed(given: Any) -> int:
    seed = integer("seed", given, least=0, why="it starts the chance of this bandit")
    if seed >= 2**128:
        raise InvalidValue("seed is a whole number of more than 128 bits; a generator has no more")
    return seed


def _one_of(name: str, given: Any, allowed: Sequence[str], more: str = "") -> None:
    if not isinstance(given, str) or given not in allowed:
        raise InvalidValue(f"{name} = {said(given)} is not allowed; it must be {', '.join(map(repr, allowed))}{more}")
