"""The online front: the same strategies, one decision at a time."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .checks import Check, as_offer, check_arms
from .errors import InvalidShape, InvalidState, InvalidValue, integer, real
from .kernel import entry
from .linalg import Matrix, Vector
from .protocol import NO_SLOT, Setting, act, describe, estimator, grow, learn, limits, ready, scores, settled, start


class Agent:
    """Decide now, learn when the reward arrives.

    Parameters
    ----------
    strategy
        From `zoo`, or any composition of parts.
    dim
        Number of features d of an arm.
    seed
        Of the agent's own randomness (ties, randomised rules).
    horizon
        Number of rounds, if known; only strategies with a union bound over time need it.
    check
        Arms longer than the strategy's L are an error, a warning ("warn") or ignored ("off").

    Examples
    --------
    >>> import driftbandits as db
    >>> agent = db.Agent(db.zoo.lb_weight_ucb(half_life=200, lam=0.1, S=1, L=1, R=0.1, delta=0.01), dim=2, seed=0)
    >>> arms = [[1.0, 0.0], [0.0, 1.0]]
    >>> for _ in range(100):
    ...     k = agent.select(arms)
    ...     agent.update(reward=[0.2, 0.8][k])
    >>> agent.theta.round(1)
    array([0.2, 0.8])
    """

    def __init__(
        self,
        strategy: Any,
        *,
        dim: int,
        seed: int | np.random.SeedSequence = 0,
        horizon: int | None = None,
        check: Check = "error",
    ) -> None:
        self.dim = integer("dim", dim, least=1, why="it is the number of features d")
        self.strategy = strategy = settled(strategy, self.dim)
        self.check: Check = check
        self._rng = np.random.default_rng(seed)
        self._limits = limits(strategy)
        T = 0 if horizon is None else integer("horizon", horizon, least=1, why="it is the number of rounds T")
        self._state = start(strategy, Setting(self.dim, np.zeros((self.dim, 0)), T), self._rng)
        self._grows = grow.knows(type(self._state))
        self._score = np.zeros(0)
        self._x = np.zeros(self.dim)
        self._chosen = False
        none = np.zeros((self.dim, 1))
        self._decide = _decide.direct(strategy, self._state, none, self._score, True, self._rng)
        self._observe = _observe.direct(strategy, self._state, self._x, 0.0)

    def select(self, arms: ArrayLike) -> int:
        """Index of the arm to play among the rows of `arms` (n, d), which may differ in every call."""
        offer = self._offer(arms)
        k: int = self._decide(self.strategy, self._state, offer, self._score, True, self._rng)
        self._x[:] = offer[:, k]
        self._chosen = True
        return k

    def update(self, reward: float, *, x: ArrayLike | None = None) -> None:
        """Learn the reward of the last selection, or of any features `x` (d,)."""
        r = real("reward", reward)
        if not self._limits.low <= r <= self._limits.high:
            allowed = f"in [{self._limits.low:g}, {self._limits.high:g}]"
            raise InvalidValue(f"reward = {reward!r} is not allowed; it must be {allowed}: the radius assumes it")
        if x is not None:
            self._learn(self._features(x), r)
            return
        if not self._chosen:
            raise InvalidState(
                "update without select: there is no selection whose reward is open; give the features with x=…"
            )
        self._learn(self._x, r)
        self._chosen = False

    def scores(self, arms: ArrayLike) -> Vector:
        """The optimistic index of every arm, as the rule computes it for the coming decision, (n,)."""
        offer = self._offer(arms)
        self._decide(self.strategy, self._state, offer, self._score, False, self._rng)
        return self._score.copy()

    @property
    def theta(self) -> Vector:
        """Current estimate of θ, (d,)."""
        return estimator(self.strategy, self._state).copy()

    def info(self) -> dict[str, Any]:
        """What the strategy tells about its state: observations, effective memory, radius, …"""
        return describe(self.strategy, self._state)

    def _learn(self, x: Vector, r: float) -> None:
        if self._grows:
            self._state = grow(self._state)
        self._observe(self.strategy, self._state, x, r)

    def _offer(self, arms: ArrayLike) -> Matrix:
        """Checked arms as (d, n), and a score for each."""
        offer = as_offer(arms, self.dim)
        check_arms(offer[None], self._limits.L, self.check)
        if self._score.shape[0] != offer.shape[1]:
            self._score = np.zeros(offer.shape[1])
        return offer

    def _features(self, x: ArrayLike) -> Vector:
        features = np.ascontiguousarray(x, np.float64)
        if features.shape != (self.dim,):
            raise InvalidShape(f"x has shape {features.shape}; it must be ({self.dim},): the features of one arm")
        check_arms(features[None, :, None], self._limits.L, self.check)
        return features


@entry
def _decide(strategy: Any, state: Any, arms: Matrix, score: Vector, choose: bool, rng: np.random.Generator) -> int:
    """Choose an arm, or only score all arms for the coming choice."""
    if choose:
        return act(strategy, state, arms, score, rng)
    ready(strategy, state, rng)
    scores(strategy, state, arms, score)
    return -1


@entry
def _observe(strategy: Any, state: Any, x: Vector, r: float) -> None:
    learn(strategy, state, x, r, NO_SLOT)
