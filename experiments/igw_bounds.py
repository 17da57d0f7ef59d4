"""How large the bound of IGW-mix is: explicit regret bounds against T, one rotation at d = 2. The figure of docs/igw.md."""

from math import pi

import numpy as np
from matplotlib.figure import Figure

from driftbandits import theory
from driftbandits.experiment.study import Cells, Report, study
from driftbandits.plots.style import role_colour
from driftbandits.zoo.roles import Role

LOOKS: dict[str, tuple[Role, int, str]] = {  # role, colour of the role, line
    "IGW-mix, slow path (P and Q known)": ("tuning-free", 0, "--"),
    "IGW-mix, any path (P known)": ("tuning-free", 1, "--"),
    "IGW-mix, slow path, nothing known": ("tuning-free", 0, "-"),
    "LB-WeightUCB, Theorem 1 (P known)": ("fixed forgetting", 0, "-"),
    "BOB (nothing known)": ("tuning-free", 1, ":"),
}


def bounds(T: int) -> dict[str, float]:
    """A cell: the bounds at one horizon."""
    P, igw = 2 * pi, {"d": 2, "T": T, "P": 2 * pi, "kappa": 2.0}
    found = (
        theory.igw_mix_regret_bound(**igw, Q=P * P / T),
        theory.igw_mix_regret_bound(**igw),
        theory.igw_mix_regret_bound(**igw, Q=P * P / T, tuning="unknown"),
        theory.lb_regret_bound(T=T, d=2, P_T=P),
        theory.bob_regret_bound(T=T, d=2, P_T=P),
    )
    return {name: bound.total for name, bound in zip(LOOKS, found, strict=True)}


@study(tiny={"sizes": 3})
def igw_bounds(cells: Cells, *, sizes: int = 25) -> Report:
    """How large the bounds of IGW-mix, LB-WeightUCB and BOB are, against T."""
    T = np.unique(np.logspace(2, 8, sizes).astype(int))
    found = cells(bounds, [{"T": int(t)} for t in T])
    curves = {name: np.array([row[name] for row in found]) for name in LOOKS}
    figure = Figure(figsize=(7, 4.5), layout="constrained", dpi=130)
    axes = figure.subplots()
    for name, values in curves.items():
        role, position, line = LOOKS[name]
        axes.loglog(T, values, label=name, color=role_colour(role, position), ls=line)
    axes.loglog(T, 2.0 * T, color=role_colour("baseline"), label="the most one can lose, 2T")
    axes.set(xlabel="rounds T", ylabel="bound on the regret", title="One rotation, d = 2, S = L = R = 1, κ̄ = 2")
    axes.legend(fontsize=8)
    axes.grid(alpha=0.3)
    below = {name: T[values < 2.0 * T] for name, values in curves.items()}
    first = {name: int(small[0]) if len(small) else None for name, small in below.items()}
    rows = [{"T": int(t), **row} for t, row in zip(T, found, strict=True)]
    return Report({"below_2T_from": first, "rows": rows}, {"figures/igw_bounds.png": figure})
