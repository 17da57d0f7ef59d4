r"""The arrays of a change detector, and its constants.

Rewards are compared with a *reference*: least squares over all rewards since the last alarm, apart for each item (a *block*), on columns

    z_0 = 1,   z_j = a feature, centred and scaled once by its first 20 values, at most ±8;   a missing value counts as the mean.

`bettors.py` says what is bet on the residuals, and when that is an alarm.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core.linalg import Matrix, Vector

Integers = NDArray[np.int64]
Cube = NDArray[np.float64]

MEMORIES = (30.0, 200.0, 1500.0)  # observations that a bettor looks back
M = len(MEMORIES)
WAVES = 16  # random cosines in which a linear reference may misfit
WIDEST = 32  # columns of the reference
RIDGE = 1e-4  # nearly none: recursive residuals are uncorrelated without a prior only
FIRST = 20  # values of a feature by which it is scaled

# numbers: rounds of small leverage, over which are Σu², Σu⁴, Σf, Σf², Σu²f; Σ π SR; whether misfit was said; rewards and their sum; and,
# never set back, all observations that were handed over, tested or not: a call that was interrupted goes on from there. ORIGIN is the first
# reward, from which others are counted, so that the ridge shrinks towards it: rewards that are all alike have no residuals at all.
# OPEN: bets have begun
ROUNDS, U2, U4, F1, F2, U2F, TOTAL, MUTED, COUNT, SUM, STEPS, ORIGIN, OPEN = range(13)
NUMBERS = 13
SEEN, MEAN, SQUARES, CENTRE, SCALE = range(5)  # of a column; SCALE = 0: not yet known
# of a bettor: Σ γ^age g w, Σ γ^age g², Shiryaev–Roberts statistic, CUSUM, and where it began to grow: the number of the decision, the
# rewards (of the block, or all) before it and their sum
GW, GG, SR, CUSUM, SINCE, BEFORE, EARNED = range(7)
FIELDS = 7
R, WEIGHT, DECISION, BLOCK = range(4)  # what is told of an observation; BLOCK < 0: it is not tested
TOLD = 4
# shares of the bettors: level; a column, of all items; several columns; the same of one item; misfit
LEVEL, COLUMN, SEVERAL, ITEM, ITEM_COLUMN, ITEM_SEVERAL, MISFIT = range(7)
SHARES = np.array([0.30, 0.14, 0.06, 0.25, 0.10, 0.08, 0.07])


class State(NamedTuple):
    """Everything that changes with a reward; D columns, N blocks."""

    numbers: Vector  # (NUMBERS,)
    columns: Matrix  # (D, 5)
    shared: Cube  # (D + 1, M, FIELDS)  bettors on all items; the last row is on several columns together
    misfit: Matrix  # (WAVES, FIELDS)
    tally: Matrix  # (N, 6)  of each block: rewards, their sum; Σu², Σu⁴ and the number of the rounds of small leverage; bets have begun
    theta: Matrix  # (N, D)
    P: Cube  # (N, D, D)
    own: Cube  # (N, D + 1, M, FIELDS)


class Fixed(NamedTuple):
    """What does not change with a reward."""

    source: Integers  # (D, 2)  slots of item and context whose product a column is; −1: none
    waves: Matrix  # (WAVES, 5)  two columns, two frequencies, a phase
    gamma: Vector  # (M,)
    shares: Vector  # (7,)  prior of a single bettor of each kind


class Work(NamedTuple):
    """Scratch space."""

    z: Vector  # (D,)
    Pz: Vector  # (D,)


def new_state(D: int, N: int) -> State:
    """A detector that has seen nothing."""
    P = np.zeros((N, D, D))
    P[:, np.arange(D), np.arange(D)] = 1.0 / RIDGE
    columns = np.zeros((D, 5))
    columns[0] = 0.0, 0.0, 0.0, 0.0, 1.0
    return State(
        np.zeros(NUMBERS), columns, np.zeros((D + 1, M, FIELDS)), np.zeros((WAVES, FIELDS)),
        np.zeros((N, 6)), np.zeros((N, D)), P, np.zeros((N, D + 1, M, FIELDS)),
    )  # fmt: skip


def grown(state: State, D: int, N: int) -> State:
    """The same with more columns or blocks."""
    new = new_state(D, N)
    d, n = state.theta.shape[1], state.theta.shape[0]
    new.numbers[:], new.misfit[:] = state.numbers, state.misfit
    new.columns[:d] = state.columns
    new.shared[:d], new.shared[D] = state.shared[:d], state.shared[d]
    new.tally[:n], new.theta[:n, :d], new.P[:n, :d, :d] = state.tally, state.theta, state.P
    new.own[:n, :d], new.own[:n, D] = state.own[:, :d], state.own[:, d]
    return new


def restarted(state: State) -> State:
    """After an alarm: a new reference, and new bets; columns keep their scale."""
    new = new_state(*state.theta.shape[::-1])
    new.columns[:] = state.columns
    new.numbers[STEPS], new.numbers[MUTED] = state.numbers[STEPS], state.numbers[MUTED]
    return new


def new_fixed(source: Integers, seed: int = 0) -> Fixed:
    """Constants for these columns: the frequencies of wave i are the same whatever columns there are."""
    D = len(source)
    waves = np.zeros((WAVES, 5))
    for i in range(WAVES):
        rng = np.random.default_rng([seed, i])
        u, frequency, phase = rng.random(2), rng.uniform(0.7, 1.6, 2) * rng.choice([-1.0, 1.0], 2), rng.random()
        if D > 1:
            first = 1 + int(u[0] * (D - 1))
            second = 1 + (first + int(u[1] * max(D - 2, 1))) % (D - 1)
            waves[i] = first, second, frequency[0], frequency[1] if second != first else 0.0, 2.0 * np.pi * phase
    single = 1.0 / np.array([M, M * max(D - 1, 1), M, M, M * max(D - 1, 1), M, WAVES])
    return Fixed(np.ascontiguousarray(source), waves, 1.0 - 1.0 / np.array(MEMORIES), SHARES * single)


def new_work(D: int) -> Work:
    """Scratch space for D columns."""
    return Work(np.zeros(D), np.zeros(D))
