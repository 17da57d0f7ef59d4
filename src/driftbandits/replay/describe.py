"""From a replay to its plots."""

from ..plots.plot import Axis, Plot, Series
from ..plots.style import colour_of
from .result import Replay


def values(found: Replay, estimator: str) -> Plot:
    """Value per decision of every policy, window by window, with its interval."""
    series = []
    for k, name in enumerate(found.policies):
        known = [(start, e) for _, start, e in found.windows(name, estimator) if e.value == e.value]
        if known:
            x = [start for start, _ in known]
            y, low, high = ([getattr(e, which) for _, e in known] for which in ("value", "low", "high"))
            series.append(Series(name, colour_of("", k), x, y, low=low, high=high))
    axis = Axis("", time=True) if found.clock.timed else Axis("row")
    return Plot(f"value per decision ({estimator})", axis, Axis("value per decision"), tuple(series))
