"""Comparison of half-lives on a log: whether forgetting increases the reward, and with which half-life."""

import datetime
import functools
import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..bandit import Bandit
from ..bandit.clock import duration
from ..bandit.events import DriftEvent
from ..errors import InvalidValue, positive
from ..io.files import Path
from .estimators import Estimate
from .evaluation import replay
from .item_changes import ItemChange, item_changes
from .log import Log
from .policy import ADAPTIVE, HALF_LIFE, NEVER
from .result import Replay
from .tuning import Honest, honest
from .walk import Progress

FOREVER = 1e12  # decisions: a half-life that forgets nothing
DURATIONS = (
    *("10min", "30min", "1h", "3h", "6h", "12h", "1d", "2d", "4d"),
    *("7d", "14d", "28d", "56d", "112d", "224d", "448d", "896d"),
)
COUNTS = (10, 30, 100, 300, 1000, 3000, 10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000)
MOST = 7  # half-lives that are tried unless the user says which
LEAST_ROWS = 20  # a half-life contains at least this many decisions on average
FEW, ROWS_EACH = 4, 40  # windows that a plot over time has at least, and rows of each
SHOWN = 6  # days of drift that a sentence names
NAMED = 3  # items that a sentence names


@dataclass(frozen=True)
class HalfLife:
    """A half-life that was tried."""

    name: str  # of its policy
    length: float  # days, or decisions
    value: Estimate


@dataclass(frozen=True)
class Answer:
    """The result of comparing half-lives on a log.

    Attributes
    ----------
    verdict
        The answer in one sentence.
    best
        The half-life with the largest estimate.
    gain
        The cross-validated gain of choosing the half-life by the log over never forgetting.
    replay
        The replay of all of them.
    """

    log: Log
    replay: Replay
    estimator: str
    tried: list[HalfLife]
    best: HalfLife
    gain: Honest
    verdict: str

    @property
    def timed(self) -> bool:
        """Whether half-lives are measured in days; otherwise in decisions."""
        return self.log.timed

    @property
    def events(self) -> list[DriftEvent]:
        """The times of drift that the adaptive learner detected."""
        return self.replay.walks[ADAPTIVE].events

    @property
    def when(self) -> str:
        """When drift was noticed, in words."""
        return dated(self.events, self.log)

    @functools.cached_property
    def item_changes(self) -> list[ItemChange]:
        """The items whose own reward changed, and when; the most certain first."""
        return item_changes(self.log)

    @property
    def which_item(self) -> str:
        """The items that changed, in one sentence."""
        if not self.item_changes:
            return "No single item's reward changed by more than chance explains."
        told = [_changed(change, self.log) for change in self.item_changes[:NAMED]]
        more = len(self.item_changes) - NAMED
        return f"{'; '.join(told)}{f'; and {more} more' if more > 0 else ''}."

    @property
    def against_today(self) -> str:
        """The logged decisions against the tuning-free learner, in one sentence.

        "More" and "less" are said only where the two intervals do not overlap, which errs on the side of caution.
        """
        today, own = self.replay.logged, self.replay.estimate(ADAPTIVE, self.estimator)
        said = f"As logged {today.value:.3g} per decision [{today.low:.3g}, {today.high:.3g}]"
        if own.value != own.value:
            return f"{said}; this log cannot value a learner."
        found = "more than today" if own.low > today.high else "less than today" if own.high < today.low else ""
        interval = f"{own.value:.3g} [{own.low:.3g}, {own.high:.3g}]"
        return f"{said}; a tuning-free learner {interval}: {found or 'no clear difference'}."

    def write(self, path: Path) -> None:
        """Write the result as a single offline HTML file."""
        from ..io.files import write_atomically
        from .page import page

        write_atomically(path, page(self))


