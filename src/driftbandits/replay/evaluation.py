"""`replay`: policies walk through a log together, each with a copy of its own, and what they would have earned is estimated."""

import heapq
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.linalg import Vector
from ..errors import DriftBanditsError, InvalidValue, integer
from .estimators import DR, EACH, ESTIMATORS, HEAD, LEAST, MR, REWARDS, ROWS, WR, WW, M, W
from .forecast import Forecast
from .log import Log
from .policies import policy_of
from .policy import Asked, OwnOnly, Policy
from .result import Replay, Walk
from .rows import Row
from .sums import Sums
from .windows import windows

HISTORIES = ("log", "own")
LOOKS = 200  # at a policy's memory
Progress = Callable[[int, int], None]  # rows done, of all


def replay(
    policies: Mapping[str, Any],
    log: Log,
    *,
    estimators: Sequence[str] | str = ESTIMATORS,
    delay: str | None = "observed",
    by: Any = "day",
    rolling: int = 1,
    history: str = "log",
    seed: int = 0,
    progress: Progress | None = None,
) -> Replay:
    """What policies would have earned on a log, over all of it and window by window.

    Parameters
    ----------
    policies
        From names to policies: a `Bandit`, a strategy of the zoo, or any object with `decide(items, context, at)`, which returns an
        item's name (or probabilities by name), and, if it learns, `reward(item, reward, context, at)`. Each is copied.
    log
        From `Log.read`.
    estimators
        Of "replay", "ips", "snips", "dr"; docs/replay.md says what each needs. Those that the log does not allow are left out, and
        `refused` says why; if none is left, that is an error.
    delay
        "observed": rewards reach the policy when they did (`reward_time` of the log; without it, at once); None: at once.
    by
        Windows: "hour", "day", "week", a duration like "6h", or a number of rows.
    rolling
        Each window is so many of them long, and begins one after the other.
    history
        What policies learn from in "ips", "snips" and "dr": "log", every row, whoever chose; or "own", only rows where they agree
        with the log, as in "replay".
    seed
        Of the bootstrap, of the coins of "replay", and of the draws for policies that answer with probabilities.
    progress
        Called now and then with the number of rows done and of all rows.

    Examples
    --------
    >>> import driftbandits as db, numpy as np, pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> item = rng.choice(["a", "b"], 2000)
    >>> clicked = rng.random(2000) < np.where(item == "b", 0.3, 0.1)
    >>> log = db.Log.read(pd.DataFrame({"item": item, "clicked": clicked}), item="item", reward="clicked")
    >>> result = db.replay({"always b": lambda items, context, at: "b"}, log, estimators=("snips",))
    >>> round(result.estimate("always b").value, 1)
    0.3
    """
    asked = _checked(policies, estimators, history, delay)
    if not isinstance(log, Log):
        raise InvalidValue(f"log is of type {type(log).__name__}; it must come from db.Log.read(…)")
    rolling = integer("rolling", rolling, least=1, why="it is the number of windows that are taken together")
    seed = integer("seed", seed, least=0, why="it starts the bootstrap")
    clock = windows(by, log)
    refused: dict[Any, str] = {**_impossible(log, asked)}
    left = [name for name in asked if name not in refused]
    if not left:
        raise InvalidValue(next(iter(refused.values())))
    walkers = [_Walker(name, given, log, left, history, seed) for name, given in policies.items()]
    for walker in walkers:
        refused |= walker.refused
    sums = Sums(HEAD + EACH * len(walkers))
    forecast = Forecast() if "dr" in left else None
    coins = np.random.default_rng([seed, 0])
    _walk(log, walkers, forecast, sums, clock.place, delay == "observed", coins, progress)
    return Replay(log, [w.walk for w in walkers], asked, refused, sums, clock, rolling, seed)


def _checked(policies: Any, estimators: Any, history: str, delay: Any) -> tuple[str, ...]:
    if not isinstance(policies, Mapping) or not policies:
        raise InvalidValue("policies must be a dict from names to policies, with at least one")
    asked = (estimators,) if isinstance(estimators, str) else tuple(estimators)
    for name in asked or ("",):
        if name not in ESTIMATORS:
            raise InvalidValue(f"estimator {name!r} is not known; it must be {', '.join(map(repr, ESTIMATORS))}")
    if history not in HISTORIES:
        raise InvalidValue(f"history = {history!r} is not allowed; it must be 'log' or 'own'")
    if delay not in ("observed", None):
        raise InvalidValue(f"delay = {delay!r} is not allowed; it must be 'observed' or None")
    return asked


