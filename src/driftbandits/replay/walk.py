"""One pass over a log, chunk by chunk: each policy is asked about every row and receives the rewards it may learn from.

Policies do not know of each other, so each walks through a chunk alone; what the rows add to the sums is then computed by columns, with
the same operations in the same order as row by row.
"""

import heapq
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.linalg import Matrix, Vector
from ..errors import DriftBanditsError
from .bandit_rows import can_replay, replay_chunk
from .chunks import Chunk, Codes
from .estimators import DR, EACH, HEAD, MR, REWARDS, ROWS, WR, WW, M, W
from .forecast import Forecast
from .log import Log
from .policies import BanditPolicy, policy_of
from .policy import OwnOnly, Policy
from .result import Walk
from .rows import Row
from .sums import Sums
from .valued import Valued
from .windows import WindowGrid

LOOKS = 200  # at a policy's memory
SIZE = 512  # rows that a policy walks through before the next one does; more make Python's garbage collector dearer
Progress = Callable[[int, int], None]  # rows done, of all


@dataclass
class Runner:
    """One copy of a policy: it learns from every row, or from the rows where its choice equals the logged one."""

    policy: Policy
    own: bool
    waiting: list[tuple[float, int, Row]] = field(default_factory=list)  # rewards that have not come yet


class Walker:
    """A policy with its copies: one for all estimators, or one for each history."""

    def __init__(self, name: str, given: Any, log: Log, estimators: Sequence[str], history: str, seed: int) -> None:
        self.walk = Walk(name)
        weighted = any(e != "replay" for e in estimators)
        foreign = weighted and history == "log"
        self.weighted: Runner | None = None
        self.matched: Runner | None = None
        self.refused: dict[tuple[str, str], str] = {}
        try:
            if weighted:
                self.weighted = Runner(policy_of(name, given, log, foreign=foreign, seed=seed), own=history == "own")
        except OwnOnly as problem:
            if "replay" not in estimators:
                raise
            self.refused = {(name, e): str(problem) for e in estimators if e != "replay"}
        if "replay" in estimators:
            shared = self.weighted is not None and (self.weighted.own or not self.weighted.policy.learns)
            if shared:
                self.matched = self.weighted
            else:
                self.matched = Runner(policy_of(name, given, log, foreign=False, seed=seed), own=True)

    def runners(self) -> Iterator[Runner]:
        """Each copy once."""
        if self.weighted is not None:
            yield self.weighted
        if self.matched is not None and self.matched is not self.weighted:
            yield self.matched

    def look(self, t: int, row: Row) -> None:
        """Record the policy's memory and the times of drift that it detected."""
        runner = self.weighted or self.matched
        assert runner is not None
        known = runner.policy.memory()
        if known is not None:
            self.walk.memory.append((float(t) if row.at is None else row.at, known))
        self.walk.events[:] = runner.policy.events()


class AlwaysValid:
    """Always-valid bounds of every policy, by weights and by rows that agree, and of what was logged."""

    def __init__(self, log: Log, walkers: int) -> None:
        facts = log.facts
        self.bounded = facts.smallest >= 0.0 and facts.largest <= 1.0
        make = partial(Valued, bounded=self.bounded, rows=facts.rows)
        self.weighted = [make(floor=facts.least) for _ in range(walkers)]
        self.matched = [make(floor=1.0) for _ in range(walkers)]
        self.logged = make(floor=1.0)

    def add(self, values: Matrix, item: Codes) -> None:
        """Rewards of a chunk, and those of rows with which a policy agrees."""
        r = values[:, REWARDS]
        one = np.ones(len(r))
        self.logged.add(one, r, one, item=item)
        for k, matched in enumerate(self.matched):
            agrees = values[:, HEAD + EACH * k + M] > 0.0
            matched.add(one[agrees], r[agrees], one[agrees], item=item[agrees])

    def add_weighted(
        self, k: int, found: "Answers", chunk: Chunk, w: Vector, expected: list[dict[Any, float]] | None
    ) -> None:
        """Weighted rewards of a chunk."""
        forecast = None
        if expected is not None:
            names = [chunk.names[item] for item in chunk.item.tolist()]
            of_item = np.array([known[name] for known, name in zip(expected, names, strict=True)])
            forecast = np.clip(found.direct, 0.0, 1.0) if self.bounded else found.direct, of_item
        self.weighted[k].add(np.ascontiguousarray(w), chunk.reward, np.array(found.largest), forecast, chunk.item)


