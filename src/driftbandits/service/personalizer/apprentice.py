"""Apprentice mode: how often the loop would have shown what the application shows, and what that earned.

The log holds both the item that was shown and the item that the loop would have chosen (`would`). A tally reads the rows that were added
since it last looked.
"""

import json
from typing import Any

from ...bandit.store import Row
from ..dashboard.window import CHUNK, Rows
from .durations import moment_of


class Tally:
    """Events, imitated events and their rewards, since the loop was first an apprentice."""

    def __init__(self) -> None:
        self.seq = 0
        self.events = self.imitated = 0
        self.first = self.last = 0.0
        self._would: dict[str, tuple[bool, float]] = {}  # of each event: was it imitated; its reward

    def follow(self, store: Rows) -> None:
        """Read what has come."""
        if store.last() < self.seq:
            self.__init__()  # type: ignore[misc]  # the loop was begun again
        while rows := store.rows(self.seq, CHUNK):
            for row in rows:
                self._apply(row)
            self.seq = rows[-1].seq

    def _apply(self, row: Row) -> None:
        if row.id is None:
            return
        if row.kind == "decide":
            data = json.loads(row.data or "{}")
            if data.get("would") is not None:
                imitated = data["would"] == data["shown"]
                self.events += 1
                self.imitated += imitated
                self.first = self.first or row.at or 0.0
                self.last = row.at or self.last
                self._would[row.id] = (imitated, 0.0)
        elif row.kind in ("reward", "replace") and row.id in self._would and row.reward is not None:
            self._would[row.id] = (self._would[row.id][0], row.reward)

    def metrics(self) -> dict[str, Any] | None:
        """As `latestApprenticeModeMetrics`; None if the loop has not been an apprentice."""
        if self.events == 0:
            return None
        counts = {
            "numberOfEvents": self.events,
            "numberOfImitatedEvents": self.imitated,
            "sumOfRewards": sum(r for _, r in self._would.values()),
            "sumOfImitatedRewards": sum(r for imitated, r in self._would.values() if imitated),
        }
        return {
            **counts,
            "startTime": moment_of(self.first),
            "lastProcessedEventTime": moment_of(self.last),
            "lastBatchMetrics": counts,
        }
