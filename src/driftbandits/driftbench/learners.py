"""Learners as objects with `select` and `update`: random play, LinUCB in plain NumPy, `Bandit`; and tables for MDPs.

A learner of your own takes part in this form:

    class Mine:
        def __init__(self, task, seed, **setting): ...      # `task` is a `Task`; settings are those of the tuned track
        def select(self, arms): ...                         # (n, d) features on offer → index of the arm to play
        def update(self, reward): ...                       # the reward of the arm that was played
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, ClassVar

import numpy as np

from ..core.linalg import Matrix
from ..mdp.baselines import PSRL, UCBVI, Baseline, QLearning
from .task import CannotPlay, Task

Setting = Mapping[str, Any]


class Uniform:
    """Every arm with the same probability. In MDPs, every action."""

    def __init__(self, task: Task, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.policy = np.full((task.horizon, max(task.states, 1), task.choices), 1.0 / task.choices)

    @classmethod
    def of(cls, task: Task) -> Callable[[int], "Uniform"]:
        """A fresh one per seed."""
        return partial(cls, task)

    def select(self, arms: Matrix) -> int:
        """A uniformly random arm."""
        return int(self.rng.integers(len(arms)))

    def update(self, reward: float) -> None:
        """Nothing is learned."""

    def begin_episode(self) -> None:
        """Nothing is planned."""

    def observe(self, h: int, s: int, a: int, reward: float, s_next: int) -> None:
        """Nothing is learned."""


class LinUCB:
    """Discounted LinUCB as a straightforward implementation has it, V = λI + Σ γ^(t−s) xxᵀ: play argmax xᵀV⁻¹b + α‖x‖_{V⁻¹}.

    The inverse is not kept, so that nothing has to be recomputed when it drifts from the truth; d is small in the suite.
    """

    settings: ClassVar[list[dict[str, float]]] = [
        {"gamma": g, "alpha": a} for g in (0.97, 0.99, 0.997, 1.0) for a in (0.3, 1.0)
    ]

    def __init__(self, task: Task, seed: int, *, gamma: float = 0.995, alpha: float = 1.0) -> None:
        self.gamma, self.alpha, self.rng = gamma, alpha, np.random.default_rng(seed)
        self.V, self.b, self.x = np.eye(task.dim), np.zeros(task.dim), np.zeros(task.dim)

    @classmethod
    def of(cls, task: Task, setting: Setting) -> Callable[[int], "LinUCB"]:
        """A fresh one per seed."""
        if task.episodes:
            raise CannotPlay("it is a bandit learner; this is an MDP")
        return partial(cls, task, **setting)

    def select(self, arms: Matrix) -> int:
        """The largest index; ties at random."""
        solved = np.linalg.solve(self.V, np.column_stack([self.b, arms.T]))
        index = arms @ solved[:, 0] + self.alpha * np.sqrt(np.einsum("nd,dn->n", arms, solved[:, 1:]))
        best = np.flatnonzero(index >= index.max() - 1e-12)
        k = int(best[self.rng.integers(len(best))])
        self.x = arms[k]
        return k

    def update(self, reward: float) -> None:
        """One discounted step."""
        self.V *= self.gamma
        self.V.flat[:: len(self.V) + 1] += 1.0 - self.gamma
        self.V += np.outer(self.x, self.x)
        self.b = self.gamma * self.b + reward * self.x


class BanditLearner:
    """`driftbandits.Bandit` as in production: names of items and a context, or vectors; nothing set but the kind of reward."""

    def __init__(self, task: Task, seed: int) -> None:
        from ..bandit import Bandit

        self.bandit = Bandit(reward="click" if task.reward == "click" else "value", seed=seed)
        self.names = [f"item {k}" for k in range(task.items)]
        self.last: Any = None

    @classmethod
    def of(cls, task: Task) -> Callable[[int], "BanditLearner"]:
        """A fresh one per seed."""
        if task.episodes:
            raise CannotPlay("it is a bandit learner; this is an MDP")
        return partial(cls, task)

    def select(self, offer: Matrix) -> int:
        """One decision."""
        self.last = self.bandit.decide(self.names, offer) if self.names else self.bandit.decide(offer)
        return self.names.index(self.last.item) if self.names else int(self.last.item)

    def update(self, reward: float) -> None:
        """Its reward."""
        self.bandit.reward(self.last.id, reward)


class _Clipped(Baseline):
    """Rewards in the suite have noise, the baselines need them in [0, 1]: they are cut there."""

    def observe(
        self,
        h: int,
        s: int,
        a: int,
        reward: float,
        s_next: int,
        *,
        terminated: bool = False,
        truncated: bool = False,
    ) -> None:
        """Learn the reward, cut."""
        cut = min(max(reward, 0.0), 1.0)
        super().observe(h, s, a, cut, s_next, terminated=terminated, truncated=truncated)


class _QLearning(_Clipped, QLearning):
    pass


class _UCBVI(_Clipped, UCBVI):
    pass


class _PSRL(_Clipped, PSRL):
    pass


_TABLES: dict[str, Any] = {"q_learning": _QLearning, "ucbvi": _UCBVI, "psrl": _PSRL}


def table_learner(name: str) -> Callable[[Task, Setting], Callable[[int], Any]]:
    """A baseline of `mdp.baselines`, which knows only the numbers of states, actions and stages."""

    def make(task: Task, setting: Setting) -> Callable[[int], Any]:
        if not task.episodes:
            raise CannotPlay("it is for MDPs")
        given = {"epsilon" if key == "explore" else key: value for key, value in setting.items()}
        sizes = {"states": task.states, "actions": task.choices, "horizon": task.horizon}
        return lambda seed: _TABLES[name](seed=seed, **sizes, **given)

    return make
