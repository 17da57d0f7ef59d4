r"""Sums of a part of a log, which add up: the parts may be read in any order, on any machine.

Memory m weighs an observation made at s by exp(−λ_m(T − s)), T being the newest observation. Over a part P that ends at T_P

    V_P = Σ_{s∈P} w e^{−λ(T_P−s)} φφᵀ ,     V = Σ_P e^{−λ(T−T_P)} V_P ,

and likewise b, Q, n; own sums of an item end at the item's own newest observation. Addition after fading to the later end is associative
and commutative, so any partition gives the sums of one serial pass, up to rounding, if both use the same anchors of features, the same r₀
and the same cut of extreme values. What a serial learner does in between and is no sum (memories that are refuted take over another's
sums) is not here.

An observation that has faded below e⁻⁶⁰ beside the newest is left out of that memory: short memories then cost nothing for most of a log.
"""

import math
from typing import NamedTuple

import numpy as np

from ..core.kernel import entry, kernel, solver
from ..core.linalg import Matrix, Vector
from .columns import Layout
from .sums import NEVER, Integers

FADED = 60.0  # nats
ROWS, SUM, SQUARES = range(3)


class Shard(NamedTuple):
    """Sums of a part, for R rates of forgetting, p shared and k own columns, N items."""

    rate: Vector  # (R,)
    V: Matrix  # (R, p, p)  upper triangle
    b: Matrix  # (R, p)
    Q: Vector  # (R,)
    n: Vector  # (R,)
    M: Matrix  # (N, R, k, k)  upper triangle
    S: Matrix  # (N, R, k, p)
    t: Matrix  # (N, R, k)
    last: Vector  # (N,)
    newest: Vector  # (1,)
    totals: Vector  # (3,)  observations, Σy, Σy², each counted once


def new_shard(rates: Vector, items: int, p: int, k: int) -> Shard:
    """The sums of nothing."""
    R = len(rates)
    return Shard(
        np.array(rates, np.float64),
        np.zeros((R, p, p)),
        np.zeros((R, p)),
        np.zeros(R),
        np.zeros(R),
        np.zeros((items, R, k, k)),
        np.zeros((items, R, k, p)),
        np.zeros((items, R, k)),
        np.full(items, NEVER),
        np.full(1, NEVER),
        np.zeros(3),
    )


@kernel
def _fade(rate: float, since: float, until: float) -> float:
    return math.exp(-min(rate * max(until - since, 0.0), 700.0)) if rate > 0.0 and since > NEVER else 1.0


@kernel
def _scale(A: Matrix, c: float) -> None:
    for i in range(A.shape[0]):
        row = A[i]
        for j in range(A.shape[1]):
            row[j] *= c


@solver
def fade_shared(shard: Shard, until: float) -> None:
    """Let the shared sums end at `until`, if that is later."""
    if until <= shard.newest[0]:
        return
    for m in range(shard.rate.shape[0]):
        f = _fade(shard.rate[m], shard.newest[0], until)
        if f < 1.0:
            _scale(shard.V[m], f)
            for j in range(shard.b.shape[1]):
                shard.b[m, j] *= f
            shard.Q[m] *= f
            shard.n[m] *= f
    shard.newest[0] = until


@solver
def fade_own(shard: Shard, i: int, until: float) -> None:
    """Let the sums of an item end at `until`, if that is later."""
    if until <= shard.last[i]:
        return
    for m in range(shard.rate.shape[0]):
        f = _fade(shard.rate[m], shard.last[i], until)
        if f < 1.0:
            _scale(shard.M[i, m], f)
            _scale(shard.S[i, m], f)
            for a in range(shard.t.shape[2]):
                shard.t[i, m, a] *= f
    shard.last[i] = until


@kernel
def _add_square(A: Matrix, w: float, x: Vector) -> None:
    """A += w·xxᵀ, upper triangle."""
    n = x.shape[0]
    for i in range(n):
        c = w * x[i]
        if c != 0.0:
            row, rest = A[i, i:], x[i:]
            for j in range(n - i):
                row[j] += c * rest[j]


@kernel
def _add_outer(A: Matrix, w: float, x: Vector, z: Vector) -> None:
    """A += w·xzᵀ."""
    for i in range(x.shape[0]):
        c = w * x[i]
        if c != 0.0:
            row = A[i]
            for j in range(z.shape[0]):
                row[j] += c * z[j]


