"""`Bandit.plot`: what it earns beside others, rewards of the last week with drift events, and which memories answer."""

import datetime
import math
from collections.abc import Mapping, Sequence
from typing import Any

from ..inference.outcomes import OWN, PHI, N
from .events import DriftEvent
from .ledger import Ledger
from .policy_sums import RANDOM
from .value import Value
from .windows import DAY

BLUE, ORANGE, GREY = "#0072B2", "#D55E00", "#777777"  # Okabe and Ito 2008: told apart by everybody


def plot(values: Sequence[Value], ledger: Ledger, events: Sequence[DriftEvent], info: Mapping[str, Any]) -> Any:
    """A matplotlib figure of three panels."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 3, figsize=(12, 3.4), layout="constrained", width_ratios=(4, 4, 3))
    _compare(axes[0], values)
    _over_time(axes[1], ledger, events)
    _memories(axes[2], info.get("memories") or [])
    return figure


def _compare(axis: Any, values: Sequence[Value]) -> None:
    """Means with their bounds: of the bandit, and of each policy it is compared with."""
    rows = [("this bandit", values[0].own), *((str(v.against), v.other) for v in values)]
    for place, (_, interval) in enumerate(rows):
        colour = BLUE if place == 0 else GREY
        if math.isfinite(interval.lower) and math.isfinite(interval.upper):
            axis.plot([interval.lower, interval.upper], [place, place], color=colour, lw=2, solid_capstyle="butt")
        if math.isfinite(interval.mean):
            axis.plot(interval.mean, place, "o", color=colour)
    axis.set_yticks(range(len(rows)), [name for name, _ in rows])
    axis.set_ylim(len(rows) - 0.5, -0.5)
    kind = "" if values[0].own.finite else "asymptotic, "
    axis.set(xlabel="reward per decision", title=f"What it earns ({kind}95 %, at all times)")


def _over_time(axis: Any, ledger: Ledger, events: Sequence[DriftEvent]) -> None:
    """Mean reward by day, and by hour where there is one day only; drift events as vertical lines."""
    from matplotlib.dates import DateFormatter

    by_day, by_hour = ledger.buckets(RANDOM, "week"), ledger.buckets(RANDOM, "day")
    kept, length = (by_day, DAY) if len(by_day) > 1 else (by_hour, 3600.0)
    known = [(b, sums) for b, sums in kept.items() if sums[N] > 0]
    times = [datetime.datetime.fromtimestamp((b + 0.5) * length, datetime.UTC) for b, _ in known]
    for column, colour, label in ((OWN, BLUE, "this bandit"), (PHI, GREY, "random choice")):
        axis.plot(times, [s[column] / s[N] for _, s in known], "o-", color=colour, label=label, ms=3)
    first = times[0] if times else None
    if times:  # room for half a bucket, so that a single one has a scale too
        half = datetime.timedelta(seconds=0.5 * length)
        axis.set_xlim(times[0] - half, times[-1] + half)
        form = DateFormatter("%d %b" if length == DAY else "%H:%M", datetime.UTC)  # type: ignore[no-untyped-call]
        axis.set_xticks(times[:: max(len(times) // 6, 1)])
        axis.xaxis.set_major_formatter(form)
    for event in events:
        if first is not None and event.time >= first - datetime.timedelta(seconds=length):
            axis.axvline(event.time, color=ORANGE, lw=1, ls="--", label="drift")
    handles, labels = axis.get_legend_handles_labels()
    if handles:
        unique = dict(zip(labels, handles, strict=True))
        axis.legend([*unique.values()], [*unique], fontsize="small", frameon=False)
    axis.tick_params(axis="x", rotation=30)
    axis.set(ylabel="mean reward", title="By day (UTC)" if length == DAY else "By hour (UTC)")


def _memories(axis: Any, memories: Sequence[Sequence[float | None]]) -> None:
    """Weights of the memories."""
    names = ["all" if length is None else f"{length:,.0f}" for length, _ in memories]
    axis.bar(range(len(names)), [float(weight or 0.0) for _, weight in memories], color=BLUE)
    axis.set_xticks(range(len(names)), names, rotation=45, fontsize="small")
    axis.set(xlabel="memory, in decisions", ylabel="weight", title="Which memory answers")


__all__ = ["plot"]
