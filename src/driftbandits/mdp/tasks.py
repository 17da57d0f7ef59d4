r"""Tasks without episodes that drift, with their best mean reward known: a queue, a warehouse, servers for two queues.

    P_t = (1−q_t)P_0 + q_tP_1,     r_t = (1−q_t)r_0 + q_tr_1,     q_t ∈ [0, 1] from `phase`

`gain(t)` is the largest mean reward per step if the world stayed as it is in step t, by relative value iteration; the dynamic regret of
rewards r_1, …, r_T is Σ_t gain(t) − r_t. A task is an environment for `run(agent, task, steps=…)`.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.linalg import Matrix, Vector
from ..errors import InvalidState, InvalidValue, integer
from .checks import ROUNDING
from .discretise import Count
from .drift import Drift, phase
from .protocol import Cube

GRID = 64  # phases at which the gain is computed; between them it is interpolated
LAZY = 0.9  # of value iteration on (1−LAZY)I + LAZY·P, which has the same gain and no period


@dataclass
class Task:
    """A world of S states and A actions without an end; made by `queue`, `warehouse` and `servers`, or from tables of your own."""

    kernels: tuple[Cube, Cube]  # P_0 and P_1, (S, A, S)
    rewards: tuple[Matrix, Matrix]  # r_0 and r_1, (S, A), in [0, 1]
    phase: Vector  # (T,) q_t
    start: int = 0
    t: int = field(default=0, init=False)
    s: int = field(default=0, init=False)
    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0), init=False, repr=False)
    _gains: dict[int, float] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        for P, pay in zip(self.kernels, self.rewards, strict=True):
            if (
                P.shape != (*pay.shape, len(pay))
                or (P < -ROUNDING).any()
                or (np.abs(P.sum(axis=-1) - 1.0) > 1e-6).any()
            ):
                raise InvalidValue(
                    f"kernels must hold distributions (S, A, S), rewards (S, A); got {P.shape} and {pay.shape}"
                )
        if not ((self.phase >= 0.0) & (self.phase <= 1.0)).all():
            raise InvalidValue("phase must lie in [0, 1]: it is the share of the second world")
        self.observation_space, self.action_space = Count(len(self.rewards[0])), Count(self.rewards[0].shape[1])

    def __repr__(self) -> str:
        return f"Task({self.observation_space.n} states, {self.action_space.n} actions, {len(self.phase)} steps)"

    def kernel(self, t: int) -> Cube:
        """P_t (S, A, S)."""
        q = float(self.phase[t])
        return (1.0 - q) * self.kernels[0] + q * self.kernels[1]

    def pay(self, t: int) -> Matrix:
        """r_t (S, A)."""
        q = float(self.phase[t])
        return (1.0 - q) * self.rewards[0] + q * self.rewards[1]

    def reset(self, *, seed: int | None = None) -> tuple[int, dict[str, Any]]:
        """(state, info); time begins anew."""
        if seed is not None:
            self.rng = np.random.default_rng(seed)
        self.t, self.s = 0, self.start
        return self.s, {}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        """(state, reward, False, False, info)."""
        if self.t >= len(self.phase):
            raise InvalidState(f"the task has {len(self.phase)} steps; make a longer one")
        a, q = int(action), self.phase[self.t]
        reward = float((1.0 - q) * self.rewards[0][self.s, a] + q * self.rewards[1][self.s, a])
        row = (1.0 - q) * self.kernels[0][self.s, a] + q * self.kernels[1][self.s, a]
        self.s = min(
            int(np.searchsorted(np.cumsum(row), self.rng.random(), side="right")), int(np.flatnonzero(row)[-1])
        )
        self.t += 1
        return self.s, reward, False, False, {}

    def gain(self, t: int) -> float:
        """The largest mean reward per step of the world of step t."""
        place = float(self.phase[t]) * GRID
        below, share = int(place), place - int(place)
        return (1.0 - share) * self._gain(below) + (share * self._gain(below + 1) if share > 0.0 else 0.0)

    def _gain(self, place: int) -> float:
        if place not in self._gains:
            q = place / GRID
            P = (1.0 - q) * self.kernels[0] + q * self.kernels[1]
            self._gains[place] = best_gain(P, (1.0 - q) * self.rewards[0] + q * self.rewards[1])
        return self._gains[place]

    def regret(self, rewards: NDArray[np.float64]) -> Vector:
        """Cumulative dynamic regret Σ gain(t) − r_t of the first len(rewards) steps."""
        best = np.array([self.gain(t) for t in range(len(rewards))])
        return np.cumsum(best - rewards)


def best_gain(P: Cube, rewards: Matrix, *, precision: float = 1e-9, sweeps: int = 100_000) -> float:
    """The largest mean reward per step of P (S, A, S) and rewards (S, A), by relative value iteration.

    Examples
    --------
    >>> round(best_gain(np.array([[[1.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [1.0, 0.0]]]), np.array([[0.2, 0.0], [1.0, 0.0]])), 6)
    0.5
    """
    u = np.zeros(len(rewards))
    for _ in range(sweeps):
        step = (rewards + LAZY * (P @ u - u[:, None])).max(axis=1)
        u += step
        u -= u.min()
        if step.max() - step.min() < precision:
            return float(0.5 * (step.max() + step.min()))
    raise InvalidValue("relative value iteration does not settle: the best mean reward depends on the first state")


def _phase(steps: int, drift: Drift, path: dict[str, Any]) -> Vector:
    return phase(integer("steps", steps, least=1, why="it is the length of the task"), drift, **path)


def queue(*, steps: int, drift: Drift = "abrupt", capacity: int = 12, **path: Any) -> Task:
    """Customers arrive and wait; action a = 0, 1, 2 serves slowly, faster or fastest, at a price. What drifts is how many arrive.

    Examples
    --------
    >>> queue(steps=1000)
    Task(13 states, 3 actions, 1000 steps)
    """
    S = integer("capacity", capacity, least=1, why="it is the number of customers there is room for") + 1
    served, price = (0.25, 0.55, 0.85), np.array([0.0, 0.15, 0.4])
    kernels = []
    for arrival in (0.2, 0.7):
        P = np.zeros((S, 3, S))
        for s, a, come, leave in np.ndindex(S, 3, 2, 2):
            p = (arrival if come else 1.0 - arrival) * (served[a] if leave else 1.0 - served[a])
            P[s, a, min(max(s - leave, 0) + come, S - 1)] += p
        kernels.append(P)
    pay = np.clip(1.0 - 0.6 * np.arange(S)[:, None] / (S - 1) - price, 0.0, 1.0)
    return Task((kernels[0], kernels[1]), (pay, pay), _phase(steps, drift, path))


def warehouse(*, steps: int, drift: Drift = "abrupt", capacity: int = 10, **path: Any) -> Task:
    """Stock 0..capacity; action a orders 0, 3 or 6 pieces, which come at once. What drifts is the demand, 1.5 or 4 pieces a day.

    A piece sold earns 1/capacity, an order costs 0.08 and one piece in stock 0.02 a day.
    """
    S = integer("capacity", capacity, least=1, why="it is the number of pieces there is room for") + 1
    orders, kernels, rewards = (0, 3, 6), [], []
    for rate in (1.5, 4.0):
        demand = np.exp(-rate) * np.cumprod(np.concatenate([[1.0], rate / np.arange(1, S)]))
        demand[-1] += 1.0 - demand.sum()
        P, pay = np.zeros((S, 3, S)), np.zeros((S, 3))
        for s, a, wanted in np.ndindex(S, 3, S):
            stock = min(s + orders[a], S - 1)
            sold = min(stock, wanted)
            P[s, a, stock - sold] += demand[wanted]
            pay[s, a] += demand[wanted] * (sold / (S - 1) - 0.02 * (stock - sold))
        kernels.append(P)
        rewards.append(np.clip(pay - 0.08 * (np.array(orders) > 0) + 0.3, 0.0, 1.0))
    return Task((kernels[0], kernels[1]), (rewards[0], rewards[1]), _phase(steps, drift, path))


def servers(*, steps: int, drift: Drift = "abrupt", capacity: int = 4, **path: Any) -> Task:
    """Two queues of up to `capacity` jobs and three servers; action a = 0..3 gives a of them to the first queue.

    A queue with k servers finishes a job with probability 1 − 0.6^k. What drifts is where jobs arrive: with probability 0.65 in one queue
    and 0.15 in the other, or the other way round. A step pays for few waiting jobs.
    """
    n = integer("capacity", capacity, least=1, why="it is the number of jobs there is room for") + 1
    S, kernels = n * n, []
    for arrivals in ((0.65, 0.15), (0.15, 0.65)):
        P = np.zeros((S, 4, S))
        for x, y, a, come_x, come_y, done_x, done_y in np.ndindex(n, n, 4, 2, 2, 2, 2):
            finish = 1.0 - 0.6**a, 1.0 - 0.6 ** (3 - a)
            p = 1.0
            for happens, chance in (
                (come_x, arrivals[0]),
                (come_y, arrivals[1]),
                (done_x, finish[0]),
                (done_y, finish[1]),
            ):
                p *= chance if happens else 1.0 - chance
            to = min(max(x - done_x, 0) + come_x, n - 1), min(max(y - done_y, 0) + come_y, n - 1)
            P[n * x + y, a, n * to[0] + to[1]] += p
        kernels.append(P)
    waiting = np.add.outer(np.arange(n), np.arange(n)).ravel() / (2.0 * (n - 1))
    pay = np.repeat(1.0 - waiting[:, None], 4, axis=1)
    return Task((kernels[0], kernels[1]), (pay, pay), _phase(steps, drift, path))
