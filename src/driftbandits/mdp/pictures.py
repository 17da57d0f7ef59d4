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
from numpy.typing import ArrayLike, NDArray

from ..errors import InvalidShape, InvalidState, InvalidValue
from .agent import EpisodicAgent
from .simulate import EpisodicRun

SHOWN = 6  # stages in one picture, unless the caller names them
NOTHING = -1  # in place of an action
ROW = 25  # states in a row where no shape is given
WRITTEN = 400  # states up to which actions are written


def plot_plan(
    agent: EpisodicAgent,
    *,
    shape: tuple[int, int] | None = None,
    actions: Sequence[str] | None = None,
    stages: Sequence[int] | None = None,
) -> Any:
    """The plan of the current episode: one map of the states per stage, coloured by value, the greedy action written on it.

    Nothing is written on states in which episodes have ended. Of more than 400 states the actions are colours of a second map beside the
    values, for names would be too small to read.

    Parameters
    ----------
    shape
        Rows and columns of the grid that the states are laid out on, row by row; by default rows of 25, whose first state stands beside
        them. With one place less than there are states the last state, an end of its own, is not shown.
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
    places = min(grid[0] * grid[1], agent.states)
    values, policy = agent.values[:-1, :places], agent.policy[:, :places]
    policy[:, [s for s in agent.info()["ended"] if s < places]] = NOTHING
    written = places <= WRITTEN
    figure, axes = _figure(len(shown), grid, 1 if written else 2)
    top = float(values[shown].max()) or 1.0
    for row, h in zip(axes, shown, strict=True):
        value, action = _laid_out(values[h], grid, np.nan), _laid_out(policy[h], grid, NOTHING).astype(np.int64)
        image = row[0].imshow(value, vmin=0.0, vmax=top, cmap="viridis", aspect="equal")
        if written:
            _write(row[0], action, names, value < 0.6 * top)
        else:
            colours = _colour(row[1], action, names)
        row[0].set_title(f"stage {h}", loc="left", fontsize="medium")
        for axis in row:
            axis.set_xticks([])
            axis.set_yticks(range(grid[0]) if shape is None and grid[0] > 1 else [])
            axis.set_yticklabels(
                [str(grid[1] * r) for r in range(grid[0])] if shape is None and grid[0] > 1 else [], fontsize="small"
            )
    label = "optimistic value, in rewards mapped to [0, 1]"
    figure.colorbar(image, ax=list(axes[:, 0]), label=label, shrink=0.8)
    if not written:
        bar = figure.colorbar(colours, ax=list(axes[:, 1]), ticks=range(len(names)), label="greedy action", shrink=0.8)
        bar.ax.set_yticklabels(names)
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
    if shape is None:
        return -(-states // ROW), min(states, ROW)
    rows, columns = shape
    if rows * columns not in (states, states - 1):
        raise InvalidShape(f"shape = {shape} has {rows * columns} places; there are {states} states")
    return rows, columns


def _laid_out(numbers: ArrayLike, grid: tuple[int, int], nothing: float) -> NDArray[np.float64]:
    """Numbers of the states row by row; places that are left over hold `nothing`."""
    out = np.full(grid[0] * grid[1], nothing)
    out[: len(np.asarray(numbers))] = numbers
    return out.reshape(grid)


def _colour(axis: Any, policy: NDArray[np.int64], names: list[str]) -> Any:
    """The greedy action of every state as a colour."""
    import matplotlib.pyplot as plt
    from matplotlib.colors import BoundaryNorm

    shown = np.ma.masked_equal(policy, NOTHING)
    norm = BoundaryNorm(np.arange(-0.5, len(names)), len(names))
    return axis.imshow(shown, cmap=plt.get_cmap("cividis", len(names)), norm=norm, aspect="equal")


def _names(actions: Sequence[str] | None, count: int) -> list[str]:
    names = [str(a) for a in range(count)] if actions is None else list(actions)
    if len(names) != count:
        raise InvalidShape(f"actions names {len(names)} actions; there are {count}")
    return names


def _figure(count: int, grid: tuple[int, int], across: int) -> tuple[Any, Any]:
    import matplotlib.pyplot as plt

    rows, columns = grid
    width = min(max(0.45 * columns, 2.0), 10.0 / across)
    height = min(max(0.6, width * rows / columns), 12.0) + 0.3  # and the title
    size = (across * width + 1.8 * across, count * height + 0.4)
    figure, axes = plt.subplots(count, across, figsize=size, layout="constrained", squeeze=False)
    return figure, axes


def _write(axis: Any, policy: ArrayLike, names: list[str], dark: ArrayLike) -> None:
    """The greedy action of every state, in white on dark."""
    for (row, column), action in np.ndenumerate(np.asarray(policy)):
        if action != NOTHING:
            colour = "white" if np.asarray(dark)[row, column] else "black"
            axis.text(column, row, names[action], ha="center", va="center", color=colour)
