r"""Baselines of reinforcement learning: Q-learning, UCBVI and PSRL, in plain NumPy, with memories that fade.

    QLearning   Q_h(s,a) ← Q_h + α(r + γ max Q_{h+1}(s') − Q_h), ε-greedy; a constant step α forgets
    UCBVI       plans with N̂, R̂ and the bonus c(H−h)/√n (Azar, Osband, Munos 2017); counts fade by `fade` per episode
    PSRL        plans in a world drawn from the posterior (Osband, Russo, Van Roy 2013); counts fade by `fade` per episode

They are learners for `simulate_mdp`, which has their exact regret, and agents for `run`:

>>> import driftbandits as db
>>> world = db.mdp.riverswim(episodes=50)
>>> learner = db.mdp.baselines.UCBVI(states=6, actions=2, horizon=world.horizon)
>>> db.simulate_mdp(learner, world, seed=0).regret.shape
(50,)

UCRL2 and SWUCRL2-CW, for tasks without episodes, are in `ucrl2`.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.linalg import Matrix
from ..errors import InvalidValue, integer, positive, require
from .protocol import Cube
from .ucrl2 import UCRL2

__all__ = ["PSRL", "UCBVI", "UCRL2", "QLearning"]
TIE = 1e-12


class Baseline:
    """What the three share: sizes, rewards on [0, 1], a policy that is drawn from, and states in which episodes ended."""

    def __init__(
        self, *, states: int, actions: int, horizon: int, reward_range: tuple[float, float] = (0.0, 1.0), seed: int = 0
    ) -> None:
        self.states = integer("states", states, least=1, why="it is the number of states S")
        self.actions = integer("actions", actions, least=1, why="it is the number of actions A")
        self.horizon = integer("horizon", horizon, least=1, why="it is the number of stages H")
        self.low, self.high = (float(end) for end in reward_range)
        require(
            self.low < self.high,
            "reward_range",
            reward_range,
            "(low, high) with low < high",
            "rewards are mapped to [0, 1]",
        )
        self.rng = np.random.default_rng(seed)
        self.ended = np.zeros(self.states, bool)
        self.policy: Cube = np.full((self.horizon, self.states, self.actions), 1.0 / self.actions)

    @property
    def idle(self) -> float:
        """What a stage after the end is worth on the learner's scale: reward 0."""
        return min(max(-self.low / (self.high - self.low), 0.0), 1.0)

    def begin_episode(self) -> None:
        """Plan the next episode: `policy` (H, S, A) has the probabilities of its actions."""
        self.policy = self.plan()

    def act(self, h: int, s: int) -> int:
        """An action drawn from the policy."""
        return int(self.rng.choice(self.actions, p=self.policy[h, s]))

    def observe(
        self,
        h: int,
        s: int,
        a: int,
        reward: float,
        s_next: int,
        *,
        terminated: bool = False,
        truncated: bool = False,  # noqa: ARG002 - which says nothing of s_next
    ) -> None:
        """Learn from one step; after `terminated` nothing is earned in s_next, and `truncated` says nothing of it."""
        r = (float(reward) - self.low) / (self.high - self.low)
        if not -1e-6 <= r <= 1.0 + 1e-6:
            raise InvalidValue(f"reward = {reward!r} is not in reward_range = ({self.low:g}, {self.high:g})")
        if terminated:
            self.ended[s_next] = True
        self.learn(h, s, a, r, s_next)

    def plan(self) -> Cube:
        """Probabilities of actions, (H, S, A)."""
        raise NotImplementedError

    def learn(self, h: int, s: int, a: int, r: float, s_next: int) -> None:
        """One step, the reward in [0, 1]."""
        raise NotImplementedError


def _greedy(Q: NDArray[np.float64]) -> NDArray[np.float64]:
    """The best actions, with equal probability."""
    best = (Q >= Q.max(axis=-1, keepdims=True) - TIE).astype(np.float64)  # noqa: SIM300
    shares: NDArray[np.float64] = best / best.sum(axis=-1, keepdims=True)
    return shares


