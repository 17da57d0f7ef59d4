"""The compiled loop over rounds, and the log that it writes.

round t:   k = act(strategy, arms_t);   regret += max_a μ(x_aᵀθ_t) − μ(x_kᵀθ_t);   learn(strategy, x_k, respond(x_kᵀθ_t))
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core.kernel import entry, kernel
from ..core.linalg import Matrix, Vector, inner_products, largest
from ..env.rewards import expected, respond
from ..env.table import Cube
from ..protocol import NO_SLOT, Integers, act, learn

IntegerMatrix = NDArray[np.int64]


class Log(NamedTuple):
    """The results that the compiled loop writes."""

    marks: Integers  # (c,) checkpoints
    regret: Vector  # (c,)
    reward: Vector  # (c,)
    lost: Vector  # (1,) regret so far
    earned: Vector  # (1,) expected reward so far
    played: Integers  # (1,) rounds
    written: Integers  # (1,) checkpoints
    choices: Integers  # (T,) or (0,)
    counts: Integers  # (n,) plays of each arm so far, or (0,)
    plays: IntegerMatrix  # (c, n) or (c, 0)


def blank_log(marks: Integers, rounds: int, arms: int) -> Log:
    """An empty log of this many choices, counting the plays of this many arms."""
    return Log(
        marks=marks,
        regret=np.zeros(len(marks)),
        reward=np.zeros(len(marks)),
        lost=np.zeros(1),
        earned=np.zeros(1),
        played=np.zeros(1, np.int64),
        written=np.zeros(1, np.int64),
        choices=np.zeros(rounds, np.int64),
        counts=np.zeros(arms, np.int64),
        plays=np.zeros((len(marks), arms), np.int64),
    )


@entry
def best_predictors(arms: Matrix, theta: Matrix, score: Vector, out: Vector) -> None:
    """out_t = max_a x_aᵀθ_t; arms (m, d, n), or (1, d, n) when they are fixed; score (n,) is scratch."""
    for t in range(theta.shape[0]):
        inner_products(arms[t % arms.shape[0]], theta[t], score)
        out[t] = largest(score)


@entry
def play_rounds(
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
        # Regret is the difference of expected rewards; the noise of the reward itself does not enter.
        gained = expected(reward, z)
        log.lost[0] += expected(reward, best[t]) - gained
        log.earned[0] += gained
        learn(strategy, state, x, respond(reward, z, draw[t]), k if fixed else NO_SLOT)
        _note(log, k)


@entry
def play_table(
    strategy: Any,
    state: Any,
    offers: Cube,
    rewards: Matrix,
    means: Matrix,
    best: Vector,
    items: bool,
    score: Vector,
    x: Vector,
    rng: np.random.Generator,
    log: Log,
) -> None:
    """Play a block of rounds of a table; offers are (m, d, n), or one context (m, d, 1) for all items."""
    for t in range(rewards.shape[0]):
        k = act(strategy, state, offers[t], score, rng)
        for i in range(x.shape[0]):
            x[i] = offers[t, i, 0 if items else k]
        log.lost[0] += best[t] - means[t, k]
        log.earned[0] += means[t, k]
        learn(strategy, state, x, rewards[t, k], k if items else NO_SLOT)
        _note(log, k)


@kernel
def _note(log: Log, k: int) -> None:
    """Record that arm k was played; at a checkpoint, copy the running sums."""
    if log.choices.shape[0] > 0:
        log.choices[log.played[0]] = k
    counted = log.counts.shape[0]
    if counted > 0:
        log.counts[k] += 1
    log.played[0] += 1
    c = log.written[0]
    if log.played[0] == log.marks[c]:
        log.regret[c] = log.lost[0]
        log.reward[c] = log.earned[0]
        for a in range(counted):
            log.plays[c, a] = log.counts[a]
        log.written[0] += 1
