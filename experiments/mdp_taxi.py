"""Taxi of Gymnasium, unmodified: 500 states, 6 actions, `weight_ucrl()` with nothing set next to Q-learning.

The best policy has 7.95 on average over the first states. Q-learning starts from Q = 0, which is optimistic, with discount 0.99; its four
settings are shown all. Mean return over all episodes, and by tenths of them.
"""

import itertools
from typing import Any

import numpy as np

import driftbandits as db
from driftbandits.experiment.study import Cells, Report, study


def returns(horizon: int, setting: list[float] | None, episodes: int, seed: int) -> list[float]:
    """A cell: the return of every episode, of ours or of a Q-learner with a (step, epsilon)."""
    import gymnasium

    player: Any
    if setting is None:
        table = db.mdp.tabular(500, 6)
        player = db.EpisodicAgent(db.zoo.weight_ucrl(), table, horizon=horizon, reward_range=(-10, 20), seed=seed)
    else:
        player = db.mdp.baselines.QLearning(
            states=500, actions=6, horizon=horizon, step=setting[0], epsilon=setting[1], discount=0.99,
            share_stages=True, start=0.0, reward_range=(-10, 20), seed=seed,
        )  # fmt: skip
    played = db.run(player, gymnasium.make("Taxi-v4"), episodes=episodes, seed=seed).returns
    return [float(x) for x in played]


@study(tiny={"episodes": 1, "horizons": (1,), "settings": ((1.0, 0.0),)}, also=frozenset({"agent", "integrations"}))
def mdp_taxi(
    cells: Cells,
    *,
    episodes: int = 1500,
    seed: int = 0,
    horizons: tuple[int, ...] = (30, 200),
    settings: tuple[tuple[float, float], ...] = tuple(itertools.product((0.4, 1.0), (0.0, 0.1))),
) -> Report:
    """Gymnasium's Taxi: `weight_ucrl()` with nothing set next to Q-learning."""
    asked: dict[str, dict[str, Any]] = {
        f"weight_ucrl(), horizon={H}": {"horizon": H, "setting": None} for H in horizons
    }
    for step, epsilon in settings:
        asked[f"Q-learning, step {step}, epsilon {epsilon}"] = {"horizon": 200, "setting": [step, epsilon]}
    found = cells(returns, [given | {"episodes": episodes, "seed": seed} for given in asked.values()])
    rows = [
        {
            "learner": name,
            "mean": np.mean(r).item(),
            "tenths": [x.mean().item() for x in np.array_split(r, 10 if len(r) >= 10 else 1)],
        }
        for name, r in zip(asked, found, strict=True)
    ]
    return Report({"episodes": episodes, "seed": seed, "rows": rows})
