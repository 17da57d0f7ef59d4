"""The simulated bandit worlds: linear rewards, clicks, counts, kernels, items.

Every world is a table: the features on offer in each round, the reward of each choice and its mean. Noise is drawn once per round and is
the same whatever is chosen, so that learners are compared with the same luck.
"""

from collections.abc import Callable

import numpy as np

from ..core.linalg import Matrix
from ..env import Table, corner_arms, from_rewards, hard_blocks, random_walk
from .shapes import Rng, shape, stretches, units
from .task import Drift, Made, Reward, Task

Make = Callable[[Rng, int, int], Made]
ITEMS, CONTEXT = 6, 4  # n items, features of a context
LENGTHSCALE = 0.5  # of the kernel's hills, on [−1, 1]²


def linear(kind: Drift, *, d: int, n: int, noise: float, fixed: bool = False) -> Make:
    """Mean xᵀθ_t; arms of norm 1, redrawn in every round unless fixed."""

    def make(rng: Rng, T: int, draw: int) -> Made:
        return _linear(rng, shape(kind, rng, T, d), _arms(rng, T, n, d, fixed), noise)

    return make


def walking(*, d: int, n: int, noise: float) -> Make:
    """θ is a random walk in the unit ball that covers about three units in T rounds."""

    def make(rng: Rng, T: int, draw: int) -> Made:
        path = random_walk(T, dim=d, step=3.0 / T**0.5, seed=int(rng.integers(2**31)))
        return _linear(rng, path.to_array(), _arms(rng, T, n, d, False), noise)

    return make


def lower_bound(*, d: int, variation: float) -> Make:
    """The world in which the lower bound is proved: corners of a cube as arms, a hidden corner drawn anew in every block, noise 1."""

    def make(rng: Rng, T: int, draw: int) -> Made:
        path = hard_blocks(T, dim=d, variation=variation, seed=int(rng.integers(2**31)))
        arms = corner_arms(dim=d)
        return _linear(rng, path.to_array(), np.broadcast_to(arms, (T, *arms.shape)), 1.0)

    return make


