"""Regret against the number of episodes where the lower bound for drifting linear mixture MDPs is proved.

`mdp.hard_mixture`: a hidden corner, drawn anew every N episodes, so small that N episodes can just not tell it. With N ∝ K^{2/3} the path
length stays the same while K grows, a block costs of order √N, and no learner has less than order K/√N = K^{2/3}. Exponents are slopes of
log regret against log K, trial by trial, with a 95 % interval of their mean (Student); the standard error of a trial's slope is not used.
"""

from typing import Any

import numpy as np

import driftbandits as db
from driftbandits.experiment.analyse.statistics import describe, exponents
from driftbandits.experiment.study import Cells, Report, few, study, table

LEARNERS = ("nothing set", "γ = 1 − 1/N", "never forgets", "random play")
DIM, HORIZON = 4, 6


def block_of(K: int) -> int:
    """N = 100·(K/1000)^{2/3} episodes."""
    return max(2, round(100 * (K / 1000) ** (2 / 3)))


def final_regret(learner: str, K: int, seed: int) -> dict[str, float]:
    """A cell: regret of one run, and the length of the path."""
    N = block_of(K)
    world = db.mdp.hard_mixture(dim=DIM, horizon=HORIZON, episodes=K, block=N, seed=seed)
    if learner == "random play":
        return {"regret": float(db.mdp.uniform_regret(world)[-1]), "path": world.Delta}
    lam_theta, lam_w = db.theory.linear_mixture_lambdas(H=HORIZON, d_theta=1, d_w=DIM)
    bonus = {"transition_bonus_scale": 0.1, "reward_bonus_scale": 0.1}
    known = {"lam_theta": lam_theta, "lam_w": lam_w, "delta": 1 / (2 * K * HORIZON), **world.bounds, **bonus}
    if learner == "nothing set":
        strategy = db.zoo.weight_ucrl()
    elif learner == "never forgets":
        strategy = db.zoo.ucrl_vtr(**known)
    else:
        strategy = db.zoo.weight_ucrl(gamma=1 - 1 / N, **known)
    return {"regret": float(db.simulate_mdp(strategy, world, seed=seed).regret[-1]), "path": world.Delta}


def exponent_table(found: dict[str, Any]) -> str:
    """Regret at the smallest and the largest K, and the exponent with its interval."""
    first, last = found["episodes"][0], found["episodes"][-1]
    head = ["learner", f"regret, K = {first}", f"K = {last}", "exponent in K", "95 % interval"]
    rows = [
        [
            name,
            few(row["regret"][0]),
            few(row["regret"][-1]),
            f"{row['exponent']:.2f}",
            f"{row['low']:.2f} … {row['high']:.2f}",
        ]
        for name, row in found["learners"].items()
    ]
    return table(head, rows)


@study(tiny={"most": 160, "trials": 2}, name="mdp_lower_bound", tables={"mdp_lower_exponents": exponent_table})
def mdp_lower_bound(cells: Cells, *, most: int = 4000, trials: int = 10) -> Report:
    """Exponents of regret in K on the lower bound's MDPs, with intervals; the bound's is 2/3."""
    sizes = [most // 8, most // 4, most // 2, most]
    asked = [(name, K, seed) for name in LEARNERS for K in sizes for seed in range(trials)]
    answers = cells(final_regret, [{"learner": name, "K": K, "seed": seed} for name, K, seed in asked])
    kept = dict(zip(asked, answers, strict=True))
    learners = {}
    for name in LEARNERS:
        regret = np.array([[kept[name, K, seed]["regret"] for K in sizes] for seed in range(trials)])
        slope = describe(exponents(sizes, regret))
        learners[name] = {
            "regret": regret.mean(axis=0).round(2).tolist(),
            "exponent": round(slope.mean, 3),
            "low": round(slope.low, 3),
            "high": round(slope.high, 3),
        }
    paths = [round(float(np.mean([kept["random play", K, s]["path"] for s in range(trials)])), 2) for K in sizes]
    return Report(
        {
            "episodes": sizes,
            "blocks": [block_of(K) for K in sizes],
            "path": paths,
            "trials": trials,
            "learners": learners,
        }
    )
