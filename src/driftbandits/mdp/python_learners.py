"""User-defined learners in plain Python, in the worlds of the library: the same random numbers, the same exact regret.

    >>> import numpy as np
    >>> import driftbandits as db
    >>> class Always:                                             # swims to the right, whatever happens
    ...     def begin_episode(self):
    ...         self.policy = np.ones((10, 6), int)               # (H, S) actions, or (H, S, A) their probabilities
    ...     def observe(self, h, s, a, reward, s_next):
    ...         pass
    >>> world = db.mdp.riverswim(episodes=20, drift="static")
    >>> db.simulate_mdp(Always(), world, seed=0).regret.shape
    (20,)

An `EpisodicAgent` is such a learner, too.
"""

from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from ..core.linalg import Vector
from .environment import MDP
from .planning import policy_evaluation
from .protocol import Cube


class Learner(Protocol):
    """What `simulate_mdp` asks of a learner that is no strategy of the zoo."""

    @property
    def policy(self) -> ArrayLike:
        """What it will do in the episode that has begun: actions (H, S), or probabilities of actions (H, S, A)."""

    def begin_episode(self) -> Any:
        """The next episode begins: plan it."""

    def observe(self, h: int, s: int, a: int, reward: float, s_next: int) -> None:
        """Action a in state s of stage h = 0..H−1 paid `reward` and led to `s_next`."""


def is_learner(given: Any) -> bool:
    """Whether this is a user's learner rather than a strategy."""
    return not isinstance(given, type) and all(
        callable(getattr(given, name, None)) for name in ("begin_episode", "observe")
    )


def episodes_of(learner: Learner, mdp: MDP, fate: Cube, noise: Cube, rng: np.random.Generator) -> Iterator[Any]:
    """Play len(fate) episodes; yields the regret of each, its states (H+1,), actions (H,) and rewards (H,)."""
    for k, P, pay in _tables(mdp, len(fate)):
        learner.begin_episode()
        policy = np.asarray(learner.policy)
        lost = mdp.optimal[k] - policy_evaluation(P, pay, policy)[0, mdp.start[k]]
        states, actions, rewards = [int(mdp.start[k])], [], []
        for h in range(mdp.horizon):
            s = states[h]
            a = int(policy[h, s]) if policy.ndim == 2 else _drawn(policy[h, s], rng.random())
            s_next = _drawn(P[h, s, a], fate[k, h])
            reward = float(pay[h, s, a] + noise[k, h])
            learner.observe(h, s, a, reward, s_next)
            states.append(s_next)
            actions.append(a)
            rewards.append(reward)
        yield lost, states, actions, rewards


def _tables(mdp: MDP, episodes: int) -> Iterator[tuple[int, Cube, Cube]]:
    """P and rewards of every episode, made anew only where the parameters have changed."""
    for k in range(episodes):
        if k == 0 or any(not np.array_equal(path[k], path[k - 1]) for path in (mdp.theta, mdp.w)):
            P, pay = mdp.kernel(k), mdp.rewards(k)
        yield k, P, pay


def _drawn(p: Vector, u: float) -> int:
    """The number whose share of [0, 1) holds u; rounding at the end goes to the last possible one."""
    return min(int(np.searchsorted(np.cumsum(p), u, side="right")), int(np.flatnonzero(p)[-1]))