def sleeper(*, n: int, noise: float) -> Make:
    """n arms without common features; the worst becomes the best for the last half. Only exploration can find out."""

    def make(rng: Rng, T: int, draw: int) -> Made:
        means = np.tile(np.linspace(0.1, 0.5, n), (T, 1))
        means[T // 2 :, 0] = 0.9
        order = rng.permutation(n)
        arms = np.broadcast_to(np.eye(n), (T, n, n))
        return _linear(rng, means[:, order], arms, noise, S=float(np.linalg.norm(means, axis=1).max()))

    return make


def _arms(rng: Rng, T: int, n: int, d: int, fixed: bool) -> Matrix:
    return np.broadcast_to(units(rng, n, d), (T, n, d)) if fixed else units(rng, T, n, d)


def _linear(rng: Rng, theta: Matrix, X: Matrix, noise: float, S: float = 1.0) -> Made:
    T, n, d = X.shape
    E = np.einsum("tnd,td->tn", X, theta)
    R = E + noise * rng.standard_normal((T, 1))
    task = Task(dim=d, choices=n, horizon=T, reward="value", S=S, R=noise, largest=float(S))
    return Made(task, _table(X, R, E))


def clicks(kind: Drift, *, d: int = 5, n: int = 10, S: float = 3.0, rare: bool = False) -> Make:
    """Clicks with mean 1/(1 + exp(−xᵀθ_t)); `rare`: a constant feature makes about 5 % of them clicks."""

    def make(rng: Rng, T: int, draw: int) -> Made:
        theta, X, bound = S * shape(kind, rng, T, d), units(rng, T, n, d), S
        if rare:  # xᵀθ = −3 + 1.5·(unit)ᵀ(unit): rates between 1 and 18 %
            half = 0.5**0.5
            X = half * np.concatenate([np.ones((T, n, 1)), X], axis=-1)
            theta = np.concatenate([np.full((T, 1), -3.0 / half), 1.5 / half * theta / S], axis=-1)
            bound = float(np.hypot(3.0, 1.5) / half)
        E = 1.0 / (1.0 + np.exp(-np.einsum("tnd,td->tn", X, theta)))
        R = (rng.random((T, 1)) < E).astype(float)
        return Made(Task(dim=X.shape[2], choices=n, horizon=T, reward="click", S=bound, R=0.5), _table(X, R, E))

    return make


def counts(kind: Drift, *, d: int = 5, n: int = 10) -> Make:
    """Poisson counts with mean exp(xᵀθ_t), from 0.4 to 2.7."""

    def make(rng: Rng, T: int, draw: int) -> Made:
        theta, X = shape(kind, rng, T, d), units(rng, T, n, d)
        E = np.exp(np.einsum("tnd,td->tn", X, theta))
        # One uniform number per round, through the quantile function of each arm.
        R = _poisson_quantile(rng.random(T), E)
        task = Task(dim=d, choices=n, horizon=T, reward="count", R=float(np.exp(0.5)), largest=float(np.exp(1.0)))
        return Made(task, _table(X, R, E))

    return make


def _poisson_quantile(u: Matrix, mean: Matrix) -> Matrix:
    """The smallest k with P(N ≤ k) > u, for u (T,) and means (T, n)."""
    k, p = np.zeros_like(mean), np.exp(-mean)
    total, level = p.copy(), np.broadcast_to(u[:, None], mean.shape)
    for step in range(1, 40):
        below = total <= level
        k[below] = step
        p = p * mean / step
        total = total + p
    return k


def kernel(kind: Drift, *, n: int = 25, hills: int = 6, noise: float = 0.3) -> Make:
    """Six hills and valleys on [−1, 1]², whose heights are θ_t; arms are points, redrawn in every round.

    The features are (1, x, y)/√3: a linear learner sees the tilt of the landscape only.
    """

    def make(rng: Rng, T: int, draw: int) -> Made:
        centres = rng.uniform(-1.0, 1.0, (hills, 2))
        points = rng.uniform(-1.0, 1.0, (T, n, 2))
        near = np.stack([((points - c) ** 2).sum(axis=-1) for c in centres], axis=-1)
        phi = np.exp(-near / (2.0 * LENGTHSCALE**2))
        E = np.einsum("tnk,tk->tn", phi, 1.5 * shape(kind, rng, T, hills))
        X = np.concatenate([np.ones((T, n, 1)), points], axis=-1) / 3.0**0.5
        R = E + noise * rng.standard_normal((T, 1))
        task = Task(dim=3, choices=n, horizon=T, reward="value", S=1.5, R=noise, largest=1.5)
        return Made(task, _table(X, R, E))

    return make


def items(kind: Drift, *, noise: float = 0.3) -> Make:
    """Six items, one context per round; every item has a parameter of its own.

    Jumps: at each of four times two items change. Seasons: the items' levels rise and fall in turn. Pulses: one item at a time is in demand
    for a short while.
    """

    def make(rng: Rng, T: int, draw: int) -> Made:
        own = np.tile(0.8 * units(rng, ITEMS, CONTEXT + 1), (T, 1, 1))
        t = np.arange(T)
        if kind == "jumps":
            which = stretches(rng, T, 5)
            for period in range(1, 5):
                changed = rng.choice(ITEMS, 2, replace=False)
                own[which >= period, changed[0]] = 0.8 * units(rng, CONTEXT + 1)
                own[which >= period, changed[1]] = 0.8 * units(rng, CONTEXT + 1)
        elif kind == "seasons":
            phase = 2.0 * np.pi * (3.0 * t[:, None] / T + np.arange(ITEMS) / ITEMS)
            own[:, :, 0] = 0.8 * np.sin(phase)
        elif kind == "pulses":
            length = max(T // 24, 1)
            star = rng.integers(ITEMS, size=T // length + 1)[t // length]
            own[t[t // length % 2 == 1], star[t // length % 2 == 1], 0] += 1.5
        contexts = rng.uniform(-1.0, 1.0, (T, CONTEXT))
        rows = np.concatenate([np.ones((T, 1)), contexts], axis=1) / (CONTEXT + 1) ** 0.5
        E = np.einsum("td,tkd->tk", rows, own)
        S = float(np.linalg.norm(own.reshape(T, -1), axis=1).max())
        return with_items(rows, E + noise * rng.standard_normal((T, 1)), E, reward="value", S=S, R=noise)

    return make


def with_items(rows: Matrix, rewards: Matrix, expected: Matrix, *, reward: Reward, S: float, R: float) -> Made:
    """A world of n items and one context (d,) per round; `task.dim` is n·d, the columns of one model of all items."""
    T, n = rewards.shape
    L = max(1.0, float(np.linalg.norm(rows, axis=1).max()))
    d = rows.shape[1]
    task = Task(dim=n * d, choices=n, horizon=T, items=n, context_dim=d, L=L, reward=reward, S=S, R=R)
    return Made(task, from_rewards(np.ascontiguousarray(rows), rewards, expected=expected))


def spread(rows: Matrix, items: int) -> Matrix:
    """Contexts (T, d) as features of items (T, n, n·d): item k's are the context in the k-th block and 0 elsewhere."""
    T, d = rows.shape
    X = np.zeros((T, items, items, d))
    X[:, np.arange(items), np.arange(items)] = rows[:, None]
    return X.reshape(T, items, items * d)


def _table(X: Matrix, R: Matrix, E: Matrix) -> Table:
    return from_rewards(np.ascontiguousarray(X), np.ascontiguousarray(R), expected=np.ascontiguousarray(E))
