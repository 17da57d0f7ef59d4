"""Kernels of the diagonal learner: rows of buckets and values."""

import math
from typing import NamedTuple

import numpy as np

from ..adaptive.choice import MEAN, SD, law, pick
from ..adaptive.evidence import contest, robust_score, select
from ..adaptive.sums import (
    CAL_1,
    CAL_2,
    CAL_N,
    COUNT,
    KNOWN,
    NEVER,
    NEWEST,
    NORMAL,
    NUMBERS,
    R0,
    SQUARES,
    SUM,
    USE,
    Integers,
)
from ..core.kernel import entry, kernel, solver, sqrt
from ..core.linalg import Matrix, Vector

PRIOR = NUMBERS  # the place of the prior precision, after those of `adaptive`
WEIGHT, ERRORS, LEVEL = range(3)  # columns of `Trial.sums`
MARGIN = 4.0  # in use is the longest memory within so many nats of the leader: columns are too many to be counted


class Trial(NamedTuple):
    """Evidence of M memories."""

    rate: Vector  # (M,)
    weight: Vector  # (M,)  log evidence
    sums: Matrix  # (M, 3)  Σw, squared forecast errors over about 500 rewards, and how far the level is from the mean reward
    numbers: Vector  # (NUMBERS + 1,)
    score: Matrix  # (3, M)  forecasts, variances, log scores
    refuted: Integers  # (M,)


def new_trial(rates: Vector) -> Trial:
    """Evidence of memories that have seen nothing."""
    M = len(rates)
    trial = Trial(
        np.array(rates, np.float64),
        np.zeros(M),
        np.zeros((M, 3)),
        np.zeros(NUMBERS + 1),
        np.zeros((3, M)),
        np.zeros(M, np.int64),
    )
    trial.numbers[[NEWEST, NORMAL, USE]] = NEVER, -10.0, M - 1
    return trial


class Model(NamedTuple):
    """Means and variances: M memories, D buckets."""

    mean: Matrix  # (M, D)
    ratio: Matrix  # (M, D)  v_j/v₀
    last: Vector  # (D,)  when a bucket was last touched


@kernel
def product(i: int, c: int, D: int) -> int:
    """The bucket of a product of two columns."""
    return ((i + 1) * 2654435761 + (c + 1) * 40503) % 4294967291 % D


@kernel
def expand(row: Vector, context: Vector, products: bool, D: int, cols: Integers, vals: Vector) -> int:
    """Columns of an item in a context: its own, the context's, products; returns how many. The intercept is no column."""
    n, m = int(row[0]), int(context[0])
    a, b = (row.shape[0] - 1) // 2, (context.shape[0] - 1) // 2
    many = 0
    for i in range(n):
        cols[many], vals[many] = int(row[1 + i]), row[1 + a + i]
        many += 1
    for c in range(m):
        cols[many], vals[many] = int(context[1 + c]), context[1 + b + c]
        many += 1
    if products:
        for i in range(n):
            for c in range(m):
                cols[many] = product(int(row[1 + i]), int(context[1 + c]), D)
                vals[many] = row[1 + a + i] * context[1 + b + c]
                many += 1
    return many


@kernel
def counted(rewards: float) -> float:
    """Σ .998^s over so many rewards: how many `ERRORS` rests on."""
    return float((1.0 - 0.998**rewards) / 0.002)


@kernel
def noise(trial: Trial) -> float:
    """σ̂²: the mean squared forecast error over about 500 rewards, with 5 pseudo-observations of Var r."""
    m, use = trial.numbers, int(trial.numbers[USE])
    if m[COUNT] == 0.0:
        return 0.0
    away = m[SUM] / m[COUNT]
    variance = max(m[SQUARES] / m[COUNT] - away * away, 0.0)
    n = counted(m[COUNT])
    total: float = (trial.sums[use, ERRORS] + 5.0 * variance) / (n + 5.0)
    return total


@solver
def forecast(trial: Trial, model: Model, j: int, cols: Integers, vals: Vector, many: int) -> tuple[float, float]:
    """Expected reward, and its variance in units of σ²; the intercept is the mean of all rewards, and what the level adds to it."""
    m = trial.numbers
    mean = m[R0] + (m[SUM] / m[COUNT] if m[COUNT] > 0.0 else 0.0) + trial.sums[j, LEVEL]
    q = 0.0
    for i in range(many):
        k, x = cols[i], vals[i]
        mean += x * model.mean[j, k]
        q += x * x * _ratio(trial, model, j, k)
    return mean, q / m[PRIOR]


