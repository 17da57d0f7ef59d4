"""Does the sharper tuning also play better? Regret and bound against d at the paper's γ and at the sharp one.

    python experiments/sharp_study.py [--trials 20]            # docs/results/sharp.json, docs/figures/sharp.png

LB-WeightUCB, D-LinUCB and SW-UCB, T = 6000, λ = d, δ = 1/(2T), noise 1, 50 unit-norm arms (new in every trial), P_T known. Two worlds:
one turn in the plane of the first two coordinates, and five jumps to random points of the unit sphere. The tunings compared are

    paper   1 − γ = √(P_T/(dT)),          W = √(dT/P_T)
    sharp   1 − γ = √(P_T/(d^{3/2}T)),    W = √(d^{3/2}T/P_T)        (the bias lemma without its superfluous √d)

Trials are paired: the same arms, path and noise. Nothing was tuned; the worlds were fixed before the first run.
"""

import argparse
import json
import pathlib
from typing import Any

import numpy as np

import driftbandits as db

T, ARMS = 6000, 50
DIMENSIONS = (2, 5, 10, 20, 50)
DOCS = pathlib.Path(__file__).resolve().parents[1] / "docs"


def path_of(world: str, d: int, trial: int) -> Any:
    """θ_1, …, θ_T."""
    if world == "one turn":
        return db.env.rotating(T, dim=d)
    return db.env.piecewise(T, dim=d, changes=5, seed=trial)


def learners(d: int, P_T: float) -> dict[tuple[str, str], Any]:
    """By name and tuning."""
    known = {"lam": float(d), "S": 1.0, "L": 1.0, "R": 1.0, "delta": 1 / (2 * T)}
    found = {}
    for tuning, sharp in (("paper", False), ("sharp", True)):
        gamma = db.theory.lb_gamma(T=T, d=d, P_T=P_T, sharp_bias=sharp)
        window = db.theory.window(T=T, d=d, P_T=P_T, balanced=True, sharp_bias=sharp)
        found["LB-WeightUCB", tuning] = db.zoo.lb_weight_ucb(gamma=gamma, **known)
        found["D-LinUCB", tuning] = db.zoo.d_lin_ucb(gamma=gamma, **known)
        found["SW-UCB", tuning] = db.zoo.sw_ucb(window=window, **known)
    return found


def play(world: str, d: int, trials: int) -> list[dict[str, Any]]:
    """A row per learner: mean regret at both tunings, and the paired difference with its standard error."""
    finals: dict[tuple[str, str], list[float]] = {}
    for trial in range(trials):
        path = path_of(world, d, trial)
        place = db.env.linear(db.env.unit_arms(ARMS, dim=d, seed=trial), path, noise=1.0)
        for name, strategy in learners(d, db.theory.path_length(path)).items():
            run = db.simulate(strategy, place, seed=trial, checkpoints=2)
            finals.setdefault(name, []).append(float(run.regret[-1]))
    rows = []
    for name in ("LB-WeightUCB", "D-LinUCB", "SW-UCB"):
        paper, sharp = (np.array(finals[name, tuning]) for tuning in ("paper", "sharp"))
        gain = paper - sharp
        rows.append(
            {
                "world": world,
                "d": d,
                "learner": name,
                "paper": round(float(paper.mean()), 1),
                "sharp": round(float(sharp.mean()), 1),
                "gain": round(float(gain.mean()), 1),
                "gain_se": round(float(gain.std(ddof=1) / np.sqrt(trials)), 1),
            }
        )
    return rows


def bounds() -> list[dict[str, Any]]:
    """Theorem 1 with all its constants, one turn: corrected and sharp, each at its own γ, at T = 6000 and 10⁸."""
    rows = []
    for rounds in (T, 10**8):
        for d in (*DIMENSIONS, 100, 200, 500, 1000):
            size = {"T": rounds, "d": d, "P_T": 2 * np.pi}
            found = {v: db.theory.lb_regret_bound(**size, variant=v).total for v in ("corrected", "sharp")}
            rows.append({"T": rounds, "d": d, **{name: round(value, 1) for name, value in found.items()}})
    return rows


def draw(made: dict[str, Any], target: pathlib.Path) -> None:
    """Left: the bounds against d. Right: measured regret against d."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    large = [row for row in made["bounds"] if row["T"] == 10**8]
    for name, colour in (("corrected", "#1f6feb"), ("sharp", "#c8553d")):
        left.loglog(
            [r["d"] for r in large],
            [r[name] for r in large],
            color=colour,
            marker="o",
            ms=3,
            label=f"Theorem 1, {name}",
        )
    left.set(xlabel="d", ylabel="bound, T = 10⁸, one turn", title="the bound")
    for world, line in (("one turn", "-"), ("5 jumps", "--")):
        rows = [r for r in made["rows"] if r["world"] == world and r["learner"] == "LB-WeightUCB"]
        for name, colour in (("paper", "#1f6feb"), ("sharp", "#c8553d")):
            right.plot(
                [r["d"] for r in rows],
                [r[name] for r in rows],
                color=colour,
                ls=line,
                marker="o",
                ms=3,
                label=f"{world}, {name} γ",
            )
    right.set(xlabel="d", ylabel="regret, T = 6000", xscale="log", title="LB-WeightUCB, measured")
    for ax in (left, right):
        ax.legend(frameon=False, fontsize=8)
        ax.spines[["top", "right"]].set_visible(False)
        ax.grid(alpha=0.25)
    fig.savefig(target, dpi=140)


def main() -> None:
    """Play, and write the file and the figure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=20)
    asked = parser.parse_args()
    rows = [row for world in ("one turn", "5 jumps") for d in DIMENSIONS for row in play(world, d, asked.trials)]
    made = {
        "made_by": f"python experiments/sharp_study.py --trials {asked.trials}",
        "trials": asked.trials,
        "horizon": T,
    }
    made |= {"rows": rows, "bounds": bounds()}
    (DOCS / "results" / "sharp.json").write_text(json.dumps(made, indent=1, ensure_ascii=False) + "\n")
    draw(made, DOCS / "figures" / "sharp.png")


if __name__ == "__main__":
    main()
