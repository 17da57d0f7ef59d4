"""Pictures of a plan: values and greedy actions over the states, stage by stage, and how the policy changes over the episodes.

    >>> import driftbandits as db
    >>> agent = db.EpisodicAgent(db.zoo.weight_ucrl(), db.mdp.tabular(16, 4), horizon=20, seed=0)
    >>> _ = agent.begin_episode()
    >>> figure = db.mdp.plot_plan(agent, shape=(4, 4), actions="←↓→↑", stages=(0, 10, 19))

They need matplotlib (the extra `command`).
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InvalidShape, InvalidState, InvalidValue
from .agent import EpisodicAgent
from .simulate import EpisodicRun

SHOWN = 6  # stages in one picture, unless the caller names them
NOTHING = -1  # in place of an action


def plot_plan(
    agent: EpisodicAgent,
    *,
    shape: tuple[int, int] | None = None,
    actions: Sequence[str] | None = None,
    stages: Sequence[int] | None = None,
) -> Any:
    """The plan of the current episode: one map of the states per stage, coloured by value, the greedy action written on it.

    Nothing is written on states in which episodes have ended.

    Parameters
    ----------
    shape
        Rows and columns of the grid that the states are laid out on, row by row; by default one row. With one place less than there are
        states the last state, an end of its own, is not shown.
    actions
        A short name for every action, e.g. "←↓→↑"; by default their numbers.
    stages
        Which stages to show, 0..H−1; by default up to six, evenly spread.

    Returns the matplotlib figure.
    """
    grid = _grid(shape, agent.states)
    names = _names(actions, agent.actions)
    H = agent.horizon
    shown = (
        sorted({round(h) for h in np.linspace(0, H - 1, min(H, SHOWN))}) if stages is None else [int(h) for h in stages]
    )
    if not shown or not all(0 <= h < H for h in shown):
        raise InvalidValue(f"stages = {list(shown)} is not allowed; they must be in 0..{H - 1}, and at least one")
    places = grid[0] * grid[1]
    values, policy = agent.values[:-1, :places], agent.policy[:, :places]
    policy[:, [s for s in agent.info()["ended"] if s < places]] = NOTHING
    figure, axes = _figure(len(shown), grid)
    top = float(values[shown].max()) or 1.0
    for axis, h in zip(axes, shown, strict=True):
        image = axis.imshow(values[h].reshape(grid), vmin=0.0, vmax=top, cmap="viridis", aspect="equal")
        _write(axis, policy[h].reshape(grid), names, values[h].reshape(grid) < 0.6 * top)
        axis.set_title(f"stage {h}", loc="left", fontsize="medium")
        axis.set_xticks([])
        axis.set_yticks([])
    figure.colorbar(image, ax=list(axes), label="optimistic value, in rewards mapped to [0, 1]", shrink=0.8)
    return figure


def plot_policy_over_time(run: EpisodicRun, *, stage: int = 0, actions: Sequence[str] | None = None) -> Any:
    """The greedy action of every state in one stage, episode by episode: what drift does to the policy.

    Parameters
    ----------
    run
        Of `simulate_mdp(…, record=True)`.
    stage
        0..H−1.
    actions
        A short name for every action; by default their numbers.

    Returns the matplotlib figure.
    """
    if run.Q is None:
        raise InvalidState("this run has no plans to show: simulate_mdp(…, record=True) keeps them")
    Q = np.asarray(run.Q)
    if not 0 <= stage < Q.shape[1]:
        raise InvalidValue(f"stage = {stage} is not allowed; it must be in 0..{Q.shape[1] - 1}")
    names = _names(actions, Q.shape[3])
    import matplotlib.pyplot as plt
    from matplotlib.colors import BoundaryNorm

    figure, axis = plt.subplots(figsize=(7.0, 1.2 + 0.28 * min(Q.shape[2], 40)), layout="constrained")
    image = axis.imshow(
        Q[:, stage].argmax(axis=-1).T,
        aspect="auto",
        interpolation="nearest",
        cmap=plt.get_cmap("cividis", len(names)),
        norm=BoundaryNorm(np.arange(-0.5, len(names)), len(names)),
    )
    axis.set_xlabel("episode")
    axis.set_ylabel("state")
    bar = figure.colorbar(image, ax=axis, ticks=range(len(names)), label=f"greedy action, stage {stage}")
    bar.ax.set_yticklabels(names)
    return figure


def _grid(shape: tuple[int, int] | None, states: int) -> tuple[int, int]:
    rows, columns = shape or (1, states)
    if rows * columns not in (states, states - 1):
        raise InvalidShape(f"shape = {shape} has {rows * columns} places; there are {states} states")
    return rows, columns


def _names(actions: Sequence[str] | None, count: int) -> list[str]:
    names = [str(a) for a in range(count)] if actions is None else list(actions)
    if len(names) != count:
        raise InvalidShape(f"actions names {len(names)} actions; there are {count}")
    return names


def _figure(count: int, grid: tuple[int, int]) -> tuple[Any, Any]:
    import matplotlib.pyplot as plt

    rows, columns = grid
    width = min(max(0.45 * columns, 2.0), 10.0)
    height = max(0.6, width * rows / columns) + 0.3  # and the title
    figure, axes = plt.subplots(
        count, 1, figsize=(width + 1.8, count * height + 0.4), layout="constrained", squeeze=False
    )
    return figure, axes[:, 0]


def _write(axis: Any, policy: ArrayLike, names: list[str], dark: ArrayLike) -> None:
    """The greedy action of every state, in white on dark."""
    for (row, column), action in np.ndenumerate(np.asarray(policy)):
        if action != NOTHING:
            colour = "white" if np.asarray(dark)[row, column] else "black"
            axis.text(column, row, names[action], ha="center", va="center", color=colour)
