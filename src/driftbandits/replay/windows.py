"""Windows of a log: hours, days, weeks, or numbers of rows, and their names."""

import datetime
import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..bandit.clock import duration
from ..errors import InvalidValue, integer
from .log import Log

NAMED = {"hour": 3600.0, "day": 86400.0, "week": 604800.0}
MONDAY = 4 * 86400.0  # 1970 began on a Thursday
PARTS = 20  # of a log without times
ALL = "all"  # the name of the whole log
MOST = 100_000


class WindowGrid(NamedTuple):
    """Windows of equal length: in seconds, or in rows where there is no time."""

    length: float
    origin: float
    timed: bool

    def places(self, at: NDArray[np.float64] | None, first: int, n: int) -> NDArray[np.int64]:
        """The numbers of the windows that n rows belong to, the first of which is row `first` of the log."""
        when = at if self.timed and at is not None else np.arange(first, first + n, dtype=np.float64)
        return np.floor((when - self.origin) / self.length).astype(np.int64)

    def start(self, place: int) -> float:
        """Where a window begins: seconds since 1970, or a row."""
        return self.origin + place * self.length

    def label(self, place: int) -> str:
        """Its name: the day, the minute where it begins, or the first row."""
        start = self.start(place)
        if not self.timed:
            return f"row {start:.0f}"
        moment = datetime.datetime.fromtimestamp(start, datetime.UTC)
        return moment.date().isoformat() if self.length % 86400.0 == 0.0 else moment.strftime("%Y-%m-%dT%H:%M")


def windows(by: Any, log: Log) -> WindowGrid:
    """The windows given by "hour", "day", "week", a duration like "6h", or a number of rows.

    Without a time column, "hour", "day" and "week" mean twenty equal parts of the log.
    """
    if isinstance(by, int) and not isinstance(by, bool):
        return WindowGrid(float(integer("by", by, least=1, why="it is the number of rows of a window")), 0.0, False)
    if not log.timed or log.start is None or log.end is None:
        if by not in NAMED:
            raise InvalidValue(f"by = {by!r} needs a log with time=…; without one it is a number of rows")
        return WindowGrid(float(max(1, math.ceil(len(log) / PARTS))), 0.0, False)
    try:
        seconds = NAMED[by] if isinstance(by, str) and by in NAMED else duration(by, name="by")
    except InvalidValue:
        raise InvalidValue(
            f"by = {by!r} is not allowed; it must be 'hour', 'day', 'week', a duration like '6h', or a number of rows"
        ) from None
    if (log.end - log.start) / seconds > MOST:
        raise InvalidValue(f"by = {by!r} cuts the log into more than {MOST} windows; choose longer ones")
    whole_days = seconds % 86400.0 == 0.0
    origin = MONDAY if by == "week" else log.start - log.start % (86400.0 if whole_days else min(seconds, 86400.0))
    return WindowGrid(seconds, origin, True)
