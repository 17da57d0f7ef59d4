"""The events that `Bandit.drift_events` lists."""

import datetime
import math
from typing import Any, NamedTuple

from ..alarms.verdict import Kind
from ..errors import one_line, said


class DriftEvent(NamedTuple):
    """A change of the world that was noticed.

    Attributes
    ----------
    at
        When it was noticed: seconds since 1970, or the row of a log without times. `time` is the same as a datetime.
    kind
        "reward level" (all rewards rose or fell), "best item" (rewards of an item, or effects of features, changed), "model misfit"
        (rewards are no linear function of the features) or "missing rewards" (fewer decisions get their reward).
    decision
        How many decisions had been made when it was noticed.
    since
        The decision at which it began, as far as can be told.
    evidence
        In nats: the logarithm of the e-detector, which a world that stands still reaches at most once in 200,000 rewards on average.
    item, feature
        Of which item, and of which feature, if it is one.
    before, after
        Mean reward (share of decisions with a reward, where these are missing) before the change and since; None where this says nothing.

    Examples
    --------
    >>> event = DriftEvent(1715299200.0, "best item", 900, 700, 12.3, "b", None, 0.08, 0.3)
    >>> event.time.isoformat()
    '2024-05-10T00:00:00+00:00'
    >>> event.sentence
    "Rewards of 'b' rose around decision 700, from 0.08 to 0.3 on average: another item may be best now."
    """

    at: float
    kind: Kind
    decision: int
    since: int
    evidence: float
    item: Any = None
    feature: str | None = None
    before: float | None = None
    after: float | None = None

    @property
    def time(self) -> datetime.datetime:
        """`at` as a time in UTC; in a replay of a log without times, `at` is a row and no time."""
        return datetime.datetime.fromtimestamp(self.at, datetime.UTC)

    @property
    def sentence(self) -> str:
        """The event in plain words."""
        began = f"around decision {self.since:,}"
        if self.kind == "missing rewards":
            return f"Fewer decisions get a reward since {began}: {_percent(self.after)}, and {_percent(self.before)} before."
        if self.kind == "model misfit":
            return (
                f"Rewards are no linear function of the features (noticed at decision {self.decision:,}): a feature is missing, or its "
                "effect has a bend."
            )
        if self.kind == "reward level":
            return f"Rewards {_moved(self.before, self.after)} {began}{_from_to(self.before, self.after)}."
        of = "" if self.item is None else f" of {said(self.item)}"
        if self.feature is not None:
            return f"The effect of {one_line(self.feature, 100)} on rewards{of} changed {began}: another item may be best now."
        if self.item is None:
            return f"The effects of several features on rewards changed {began}: another item may be best now."
        move = _moved(self.before, self.after)
        return f"Rewards{of} {move} {began}{_from_to(self.before, self.after)}: another item may be best now."

    def to_dict(self) -> dict[str, Any]:
        """All fields, with time and sentence, as JSON."""
        return {**self._asdict(), "time": self.time.isoformat(), "sentence": self.sentence}

    def __str__(self) -> str:
        return self.sentence


def _moved(before: float | None, after: float | None) -> str:
    if before is None or after is None or before == after:
        return "changed"
    return "rose" if after > before else "fell"


def _from_to(before: float | None, after: float | None) -> str:
    return "" if before is None or after is None else f", from {before:.3g} to {after:.3g} on average"


def _percent(share: float | None) -> str:
    return "an unknown share" if share is None or not math.isfinite(share) else f"{100.0 * share:.0f} %"