@kernel
def _ratio(trial: Trial, model: Model, j: int, k: int) -> float:
    """v_j/v₀ today: what was not touched wears off."""
    since = max(0.0, trial.numbers[NEWEST] - model.last[k])
    today: float = model.ratio[j, k] * math.exp(min(trial.rate[j] * since, 700.0))
    return min(1.0, today)


@entry
def decide(
    trial: Trial,
    model: Model,
    rows: Matrix,
    context: Vector,
    products: bool,
    explore: float,
    u: float,
    draws: bool,
    table: Matrix,
    open_: Integers,
    cols: Integers,
    vals: Vector,
) -> int:
    """As in `adaptive.steps`: forecast every item into the table, and draw one."""
    D, sigma2, use = model.last.shape[0], noise(trial), int(trial.numbers[USE])
    for k in range(rows.shape[0]):
        many = expand(rows[k], context, products, D, cols, vals)
        f, q = forecast(trial, model, use, cols, vals, many)
        table[MEAN, k] = f
        table[SD, k] = sqrt(sigma2 * q)
    if not draws:
        return -1
    law(table, open_, 0.0, explore)
    return pick(table, open_, u)


@entry
def learn(
    trial: Trial,
    model: Model,
    row: Vector,
    context: Vector,
    products: bool,
    tick: float,
    r: float,
    w: float,
    judged: bool,
    cols: Integers,
    vals: Vector,
) -> bool:
    """Learn a reward; True if the longest memory was refuted."""
    m, D = trial.numbers, model.last.shape[0]
    if m[KNOWN] == 0.0:
        m[KNOWN] = 1.0
        m[R0] = r
    many = expand(row, context, products, D, cols, vals)
    refuted = judged and _judge(trial, model, r, w, cols, vals, many)
    m[NEWEST] = max(m[NEWEST], tick)
    for j in range(trial.rate.shape[0]):
        f, q = forecast(trial, model, j, cols, vals, many)
        old = w * math.exp(-min(trial.rate[j] * (m[NEWEST] - tick), 700.0))
        trial.sums[j, WEIGHT] = trial.sums[j, WEIGHT] * math.exp(-trial.rate[j]) + old
        trial.sums[j, ERRORS] = 0.998 * trial.sums[j, ERRORS] + (r - f) ** 2 / (1.0 + q)
        if m[COUNT] > 0.0 and old > 1e-12:
            S = 1.0 / old + q
            for i in range(many):
                k, x = cols[i], vals[i]
                v = _ratio(trial, model, j, k) / m[PRIOR]
                model.mean[j, k] += v * x * (r - f) / S
                model.ratio[j, k] = max(v - v * v * x * x / S, 0.0) * m[PRIOR]
    for i in range(many):
        model.last[cols[i]] = m[NEWEST]
    y = r - m[R0]
    m[COUNT] += 1.0
    m[SUM] += y
    m[SQUARES] += y * y
    return refuted


@solver
def _judge(trial: Trial, model: Model, r: float, w: float, cols: Integers, vals: Vector, many: int) -> bool:
    """Score every memory's forecast; True if the longest one is refuted. The caller copies the leader into those that are."""
    m, M, use, sigma2 = trial.numbers, trial.rate.shape[0], int(trial.numbers[USE]), noise(trial)
    for j in range(M):
        trial.refuted[j] = 0
    if sigma2 <= 0.0:
        return False
    for j in range(M):
        trial.score[0, j], trial.score[1, j] = forecast(trial, model, j, cols, vals, many)
    square = (r - trial.score[0, use]) ** 2 / ((1.0 + trial.score[1, use]) * sigma2)
    m[CAL_N] = 0.999 * m[CAL_N] + 1.0
    m[CAL_1] = 0.999 * m[CAL_1] + (1.0 if square > 1.0 else 0.0)
    m[CAL_2] = 0.999 * m[CAL_2] + (1.0 if square > 4.0 else 0.0)
    m[NORMAL] = contest(m[NORMAL], square, 1.0)
    for j in range(M):
        q = trial.score[1, j]
        square = (r - trial.score[0, j]) ** 2 / ((1.0 + q) * sigma2)
        trial.score[2, j] = min(w, 1.0) * robust_score(square, q, m[NORMAL] > 0.0)
    _, use = select(trial.weight, trial.score[2], 0, M, MARGIN, trial.refuted)
    m[USE] = float(use)
    return bool(trial.refuted[M - 1] == 1)