class QLearning(Baseline):
    """Tabular Q-learning, ε-greedy, with a constant step.

    Parameters
    ----------
    step, epsilon
        α and ε.
    discount
        γ of the target; less than 1 where the stages share one table, as most implementations do.
    share_stages
        One table for all stages instead of H.
    start
        Q before anything is learned, on the scale of rewards; by default the largest possible return, which is optimistic.
    """

    def __init__(
        self,
        *,
        step: float = 0.15,
        epsilon: float = 0.05,
        discount: float = 1.0,
        share_stages: bool = False,
        start: float | None = None,
        **sizes: Any,
    ) -> None:
        super().__init__(**sizes)
        require(0.0 < step <= 1.0, "step", step, "in (0, 1]", "it is the share of the new target")
        require(0.0 <= epsilon <= 1.0, "epsilon", epsilon, "in [0, 1]", "it is a probability")
        require(0.0 < discount <= 1.0, "discount", discount, "in (0, 1]", "it discounts the next value")
        self.step, self.epsilon, self.discount, self.shared = step, epsilon, discount, bool(share_stages)
        left = np.full(1, float(self.horizon)) if self.shared else np.arange(self.horizon, 0, -1.0)
        self.Q = np.zeros((len(left), self.states, self.actions))
        self.Q += left[:, None, None] if start is None else start
        # One table knows no stages: there rewards keep their scale, so that 0 is what an end is worth.
        self.offset, self.width = (self.low, self.high - self.low) if self.shared else (0.0, 1.0)

    def plan(self) -> Cube:
        """ε-greedy."""
        policy = (1.0 - self.epsilon) * _greedy(self.Q) + self.epsilon / self.actions
        return np.broadcast_to(policy, (self.horizon, self.states, self.actions))

    def act(self, h: int, s: int) -> int:
        """ε-greedy, with all that was learned in this episode, as Q-learning does."""
        if self.rng.random() < self.epsilon:
            return int(self.rng.integers(self.actions))
        row = self.Q[h % len(self.Q), s]
        return int(self.rng.choice(np.flatnonzero(row >= row.max() - TIE)))

    def learn(self, h: int, s: int, a: int, r: float, s_next: int) -> None:
        """One step."""
        row, last = h % len(self.Q), h == self.horizon - 1
        if self.ended[s_next]:
            next_value = 0.0 if self.shared else self.idle * (self.horizon - h - 1)
        elif last and not self.shared:
            next_value = 0.0
        else:
            next_value = float(self.Q[(h + 1) % len(self.Q), s_next].max())
        target = self.offset + self.width * r + self.discount * next_value
        self.Q[row, s, a] += self.step * (target - self.Q[row, s, a])


class _Counting(Baseline):
    """What PSRL and UCBVI share: counts that fade, pooled over the stages, and a plan by backward induction."""

    def __init__(self, *, fade: float = 1.0, **sizes: Any) -> None:
        super().__init__(**sizes)
        require(0.0 < fade <= 1.0, "fade", fade, "in (0, 1]", "counts are multiplied by it in every episode")
        self.fade = fade
        self.N = np.zeros((self.states, self.actions, self.states))
        self.R = np.zeros((self.states, self.actions))

    def model(self) -> tuple[Cube, Matrix, Matrix]:
        """P (S, A, S), rewards (S, A), and a bonus (S, A) per stage left."""
        raise NotImplementedError

    def plan(self) -> Cube:
        """Backward induction, clipped at the stages left."""
        P, rewards, bonus = self.model()
        policy, V = np.zeros((self.horizon, *rewards.shape)), np.zeros(self.states)
        for h in range(self.horizon - 1, -1, -1):
            left = self.horizon - h
            Q = np.minimum(rewards + P @ V + left * bonus, left)
            Q[self.ended] = self.idle * left
            policy[h], V = _greedy(Q), Q.max(axis=1)
        self.N *= self.fade  # before the episode that is planned is counted
        self.R *= self.fade
        return policy

    def learn(self, h: int, s: int, a: int, r: float, s_next: int) -> None:  # noqa: ARG002 - stages are pooled
        """Count it."""
        self.N[s, a, s_next] += 1.0
        self.R[s, a] += r


class UCBVI(_Counting):
    """Optimism by a bonus of Hoeffding's shape, `scale`·(H−h)/√n; an unknown pair leads nowhere, and its bonus is all there is."""

    def __init__(self, *, scale: float = 0.05, **options: Any) -> None:
        super().__init__(**options)
        require(scale >= 0.0, "scale", scale, "≥ 0", "it multiplies the bonus")
        self.scale = scale

    def model(self) -> tuple[Cube, Matrix, Matrix]:
        """The empirical world."""
        n = self.N.sum(axis=2)
        seen = np.maximum(n, 1e-9)
        bonus = np.where(n > 0.0, np.minimum(self.scale / np.sqrt(seen), 1.0), 1.0)
        return self.N / seen[..., None], self.R / seen, bonus


class PSRL(_Counting):
    """Posterior sampling: Dirichlet transitions, normal rewards; `prior` is the weight of the prior, in visits."""

    def __init__(self, *, prior: float = 1.0, **options: Any) -> None:
        super().__init__(**options)
        positive("prior", prior, "a Dirichlet distribution needs positive counts")
        self.prior = prior

    def model(self) -> tuple[Cube, Matrix, Matrix]:
        """A draw from the posterior."""
        n = self.N.sum(axis=2)
        draw = self.rng.standard_gamma(self.N + self.prior / self.states) + 1e-300
        rewards = (self.R + self.prior) / (n + self.prior)
        rewards += self.rng.standard_normal(n.shape) * 0.1 / np.sqrt(n + 1.0)
        return draw / draw.sum(axis=2, keepdims=True), rewards, np.zeros_like(n)
