"""Simulations, and many trials of them on threads.

The rounds of a world are generated in blocks by NumPy (`world_blocks`). The compiled loop (`rounds`) receives only arrays, so a strategy is
compiled once for all worlds.
"""

import itertools
import os
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..core.checks import Check, check_arms
from ..core.checks import prepare as prepare_checks
from ..core.linalg import Vector
from ..env.rewards import reward_range
from ..env.table import Table
from ..env.world import World
from ..errors import InvalidValue, integer
from ..protocol import (
    Integers,
    Setting,
    add_item,
    describe,
    limits,
    make_room,
    settle,
    start,
    trace,
)
from ..util.notebook import card, draw_regret, lines
from ..util.words import counted
from .rounds import Log, blank_log, play_rounds, play_table
from .world_blocks import CHECKPOINTS, Block, block_size, made

Seed = int | np.random.SeedSequence
Watch = Callable[[Any, Any], dict[str, Any]]


@dataclass(frozen=True, repr=False)
class Run:
    """The result of a simulation."""

    rounds: NDArray[np.int64]  # (c,) checkpoints, 1-based; the last is T
    regret: Vector  # (c,) cumulative dynamic regret after these rounds
    info: dict[str, Any] = field(default_factory=dict)  # the strategy's description of its final state
    trace: dict[str, NDArray[Any]] = field(default_factory=dict)  # quantities over time, if the strategy has any
    seconds: float = 0.0  # wall-clock time of the loop
    choices: NDArray[np.int64] | None = None  # (T,) arms played, with checkpoints="all"
    reward: Vector | None = (
        None  # (c,) cumulative expected reward after these rounds; regret + reward is the expected reward of the best arms
    )
    plays: NDArray[np.int64] | None = None  # (c, n) plays of each arm up to these rounds, with plays=True
    times: Vector | None = None  # (c,) seconds since 1970, if the world has times

    @property
    def reward_per_round(self) -> Vector:
        """(c,) mean expected reward of the rounds until each checkpoint."""
        if self.reward is None:
            raise InvalidValue("this run has no rewards; runs of `simulate` have them")
        return np.asarray(self.reward / self.rounds)

    def __repr__(self) -> str:
        reward = "" if self.reward is None else f", reward per round {self.reward_per_round[-1]:.4g}"
        return f"Run({counted(int(self.rounds[-1]), 'round')}, regret {self.regret[-1]:.4g}{reward})"

    def _repr_html_(self) -> str:
        """Its numbers and its regret over time, for notebooks."""
        rows: dict[str, Any] = {"rounds": f"{int(self.rounds[-1]):,}", "regret": f"{self.regret[-1]:.4g}"}
        if self.reward is not None:
            rows["reward per round"] = f"{self.reward_per_round[-1]:.4g}"
        rows["seconds"] = f"{self.seconds:.3g}"
        return card("Run", rows, lines(self.rounds, [self.regret], "regret"))

    def plot(self, *, ax: Any = None, label: str | None = None) -> Any:
        """Plot the regret after each checkpoint, over time where the world has times; returns the matplotlib axes.

        Pass the axes on to draw several runs into one picture.

        Examples
        --------
        >>> import driftbandits as db
        >>> world = db.env.linear(db.env.unit_arms(5, dim=2, seed=0), db.env.rotating(50))
        >>> run = db.simulate(db.zoo.oful(lam=2, S=1, L=1, R=1, delta=0.1), world)
        >>> run.plot(label="OFUL").get_ylabel()
        'regret'
        """
        at = self.rounds if self.times is None else (self.times * 1e6).astype("datetime64[us]")
        return draw_regret(at, self.regret, "round" if self.times is None else "time (UTC)", ax, label)


def simulate(
    strategy: Any,
    env: World | Table,
    *,
    seed: Seed = 0,
    checkpoints: int | Literal["all"] | ArrayLike = CHECKPOINTS,
    check: Check = "error",
    plays: bool = False,
    watch: Watch | None = None,
) -> Run:
    """Run a strategy in a world.

    Parameters
    ----------
    strategy
        From `zoo`, or any composition of parts.
    env
        From `env`.
    seed
        Seed of the noise and of the strategy's own randomness. With the same seed, all strategies receive the same noise.
    checkpoints
        The number of checkpoints, spread evenly; "all"; or the rounds themselves, increasing.
    check
        Arms longer than the strategy's L are an error, a warning ("warn") or ignored ("off"). Unless it is "off", rewards outside the range
        that the strategy assumes, and changing arms for MASTER, are errors.
    plays
        Record at every checkpoint how often each arm was played.
    watch
        A function of (strategy, state), called about 300 times in a run, that returns a dictionary of values to record; they become
        `Run.trace`. The state is the live one and must not be changed. By default `protocol.trace`, which the strategy defines;
        `watch_nothing` records nothing and is faster.

    Examples
    --------
    >>> import driftbandits as db
    >>> world = db.env.linear(db.env.unit_arms(50, dim=2, seed=0), db.env.rotating(1000))
    >>> run = db.simulate(db.zoo.oful(lam=2, S=1, L=1, R=1, delta=0.001), world, seed=0, plays=True)
    >>> int(run.rounds[-1]), int(run.plays[-1].sum())
    (1000, 1000)
    >>> run = db.simulate(db.zoo.oful(lam=2, S=1, L=1, R=1, delta=0.001), world, watch=lambda strategy, state: {"beta": state.beta[0]})
    >>> run.trace["round"][:3], run.trace["beta"].shape
    (array([3, 6, 9]), (334,))
    """
    if not isinstance(env, World | Table):
        raise InvalidValue(f"env = {env!r:.60} is not a world; make one with db.env, e.g. db.env.linear(arms, path)")
    prepare_checks("now")
    T, strategy = env.horizon, settle(strategy, env.dim)
    every = isinstance(checkpoints, str) and checkpoints == "all"
    marks = _checkpoints(checkpoints, T)
    noise_rng, rng = map(np.random.default_rng, streams(seed))
    if isinstance(env, Table):
        return _simulate_table(strategy, env, rng, marks, every, check, plays, watch)
    tell = _watch(strategy, watch)
    size = block_size(env, looked_into=tell is not None)
    blocks = made(env.arms.blocks(env.horizon, size), env.path.blocks(size), env.reward, noise_rng)
    return play(strategy, env, blocks, rng, marks, every=every, check=check, plays=plays, tell=tell)