def answer(
    log: Log,
    *,
    half_lives: Sequence[Any] | None = None,
    reward: str | None = None,
    estimator: str = "dr",
    by: Any = None,
    delay: str | None = "observed",
    interval: str = "bootstrap",
    seed: int = 0,
    progress: Progress | None = None,
    scheduler: str | None = None,
    make: Callable[..., Any] = Bandit,
    **settings: Any,
) -> Answer:
    """Compare half-lives with never forgetting on a log.

    Parameters
    ----------
    half_lives
        Numbers of decisions, or durations like "2d". By default about seven that suit the log.
    reward
        As in `Bandit`; by default "click" if all rewards are 0 or 1, else "value".
    estimator, delay, interval, seed, progress, scheduler
        As in `replay`; the other estimators are on the page too, where the log allows them.
    by
        As in `replay`; by default days, or weeks or hours where days would be too short or too few.
    settings
        Further settings of `Bandit`.

    Examples
    --------
    >>> import driftbandits as db, numpy as np, pandas as pd
    >>> from driftbandits.replay.answer import answer
    >>> rng = np.random.default_rng(0)
    >>> frame = pd.DataFrame({"item": rng.choice(["a", "b"], 150), "r": rng.normal(size=150)})
    >>> found = answer(db.Log.read(frame, item="item", reward="r"), half_lives=[30, 100], estimator="snips")
    >>> [h.name for h in found.tried]
    ['half-life 30', 'half-life 100']
    """
    kind = reward or ("click" if all(np.isin(chunk.reward, (0.0, 1.0)).all() for chunk in log.chunks()) else "value")
    lengths = _suitable(log) if half_lives is None else list(half_lives)
    if not lengths:
        raise InvalidValue(f"the log has {len(log)} rows: too few to compare half-lives; give half_lives=[…] to try it")
    policies = {
        NEVER: make(reward=kind, half_life=FOREVER, seed=seed, **settings),
        **{name_of(h): make(reward=kind, half_life=h, seed=seed, **settings) for h in lengths},
        ADAPTIVE: make(reward=kind, half_life=None, seed=seed, **settings),
    }
    found = replay(
        policies,
        log,
        estimators=_with(estimator),
        by=by or _stretches(log),
        delay=delay,
        interval=interval,
        seed=seed,
        progress=progress,
        scheduler=scheduler,
    )
    which = found._estimator(estimator if estimator not in found.refused else None)
    tried = [HalfLife(name_of(h), _length(h, log), found.estimate(name_of(h), which)) for h in lengths]
    allowed = [h for h in tried if found._allowed(h.name, which)]
    if not allowed or not found._allowed(NEVER, which):
        raise InvalidValue(next(iter(found.refused.values())))
    tried.sort(key=lambda h: h.length)
    best = max(allowed, key=lambda h: h.value.value)
    gain = honest(found, [h.name for h in allowed], NEVER, which, seed)
    return Answer(log, found, which, tried, best, gain, _verdict(found, which, best, gain, log))


def _with(estimator: str) -> tuple[str, ...]:
    """The estimator that decides, and those that need no additional computation."""
    return tuple(dict.fromkeys((estimator, "snips", "ips")))


def name_of(half_life: Any) -> str:
    """The name of the policy with this half-life."""
    if isinstance(half_life, datetime.timedelta):
        half_life = f"{half_life.total_seconds() / 86400.0:g}d"
    return f"{HALF_LIFE}{half_life}"


def _length(half_life: Any, log: Log) -> float:
    """In days, or in decisions where the log has no time; decisions of a log with times are turned into days."""
    if isinstance(half_life, int | float):
        count = positive("half_life", half_life, "an observation counts half after so many decisions")
        return count * _gap(log) / 86400.0 if log.timed else count
    return duration(half_life, name="half_life") / 86400.0


def _gap(log: Log) -> float:
    """Seconds between decisions, on average."""
    return max((log.end or 0.0) - (log.start or 0.0), 1.0) / len(log)


def _suitable(log: Log) -> list[Any]:
    """Half-lives between twenty decisions and half the log."""
    if log.timed:
        gap = _gap(log)
        known: list[Any] = [d for d in DURATIONS if LEAST_ROWS * gap <= duration(d, name="") <= 0.5 * gap * len(log)]
    else:
        known = [n for n in COUNTS if LEAST_ROWS <= n <= 0.5 * len(log)]
    return known[-MOST:]