def _impossible(log: Log, asked: Sequence[str]) -> dict[str, str]:
    """Estimators that the log does not allow, whatever the policy; each with one line."""
    facts = log.facts
    if facts.impossible is not None:
        raise InvalidValue(
            f"{facts.impossible} has propensity 0: what was chosen had a chance, so it is wrong, and nothing can be weighted by it"
        )
    if facts.crooked is not None:
        why = f"{log.name} has no propensities, and its choices are not uniform: {facts.crooked}; give propensity=…"
        return dict.fromkeys(asked, why)
    kept = facts.least * facts.rows
    if "replay" in asked and kept < LEAST:
        return {
            "replay": f"replay would keep about {kept:.0f} of {facts.rows} rows, because the smallest propensity is "
            f"{facts.least:.2g}; use 'ips', 'snips' or 'dr'"
        }
    return {}


@dataclass
class _Runner:
    """One copy of a policy: it learns from every row, or from those where it agrees."""

    policy: Policy
    own: bool


class _Walker:
    """A policy with its copies: one for all estimators, or one for each history."""

    def __init__(self, name: str, given: Any, log: Log, estimators: Sequence[str], history: str, seed: int) -> None:
        self.walk = Walk(name)
        weighted = any(e != "replay" for e in estimators)
        foreign = weighted and history == "log"
        self.weighted: _Runner | None = None
        self.matched: _Runner | None = None
        self.refused: dict[tuple[str, str], str] = {}
        try:
            if weighted:
                self.weighted = _Runner(policy_of(name, given, log, foreign=foreign, seed=seed), own=history == "own")
        except OwnOnly as problem:
            if "replay" not in estimators:
                raise
            self.refused = {(name, e): str(problem) for e in estimators if e != "replay"}
        if "replay" in estimators:
            shared = self.weighted is not None and (self.weighted.own or not self.weighted.policy.learns)
            if shared:
                self.matched = self.weighted
            else:
                self.matched = _Runner(policy_of(name, given, log, foreign=False, seed=seed), own=True)

    def runners(self) -> Iterator[_Runner]:
        """Each copy once."""
        if self.weighted is not None:
            yield self.weighted
        if self.matched is not None and self.matched is not self.weighted:
            yield self.matched


def _walk(
    log: Log,
    walkers: list[_Walker],
    forecast: Forecast | None,
    sums: Sums,
    place: Any,
    late: bool,
    rng: np.random.Generator,
    progress: Progress | None,
) -> None:
    waiting: list[tuple[float, int, Row, list[Policy]]] = []
    every = max(1, len(log) // LOOKS)
    for t, row in enumerate(log):
        while waiting and row.at is not None and waiting[0][0] <= row.at:
            _tell(*heapq.heappop(waiting)[1:])
        try:
            told, values = _row(t, row, walkers, forecast, log, rng)
        except DriftBanditsError as problem:
            raise type(problem)(f"row {row.number} of {log.name}: {problem}") from None
        sums.add(place(row, t), values)
        if late and row.rewarded is not None and row.rewarded != row.at:
            heapq.heappush(waiting, (row.rewarded, t, row, told))
        else:
            _tell(t, row, told)
        if t % every == 0 or t == len(log) - 1:
            for walker in walkers:
                _look(walker, t, row)
            if progress is not None:
                progress(t + 1, len(log))


def _tell(t: int, row: Row, told: list[Policy]) -> None:
    for policy in told:
        policy.tell(t, row)


def _look(walker: _Walker, t: int, row: Row) -> None:
    runner = walker.weighted or walker.matched
    assert runner is not None
    known = runner.policy.memory()
    if known is not None:
        walker.walk.memory.append((float(t) if row.at is None else row.at, known))
    walker.walk.events[:] = runner.policy.events()


def _row(
    t: int, row: Row, walkers: list[_Walker], forecast: Forecast | None, log: Log, rng: np.random.Generator
) -> tuple[list[Policy], Vector]:
    """Ask everybody about a row; who is to hear its reward, and what it adds to the sums."""
    p = 1.0 / len(row.items) if row.propensity is None else row.propensity
    heads = rng.random() < log.facts.least / p  # the coin of "replay"
    expected = forecast.ahead(t, row) if forecast is not None else {}
    values = np.zeros(HEAD + EACH * len(walkers))
    values[ROWS], values[REWARDS] = 1.0, row.reward
    told: list[Policy] = []
    for k, walker in enumerate(walkers):
        own = values[HEAD + EACH * k :][:EACH]
        for runner in walker.runners():
            asked = runner.policy.ask(t, row)
            agrees = heads and asked.item == row.item
            if runner is walker.weighted:
                _weigh(own, asked, row, p, expected)
            if runner is walker.matched:
                own[M], own[MR] = float(agrees), row.reward if agrees else 0.0
            if agrees or not runner.own:
                told.append(runner.policy)
            else:
                runner.policy.skip(t)
    if forecast is not None:
        forecast.learn(t, row)
    return told, values


def _weigh(own: Vector, asked: Asked, row: Row, p: float, expected: Mapping[Any, float]) -> None:
    w = asked.p.get(row.item, 0.0) / p
    own[W], own[WW], own[WR] = w, w * w, w * row.reward
    if expected:
        direct = math.fsum(chance * expected[item] for item, chance in asked.p.items())
        own[DR] = direct + w * (row.reward - expected[row.item])
