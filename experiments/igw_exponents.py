"""Regret against T at a fixed path length, arms redrawn in every round: figure and table of docs/igw.md.

    python experiments/igw_exponents.py [--trials 4] [--longest 64000]

One rotation (P = 2π) at d = 2, 10 arms, noise 1, S = L = R = 1. The exponent is the slope of log regret in log T, least squares over all T.
"""

import argparse
import pathlib
from math import pi

import matplotlib.pyplot as plt
import numpy as np

import driftbandits as db

OUT = pathlib.Path(__file__).parent.parent / "docs" / "figures" / "igw_exponents.png"
BOUNDS = {"S": 1.0, "L": 1.0, "R": 1.0}


def learners(T: int) -> dict[str, object]:
    """What is compared at horizon T."""
    gamma = db.theory.lb_gamma(T=T, d=2, P_T=2 * pi)
    return {
        "igw_mix (a): T and P known": db.zoo.igw_mix(horizon=T, P=2 * pi, **BOUNDS),
        "igw_mix (a): Q too, κ̄ = 1.25": db.zoo.igw_mix(horizon=T, P=2 * pi, Q=(2 * pi) ** 2 / T, kappa=1.25, **BOUNDS),
        "igw_mix (b): nothing known": db.zoo.igw_mix(**BOUNDS),
        "igw_mix (d): T known": db.zoo.igw_mix(horizon=T, oblivious=True, **BOUNDS),
        "self_tuning": db.zoo.self_tuning(),
        "lb_weight_ucb: γ from T and P": db.zoo.lb_weight_ucb(gamma=gamma, lam=2.0, delta=1 / (2 * T), **BOUNDS),
    }


def main() -> None:
    """Simulate, draw, print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=4)
    parser.add_argument("--longest", type=int, default=64000)
    asked = parser.parse_args()
    horizons = [T for T in (1000, 4000, 16000, 64000) if asked.longest >= T]
    regret: dict[str, list[float]] = {}
    for T in horizons:
        for name, strategy in learners(T).items():
            runs = []
            for seed in range(asked.trials):
                arms = db.env.redrawn_arms(10, dim=2, seed=seed)
                world = db.env.linear(arms, db.env.rotating(T), noise=1.0)
                runs.append(db.simulate(strategy, world, seed=seed).regret[-1])
            regret.setdefault(name, []).append(float(np.mean(runs)))
    figure, axes = plt.subplots(figsize=(7, 4.5), layout="constrained")
    print("| | " + " | ".join(f"T = {T}" for T in horizons) + " | exponent |\n|---|" + "---|" * (len(horizons) + 1))
    for name, values in regret.items():
        slope = np.polyfit(np.log(horizons), np.log(values), 1)[0]
        axes.loglog(horizons, values, "o-", label=f"{name}: T^{slope:.2f}")
        print(f"| {name} | " + " | ".join(f"{value:.0f}" for value in values) + f" | {slope:.2f} |")
    title = f"One rotation, 10 arms redrawn in every round, d = 2; mean of {asked.trials} runs"
    axes.set(xlabel="rounds T", ylabel="dynamic regret", title=title)
    axes.legend(fontsize=8)
    axes.grid(alpha=0.3)
    figure.savefig(OUT, dpi=130)


if __name__ == "__main__":
    main()
