"""`tune`: choice of settings by their estimated value, and a cross-validated estimate for the choice.

The largest of many estimates is biased upwards, because it was selected (the winner's curse). The log is therefore divided into folds of
neighbouring windows; the winner on all other folds is evaluated on each fold, which did not take part in its selection:

    value = Σ_f n_f v̂_f(k_{−f}) / Σ_f n_f ,    k_{−f} = argmax_k v̂_{−f}(k)
"""

import inspect
import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..core.linalg import Matrix
from ..errors import InvalidValue, said
from .estimators import LEAST, ROWS, Estimate, effective_n, interval, ratio, resampled
from .evaluation import replay
from .log import Log
from .result import Replay
from .walk import Progress

FOLDS = 5
CANDIDATES = 1000


class Honest(NamedTuple):
    """The cross-validated value of choosing by the log, and the same for its gain over another policy."""

    value: float
    low: float
    high: float
    gain: float  # over the other policy
    gain_low: float
    gain_high: float
    chosen: list[str]  # the winner without each fold


class Tuned:
    """The result of `tune`.

    Attributes
    ----------
    best
        The settings with the largest estimate over the whole log.
    value, low, high
        The cross-validated value per decision of settings chosen in this way.
    naive
        The winner's own estimate, which is biased upwards.
    replay
        The replay of all candidates.
    """

    def __init__(
        self, make: Callable[..., Any], fixed: dict[str, Any], settings: dict[str, Any], found: Replay
    ) -> None:
        self._make, self._fixed, self._settings = make, fixed, settings
        self.replay = found
        self.estimator = found._estimator(None)
        allowed = [name for name in found.policies if found._allowed(name, self.estimator)]
        self.honest = honest(found, allowed, allowed[0], self.estimator)
        winner = max(allowed, key=lambda name: found.estimate(name, self.estimator).value)
        self.best: dict[str, Any] = settings[winner]
        self.naive: Estimate = found.estimate(winner, self.estimator)
        self.value, self.low, self.high = self.honest[:3]

    def bandit(self) -> Any:
        """A new policy with the best settings."""
        return self._make(**{**self._fixed, **self.best})

    def to_pandas(self) -> Any:
        """The candidates, best first: their settings, value, low, high, effective_n."""
        import pandas as pd

        return pd.DataFrame(self._table())

    def to_polars(self) -> Any:
        """The same as a polars frame; settings as text, where their types differ."""
        import polars as pl

        return pl.DataFrame(
            [{k: v if isinstance(v, float) else str(v) for k, v in row.items()} for row in self._table()]
        )

    def _table(self) -> list[dict[str, Any]]:
        rows = [
            {**settings, **self.replay.estimate(name, self.estimator)._asdict()}
            for name, settings in self._settings.items()
        ]
        return sorted(rows, key=lambda row: -row["value"] if row["value"] == row["value"] else np.inf)

    def __repr__(self) -> str:
        best = ", ".join(f"{name}={value!r}" for name, value in self.best.items())
        return (
            f"Tuned({best}): {self.value:.4g} [{self.low:.4g}, {self.high:.4g}] per decision on rows that did not choose "
            f"({self.naive.value:.4g} on those that did), of {len(self._settings)} candidates"
        )


