"""Inspection of a bandit: estimates, explanations, value, health and pictures. None of these calls changes the bandit."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..errors import InvalidValue, flag, real, said
from ..util.notebook import card
from ..util.words import counted
from .arguments import Features, Items
from .challengers import ABSENT, absent
from .checking import Checking
from .clock import NEVER_FORGETS, written
from .decision import Decision
from .events import DriftEvent
from .explanation import Case, Explanation, explain, importance, is_highest
from .health import Health, health
from .kinds import KINDS
from .logged import read_logged
from .pending import UnknownDecision
from .state import RECENT
from .value import Value, named, value

LEAST_ALPHA = 1e-300  # parts of it are numbers, too


class Estimate(NamedTuple):
    """The reward expected of an item, and the standard deviation of that estimate."""

    mean: float
    sd: float


class Looking(Checking):
    """The base of `Bandit` with the calls that inspect it."""

    _elsewhere: str | None = ABSENT  # what is wrong with functions whose sums are there, but which are not

    def estimate(self, items: Items, context: Features = None) -> dict[Any, Estimate]:
        """Mean and standard deviation of every item's reward, for people; changes nothing.

        The standard deviation is right if nothing has changed since an item last had a reward; `explain` says how long ago that is.
        """
        with self._turn():
            request = self._request(items, context, None, None, 1)
            mean, sd = self._learner.score(self._learner.place(request.offer, self._tick, learn=False))
            kind = KINDS[self._config["reward"]]
            known = zip(request.names, np.clip(mean, kind.low, kind.high).tolist(), sd.tolist(), strict=True)
            return {name: Estimate(m, s) for name, m, s in known}

    def explain(self, decision: Any) -> Explanation:
        """Why an item was chosen, by what is known now: its estimate as a sum of contributions of features, beside the runner-up.

        Parameters
        ----------
        decision
            What `decide` returned, its dict (`Decision.to_dict`), or its id: of one of the last 64 decisions, or of any in the log of a
            durable bandit. Of a ranking, its first item is explained.

        Examples
        --------
        >>> import driftbandits as db
        >>> bandit = db.Bandit(seed=0)
        >>> for day in range(60):
        ...     d = bandit.decide({"tea": {"price": 2.0}, "coffee": {"price": 3.0}}, {"hot": day % 2})
        ...     bandit.reward(d.id, 1.0 if d.item == "tea" else 2.0 - day % 2)
        >>> e = bandit.explain(bandit.decide({"tea": {"price": 2.0}, "coffee": {"price": 3.0}}, {"hot": 0}))
        >>> abs(sum(e.contributions.values()) - e.estimate) < 1e-9
        True
        """
        with self._turn():
            return explain(self._learner, self._case(decision), self._tick, self._newest if self._clocked else None)

    def importance(self, *, entries: bool = False) -> dict[str, float]:
        """Features and the mean size of their contributions over the last decisions (at most 64), largest first.

        A feature that is a vector counts as one; `entries=True` lists its entries.
        """
        with self._turn():
            cases = [*map(self._case, self._recent_decisions())]
            return importance(self._learner, cases, self._tick, entries=flag("entries", entries))

    def _recent_decisions(self) -> Sequence[Any]:
        """The last decisions, or their ids."""
        return [*self._recent.values()]

    def _case(self, given: Any) -> Case:
        """A decision to be explained; changes nothing."""
        if isinstance(given, str):
            given = self._decided(given)
        if isinstance(given, Decision):
            chosen = given._features
            score, best = given.scores[given.item], is_highest(given.scores, given.item)
            likely = given.propensities[given.item]
            return Case(
                *(given._names, chosen.rows, chosen.context, given.item, likely, score, chosen.named, best),
                guided=given.would is not None,
                shown=given.items,
            )
        if isinstance(given, Case):
            return given
        if not isinstance(given, Mapping):
            raise InvalidValue(f"{said(given)} is no decision; give what decide returned, its dict or its id")
        logged = read_logged(given, self._learner)
        first = logged.offer.names[0]
        scores, each = (x if isinstance(x, Mapping) else {} for x in map(given.get, ("scores", "propensities")))
        propensity = given.get("propensity") if len(logged.offer.names) == 1 else each.get(first)
        if propensity is not None and not 0.0 <= real("propensity", propensity) <= 1.0:
            raise InvalidValue(
                f"propensity = {said(propensity)} is not allowed; it must be in [0, 1]: it is a probability"
            )
        known = scores.get(first), logged.offer.named, is_highest(scores, first)
        return Case([first], logged.rows[:1], logged.context, first, propensity, *known, shown=logged.offer.names)

    def _decided(self, id_: str) -> Any:
        """A decision by its id, as far as it is remembered."""
        found = self._recent.get(id_)
        if found is None:
            raise UnknownDecision(
                f"decision {said(id_)} is not among the last {RECENT}; give the Decision itself or its to_dict(), or use Bandit.open"
            )
        return found

    def value(self, against: Any = "random", *, item: Any = None, alpha: float = 0.05) -> Value:
        """What it earns, what another policy would have earned on the same decisions, and the difference, with bounds.

        The bounds hold at all times at once, while the world drifts: look as often as you like. For clicks they are exact for every sample
        size, and the first 50 decisions, which say how rare clicks are, do not count; for rewards without a known range they are
        asymptotic, and say so (`finite`). A decision counts when its reward comes: rewards must come equally late and equally often
        for all items (`expire` completes those that never come).

        Parameters
        ----------
        against
            "random" (each item on offer alike), "first" (the first item of each offer, as the application gave it), the name of a
            challenger, or of an item (always that one, over the decisions in which it was on offer).
        item
            An item whose name means something else as `against`: `value(item="random")`.
        alpha
            Each interval is ever wrong with at most this probability.

        Examples
        --------
        >>> import driftbandits as db
        >>> bandit = db.Bandit(reward="click", explore=0.2, seed=0)
        >>> for _ in range(600):
        ...     d = bandit.decide(["a", "b"])
        ...     bandit.reward(d.id, d.item == "b")
        >>> v = bandit.value("random")
        >>> v.own.n, v.lift.lower > 0.0
        (550, True)
        """
        if not LEAST_ALPHA <= real("alpha", alpha) < 1.0:
            raise InvalidValue(
                f"alpha = {said(alpha)} is not allowed; it must be in (0, 1), at least {LEAST_ALPHA:g}: it is a probability"
            )
        with self._turn():
            found = named(self._ledger, against, item, self._challengers)
            kind = KINDS[self._config["reward"]]
            return value(self._ledger, found, float(alpha), self._newest, (kind.low, kind.high))

    def health(self) -> Health:
        """The state of the bandit: `ok`, one `sentence`, and `actions`, what to do, most urgent first.

        Examples
        --------
        >>> import driftbandits as db
        >>> db.Bandit().health().sentence
        'Nothing has been decided yet.'
        """
        with self._turn():
            challengers = [self.value(name) for name in self._ledger.policies()]
            explore = self._config["explore"]
            return health(self.info(), self.value(), challengers, self._events, self._newest, explore)

    def plot(self) -> Any:
        """A matplotlib figure: what it earns beside others, rewards by day with drift events, and which memory answers."""
        from .picture import plot

        with self._turn():
            against = ["random", "first", *self._ledger.policies()]
            return plot([self.value(name) for name in against], self._ledger, list(self._events), self.info())

    def drift_events(self) -> list[DriftEvent]:
        """Changes of the world that were noticed, oldest first, at most 1000.

        While nothing changes, there is about one in 100,000 decisions at most; docs/alarms.md has what was measured.

        Examples
        --------
        >>> import driftbandits as db
        >>> bandit, waiting = db.Bandit(seed=0), []
        >>> for n in range(500):
        ...     d = bandit.decide(["a", "b"])
        ...     waiting.append((d.id, (n * 37 % 101) / 101 + ((d.item == "a") == (n < 400))))
        ...     if n >= 20:  # rewards come 20 decisions late
        ...         bandit.reward(*waiting.pop(0))
        >>> [event.kind for event in bandit.drift_events()]
        ['best item']
        """
        with self._turn():
            return list(self._events)

    def info(self) -> dict[str, Any]:
        """Quantities to monitor, as JSON; docs/production.md explains each."""
        from .. import __version__

        with self._turn():
            counts = {"pending": len(self._pending.open), "dropped": self._pending.dropped}
            return {
                **self._counts,
                **counts,
                **self._learner.info(),
                "drift_events": len(self._events),
                "challengers": {name: challenger.info() for name, challenger in self._challengers.items()}
                | {
                    name: {"microseconds": None, "function": True, "problem": self._elsewhere}
                    for name in absent(self._ledger, self._challengers)
                },
                **({} if self._fitted is None else {"fit": {k: v for k, v in self._fitted.items() if k != "marks"}}),
                "version": __version__,
            }

    def __repr__(self) -> str:
        c = dict(self._config)
        if c["clocked"]:
            c["half_life"] = written(c["half_life"])
        elif c["half_life"] == NEVER_FORGETS:
            c["half_life"] = math.inf
        observed = f", {self._counts['observed']} observed" if self._counts["observed"] else ""
        asked = ", ".join(f"{name}={c[name]!r}" for name in ("reward", "features", "half_life", "explore", "seed"))
        told = f"{counted(self._counts['decisions'], 'decision')}, {counted(self._counts['rewards'], 'reward')}"
        return f"{type(self).__name__}({asked}): {told}{observed}"

    def _repr_html_(self) -> str:
        """Settings, counts and the last drift, for notebooks."""
        asked, _, counted = repr(self).rpartition(": ")
        events = self.drift_events()
        drift = f"{len(events)}, the last at {events[-1].time:%Y-%m-%d %H:%M} UTC" if events else "none found"
        return card(asked, {"so far": counted, "drift": drift, "waiting for a reward": self.info()["pending"]})
