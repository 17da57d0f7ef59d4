"""The compiled loop over rounds, and trials of it on threads.

    round t:   k = act(strategy, arms_t);   regret += max_a μ(x_aᵀθ_t) − μ(x_kᵀθ_t);   learn(strategy, x_k, respond(x_kᵀθ_t))

The world is made in blocks of rounds in NumPy (θ, arms, random numbers); the loop sees only arrays, so a strategy is
compiled once for all worlds.
"""

import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .checks import Check, check_arms
from .env.bandit import Bandit
from .env.rewards import draws, expected, respond
from .errors import InvalidValue, integer
from .kernel import entry, kernel
from .linalg import Matrix, Vector, inner_products, largest
from .protocol import NO_SLOT, Integers, Setting, act, describe, learn, limits, settled, start, trace

BLOCK = 4096  # rounds made at once
BLOCK_NUMBERS = 1 << 20  # at most so many features at once when the arms change
CHECKPOINTS = 300
Seed = int | np.random.SeedSequence


@dataclass(frozen=True)
class Run:
    """What a simulation leaves behind."""

    rounds: NDArray[np.int64]  # (c,) checkpoints, 1-based; the last is T
    regret: Vector  # (c,) cumulative dynamic regret after these rounds
    info: dict[str, Any] = field(default_factory=dict)  # what the strategy tells about its final state
    trace: dict[str, NDArray[Any]] = field(default_factory=dict)  # quantities over time, if the strategy has any
    seconds: float = 0.0  # wall-clock time of the loop
    choices: NDArray[np.int64] | None = None  # (T,) arms played, with checkpoints="all"


class Log(NamedTuple):
    """What the compiled loop writes down."""

    marks: Integers  # (c,) checkpoints
    regret: Vector  # (c,)
    total: Vector  # (1,) regret so far
    clock: Integers  # (2,) rounds played, checkpoints written
    choices: Integers  # (T,) or (0,)