def play(
    strategy: Any,
    env: World,
    world_blocks: Iterable[Block],
    rng: np.random.Generator,
    marks: Integers,
    *,
    every: bool = False,
    check: Check = "error",
    plays: bool = False,
    tell: Watch | None = None,
) -> Run:
    """Run a settled strategy in a world whose rounds are already generated, so that several strategies can share them.

    `world_blocks` are all rounds of `env` (`world_blocks.made`), `marks` the checkpoints, the last of which is T. Blocks are never changed.
    """
    _check_world(strategy, env, check)
    T, fixed, bound = env.horizon, env.arms.fixed, limits(strategy).L
    blocks = iter(world_blocks)
    first = next(blocks)
    offered = first.arms[0] if fixed else np.zeros((env.dim, 0))
    state = start(strategy, Setting(env.dim, offered, T), rng)
    state = make_room(strategy, state, env.arms.n)
    log = blank_log(marks, T if every else 0, env.arms.n if plays else 0)
    traced: list[dict[str, Any]] = []
    score, x = np.zeros(env.arms.n), np.zeros(env.dim)
    began = time.perf_counter()
    code = None
    for block in itertools.chain((first,), blocks):
        if block is first or not fixed:
            check_arms(block.arms, bound, check)
        length = len(block.theta)
        # The loop returns to Python about once per checkpoint if a function watches the state, otherwise once per block.
        look = max(1, min(length, T // CHECKPOINTS)) if tell else length
        for t in range(0, length, look):
            now = slice(t, t + look)
            offer = block.arms if fixed else block.arms[now]
            given = (block.theta[now], block.best[now], block.draw[now], fixed, score, x, rng, log)
            if code is None:  # all blocks have the same types, so one lookup of the machine code is enough
                code = play_rounds.direct(strategy, state, env.reward, offer, *given)
            code(strategy, state, env.reward, offer, *given)
            if tell:
                traced.append({"round": int(log.played[0]), **tell(strategy, state)})
    return _run(log, strategy, state, traced, time.perf_counter() - began)


def trials(
    strategy: Any,
    problem: Callable[[int], World | Table] | World | Table,
    *,
    trials: int = 20,
    seed: int = 0,
    jobs: int | None = None,
    **options: Any,
) -> list[Run]:
    """Simulate independent trials on threads; trial i runs in the world `problem(i)` with noise of its own.

    `problem` may be a world instead of a function: then every trial runs in it, and only the random numbers differ.

    The result does not depend on `jobs`, by default the number of cores.

    Examples
    --------
    >>> import driftbandits as db
    >>> problem = lambda i: db.env.linear(db.env.unit_arms(50, dim=2, seed=i), db.env.rotating(500))
    >>> runs = db.trials(db.zoo.oful(lam=2, S=1, L=1, R=1, delta=0.001), problem, trials=4)
    >>> len(runs)
    4
    """
    count = integer("trials", trials, least=1, why="at least one run is needed")

    def one(i: int) -> Run:
        world = problem(i) if callable(problem) else problem
        return simulate(strategy, world, seed=np.random.SeedSequence([seed, i]), **options)

    with ThreadPoolExecutor(jobs or os.cpu_count()) as pool:
        return list(pool.map(one, range(count)))


def watch_nothing(strategy: Any, state: Any) -> dict[str, Any]:
    """Record nothing: `Run.trace` stays empty, and the compiled loop is not interrupted."""
    return {}


def _watch(strategy: Any, wanted: Watch | None) -> Watch | None:
    """The function that watches the state during a run, or None."""
    if wanted is None:
        return trace if trace.knows(type(strategy)) else None
    return None if wanted is watch_nothing else wanted


def _check_world(strategy: Any, env: World, check: Check) -> None:
    """Raise if the world violates an assumption of the strategy's guarantee, unless `check` is "off"."""
    own, (low, high) = limits(strategy), reward_range(env.reward)
    if check == "off":
        return
    if low < own.low or high > own.high:
        raise InvalidValue(
            f"rewards of this world are in [{low:g}, {high:g}]; the strategy needs them in [{own.low:g}, {own.high:g}] "
            "(check='off' skips this check)"
        )
    if own.fixed_arms and not env.arms.fixed:
        raise InvalidValue(
            f"the arms change from round to round; the tests of {type(strategy).__name__} compare rounds with the same arms "
            "(check='off' skips this check)"
        )


def check_table(strategy: Any, env: Table, check: Check) -> None:
    """Raise if a settled strategy cannot play this table or, unless `check` is "off", if the rewards violate its assumptions."""
    own, (low, high) = limits(strategy), (float(env.rewards.min()), float(env.rewards.max()))
    if env.items and not add_item.knows(type(strategy)):
        raise InvalidValue(
            f"{type(strategy).__name__} has no model per item; give the features of every arm: X of shape (T, n, d)"
        )
    if check != "off" and not (own.low <= low and high <= own.high):
        raise InvalidValue(
            f"rewards are in [{low:g}, {high:g}]; the strategy needs them in [{own.low:g}, {own.high:g}] "
            "(check='off' skips this check)"
        )


def _simulate_table(
    strategy: Any,
    env: Table,
    rng: np.random.Generator,
    marks: Integers,
    every: bool,
    check: Check,
    plays: bool,
    watch: Watch | None,
) -> Run:
    """Run a strategy in a world given as a table."""
    check_table(strategy, env, check)
    T, n, bound = env.horizon, env.choices, limits(strategy).L
    state = start(strategy, Setting(env.dim, np.zeros((env.dim, 0)), T, n if env.items else 0), rng)
    state = make_room(strategy, state, n)
    log, best, score, x = (
        blank_log(marks, T if every else 0, n if plays else 0),
        env.best(),
        np.zeros(n),
        np.zeros(env.dim),
    )
    began = time.perf_counter()
    traced: list[dict[str, Any]] = []
    tell = _watch(strategy, watch)
    for now, offers in env.blocks(max(1, T // CHECKPOINTS) if tell else T):
        check_arms(offers, bound, check)
        # A memory-mapped file or a broadcast array is read-only, which is another type for numba: it would compile the loop again.
        offers, rewards, means = (
            np.require(a, requirements=("C", "W")) for a in (offers, env.rewards[now], env.expected[now])
        )
        play_table(strategy, state, offers, rewards, means, best[now], env.items, score, x, rng, log)
        if tell:
            traced.append({"round": int(log.played[0]), **tell(strategy, state)})
    run = _run(log, strategy, state, traced, time.perf_counter() - began)
    return run if env.times is None else replace(run, times=env.times[marks - 1])


def _run(log: Log, strategy: Any, state: Any, traced: list[dict[str, Any]], seconds: float) -> Run:
    """The result from the log and the final state."""
    return Run(
        rounds=log.marks,
        regret=log.regret,
        info=describe(strategy, state),
        trace={name: np.asarray([row[name] for row in traced]) for name in (traced[0] if traced else {})},
        seconds=seconds,
        choices=log.choices if len(log.choices) else None,
        reward=log.reward,
        plays=log.plays if len(log.counts) else None,
    )


def _checkpoints(wanted: Any, T: int) -> Integers:
    """Increasing 1-based rounds, the last of which is T."""
    if isinstance(wanted, str):
        if wanted != "all":
            raise InvalidValue(f"checkpoints = {wanted!r} is not allowed; it must be a number, rounds, or 'all'")
        return np.arange(1, T + 1)
    if np.ndim(wanted) == 0:
        count = integer("checkpoints", wanted, least=1, why="the last round is always one")
        return spread_rounds(count, T)
    rounds = np.asarray(wanted, np.int64)
    if rounds.ndim != 1 or len(rounds) == 0 or rounds[0] < 1 or rounds[-1] > T or (np.diff(rounds) <= 0).any():
        raise InvalidValue(f"checkpoints must be increasing rounds in 1..{T}; given {rounds.tolist()}")
    return rounds if rounds[-1] == T else np.append(rounds, T)


def spread_rounds(count: int, T: int) -> Integers:
    """At most `count` evenly spread rounds, the last of which is T."""
    count = min(count, T)
    return np.unique(np.linspace(T / count, T, count).round().astype(np.int64))


def streams(seed: Seed) -> list[np.random.SeedSequence]:
    """Two independent random streams: for the noise, which all strategies share, and for the strategy's own randomness."""
    return seed_sequence(seed).spawn(2)


def seed_sequence(seed: Seed) -> np.random.SeedSequence:
    """A seed sequence to spawn streams from. A copy is made, because spawning changes the sequence it is called on."""
    if isinstance(seed, np.random.SeedSequence):
        return np.random.SeedSequence(seed.entropy, spawn_key=seed.spawn_key)
    return np.random.SeedSequence(integer("seed", seed, least=0, why="it starts the random generators"))
