"""The result of a replay: estimates by policy, estimator and window, as a frame or a plot."""

import html
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from ..bandit.events import DriftEvent
from ..core.linalg import Matrix, Vector
from ..errors import InvalidValue
from ..inference.always_valid import Bounds
from ..util.words import counted
from .estimators import LEAST_WINDOW, REWARDS, ROWS, Estimate, estimate, interval, ratio, resampled, why_not
from .log import Log
from .sums import Sums
from .windows import ALL, WindowGrid

if TYPE_CHECKING:
    from .walk import AlwaysValid

COLUMNS = ("policy", "estimator", "window", "value", "low", "high", "effective_n")
PREFERRED = ("dr", "snips", "ips", "replay")
NONE = Estimate(math.nan, math.nan, math.nan, 0.0)


@dataclass
class Walk:
    """The history of a policy in a replay: its memory at some times, and the drift it detected."""

    name: str
    memory: list[tuple[float, float]] = field(default_factory=list)
    events: list[DriftEvent] = field(default_factory=list)


class Difference(NamedTuple):
    """The difference in value per decision of two policies, with its 95 % interval; `share` is relative to the other's value."""

    value: float
    low: float
    high: float
    share: float
    share_low: float
    share_high: float


class Replay:
    """The result of `replay`.

    Attributes
    ----------
    refused
        The reasons of rejected estimates, in one line each, by estimator or by (policy, estimator).
    logged
        The reward per decision in the log, with its interval.
    """

    def __init__(
        self,
        log: Log,
        walks: list[Walk],
        estimators: tuple[str, ...],
        refused: dict[Any, str],
        sums: Sums,
        clock: WindowGrid,
        rolling: int,
        seed: int,
        valued: "AlwaysValid | None" = None,
    ) -> None:
        self.log, self.estimators, self.clock, self.rolling = log, estimators, clock, rolling
        self.walks = {walk.name: walk for walk in walks}
        self.refused: dict[Any, str] = dict(refused)
        self._sums, self._seed, self._valued = sums, seed, valued
        self._places = {name: k for k, name in enumerate(self.walks)}
        self._all = sums.blocks()
        self._draws = resampled(self._all, seed)
        total = self._all.sum(axis=0)
        for name, k in self._places.items():
            for estimator in estimators:
                known = estimator in refused or (name, estimator) in refused
                why = None if known else why_not(total, k, estimator, log.facts.least, log.facts.digits)
                if why is not None:
                    self.refused[name, estimator] = f"policy {name!r} cannot be estimated by {estimator}: {why}"
        if not any(self._allowed(name, e) for name in self._places for e in estimators):
            of_policies = [why for who, why in self.refused.items() if isinstance(who, tuple)]
            # What is refused for all policies may advise an estimator that was refused too: it comes last.
            raise InvalidValue(next(iter([*of_policies, *self.refused.values()])))

    # --------------------------------------------------------------------------------------------------------- one by one

    @property
    def policies(self) -> list[str]:
        """Their names."""
        return list(self._places)

    def _allowed(self, policy: str, estimator: str) -> bool:
        return estimator not in self.refused and (policy, estimator) not in self.refused

    def _estimator(self, given: str | None) -> str:
        """The estimator asked for, or the one with least variance that some policy allows."""
        if given is None:
            known = [e for e in PREFERRED if e in self.estimators]
            return next(e for e in known if any(self._allowed(name, e) for name in self._places))
        if given not in self.estimators:
            raise InvalidValue(f"estimator {given!r} was not asked for; there are {', '.join(self.estimators)}")
        return given

    def _policy(self, name: str) -> int:
        if name not in self._places:
            raise InvalidValue(f"no policy is named {name!r}; there are {', '.join(map(repr, self._places))}")
        return self._places[name]

    def estimate(self, policy: str, estimator: str | None = None) -> Estimate:
        """The value of a policy over the whole log; NaN if it was refused."""
        k, which = self._policy(policy), self._estimator(estimator)
        found = estimate(self._all, self._draws, k, which, 0.0)
        if self._valued is not None:
            valued = self._valued.matched if which == "replay" else self._valued.weighted
            found = _within(found, valued[k].bounds())
        return found if self._allowed(policy, which) else NONE._replace(effective_n=found.effective_n)

    @property
    def logged(self) -> Estimate:
        """The reward per decision in the log."""
        total = self._all.sum(axis=0)
        low, high = interval(self._draws[:, REWARDS] / self._draws[:, ROWS])
        found = Estimate(float(total[REWARDS] / total[ROWS]), low, high, float(total[ROWS]))
        return found if self._valued is None else _within(found, self._valued.logged.bounds())

    @property
    def intervals(self) -> str:
        """What the intervals of the whole log are."""
        if self._valued is None:
            return "95 % intervals"
        kind = "finite-sample" if self._valued.bounded else "asymptotic"
        return f"95 % intervals that hold at all times ({kind})"

    def difference(self, policy: str, other: str, estimator: str | None = None) -> Difference:
        """The difference in value of two policies. Both are evaluated on the same rows, so its interval is narrower than theirs suggest."""
        a, b, which = self._policy(policy), self._policy(other), self._estimator(estimator)
        for name in (policy, other):
            if not self._allowed(name, which):
                raise InvalidValue(self.refused.get((name, which), self.refused.get(which, "")))
        return difference(self._all, self._draws, a, b, which)

    def windows(self, policy: str, estimator: str | None = None) -> list[tuple[str, float, Estimate]]:
        """The name, the start and the estimate of each window."""
        k, which = self._policy(policy), self._estimator(estimator)
        return [(label, start, found[k, which]) for label, start, found in self._windows() if (k, which) in found]

    def _windows(self) -> list[tuple[str, float, dict[tuple[int, str], Estimate]]]:
        if not hasattr(self, "_found"):
            self._found = []
            windows = self._sums.windows
            for last in range(self.rolling, len(windows) + 1):
                blocks = self._sums.blocks(last - self.rolling, last)
                draws, place = resampled(blocks, self._seed), windows[last - self.rolling].place
                found = {
                    (k, e): estimate(blocks, draws, k, e, LEAST_WINDOW if self._allowed(name, e) else math.inf)
                    for name, k in self._places.items()
                    for e in self.estimators
                }
                self._found.append((self.clock.label(place), self.clock.start(place), found))
        return self._found

    # ------------------------------------------------------------------------------------------------------------- as a whole

    def rows(self) -> list[dict[str, Any]]:
        """One dict per policy, estimator and window; the window "all" is the whole log."""
        answer = []
        for name in self._places:
            for estimator in self.estimators:
                every = [(ALL, self.estimate(name, estimator))]
                every += [(label, found) for label, _, found in self.windows(name, estimator)]
                answer += [dict(zip(COLUMNS, (name, estimator, label, *found), strict=True)) for label, found in every]
        return answer

    def to_pandas(self) -> Any:
        """A pandas frame with the columns policy, estimator, window, value, low, high, effective_n."""
        import pandas as pd

        return pd.DataFrame(self.rows(), columns=list(COLUMNS))

    def to_polars(self) -> Any:
        """The same as a polars frame."""
        import polars as pl

        return pl.DataFrame(self.rows(), schema=list(COLUMNS), orient="row")

    def plot(self, estimator: str | None = None) -> Any:
        """A matplotlib figure: every policy's value, window by window, with its interval."""
        from ..plots.paper import sheet
        from .describe import values

        return sheet([[values(self, self._estimator(estimator))]])

    def __repr__(self) -> str:
        which = self._estimator(None)
        lines = [f"Replay of {counted(len(self.log), 'decision')}, value per decision by {which} with {self.intervals}"]
        width = max(map(len, [*self._places, "as logged"]))
        for name, found in [("as logged", self.logged), *((n, self.estimate(n, which)) for n in self._places)]:
            numbers = f"{found.value:.4g} [{found.low:.4g}, {found.high:.4g}]" if found.value == found.value else "–"
            lines.append(f"  {name:<{width}}  {numbers}  worth {found.effective_n:.0f} rows")
        return "\n".join([*lines, *(f"  {why}" for why in self.refused.values())])

    def _repr_html_(self) -> str:
        """The same as a table, for notebooks."""
        which = self._estimator(None)
        found = [("as logged", self.logged), *((name, self.estimate(name, which)) for name in self._places)]
        rows = "".join(
            f"<tr><td style='text-align:left'>{html.escape(name)}</td><td>{one.value:.4g}</td>"
            f"<td>{one.low:.4g} … {one.high:.4g}</td><td>{one.effective_n:,.0f}</td></tr>"
            if one.value == one.value
            else f"<tr><td style='text-align:left'>{html.escape(name)}</td><td>–</td><td>–</td><td>–</td></tr>"
            for name, one in found
        )
        refused = "".join(f"<p>{html.escape(why)}</p>" for why in self.refused.values())
        head = f"Replay of {counted(len(self.log), 'decision')}, value per decision by {which} with {self.intervals}"
        return (
            f"<table><caption style='text-align:left'>{html.escape(head)}</caption><thead><tr><th style='text-align:left'>policy</th>"
            f"<th>value</th><th>interval</th><th>worth, in rows</th></tr></thead><tbody>{rows}</tbody></table>{refused}"
        )


def _within(found: Estimate, bounds: Bounds) -> Estimate:
    """An estimate with bounds that hold at all times."""
    return found._replace(low=bounds.lower, high=bounds.upper)


def difference(blocks: Matrix, draws: Matrix, a: int, b: int, estimator: str) -> Difference:
    """Paired: both values come from the same resampled blocks."""
    total = blocks.sum(axis=0)

    def gap(sums: Matrix) -> tuple[Vector, Vector]:
        first, second = ratio(sums, a, estimator), ratio(sums, b, estimator)
        return first - second, (first - second) / abs(second)

    value, share = gap(total)
    many = gap(draws)
    return Difference(float(value), *interval(many[0]), float(share), *interval(many[1]))