def simulate(
    strategy: Any,
    env: Bandit,
    *,
    seed: Seed = 0,
    checkpoints: int | Literal["all"] | ArrayLike = CHECKPOINTS,
    check: Check = "error",
) -> Run:
    """Run a strategy in a world.

    Parameters
    ----------
    strategy
        From `zoo`, or any composition of parts.
    env
        From `env`.
    seed
        Of the noise and of the strategy's own randomness. All strategies see the same noise under the same seed.
    checkpoints
        How many, spread evenly; "all"; or the rounds themselves, increasing.
    check
        Arms longer than the strategy's L are an error, a warning ("warn") or ignored ("off").

    Examples
    --------
    >>> import driftbandits as db
    >>> world = db.env.linear(db.env.unit_arms(50, dim=2, seed=0), db.env.rotating(1000))
    >>> run = db.simulate(db.zoo.oful(lam=2, S=1, L=1, R=1, delta=0.001), world, seed=0)
    >>> int(run.rounds[-1])
    1000
    """
    T, strategy = env.horizon, settled(strategy, env.dim)
    every = isinstance(checkpoints, str) and checkpoints == "all"
    marks = _checkpoints(checkpoints, T)
    noise_rng, rng = (np.random.default_rng(s) for s in seed_sequence(seed).spawn(2))
    bound = limits(strategy).L
    fixed = env.arms.fixed
    size = BLOCK if fixed else max(1, min(BLOCK, BLOCK_NUMBERS // (env.dim * env.arms.n)))
    watched = trace.knows(type(strategy))
    look = max(1, min(size, T // CHECKPOINTS)) if watched else size  # inside, at (about) every checkpoint
    size -= size % look
    arms_on_offer = env.arms.blocks(T, size)
    first = next(arms_on_offer)
    state = start(strategy, Setting(env.dim, first[0] if fixed else np.zeros((env.dim, 0)), T), rng)
    log = Log(marks, np.zeros(len(marks)), np.zeros(1), np.zeros(2, np.int64), np.zeros(T if every else 0, np.int64))
    traced: list[dict[str, Any]] = []
    score, x = np.zeros(env.arms.n), np.zeros(env.dim)
    began = time.perf_counter()
    play = None
    for block, theta in enumerate(env.path.blocks(size)):
        arms = first if block == 0 or fixed else next(arms_on_offer)
        if block == 0 or not fixed:
            check_arms(arms, bound, check)
        best = np.empty(len(theta))
        best_predictors(arms, theta, score, best)
        theta, draw = np.ascontiguousarray(theta), draws(env.reward, noise_rng, len(theta))
        for t in range(0, len(theta), look):
            now = slice(t, t + look)
            offer = arms if fixed else arms[now]
            given = (strategy, state, env.reward, offer, theta[now], best[now], draw[now], fixed, score, x, rng, log)
            play = play or _rounds.direct(*given)  # all pieces are of the same types
            play(*given)
            if watched:
                traced.append({"round": int(log.clock[0]), **trace(strategy, state)})
    seconds = time.perf_counter() - began
    return Run(
        rounds=marks,
        regret=log.regret,
        info=describe(strategy, state),
        trace={name: np.asarray([row[name] for row in traced]) for name in (traced[0] if traced else {})},
        seconds=seconds,
        choices=log.choices if every else None,
    )


def trials(
    strategy: Any,
    problem: Callable[[int], Bandit],
    *,
    trials: int = 20,
    seed: int = 0,
    jobs: int | None = None,
    **options: Any,
) -> list[Run]:
    """Simulate independent trials on threads; trial i runs in the world `problem(i)` with noise of its own.

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
        return simulate(strategy, problem(i), seed=np.random.SeedSequence([seed, i]), **options)

    with ThreadPoolExecutor(jobs or os.cpu_count()) as pool:
        return list(pool.map(one, range(count)))


@entry
def best_predictors(arms: Matrix, theta: Matrix, score: Vector, out: Vector) -> None:
    """out_t = max_a x_aᵀθ_t; arms (m, d, n), or (1, d, n) when they are fixed; score (n,) is scratch."""
    for t in range(theta.shape[0]):
        inner_products(arms[t % arms.shape[0]], theta[t], score)
        out[t] = largest(score)


@entry
def _rounds(
    strategy: Any,
    state: Any,
    reward: Any,
    arms: Matrix,
    theta: Matrix,
    best: Vector,
    draw: Vector,
    fixed: bool,
    score: Vector,
    x: Vector,
    rng: np.random.Generator,
    log: Log,
) -> None:
    """Play a block of rounds. Arms are (m, d, n), or (1, d, n) when they are fixed."""
    for t in range(theta.shape[0]):
        offer = arms[0 if fixed else t]
        k = act(strategy, state, offer, score, rng)
        z = 0.0
        for i in range(x.shape[0]):
            x[i] = offer[i, k]
            z += x[i] * theta[t, i]
        log.total[0] += expected(reward, best[t]) - expected(reward, z)
        learn(strategy, state, x, respond(reward, z, draw[t]), k if fixed else NO_SLOT)
        _note(log, k)


@kernel
def _note(log: Log, k: int) -> None:
    if log.choices.shape[0] > 0:
        log.choices[log.clock[0]] = k
    log.clock[0] += 1
    if log.clock[0] == log.marks[log.clock[1]]:
        log.regret[log.clock[1]] = log.total[0]
        log.clock[1] += 1


def _checkpoints(wanted: Any, T: int) -> Integers:
    """Increasing 1-based rounds, the last of which is T."""
    if isinstance(wanted, str):
        if wanted != "all":
            raise InvalidValue(f"checkpoints = {wanted!r} is not allowed; it must be a number, rounds, or 'all'")
        return np.arange(1, T + 1)
    if np.ndim(wanted) == 0:
        count = integer("checkpoints", wanted, least=1, why="the last round is always one")
        return np.unique(np.linspace(T / min(count, T), T, min(count, T)).round().astype(np.int64))
    rounds = np.asarray(wanted, np.int64)
    if rounds.ndim != 1 or len(rounds) == 0 or rounds[0] < 1 or rounds[-1] > T or (np.diff(rounds) <= 0).any():
        raise InvalidValue(f"checkpoints must be increasing rounds in 1..{T}; given {rounds.tolist()}")
    return rounds if rounds[-1] == T else np.append(rounds, T)


def seed_sequence(seed: Seed) -> np.random.SeedSequence:
    """A sequence to spawn streams from; the caller's own is left as it was."""
    if isinstance(seed, np.random.SeedSequence):
        return np.random.SeedSequence(seed.entropy, spawn_key=seed.spawn_key)
    return np.random.SeedSequence(integer("seed", seed, least=0, why="it starts the random generators"))
