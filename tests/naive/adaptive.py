"""The engine of `adaptive`, recomputed from the full history: dense ridge regression with one column per shared and per own effect.

y = φᵀθ + ψᵀu_i + ε ,   θ ~ N(0, σ²(s(newest)Λ)⁻¹) ,  u_i ~ N(0, σ²(f_i s(last_i)K)⁻¹) ,  Var ε = σ²/w ,   f_i = exp(−H(newest) + H(last_i))

s(t) is how strong priors are at time t: they fade, and are refreshed in every cell of time.
"""

import itertools
import math
from typing import NamedTuple

import numpy as np


class Seen(NamedTuple):
    """One observation."""

    phi: np.ndarray
    psi: np.ndarray
    item: int
    y: float
    w: float
    tick: float


def felt(rate, since, until, cut=-math.inf, cut_rate=0.0):
    """H(until) − H(since): `cut_rate` before the cut, `rate` after it; by the definition of the integral."""
    if until <= since:
        return 0.0
    knots = sorted({since, until, *([cut] if since < cut < until else [])})
    return sum((b - a) * (cut_rate if b <= cut else rate) for a, b in itertools.pairwise(knots))


def strength(t, rate, cell):
    """s(t) of a memory in cells of so many decisions or seconds: 1 in the middle of each."""
    return math.exp(rate * (cell / 2.0 - t % cell)) if math.isfinite(cell) else 1.0


def dense(history, N, Lam, Kap, rate, cell=math.inf, cut=-math.inf, cut_rate=0.0):
    """(A, c₀, c₁, Σwy², Σwy, Σw) of all columns: the normal equations of y and of the constant 1."""
    p, k = len(Lam), len(Kap)
    newest = max(s.tick for s in history)
    A = np.zeros((p + k * N, p + k * N))
    A[:p, :p] = strength(newest, rate, cell) * Lam
    for i in range(N):
        mine = [s.tick for s in history if s.item == i]
        fade = math.exp(-felt(rate, max(mine), newest, cut, cut_rate)) if mine else 1.0
        fade *= strength(max(mine), rate, cell) if mine else 1.0
        A[p + k * i : p + k * (i + 1), p + k * i : p + k * (i + 1)] = fade * Kap
    c = np.zeros((2, len(A)))
    squares = np.zeros(3)
    for s in history:
        x = design(s.phi, s.psi, s.item, N)
        w = s.w * math.exp(-felt(rate, s.tick, newest, cut, cut_rate))
        A += w * np.outer(x, x)
        c += w * np.outer([s.y, 1.0], x)
        squares += w * np.array([s.y**2, s.y, 1.0])
    return A, c, squares


def design(phi, psi, item, N):
    """The row of the full design."""
    p, k = len(phi), len(psi)
    x = np.zeros(p + k * N)
    x[:p] = phi
    x[p + k * item : p + k * (item + 1)] = psi
    return x


def mean_reward(history):
    """The mean around which everything shrinks, each reward counted once, those taken back not at all; and the variance."""
    sign = np.array([math.copysign(1.0, s.w) for s in history])
    y = np.array([s.y for s in history])
    mean = sign @ y / sign.sum()
    return mean, max(sign @ y**2 / sign.sum() - mean**2, 0.0)


def forecast(phi, psi, item, history, N, Lam, Kap, rate, cell=math.inf, **cut):
    """Expected y of one item, its variance in units of σ², and σ̂²."""
    A, c, squares = dense(history, N, Lam, Kap, rate, cell, **cut)
    mean, variance = mean_reward(history)
    rhs = c[0] - mean * c[1]
    theta = np.linalg.solve(A, rhs)
    x = design(phi, psi, item, N)
    q = x @ np.linalg.solve(A, x)
    p, k = len(Lam), len(Kap)
    if k:
        mine = slice(p + k * item, p + k * (item + 1))
        own = psi @ np.linalg.solve(A[mine, mine], psi)
        ticks = [s.tick for s in history if s.item == item]
        if ticks and felt(
            rate, max(ticks), max(s.tick for s in history), cut.get("cut", -math.inf), cut.get("cut_rate", 0.0)
        ):
            q += (
                min(own, psi @ np.linalg.solve(Kap, psi)) - own
            )  # unobserved, it does not become less certain than its prior
    left = squares[0] - 2.0 * mean * squares[1] + mean**2 * squares[2] - rhs @ theta
    sigma2 = (left + 5.0 * variance) / (squares[2] + 5.0)
    return mean + x @ theta, q, sigma2


def evidence(history, N, Lam, Kap):
    """Log marginal likelihood of rewards that nothing has faded, up to a constant; σ² with five pseudo-observations of Var y."""
    X = np.array([design(s.phi, s.psi, s.item, N) for s in history])
    prior = np.zeros((X.shape[1], X.shape[1]))
    p, k = len(Lam), len(Kap)
    prior[:p, :p] = np.linalg.inv(Lam)
    for i in range(N):
        prior[p + k * i : p + k * (i + 1), p + k * i : p + k * (i + 1)] = np.linalg.inv(Kap)
    mean, variance = mean_reward(history)
    y = np.array([s.y for s in history]) - mean
    C = np.eye(len(y)) + X @ prior @ X.T
    left = y @ np.linalg.solve(C, y)
    return -0.5 * np.linalg.slogdet(C)[1] - 0.5 * (len(y) + 5.0) * math.log((left + 5.0 * variance) / (len(y) + 5.0))


def prior(pairs, items, context, precision):
    """Λ = T⁻¹Λ̃T⁻ᵀ of raw columns z_i z_c, Λ̃ that of standardised ones φ̃ = Tφ, z̃ = (z − μ·present)/s; a side is (μ, s, {i: ī})."""
    place = {pair: column for column, pair in enumerate(pairs)}
    T = np.zeros((len(pairs), len(pairs)))
    for row, (i, c) in enumerate(pairs):
        for slot_i, weight_i in ((i, 1.0 / items[1][i]), (items[2].get(i, 0), -items[0][i] / items[1][i])):
            for slot_c, weight_c in ((c, 1.0 / context[1][c]), (context[2].get(c, 0), -context[0][c] / context[1][c])):
                if weight_i != 0.0 and weight_c != 0.0:
                    T[row, place[slot_i, slot_c]] += weight_i * weight_c
    back = np.linalg.inv(T)  # effects: φᵀθ = φ̃ᵀT⁻ᵀθ
    return back @ np.diag(precision) @ back.T


def law(mean, sd, rho, checks, explore):
    """P(k) of the mixture of two voices, each argmax mean + ½(1+|ξ|)sd, by quadrature; rows of mean and sd are voices."""
    from .bandit import envelope

    n = len(mean[0])
    p = np.zeros(n)
    for f, s, share in zip(mean, sd, (1.0 - rho, rho), strict=True):
        top = int(np.argmax(f))
        v = s**2 + s[top] ** 2
        check = np.where(f == f[top], 1.0, v / (v + (f[top] - f) ** 2 + 1e-300))
        p += share * ((1.0 - checks) * envelope(f, s) + checks * check / check.sum())
    return (1.0 - explore) * p + explore / n
