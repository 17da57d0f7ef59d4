"""Does the sharper tuning also play better? Regret and bound against d at the paper's γ and at the sharp one.

LB-WeightUCB, D-LinUCB and SW-UCB, T = 6000, λ = d, δ = 1/(2T), noise 1, 50 unit-norm arms (new in every trial), P_T known. Two worlds:
one turn in the plane of the first two coordinates, and five jumps to random points of the unit sphere. The tunings compared are

    paper   1 − γ = √(P_T/(dT)),          W = √(dT/P_T)
    sharp   1 − γ = √(P_T/(d^{3/2}T)),    W = √(d^{3/2}T/P_T)        (the bias lemma without its superfluous √d)

Trials are paired: the same arms, path and noise. Nothing was tuned; the worlds were fixed before the first run.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from scipy.special import stdtr

import driftbandits as db
from driftbandits.experiment.analyse.statistics import holm
from driftbandits.experiment.study import Cells, Report, study, table
from driftbandits.plots.style import role_colour

ARMS = 50
DIMENSIONS = (2, 5, 10, 20, 50)
WORLDS = ("one turn", "5 jumps")
LEARNERS = ("LB-WeightUCB", "D-LinUCB", "SW-UCB")


def path_of(world: str, T: int, d: int, trial: int) -> Any:
    """θ_1, …, θ_T."""
    if world == "one turn":
        return db.env.rotating(T, dim=d)
    return db.env.piecewise(T, dim=d, changes=5, seed=trial)


def learners(T: int, d: int, P_T: float) -> dict[str, dict[str, Any]]:
    """By tuning and name."""
    known = {"lam": float(d), "S": 1.0, "L": 1.0, "R": 1.0, "delta": 1 / (2 * T)}
    found: dict[str, dict[str, Any]] = {}
    for tuning, sharp in (("paper", False), ("sharp", True)):
        gamma = db.theory.lb_gamma(T=T, d=d, P_T=P_T, sharp_bias=sharp)
        window = db.theory.window(T=T, d=d, P_T=P_T, balanced=True, sharp_bias=sharp)
        found[tuning] = {
            "LB-WeightUCB": db.zoo.lb_weight_ucb(gamma=gamma, **known),
            "D-LinUCB": db.zoo.d_lin_ucb(gamma=gamma, **known),
            "SW-UCB": db.zoo.sw_ucb(window=window, **known),
        }
    return found


def final_regrets(world: str, T: int, d: int, trial: int) -> dict[str, dict[str, float]]:
    """A cell: by tuning and learner, all on the same arms, path and noise."""
    path = path_of(world, T, d, trial)
    place = db.env.linear(db.env.unit_arms(ARMS, dim=d, seed=trial), path, noise=1.0)
    return {
        tuning: {name: float(db.simulate(s, place, seed=trial, checkpoints=2).regret[-1]) for name, s in own.items()}
        for tuning, own in learners(T, d, db.theory.path_length(path)).items()
    }


def row(world: str, d: int, learner: str, found: list[dict[str, dict[str, float]]]) -> dict[str, Any]:
    """Mean regret at both tunings, and the paired difference with its standard error."""
    paper, sharp = (np.array([trial[tuning][learner] for trial in found]) for tuning in ("paper", "sharp"))
    gain = paper - sharp
    means = {"paper": paper.mean(), "sharp": sharp.mean(), "gain": gain.mean()}
    means["gain_se"] = gain.std(ddof=1) / np.sqrt(len(found))
    return {"world": world, "d": d, "learner": learner, **{name: round(float(x), 1) for name, x in means.items()}}


def bounds(T: int) -> list[dict[str, Any]]:
    """Theorem 1 with all its constants, one turn: corrected and sharp, each at its own γ, at T and at 10⁸."""
    rows = []
    for rounds in (T, 10**8):
        for d in (*DIMENSIONS, 100, 200, 500, 1000):
            size = {"T": rounds, "d": d, "P_T": 2 * np.pi}
            found = {v: db.theory.lb_regret_bound(**size, variant=v).total for v in ("corrected", "sharp")}
            rows.append({"T": rounds, "d": d, **{name: round(value, 1) for name, value in found.items()}})
    return rows


COLOURS = [role_colour("fixed forgetting", i) for i in (0, 2)]  # two tunings of the same learner


def draw(made: dict[str, Any]) -> Figure:
    """Left: the bounds against d. Right: measured regret against d."""
    fig = Figure(figsize=(9, 3.6), layout="constrained", dpi=140)
    left, right = fig.subplots(1, 2)
    large = [row for row in made["bounds"] if row["T"] == 10**8]
    for name, colour in zip(("corrected", "sharp"), COLOURS, strict=True):
        left.loglog(
            [r["d"] for r in large],
            [r[name] for r in large],
            color=colour,
            marker="o",
            ms=3,
            label=f"Theorem 1, {name}",
        )
    left.set(xlabel="d", ylabel="bound, T = 10⁸, one turn", title="the bound")
    for world, line in zip(WORLDS, ("-", "--"), strict=True):
        rows = [r for r in made["rows"] if r["world"] == world and r["learner"] == "LB-WeightUCB"]
        for name, colour in zip(("paper", "sharp"), COLOURS, strict=True):
            right.plot(
                [r["d"] for r in rows],
                [r[name] for r in rows],
                color=colour,
                ls=line,
                marker="o",
                ms=3,
                label=f"{world}, {name} γ",
            )
    right.set(xlabel="d", ylabel=f"regret, T = {made['horizon']}", xscale="log", title="LB-WeightUCB, measured")
    for ax in (left, right):
        ax.legend(frameon=False, fontsize=8)
        ax.spines[["top", "right"]].set_visible(False)
        ax.grid(alpha=0.25)
    return fig


# ------------------------------------------------------------------------------------------------------------------ tables


def gain_table(made: Mapping[str, Any]) -> str:
    """Regret at the paper's tuning and at the sharp one, the paired gain with its standard error, and the p-value of no difference.

    Two-sided paired t-tests, corrected for all rows (Holm).
    """
    rows = []
    one_by_one = [
        2.0 * stdtr(made["trials"] - 1, -abs(x["gain"] / x["gain_se"])) if x["gain_se"] > 0.0 else 1.0
        for x in made["rows"]
    ]
    for x, p in zip(made["rows"], holm(one_by_one), strict=True):
        share = 100 * x["gain"] / x["paper"]
        gain = f"{x['gain']:.0f} ± {x['gain_se']:.0f} ({share:+.0f} %)".replace("-", "−")
        told = "< .001" if p < 0.001 else f"{p:.3f}".lstrip("0")
        rows.append([x["world"], str(x["d"]), x["learner"], f"{x['paper']:.0f}", f"{x['sharp']:.0f}", gain, told])
    return table(["world", "d", "learner", "paper's tuning", "sharp tuning", "gain", "p (Holm)"], rows)


@study(tiny={"T": 20, "trials": 2, "dimensions": (2, 5)}, tables={"sharp": gain_table})
def sharp(cells: Cells, *, T: int = 6000, trials: int = 20, dimensions: Sequence[int] = DIMENSIONS) -> Report:
    """Whether the sharper tuning also plays better: regret and bound against d."""
    asked = [(world, d) for world in WORLDS for d in dimensions]
    given = [{"world": w, "T": T, "d": d, "trial": i} for w, d in asked for i in range(trials)]
    found = cells(final_regrets, given)
    rows = [
        row(world, d, learner, found[k * trials : (k + 1) * trials])
        for k, (world, d) in enumerate(asked)
        for learner in LEARNERS
    ]
    made = {"trials": trials, "horizon": T, "rows": rows, "bounds": bounds(T)}
    return Report(made, {"figures/sharp.png": draw(made)})
