"""The unit of work: one strategy in one environment for one trial, as plain data named by a digest of itself.

The digest covers all that decides the result: the resolved environment and strategy (numbers, not formulas), the seed,
the checkpoints, and the library's code. Two experiments that need the same cell share it; a changed specification needs
other cells. Nothing else is shared, so nothing can be mixed up.
"""

import functools
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import __version__
from ...core.rooms import result_digest
from ...env import Table, World
from ...mdp import simulate_mdp
from ...simulate.runs import Run, simulate, spread_rounds
from .objects import strategy_of, world_of
from .platforms import Platform, this_platform

WINDOWS = 50  # of time, in which reward and plays are told
MOST_ARMS = 100  # whose plays are told


@dataclass(frozen=True)
class Cell:
    """One unit of work, and the place of its result."""

    environment: str
    strategy: str
    trial: int
    spec: dict[str, Any]  # plain JSON
    key: str
    horizon: int
    alone: bool
    composition: str  # the same for cells that need the same machine code


@dataclass(frozen=True)
class Result:
    """The result of a cell."""

    rounds: NDArray[np.int64]
    regret: NDArray[np.float64]
    seconds: float
    info: dict[str, Any] = field(default_factory=dict)
    trace: dict[str, list[float]] = field(default_factory=dict)
    reward: list[float] = field(
        default_factory=list
    )  # (w,) mean expected reward per round in each window of time, or ()
    plays: NDArray[np.int64] = field(
        default_factory=lambda: np.zeros((0, 0), np.int64)
    )  # (w, n) plays of each arm in it, or (0, 0)
    platform: Platform = field(default_factory=dict)


@functools.cache
def library(also: frozenset[str] = frozenset()) -> str:
    """Version and digest of the code that decides results; `also`: further rooms of the library that are used."""
    return f"{__version__}+{result_digest(also)[:12]}"


def run(spec: dict[str, Any]) -> Result:
    """Run a cell; the same specification gives the same bits on any thread, process or machine of the same platform."""
    world, strategy = world_of(spec["environment"]), strategy_of(spec["strategy"])
    answer = one_run(strategy, world, spec)
    seconds = [answer.seconds, *(one_run(strategy, world, spec).seconds for _ in range(spec["repeats"] - 1))]
    reward, plays = _windows(answer)
    return Result(
        answer.rounds,
        answer.regret,
        min(seconds),
        _plain(answer.info),
        _series(answer.trace),
        reward,
        plays,
        this_platform(),
    )


def one_run(strategy: Any, world: Any, spec: dict[str, Any]) -> Run:
    """Simulate once, with the seed of the trial."""
    seed = np.random.SeedSequence(spec["seed"])
    if isinstance(world, World):
        counted = world.arms.fixed and world.arms.n <= MOST_ARMS
        return simulate(strategy, world, seed=seed, checkpoints=spec["checkpoints"], plays=counted)
    if isinstance(world, Table):
        counted = world.choices <= MOST_ARMS
        return simulate(strategy, world, seed=seed, checkpoints=spec["checkpoints"], plays=counted)
    run = simulate_mdp(strategy, world, episodes=spec["horizon"], seed=seed)
    marks = spread_rounds(spec["checkpoints"], spec["horizon"])
    return Run(marks, run.regret[marks - 1], run.info, {}, run.seconds)


def window_ends(rounds: NDArray[np.int64]) -> NDArray[np.int64]:
    """Which checkpoints end the windows of time: all of them, or evenly spread ones if there are many."""
    return spread_rounds(WINDOWS, len(rounds)) - 1


def _windows(run: Run) -> tuple[list[float], NDArray[np.int64]]:
    """Reward per round and plays of each arm, window by window."""
    ends = window_ends(run.rounds)
    lengths = np.diff(run.rounds[ends], prepend=0)
    reward = [] if run.reward is None else (np.diff(run.reward[ends], prepend=0.0) / lengths).tolist()
    plays = np.zeros((0, 0), np.int64) if run.plays is None else np.diff(run.plays[ends], axis=0, prepend=0)
    return reward, plays


def _plain(value: Any) -> Any:
    """Numbers, texts, lists and tables of them; everything else as text."""
    if isinstance(value, dict):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, np.generic):
        return _plain(value.item())
    return value if isinstance(value, str | int | float | bool | None) else str(value)


def _series(trace: dict[str, Any]) -> dict[str, list[float]]:
    """The one-number-a-round quantities of a trace."""
    return {name: np.asarray(v, float).tolist() for name, v in trace.items() if np.ndim(v) == 1 and len(v)}
