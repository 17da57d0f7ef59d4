"""What drift costs: the curves of the picture in docs/start.md.

The paper's world (d = 2, 50 arms, noise 1), with θ turning around the circle faster and faster. Three learners: one that never forgets, one
that forgets at the speed that Theorem 1 derives from the path length, one that finds the speed out.
"""

from typing import Any

import numpy as np

import driftbandits as db
from driftbandits.experiment.study import Cells, Report, study

TURNS = (0.0, 0.125, 0.25, 0.5, 1.0, 2.0, 4.0)
LEARNERS = ("never forgets", "forgets at the theorem's speed", "finds the speed out")


def regret_curves(turns: float, learner: str, T: int, trials: int) -> dict[str, Any]:
    """A cell: the regret of all trials at 60 rounds."""
    world = db.env.linear(db.env.unit_arms(50, dim=2, seed=0), db.env.rotating(T, turns=turns), noise=1.0)
    known = {"lam": 2.0, "S": 1.0, "L": 1.0, "R": 1.0, "delta": 1 / (2 * T)}
    if learner == "never forgets":
        strategy = db.zoo.oful(**known)
    elif learner == "finds the speed out":
        strategy = db.zoo.adaptive_weight_ucb(**known)
    else:
        gamma = db.theory.lb_gamma(T=T, d=2, P_T=db.theory.path_length(world.path))
        strategy = db.zoo.lb_weight_ucb(gamma=gamma, **known)
    runs = db.trials(strategy, world, trials=trials, seed=0, checkpoints=60)
    return {"rounds": runs[0].rounds, "regret": [run.regret for run in runs]}


@study(tiny={"T": 40, "trials": 2})
def drift(cells: Cells, *, T: int = 6000, trials: int = 5) -> Report:
    """What drift costs, and what forgetting saves: the picture of the first page."""
    asked = [(learner, turns) for learner in LEARNERS for turns in TURNS]
    answers = cells(regret_curves, [{"turns": t, "learner": name, "T": T, "trials": trials} for name, t in asked])
    regret = {key: np.array(answer["regret"]) for key, answer in zip(asked, answers, strict=True)}
    finals = {name: [regret[name, turns][:, -1] for turns in TURNS] for name in LEARNERS}
    return Report(
        {
            "horizon": T,
            "trials": trials,
            "turns": TURNS,
            "final": {n: [[round(x.mean(), 1), round(x.std(), 1)] for x in ends] for n, ends in finals.items()},
            "rounds": answers[0]["rounds"],
            "curves": {name: regret[name, 1.0].mean(axis=0).round(1).tolist() for name in LEARNERS},
        }
    )