def walk(
    log: Log,
    walkers: list[Walker],
    forecast: Forecast | None,
    sums: Sums,
    clock: WindowGrid,
    late: bool,
    rng: np.random.Generator,
    progress: Progress | None,
    valued: "AlwaysValid | None" = None,
) -> None:
    """Ask all policies about all rows, and add each row to the sums."""
    every, last, start = max(1, len(log) // LOOKS), len(log) - 1, 0
    for chunk in (piece for whole in log.chunks() for piece in whole.pieces(SIZE)):
        rows = [*chunk.rows()]
        p = 1.0 / chunk.offers.sizes() if chunk.propensity is None else chunk.propensity
        heads = rng.random(len(rows)) < log.facts.least / p  # the coins of "replay"
        values = np.zeros((len(rows), HEAD + EACH * len(walkers)))
        values[:, ROWS], values[:, REWARDS] = 1.0, chunk.reward
        looks = [t for t in range(start, start + len(rows)) if t % every == 0 or t == last]
        expected = _forecasts(forecast, start, rows, chunk.source)
        if valued is not None and valued.bounded and expected is not None:
            expected = [{item: min(max(f, 0.0), 1.0) for item, f in each.items()} for each in expected]
        for k, walker in enumerate(walkers):
            own = values[:, HEAD + EACH * k :][:, :EACH]
            for runner in walker.runners():
                looked = walker.look if runner is (walker.weighted or walker.matched) else None
                if not runner.waiting and can_replay(runner.policy, chunk, late):
                    found = _by_columns(runner, chunk, rows, start, heads, expected, looked, set(looks), len(log))
                else:
                    found = _ask(
                        runner, start, rows, heads, expected, late, looked, set(looks), chunk.source, valued is not None
                    )
                if runner is walker.weighted:
                    _weigh(own, found, chunk, p, expected)
                    if valued is not None:
                        valued.add_weighted(k, found, chunk, own[:, W], expected)
                if runner is walker.matched:
                    own[:, M], own[:, MR] = found.agrees, np.where(found.agrees, chunk.reward, 0.0)
        if valued is not None:
            valued.add(values, chunk.item)
        sums.add(clock.places(chunk.at, start, len(rows)), values)
        start += len(rows)
        for t in looks if progress is not None else ():
            assert progress is not None
            progress(t + 1, len(log))


def _forecasts(forecast: Forecast | None, start: int, rows: list[Row], source: str) -> list[dict[Any, float]] | None:
    """Expected rewards of the items of each row, from the rows before it."""
    if forecast is None:
        return None
    answer = []
    for t, row in enumerate(rows, start):
        try:
            answer.append(forecast.ahead(t, row))
            forecast.learn(t, row)
        except DriftBanditsError as problem:
            raise type(problem)(f"row {row.number} of {source}: {problem}") from None
    return answer


@dataclass
class Answers:
    """The choices of a policy in the rows of a chunk, with their probabilities."""

    p: Vector  # the probability of the item that the log chose
    agrees: NDArray[np.bool_]  # it drew that item too, and the coin fell on heads
    direct: Vector  # Σ π(a) r̂(a)
    largest: list[float]  # max π(a), where always-valid bounds ask for it


def _by_columns(
    runner: Runner,
    chunk: Chunk,
    rows: list[Row],
    start: int,
    heads: NDArray[np.bool_],
    expected: list[dict[Any, float]] | None,
    look: Callable[[int, Row], None] | None,
    looks: set[int],
    total: int,
) -> Answers:
    """A bandit on one chunk, by compiled code."""
    assert isinstance(runner.policy, BanditPolicy)
    found = replay_chunk(runner.policy, chunk, rows, start, runner.own, heads, look, looks, total)
    direct = np.zeros(len(rows))
    if expected is not None:
        each = zip(found.names, found.law, expected, strict=True)
        direct[:] = [_direct(dict(zip(names, law, strict=True)), known) for names, law, known in each]
    return Answers(found.p, found.same & heads, direct, [max(law) for law in found.law])


def _ask(
    runner: Runner,
    start: int,
    rows: list[Row],
    heads: NDArray[np.bool_],
    expected: list[dict[Any, float]] | None,
    late: bool,
    look: Callable[[int, Row], None] | None,
    looks: set[int],
    source: str,
    valued: bool,
) -> Answers:
    """One policy on one chunk: it is asked about each row, then receives the reward if it may learn from it."""
    policy, own, waiting, learns = runner.policy, runner.own, runner.waiting, runner.policy.learns
    p, same, direct = [0.0] * len(rows), [False] * len(rows), [0.0] * len(rows)
    largest: list[float] = []
    for place, row in enumerate(rows):
        t = start + place
        try:
            while waiting and row.at is not None and waiting[0][0] <= row.at:
                policy.tell(*heapq.heappop(waiting)[1:])
            item, chances = policy.ask(t, row)
            p[place], same[place] = chances.get(row.item, 0.0), item == row.item
            if valued:
                largest.append(max(chances.values()))
            if expected is not None:
                direct[place] = _direct(chances, expected[place])
            if learns:
                if own and not (same[place] and heads[place]):
                    policy.skip(t)
                elif late and row.rewarded is not None and row.rewarded != row.at:
                    heapq.heappush(waiting, (row.rewarded, t, row))
                else:
                    policy.tell(t, row)
        except DriftBanditsError as problem:
            raise type(problem)(f"row {row.number} of {source}: {problem}") from None
        if look is not None and t in looks:
            look(t, row)
    return Answers(np.array(p, float), np.array(same, bool) & heads, np.array(direct, float), largest)


def _direct(chances: Mapping[Any, float], expected: Mapping[Any, float]) -> float:
    return math.fsum(chance * expected[item] for item, chance in chances.items())


def _weigh(own: Matrix, found: Answers, chunk: Chunk, p: Vector, expected: list[dict[Any, float]] | None) -> None:
    w = found.p / p
    own[:, W], own[:, WW], own[:, WR] = w, w * w, w * chunk.reward
    if expected is not None:
        names = [chunk.names[k] for k in chunk.item.tolist()]
        logged = np.array([each[name] for each, name in zip(expected, names, strict=True)], float)
        own[:, DR] = found.direct + w * (chunk.reward - logged)
