"""Details of one trial in the drifting RiverSwim: every learner's policy and value per state, compared with the optimum."""

from typing import Any

import numpy as np

from ..experiment.run.cells import Cell
from ..experiment.run.objects import strategy_of, world_of
from ..mdp import backward_induction, policy_evaluation, simulate_mdp
from ..protocol import Integers
from ..simulate.runs import spread_rounds
from .trial_view import plain

FRAMES = 100


def look(cell: Cell) -> dict[str, Any]:
    """The history of a trial: at the start of selected episodes, the plan and its value in each state.

    policy
        1 where the learner swims right in the first stage, else 0
    planned, value
        V of its optimistic plan, and the exact V^π of its policy in this episode's river
    visits
        share of each state in the stages since the frame before
    """
    world, K = world_of(cell.spec["environment"]), cell.horizon
    strategy, seed = strategy_of(cell.spec["strategy"]), np.random.SeedSequence(cell.spec["seed"])
    run = simulate_mdp(strategy, world, episodes=K, seed=seed, record=True)
    assert run.Q is not None  # what record=True keeps
    assert run.states is not None
    at = spread_rounds(FRAMES, K) - 1
    policy = run.Q[at].argmax(axis=3)
    value = [policy_evaluation(world.kernel(k), world.rewards(k), policy[i])[0] for i, k in enumerate(at)]
    return {
        "round": (at + 1).tolist(),
        "policy": policy[:, 0].tolist(),
        "planned": plain(run.Q[at, 0].max(axis=2), 3),
        "value": plain(value, 3),
        "visits": plain(_visits(run.states[:, :-1], at, world.states), 3),
    }


def scene(cell: Cell, rounds: list[int]) -> dict[str, Any]:
    """Data common to all learners: the optimal policy and its value, and the rewards of the two ends."""
    world = world_of(cell.spec["environment"])
    best = [backward_induction(world.kernel(k - 1), world.rewards(k - 1)) for k in rounds]
    pay = [world.rewards(k - 1)[0] for k in rounds]
    return {
        "policy": [Q[0].argmax(axis=1).tolist() for _, Q in best],
        "value": plain([V[0] for V, _ in best], 3),
        "ends": plain([[r[0, 0], r[-1, 1]] for r in pay], 3),
        "start": int(world.start[0]),
        "stages": int(world.horizon),
    }


def _visits(states: Integers, at: Integers, count: int) -> Any:
    """(frames, S): how often each state was visited in the episodes since the frame before."""
    edges = zip([0, *(at[:-1] + 1)], at + 1, strict=True)
    counts = np.array([np.bincount(states[first:last].ravel(), minlength=count) for first, last in edges])
    return counts / counts.sum(axis=1, keepdims=True)
