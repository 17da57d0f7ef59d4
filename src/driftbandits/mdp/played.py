"""The result of a run in an environment."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.linalg import Vector
from ..errors import InvalidValue, integer, require
from ..util.notebook import COLOURS
from ..util.words import counted


def state_in(states: int, given: Any) -> int:
    """The state that an environment with so many states returned; the agent may have one more, which no environment may name."""
    number = integer("state", given, least=0, why="environments number their states from 0")
    require(number < states, "state", given, f"in 0..{states - 1}", f"the environment has {states} states")
    return number


class Ends:
    """Where a step leads, as a learner with a state of its own for the end of an episode sees it, or as one without it does."""

    def __init__(self, states: int, own: int, horizon: int) -> None:
        self.horizon = horizon
        self.end = own - 1 if own > states else None
        self.acted = np.zeros(own, bool)  # states in which an action was taken: no ends

    def after(self, h: int, s: int, s_next: int, terminated: bool) -> tuple[int, bool]:
        """(successor, whether it is an end) of a step in stage h."""
        self.acted[s] = True
        last = h == self.horizon - 1
        if self.end is None:
            # After the last stage no state earns anything, so an end there tells nothing about the state.
            return s_next, terminated and not last
        # Some environments end after a number of steps, in any state. A state in which no action was ever taken is an end in any case.
        ends = terminated and not (last and self.acted[s_next])
        return (self.end if ends else s_next), bool(ends)


@dataclass(frozen=True)
class Played:
    """Returns of episodes, and who played them."""

    returns: Vector  # (K,) undiscounted return of each episode
    lengths: NDArray[np.int64]  # (K,) steps
    terminated: NDArray[np.bool_]  # (K,) did the environment end the episode?
    agent: Any = field(
        default=None, repr=False, compare=False
    )  # who played; made by `run` where it was given a strategy

    def __repr__(self) -> str:
        last = self.returns[-max(1, len(self.returns) // 10) :]
        episodes = counted(len(self.returns), "episode")
        return f"Played({episodes}, mean return {self.returns.mean():.4g}, of the last tenth {last.mean():.4g})"

    def plot(self, *, window: int | None = None, ax: Any = None) -> Any:
        """The return of every episode and its running mean over `window` episodes, by default a twentieth of them; returns the axes."""
        return plot_running_mean(self.returns, window, ax, "episode", "return")


@dataclass(frozen=True)
class Continued:
    """Rewards of a task without episodes, and who earned them."""

    rewards: Vector  # (T,)
    agent: Any = field(default=None, repr=False, compare=False)

    def __repr__(self) -> str:
        last = self.rewards[-max(1, len(self.rewards) // 10) :]
        return f"Continued({len(self.rewards)} steps, mean reward {self.rewards.mean():.4g}, of the last tenth {last.mean():.4g})"

    def plot(self, *, window: int | None = None, ax: Any = None) -> Any:
        """The running mean of the rewards over `window` steps, by default a twentieth of them; returns the axes."""
        return plot_running_mean(self.rewards, window, ax, "step", "reward")


def plot_running_mean(values: Vector, window: int | None, ax: Any, time: str, quantity: str) -> Any:
    """Values as dots and their running mean; returns the axes."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise InvalidValue("plot needs matplotlib; install driftbandits[command]") from None
    axes = plt.subplots()[1] if ax is None else ax
    K = len(values)
    width = max(1, K // 20) if window is None else integer("window", window, least=1, why=f"it counts {time}s")
    total = np.concatenate([[0.0], np.cumsum(values)])
    ends = np.arange(1, K + 1)
    starts = np.maximum(ends - width, 0)
    axes.plot(ends, values, ".", color="0.8", markersize=2, label=time)
    axes.plot(ends, (total[ends] - total[starts]) / (ends - starts), color=COLOURS[0], label=f"mean of {width}")
    axes.set(xlabel=time, ylabel=quantity)
    # Above the picture: returns may lie anywhere inside it.
    axes.legend(frameon=False, loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=2, borderaxespad=0.2)
    return axes
