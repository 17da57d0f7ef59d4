"""Details of one trial: θ, each learner's estimate and confidence ellipsoid, the arm it plays, and its effective memory.

Only the first two coordinates are shown. For d > 2 this is a projection, also of the confidence ellipsoid.
"""

from typing import Any

import numpy as np

from ..core.linalg import Matrix
from ..env import World
from ..experiment.run.cells import Cell
from ..experiment.run.objects import strategy_of, world_of
from ..protocol import Integers, describe, ellipsoid, estimator
from ..simulate.runs import simulate

DIGITS = 4


def frame(strategy: Any, state: Any) -> dict[str, Any]:
    """The state of a learner: θ̂, C as (C_11, C_12, C_22), or NaN where its bonus is not a norm, and Σ w."""
    theta, C = np.full(2, np.nan), np.full((2, 2), np.nan)
    if ellipsoid.knows(type(strategy)):
        theta, C = ellipsoid(strategy, state)
    elif estimator.knows(type(strategy)):
        theta = estimator(strategy, state)
    memory = describe(strategy, state).get("effective_memory", np.nan)
    return {"theta": theta[:2].copy(), "shape": C[[0, 0, 1], [0, 1, 1]], "memory": float(memory)}


def look(cell: Cell) -> dict[str, Any]:
    """The history of one learner's trial, as the page draws it."""
    world = world_of(cell.spec["environment"])
    run = simulate(
        strategy_of(cell.spec["strategy"]),
        world,
        seed=np.random.SeedSequence(cell.spec["seed"]),
        checkpoints="all",
        watch=frame,
    )
    assert run.choices is not None  # with all checkpoints
    rounds = run.trace["round"]
    played = offered(world, rounds)[np.arange(len(rounds)), :2, run.choices[rounds - 1]]
    return {
        "round": rounds.tolist(),
        "theta": plain(run.trace["theta"]),
        "shape": plain(run.trace["shape"]),
        "memory": plain(run.trace["memory"], 2),
        "arm": plain(played),
    }


def scene(cell: Cell, rounds: list[int]) -> dict[str, Any]:
    """Data common to all learners: the path of θ, and the arms if they are fixed."""
    world = world_of(cell.spec["environment"])
    at = np.asarray(rounds)
    arms = next(world.arms.blocks(world.horizon, 1))[0, :2].T if world.arms.fixed else np.zeros((0, 2))
    return {"theta": plain(world.path.to_array()[at - 1, :2]), "arms": plain(arms), "norm": world.path.norm}


def offered(world: World, rounds: Integers) -> Matrix:
    """The arms on offer in these rounds, (k, d, n)."""
    size = 512
    if world.arms.fixed:
        return np.broadcast_to(next(world.arms.blocks(world.horizon, 1))[0], (len(rounds), world.dim, world.arms.n))
    found = []
    for first, block in zip(range(0, world.horizon, size), world.arms.blocks(world.horizon, size), strict=True):
        here = rounds[(first < rounds) & (rounds <= first + size)] - 1 - first
        found.append(block[here])
    return np.concatenate(found)


def plain(values: Any, digits: int = DIGITS) -> Any:
    """Nested lists of rounded numbers; NaN and infinity become null, because JSON does not have them."""
    rounded = np.round(np.asarray(values, float), digits)
    return rounded.tolist() if np.isfinite(rounded).all() else _without_nan(rounded.tolist())


def _without_nan(value: Any) -> Any:
    if isinstance(value, list):
        return [_without_nan(item) for item in value]
    return value if np.isfinite(value) else None
