"""The plots of a replay."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..plots.plot import Axis, Plot, Series, log_ticks, thinned
from ..plots.style import PALETTE, colour_of, role_colour
from ..zoo.roles import Role
from .policy import ADAPTIVE, HALF_LIFE, NEVER

if TYPE_CHECKING:
    from .answer import Answer
    from .result import Replay

ROLE: dict[str, Role] = {NEVER: "never forgets", ADAPTIVE: "tuning-free", "as logged": "baseline"}


def values(found: "Replay", estimator: str, policies: Sequence[str] | None = None) -> Plot:
    """Value per decision of policies, window by window, with its interval."""
    series = []
    for k, name in enumerate(found.policies if policies is None else policies):
        windows = [(start, e) for _, start, e in found.windows(name, estimator)]
        if any(not math.isnan(e.value) for _, e in windows):
            known = [(start, e) for start, e in windows if not math.isnan(e.value)]
            low, high = [e.low for _, e in known], [e.high for _, e in known]
            x, y = [start for start, _ in known], [e.value for _, e in known]
            series.append(Series(name, _colour(name, k), x, y, low=low, high=high))
    return Plot(f"value per decision ({estimator})", _when(found), Axis("value per decision"), tuple(series))


def _colour(name: str, position: int) -> str:
    """The colour of a policy: that of its role if it is a policy of `answer`, otherwise the next colour of `plots.style`."""
    if name.startswith(HALF_LIFE):
        return role_colour("fixed forgetting")
    return role_colour(ROLE[name]) if name in ROLE else colour_of("", position)


def _when(found: "Replay") -> Axis:
    return Axis("", time=True) if found.clock.timed else Axis("row")


def against_half_life(answer: "Answer") -> Plot:
    """Value against half-life with intervals, with horizontal lines for never forgetting, the adaptive learner, and the logged policy."""
    found, tried = answer.replay, [h for h in answer.tried if not math.isnan(h.value.value)]
    x = [h.length for h in tried]
    names = {h.length: h.name.removeprefix(HALF_LIFE) for h in tried}
    ends = [min(x) / 1.3, max(x) * 1.3]
    series = []
    for name, line in ((NEVER, "dashed"), (ADAPTIVE, "dashdot")):
        e = found.estimate(name, answer.estimator)
        if not math.isnan(e.value):
            series.append(Series(name, _colour(name, 0), ends, [e.value] * 2, line, low=[e.low] * 2, high=[e.high] * 2))
    series.append(Series("as logged", _colour("as logged", 0), ends, [found.logged.value] * 2, "dotted", thin=True))
    low, high = [h.value.low for h in tried], [h.value.high for h in tried]
    y = [h.value.value for h in tried]
    series.append(Series("half-life", role_colour("fixed forgetting"), x, y, low=low, high=high, marker="o"))
    ticks = thinned(x, 0.07)
    unit = "half-life" if answer.timed else "half-life (decisions)"
    axis = Axis(unit, log=True, ticks=ticks, names=tuple(names[t] for t in ticks), low=ends[0], high=ends[1])
    return Plot("", axis, Axis("value per decision"), tuple(series))


def over_time(answer: "Answer") -> Plot:
    """The best half-life against never forgetting, window by window."""
    return values(answer.replay, answer.estimator, [answer.best.name, NEVER])


def memory(answer: "Answer") -> Plot | None:
    """The effective memory of the adaptive learner over time, and the times of drift that it detected."""
    walk = answer.replay.walks[ADAPTIVE]
    known = [(at, n) for at, n in walk.memory if n > 0.0]
    if not known:
        return None
    low, high = min(n for _, n in known) / 1.3, max(n for _, n in known) * 1.3
    series = []
    if walk.events:
        gaps = [(e.at, e.at, math.nan) for e in walk.events]
        x = [v for three in gaps for v in three]
        series.append(Series("drift", PALETTE["grey"], x, [low, high, math.nan] * len(gaps), "dotted", thin=True))
    series.append(Series("memory", role_colour("tuning-free"), [at for at, _ in known], [n for _, n in known]))
    y = Axis("observations it rests on", log=True, ticks=log_ticks(low, high), low=low, high=high)
    return Plot("", _when(answer.replay), y, tuple(series))
