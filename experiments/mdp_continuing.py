"""Tasks without episodes that drift: `ContinuingAgent` with nothing set next to UCRL2, UCRL2-CW and SWUCRL2-CW.

A queue, a warehouse and servers for two queues; static, and with two jumps. Dynamic regret: the best mean reward of each step less the
reward. The radii of UCRL2 are multiplied by a tenth or a hundredth, for with the theory's they explore for all of the steps; the best of
six settings in hindsight, on the same seeds, is what is shown.
"""

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import driftbandits as db
from driftbandits.experiment.study import Cells, Report, study, table

TASKS = ("queue", "warehouse", "servers")
SCALES = (0.1, 0.01)
FORMS: dict[str, dict[str, Any]] = {
    "UCRL2": {},
    "UCRL2-CW": {"widening": 0.05},
    "SWUCRL2-CW": {"window": 2000, "widening": 0.05},
}


def final_regret(name: str, drift: str, T: int, form: str | None, scale: float, seed: int) -> float:
    """A cell: the final regret of ours, or of a form of UCRL2."""
    task = getattr(db.mdp.tasks, name)(steps=T, drift=drift)
    S, A = task.observation_space.n, task.action_space.n
    player: Any
    if form is None:
        player = db.mdp.ContinuingAgent(db.zoo.weight_ucrl(), db.mdp.tabular(S, A), seed=seed)
    else:
        player = db.mdp.baselines.UCRL2(states=S, actions=A, scale=scale, seed=seed, **FORMS[form])
    return float(task.regret(db.run(player, task, steps=T, seed=seed).rewards)[-1])


def regret_table(found: Mapping[str, Any]) -> str:
    """Mean regret of each learner."""
    rows = [
        [f"{row['task']}, {row['drift']}", *(f"{np.mean(row[name]):.0f}" for name in ("ours", *FORMS))]
        for row in found["rows"]
    ]
    return table(["dynamic regret", "`ContinuingAgent`", *FORMS], rows)


@study(
    tiny={"T": 8, "trials": 1, "tasks": ("queue",), "drifts": ("static",)},
    tables={"mdp_continuing": regret_table},
    also=frozenset({"agent"}),
)
def mdp_continuing(
    cells: Cells,
    *,
    T: int = 6000,
    trials: int = 3,
    tasks: Sequence[str] = TASKS,
    drifts: Sequence[str] = ("static", "abrupt"),
) -> Report:
    """Tasks without episodes: the learner with nothing set next to UCRL2 and its forms for drift."""
    rows = []
    for name, drift in itertools.product(tasks, drifts):
        same = {"name": name, "drift": drift, "T": T}
        asked = [same | {"form": None, "scale": 1.0, "seed": seed} for seed in range(trials)]
        asked += [
            same | {"form": form, "scale": scale, "seed": seed}
            for form, scale, seed in itertools.product(FORMS, SCALES, range(trials))
        ]
        ours, *others = np.reshape(cells(final_regret, asked), (-1, trials)).tolist()
        row: dict[str, Any] = {"task": name, "drift": drift, "ours": ours}
        for i, form in enumerate(FORMS):
            row[form] = min(others[2 * i : 2 * i + 2], key=np.mean)
        rows.append(row)
    return Report({"steps": T, "trials": trials, "rows": rows})
