"""Drive a Gymnasium environment with discrete spaces, as it is: FrozenLake, Taxi, CliffWalking, or one's own.

Nothing here imports Gymnasium: an environment is anything with its `reset() -> (state, info)` and `step(action) -> (state, reward,
terminated, truncated, info)`. Spaces are compared with the agent's sizes if it has them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InvalidShape, InvalidValue, integer
from ..linalg import Vector
from .agent import EpisodicAgent


@dataclass(frozen=True)
class Played:
    """What a run in an environment leaves behind."""

    returns: Vector  # (K,) undiscounted return of each episode
    lengths: NDArray[np.int64]  # (K,) steps
    terminated: NDArray[np.bool_]  # (K,) did the environment end the episode?

    def __repr__(self) -> str:
        last = self.returns[-max(1, len(self.returns) // 10) :]
        return f"Played({len(self.returns)} episodes, mean return {self.returns.mean():.4g}, of the last tenth {last.mean():.4g})"

    def plot(self, *, window: int | None = None, ax: Any = None) -> Any:
        """The return of every episode and its running mean over `window` episodes, by default a twentieth of them; returns the axes."""
        try:
            import matplotlib.pyplot as plt
        except ImportError:
            raise InvalidValue("plot needs matplotlib; install driftbandits[command]") from None
        axes = plt.subplots()[1] if ax is None else ax
        K = len(self.returns)
        width = max(1, K // 20) if window is None else integer("window", window, least=1, why="it counts episodes")
        total = np.concatenate([[0.0], np.cumsum(self.returns)])
        ends = np.arange(1, K + 1)
        starts = np.maximum(ends - width, 0)
        axes.plot(ends, self.returns, ".", color="0.8", markersize=2, label="episode")
        axes.plot(ends, (total[ends] - total[starts]) / (ends - starts), color="C0", label=f"mean of {width}")
        axes.set(xlabel="episode", ylabel="return")
        axes.legend(frameon=False)
        return axes


def run(
    agent: EpisodicAgent,
    env: Any,
    *,
    episodes: int,
    seed: int | None = None,
    progress: Callable[[int, float], None] | None = None,
) -> Played:
    """Let an agent learn and play in a Gymnasium environment.

    An episode ends when the environment says so, or after the agent's H stages. If the agent has one state more than the environment, the
    last one is the end, whichever state an episode ends in; else a state in which an episode terminates before stage H must always be an
    end.

    Parameters
    ----------
    episodes
        How many episodes to play.
    seed
        Of the environment, given to its first `reset`.
    progress
        Called with the number of episodes played and the return of the last one, e.g. `print`.

    Examples
    --------
    >>> import gymnasium, driftbandits as db
    >>> env = gymnasium.make("FrozenLake-v1", is_slippery=False)
    >>> agent = db.EpisodicAgent(db.zoo.weight_ucrl(), db.mdp.tabular(16, 4), horizon=20, seed=0)
    >>> db.run(agent, env, episodes=10, seed=0).returns.shape
    (10,)
    """
    K = integer("episodes", episodes, least=1, why="it is the number of episodes to play")
    if progress is not None and not callable(progress):
        raise InvalidValue(
            f"progress = {progress!r:.60} is not allowed; it must be a function of (episodes, return): print"
        )
    states = _states_of(env, agent)
    played = Played(np.zeros(K), np.zeros(K, np.int64), np.zeros(K, bool))
    for k in range(K):
        s, _ = _values("reset()", env.reset(seed=seed) if k == 0 and seed is not None else env.reset(), RESET)
        agent.begin_episode()
        for h in range(agent.horizon):
            a = agent.act(h, s)
            s_next, reward, terminated, truncated, _ = _values("step(action)", env.step(a), STEP)
            # After the last stage nothing is earned anywhere: an end there says nothing of the state.
            ends = terminated if h < agent.horizon - 1 else False
            to = agent.states - 1 if ends and agent.states > states else s_next
            agent.observe(h, s, a, reward, to, terminated=ends, truncated=truncated)
            played.returns[k] += float(reward)
            played.lengths[k], played.terminated[k], s = h + 1, terminated, s_next
            if terminated or truncated:
                break
        if progress is not None:
            progress(k + 1, float(played.returns[k]))
    return played


RESET, STEP = ("state", "info"), ("state", "reward", "terminated", "truncated", "info")


def _values(call: str, given: Any, names: tuple[str, ...]) -> tuple[Any, ...]:
    """What an environment returned, as many values as Gymnasium's return."""
    if not isinstance(given, tuple) or len(given) != len(names):
        raise InvalidValue(f"env.{call} returned {given!r:.60}; it must return ({', '.join(names)}), as Gymnasium's do")
    return given


def _states_of(env: Any, agent: EpisodicAgent) -> int:
    """The number of states of an environment, which must be that of the agent, or one less; the agent's if it has no spaces."""
    if not all(callable(getattr(env, name, None)) for name in ("reset", "step")):
        hint = f": gymnasium.make({env!r}) makes one" if isinstance(env, str) else ""
        raise InvalidValue(f"env = {env!r:.60} is no environment; it must have the methods reset and step{hint}")
    if not (hasattr(env, "observation_space") or hasattr(env, "action_space")):
        return agent.states
    states, actions = (_size(name, getattr(env, name, None)) for name in ("observation_space", "action_space"))
    if actions != agent.actions or agent.states - states not in (0, 1):
        raise InvalidShape(
            f"the environment has {states} states and {actions} actions, the agent {agent.states} and {agent.actions}; "
            f"make it with mdp.tabular({states}, {actions}), or one state more for the end of an episode"
        )
    return states


def _size(name: str, space: Any) -> int:
    count = getattr(space, "n", None)
    if count is None or getattr(space, "start", 0) != 0:
        raise InvalidValue(
            f"{name} is {space!r}; it must be Discrete(n), numbered from 0: wrap the environment if its states are tuples"
        )
    return int(count)