def tune(
    make: Callable[..., Any],
    log: Log,
    *,
    over: Mapping[str, Sequence[Any]],
    estimator: str = "dr",
    by: Any = "day",
    delay: str | None = "observed",
    history: str = "log",
    progress: Progress | None = None,
    scheduler: str | None = None,
    **fixed: Any,
) -> Tuned:
    """Choose settings by what they would have earned on a log.

    Parameters
    ----------
    make
        `Bandit`, or any function of the settings that returns a policy.
    log
        From `Log.read`.
    over
        From names of settings to the values to try; all combinations are.
    estimator, by, delay, history, progress, scheduler
        As in `replay`.
    fixed
        Settings that are the same for all.

    Examples
    --------
    >>> import driftbandits as db, numpy as np, pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> frame = pd.DataFrame({"item": rng.choice(["a", "b"], 200), "r": rng.normal(size=200)})
    >>> log = db.Log.read(frame, item="item", reward="r")
    >>> found = db.tune(db.Bandit, log, over={"half_life": [50, None]}, estimator="snips", seed=1)
    >>> sorted(found.best)
    ['half_life']
    """
    if not callable(make):
        raise InvalidValue(
            f"make = {said(make)} is not allowed; it must be db.Bandit, or a function that returns a policy"
        )
    if not isinstance(over, Mapping) or not over or not all(_several(values) for values in over.values()):
        raise InvalidValue(
            "over must be a dict from names of settings to lists of values, like {'half_life': [None, 500]}"
        )
    names = list(over)
    every = [dict(zip(names, values, strict=True)) for values in itertools.product(*over.values())]
    if len(every) > CANDIDATES:
        raise InvalidValue(f"over has {len(every)} combinations; at most {CANDIDATES} are tried")
    for name in names:
        if name in fixed:
            raise InvalidValue(f"{name} is both fixed and to be chosen; give it once")
    _takes(make, [*names, *fixed])
    settings = {", ".join(f"{k}={v!r}" for k, v in each.items()): each for each in every}
    policies = {label: make(**{**fixed, **each}) for label, each in settings.items()}
    options: dict[str, Any] = {"by": by, "delay": delay, "history": history}
    found = replay(policies, log, estimators=(estimator,), progress=progress, scheduler=scheduler, **options)
    return Tuned(make, dict(fixed), settings, found)


def _several(values: Any) -> bool:
    return isinstance(values, Sequence | np.ndarray) and not isinstance(values, str) and len(values) > 0


def _takes(make: Callable[..., Any], names: Sequence[str]) -> None:
    """Raise if a setting does not exist."""
    try:
        known = inspect.signature(make).parameters
    except (TypeError, ValueError):  # written in another language
        return
    anything = any(p.kind is p.VAR_KEYWORD for p in known.values())
    for name in names:
        if name not in known and not anything:
            called = getattr(make, "__name__", type(make).__name__)
            raise InvalidValue(f"{called} has no setting {name!r}; it has {', '.join(known)}")


def honest(found: Replay, candidates: Sequence[str], other: str, estimator: str, seed: int = 0) -> Honest:
    """The value of choosing the best candidate by the log, estimated fold by fold; and its gain over `other`."""
    folds = _folds(found)
    places = [found._places[name] for name in candidates]
    rival = found._places[other]
    totals = np.array([blocks.sum(axis=0) for blocks in folds])
    chosen = [_winner(totals.sum(axis=0) - total, places, estimator) for total in totals]
    values, gains, rows = [], [], []
    for k, (blocks, winner) in enumerate(zip(folds, chosen, strict=True)):
        draws = np.concatenate([blocks.sum(axis=0, keepdims=True), resampled(blocks, seed + k)])
        values.append(ratio(draws, winner, estimator))
        gains.append(values[-1] - ratio(draws, rival, estimator))
        rows.append(draws[:, ROWS])
    weight = np.array(rows) / np.sum(rows, axis=0)
    value, gain = (np.nansum(weight * np.array(each), axis=0) for each in (values, gains))
    names = {found._places[name]: name for name in candidates}
    return Honest(
        float(value[0]),
        *interval(value[1:]),
        float(gain[0]),
        *interval(gain[1:]),
        [names[winner] for winner in chosen],
    )


def _folds(found: Replay) -> list[Matrix]:
    """Blocks of neighbouring windows, in at most five groups of about as many rows; of one window, of neighbouring blocks."""
    blocks = [np.array(window.blocks) for window in found._sums.windows]
    if len(blocks) < FOLDS:
        every = np.concatenate(blocks)
        if len(every) < 2 * FOLDS:
            raise InvalidValue(
                f"the log has {len(found.log)} rows; to choose by it takes at least {2 * FOLDS} blocks of rows"
            )
        return np.array_split(every, FOLDS)
    ends = np.cumsum([window.rows for window in found._sums.windows])
    group = np.minimum((ends - 1) * FOLDS // ends[-1], FOLDS - 1)
    return [np.concatenate([b for b, g in zip(blocks, group, strict=True) if g == k]) for k in np.unique(group)]


def _winner(total: Any, places: Sequence[int], estimator: str) -> int:
    worth = [k for k in places if effective_n(total, k, estimator) >= LEAST / 2.0] or list(places)
    return max(worth, key=lambda k: float(ratio(total, k, estimator)))