@entry
def add_rows(
    shard: Shard,
    layout: Layout,
    zi: Matrix,
    zc: Matrix,
    who: Integers,
    tick: Vector,
    y: Vector,
    w: Vector,
    phi: Vector,
    psi: Vector,
    same: bool,
) -> None:
    """Add T observations: slots zi (T, J), zc (T, J') relative to their anchors, items who (T,), made at tick (T,), y = r − r₀.

    `same`: φ and ψ are the same columns. Then S = M and V = Σ_i M_i, and `finished` fills them in: only M is summed here.
    """
    T, p, k, R = who.shape[0], phi.shape[0], psi.shape[0], shard.rate.shape[0]
    end = shard.newest[0]
    for t in range(T):
        end = max(end, tick[t])
    fade_shared(shard, end)
    for t in range(T - 1, -1, -1):  # from the newest on, so that the sums of an item fade once
        if k > 0:
            fade_own(shard, who[t], tick[t])
    # All sums now end where this block ends; each row is weighed by its own age.
    for t in range(T):
        if w[t] == 0.0:
            continue
        i, c, x = who[t], zc[t], zi[t]
        for j in range(p):
            phi[j] = x[layout.item[j]] * c[layout.context[j]]
        for a in range(k):
            psi[a] = c[layout.own[a]] * c[layout.since[a]]
        shard.totals[ROWS] += 1.0
        shard.totals[SUM] += y[t]
        shard.totals[SQUARES] += y[t] * y[t]
        for m in range(R):
            age = shard.rate[m] * (end - tick[t]) if shard.rate[m] > 0.0 else 0.0
            if age < FADED:
                f = w[t] * math.exp(-age)
                if not same:
                    _add_square(shard.V[m], f, phi)
                for j in range(p):
                    shard.b[m, j] += f * y[t] * phi[j]
                shard.Q[m] += f * y[t] * y[t]
                shard.n[m] += f
            if k > 0:
                age = shard.rate[m] * (shard.last[i] - tick[t]) if shard.rate[m] > 0.0 else 0.0
                if age < FADED:
                    f = w[t] * math.exp(-age)
                    _add_square(shard.M[i, m], f, psi)
                    if not same:
                        _add_outer(shard.S[i, m], f, psi, phi)
                    for a in range(k):
                        shard.t[i, m, a] += f * y[t] * psi[a]


def added(a: Shard, b: Shard) -> Shard:
    """The sums of two parts that share no row; neither is changed."""
    newest, last = np.maximum(a.newest, b.newest), np.maximum(a.last, b.last)
    x, y = (faded_to(shard, newest, last) for shard in (a, b))
    total = Shard(*(one + other for one, other in zip(x, y, strict=True)))
    return total._replace(rate=a.rate, newest=newest, last=last)


def faded_to(shard: Shard, newest: Vector, last: Vector) -> Shard:
    """The same sums, ending at `newest` (1,) and, of the items, at `last` (N,), which are not earlier."""
    f = np.exp(-shard.rate * (newest[0] - shard.newest[0])) if shard.newest[0] > NEVER else np.ones(len(shard.rate))
    age = np.where(shard.last > NEVER, last - shard.last, 0.0)
    g = np.exp(-np.outer(age, shard.rate))
    return shard._replace(
        V=f[:, None, None] * shard.V,
        b=f[:, None] * shard.b,
        Q=f * shard.Q,
        n=f * shard.n,
        M=g[:, :, None, None] * shard.M,
        S=g[:, :, None, None] * shard.S,
        t=g[:, :, None] * shard.t,
    )


def finished(shard: Shard, same: bool) -> Shard:
    """Both triangles of every matrix; where φ and ψ are the same columns, S and V from M."""
    M = _mirrored(shard.M)
    if not same:
        return shard._replace(V=_mirrored(shard.V), M=M)
    V = np.zeros_like(shard.V)
    for i in np.flatnonzero(shard.last > NEVER).tolist():
        f = np.exp(-shard.rate * (shard.newest[0] - shard.last[i]))
        V += f[:, None, None] * M[i]
    return shard._replace(V=V, M=M, S=M.copy())


def _mirrored(A: Matrix) -> Matrix:
    upper = np.triu(A)
    return upper + np.swapaxes(np.triu(A, 1), -1, -2)
