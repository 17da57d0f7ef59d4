"""Regret against T at a fixed path length, arms redrawn in every round: figure and table of docs/igw.md.

One rotation (P = 2π) at d = 2, 10 arms, noise 1, S = L = R = 1. The exponent is the slope of log regret in log T, least squares over all T.
"""

from math import pi
from typing import Any

import numpy as np
from matplotlib.figure import Figure

import driftbandits as db
from driftbandits.experiment.study import Cells, Report, study
from driftbandits.plots.style import role_colour
from driftbandits.zoo.roles import Role

BOUNDS = {"S": 1.0, "L": 1.0, "R": 1.0}
LEARNERS: dict[str, Any] = {
    "igw_mix (a): T and P known": lambda T: db.zoo.igw_mix(horizon=T, P=2 * pi, **BOUNDS),
    "igw_mix (a): Q too, κ̄ = 1.25": lambda T: db.zoo.igw_mix(
        horizon=T, P=2 * pi, Q=(2 * pi) ** 2 / T, kappa=1.25, **BOUNDS
    ),
    "igw_mix (b): nothing known": lambda _: db.zoo.igw_mix(**BOUNDS),
    "igw_mix (d): T known": lambda T: db.zoo.igw_mix(horizon=T, oblivious=True, **BOUNDS),
    "self_tuning": lambda _: db.zoo.self_tuning(),
    "lb_weight_ucb: γ from T and P": lambda T: db.zoo.lb_weight_ucb(
        gamma=db.theory.lb_gamma(T=T, d=2, P_T=2 * pi), lam=2.0, delta=1 / (2 * T), **BOUNDS
    ),
}
LOOKS: tuple[tuple[Role, int, str], ...] = (  # role, colour of the role, line
    ("tuning-free", 0, "--"),
    ("tuning-free", 0, ":"),
    ("tuning-free", 1, "-"),
    ("tuning-free", 1, "--"),
    ("tuning-free", 0, "-"),
    ("fixed forgetting", 0, "-"),
)


def final_regret(learner: str, T: int, seed: int) -> float:
    """A cell."""
    world = db.env.linear(db.env.redrawn_arms(10, dim=2, seed=seed), db.env.rotating(T), noise=1.0)
    return float(db.simulate(LEARNERS[learner](T), world, seed=seed).regret[-1])


@study(tiny={"horizons": (20, 40), "trials": 1})
def igw_exponents(cells: Cells, *, horizons: tuple[int, ...] = (1000, 4000, 16000, 64000), trials: int = 4) -> Report:
    """How regret grows with T at a fixed path length, with arms that change."""
    asked = [{"learner": name, "T": T, "seed": i} for name in LEARNERS for T in horizons for i in range(trials)]
    finals = np.reshape(cells(final_regret, asked), (len(LEARNERS), len(horizons), trials)).mean(axis=2)
    figure = Figure(figsize=(7, 4.5), layout="constrained", dpi=130)
    axes, rows = figure.subplots(), []
    for name, values, (role, position, line) in zip(LEARNERS, finals, LOOKS, strict=True):
        slope = float(np.polyfit(np.log(horizons), np.log(values), 1)[0])
        look = {"color": role_colour(role, position), "ls": line, "marker": "o", "ms": 4}
        axes.loglog(horizons, values, label=f"{name}: T^{slope:.2f}", **look)
        rows.append({"learner": name, "regret": values.tolist(), "exponent": slope})
    title = f"One rotation, 10 arms redrawn in every round, d = 2; mean of {trials} runs"
    axes.set(xlabel="rounds T", ylabel="dynamic regret", title=title)
    axes.legend(fontsize=8)
    axes.grid(alpha=0.3)
    found = {"trials": trials, "horizons": horizons, "rows": rows}
    return Report(found, {"figures/igw_exponents.png": figure})
