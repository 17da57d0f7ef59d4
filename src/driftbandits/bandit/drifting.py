"""Drift events: which changes of the world were noticed, by the change detector and by rewards that are missing."""

import logging
from collections.abc import Sequence
from typing import Any

from ..core.linalg import Vector
from .alarms import Found
from .arrivals import OFTEN
from .changes import Before
from .events import DriftEvent
from .learner import Draft, Observation
from .state import EVENTS, State

LOG = logging.getLogger("driftbandits")
TOGETHER = 512  # decisions between two looks of a batch, which with the longest wait for a reward are remembered


class Drifting(State):
    """A bandit that notices when the world has changed."""

    def _before(self) -> Before:
        return Before(self._events, self._unreported, self._ledger.place())

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

    def _opened_all(self, first: int, newest: Vector) -> None:
        """Decisions first, first + 1, … were made, of which the latest times are known; rewards that are missing are looked for.

        No reward comes between them, so that a look tests what each of the looks before it would have tested: two are made of many.
        """
        end = first + len(newest)
        for start in range(first, end, TOGETHER):
            stop = min(start + TOGETHER, end)
            self._arrivals.opened_all(start, stop - start)
            looks = [*range(start + -start % OFTEN, stop, OFTEN)]
            for place, tick in enumerate(looks):
                self._look_for_rewards(
                    tick, float(newest[tick - first])
                )  # the first moves the test to what is remembered
                if place == 0 and len(looks) > 1 and self._watched and not self._arrivals.looks_alarmed(looks[-1]):
                    break

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