def _stretches(log: Log) -> str:
    """The length of windows: days, if there are several with enough rows each; otherwise weeks or parts of a day."""
    for by in ("day", "week", "6h", "hour"):
        seconds = duration({"day": "1d", "week": "7d", "hour": "1h"}.get(by, by), name="by")
        if log.timed and len(log) * _gap(log) >= FEW * seconds and seconds / _gap(log) >= ROWS_EACH:
            return by
    return "day"


# ----------------------------------------------------------------------------------------------------------------- the verdict


def _verdict(found: Replay, which: str, best: HalfLife, gain: Honest, log: Log) -> str:
    base = found.estimate(NEVER, which).value
    drift = dated(found.walks[ADAPTIVE].events, log)
    length = best.name.removeprefix(HALF_LIFE)
    near = f"a half-life near {spoken(length)}"
    if gain.gain_low > 0.0:
        said = f"Forgetting with {near} would have earned {amount(gain, base)} more than never forgetting"
    elif gain.gain_high < 0.0:
        said = (
            f"Forgetting does not pay here: {near}, the best that was tried, "
            f"would have earned {amount(gain, base, -1)} less than never forgetting"
        )
    else:
        said = (
            f"This log is not conclusive about forgetting: the gain of {near}, the best that was tried, "
            f"over never forgetting is {amount(gain, base)}"
        )
    return f"{said}; {drift}."


def amount(gain: Honest, base: float, sign: int = 1) -> str:
    """A gain with its uncertainty: in percent of what is earned, or per decision where that is near nothing.

    Examples
    --------
    >>> amount(Honest(0, 0, 0, 0.03, 0.02, 0.04, []), 0.5)
    '6 % ± 2 %'
    """
    half = 0.5 * (gain.gain_high - gain.gain_low)
    if base > 2.0 * half and base > 0.0:
        percent, error = 100.0 * sign * gain.gain / base, 100.0 * half / base
        digits = max(0, math.ceil(-math.log10(error))) if 0.0 < error < 1.0 else 0
        return f"{percent:.{digits}f} % ± {error:.{digits}f} %"
    return f"{sign * gain.gain:.3g} ± {half:.2g} per decision"


def spoken(length: str) -> str:
    """A half-life in words.

    Examples
    --------
    >>> spoken("2d"), spoken("1h"), spoken("300")
    ('2 days', '1 hour', '300 decisions')
    """
    for unit, word in (("min", "minute"), ("h", "hour"), ("d", "day"), ("w", "week"), ("s", "second")):
        if length.endswith(unit) and length.removesuffix(unit).replace(".", "").isdigit():
            number = length.removesuffix(unit)
            return f"{number} {word}" if number == "1" else f"{number} {word}s"
    return f"{length} decisions"


def dated(events: Sequence[DriftEvent], log: Log) -> str:
    """When drift was noticed, in words: "drift was noticed on 3 and 17 May 2024". It began earlier, which is what `ItemChange` dates."""
    if not events:
        return "no drift was noticed"
    if not log.timed:
        rows = [f"{event.at:.0f}" for event in events]
        return (
            f"drift was noticed at row{'s' * (len(rows) > 1)} {_listed(rows)}"
            if len(rows) <= SHOWN
            else f"drift was noticed at {len(rows)} rows"
        )
    days = sorted({datetime.datetime.fromtimestamp(event.at, datetime.UTC).date() for event in events})
    if len(days) > SHOWN:
        return f"drift was noticed on {len(days)} days from {_day(days[0])} to {_day(days[-1])}"
    months = [
        f"{_listed([str(day.day) for day in month])} {first:%B %Y}"
        for first, month in ((key, [*same]) for key, same in itertools.groupby(days, lambda d: d.replace(day=1)))
    ]
    return f"drift was noticed on {_listed(months)}"


def _changed(change: ItemChange, log: Log) -> str:
    """One change in words: "b rose from 0.08 to 0.3 on 14 May 2024"."""
    verb = "rose" if change.after > change.before else "fell"
    when = f"at row {change.at:.0f}"
    if log.timed:
        when = f"on {_day(datetime.datetime.fromtimestamp(change.at, datetime.UTC).date())}"
    return f"{change.item} {verb} from {change.before:.3g} to {change.after:.3g} {when}"


def _day(day: datetime.date) -> str:
    return f"{day.day} {day:%B %Y}"


def _listed(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
