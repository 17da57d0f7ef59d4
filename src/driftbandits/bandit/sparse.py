"""Kernels of the diagonal learner: rows of buckets and values."""

import math
from typing import NamedTuple

from ..core.kernel import entry, kernel, solver, sqrt
from ..core.linalg import Matrix, Vector
from .coordinates import Integers
from .drawing import choose
from .judging import judge
from .sums import COUNT, KNOWN, LAM, NEWEST, R0, SQUARES, SUM, USE, Bank


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
def noise(trial: Bank) -> float:
    """σ̂²: the mean squared forecast error over about 500 rewards, with 5 pseudo-observations of Var r."""
    m, use = trial.misc, int(trial.misc[USE])
    if m[COUNT] == 0.0:
        return 0.0
    away = m[SUM] / m[COUNT]
    variance = max(m[SQUARES] / m[COUNT] - away * away, 0.0)
    n = (1.0 - 0.998 ** m[COUNT]) / 0.002
    total: float = (trial.sums[use, 0, 1] + 5.0 * variance) / (n + 5.0)
    return total


@solver
def forecast(trial: Bank, model: Model, j: int, cols: Integers, vals: Vector, many: int) -> tuple[float, float]:
    """Expected reward, and its variance in units of σ²; the intercept is the mean of all rewards."""
    m = trial.misc
    mean = m[R0] + (m[SUM] / m[COUNT] if m[COUNT] > 0.0 else 0.0)
    q = 0.0
    for i in range(many):
        k, x = cols[i], vals[i]
        mean += x * model.mean[j, k]
        q += x * x * _ratio(trial, model, j, k)
    return mean, q / m[LAM]


@kernel
def _ratio(trial: Bank, model: Model, j: int, k: int) -> float:
    """v_j/v₀ today: what was not touched wears off."""
    since = max(0.0, trial.misc[NEWEST] - model.last[k])
    today: float = model.ratio[j, k] * math.exp(min(trial.rate[j] * since, 700.0))
    return min(1.0, today)


@entry
def decide(
    trial: Bank,
    model: Model,
    rows: Matrix,
    context: Vector,
    products: bool,
    explore: float,
    u: float,
    given: int,
    table: Matrix,
    open_: Integers,
    seen: Vector,
    cols: Integers,
    vals: Vector,
) -> int:
    """As in `bank`: score and draw, or only note what is forecast for a given item."""
    M, D, sigma2 = trial.rate.shape[0], model.last.shape[0], noise(trial)
    a = given
    if given < 0:
        for k in range(rows.shape[0]):
            many = expand(rows[k], context, products, D, cols, vals)
            f, q = forecast(trial, model, int(trial.misc[USE]), cols, vals, many)
            table[0, k] = f
            table[1, k] = sqrt(sigma2 * q)
        a = choose(table[0], table[1], open_, explore, u, table[2], table[3:])
    many = expand(rows[a], context, products, D, cols, vals)
    seen[0] = sigma2
    for j in range(M):
        seen[1 + j], seen[1 + M + j] = forecast(trial, model, j, cols, vals, many)
    return a


@entry
def learn(
    trial: Bank,
    model: Model,
    row: Vector,
    context: Vector,
    products: bool,
    tick: float,
    r: float,
    w: float,
    seen: Vector,
    cols: Integers,
    vals: Vector,
) -> bool:
    """Learn a reward; True if the longest memory was refuted."""
    m, D = trial.misc, model.last.shape[0]
    if m[KNOWN] == 0.0:
        m[KNOWN] = 1.0
        m[R0] = r
    refuted = False
    if seen.shape[0] > 0:
        refuted = judge(trial, r, tick, seen)
    many = expand(row, context, products, D, cols, vals)
    m[NEWEST] = max(m[NEWEST], tick)
    for j in range(trial.rate.shape[0]):
        f, q = forecast(trial, model, j, cols, vals, many)
        old = w * math.exp(-min(trial.rate[j] * (m[NEWEST] - tick), 700.0))
        trial.sums[j, 0, 0] = trial.sums[j, 0, 0] * math.exp(-trial.rate[j]) + old
        trial.sums[j, 0, 1] = 0.998 * trial.sums[j, 0, 1] + (r - f) ** 2 / (1.0 + q)
        if m[COUNT] > 0.0 and old > 1e-12:
            S = 1.0 / old + q
            for i in range(many):
                k, x = cols[i], vals[i]
                v = _ratio(trial, model, j, k) / m[LAM]
                model.mean[j, k] += v * x * (r - f) / S
                model.ratio[j, k] = max(v - v * v * x * x / S, 0.0) * m[LAM]
    for i in range(many):
        model.last[cols[i]] = m[NEWEST]
    y = r - m[R0]
    m[COUNT] += 1.0
    m[SUM] += y
    m[SQUARES] += y * y
    return refuted
