"""Drift events: which changes of the world were noticed, by the change detector and by rewards that are missing."""

import logging
from collections.abc import Sequence
from typing import Any

from .alarms import Found
from .arrivals import OFTEN
from .changes import Before
from .events import DriftEvent
from .learner import Draft, Observation
from .state import EVENTS, State

LOG = logging.getLogger("driftbandits")


class Drifting(State):
    """A bandit that notices when the world has changed."""

    def _before(self) -> Before:
        return Before(self._events, self._unreported, self._ledger.books)

    def _look_for_rewards(self, tick: int, newest: float) -> None:
        """Whether rewards of earlier decisions are missing, looked at after every 16th decision."""
        if tick % OFTEN or not self._watched:
            return
        arrivals = self._arrivals
        found = arrivals.look(tick)
        if found is not None:
            means = found.before, found.after
            event = DriftEvent(newest, found.kind, tick, found.since, found.evidence, None, None, *means)
            self.__dict__.update(self._with_events([event], self._before()))
            arrivals.found = None

    def _tested(self, draft: Draft, observations: Sequence[Observation]) -> Sequence[Found]:
        """The alarms that these rewards raise."""
        return self._alarms.enter(draft, observations, self._tick, self._learner) if self._watched else ()

    def _drifted(self, found: Sequence[Found], at: float, before: Before) -> dict[str, Any]:
        """Drift events after rewards that raised these alarms."""
        at = max(at, self._newest)
        return self._with_events([self._alarms.event(alarm, at, self._learner) for alarm in found], before)

    def _with_events(self, new: list[DriftEvent], before: Before) -> dict[str, Any]:
        if not new:
            return {"_events": before.events, "_unreported": before.unreported}
        told = [*before.unreported, *new] if self._on_drift is not None else before.unreported
        return {"_events": [*before.events, *new][-EVENTS:], "_unreported": told}

    def _report_drift(self) -> None:
        """Call `on_drift`, after everything that led to it is learned and kept; what it raises is its own problem, and is reported."""
        while self._unreported and self._on_drift is not None and not self._together:
            event, *self._unreported = self._unreported
            try:
                self._on_drift(event)
            except Exception:
                LOG.exception("on_drift raised an error with %r; the bandit has learned the reward and goes on", event)
