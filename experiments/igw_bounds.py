"""Figure of docs/igw.md: explicit regret bounds against T, one rotation at d = 2. Run: python experiments/igw_bounds.py"""

import pathlib
from math import pi

import matplotlib.pyplot as plt
import numpy as np

from driftbandits import theory

OUT = pathlib.Path(__file__).parent.parent / "docs" / "figures" / "igw_bounds.png"


def main() -> None:
    """Draw and save."""
    T = np.unique(np.logspace(2, 8, 25).astype(int))
    P = 2 * pi
    curves = {
        "IGW-mix, slow path (P and Q known)": [
            theory.igw_mix_regret_bound(d=2, T=int(t), P=P, Q=P * P / t, kappa=2.0).total for t in T
        ],
        "IGW-mix, any path (P known)": [theory.igw_mix_regret_bound(d=2, T=int(t), P=P, kappa=2.0).total for t in T],
        "IGW-mix, slow path, nothing known": [
            theory.igw_mix_regret_bound(d=2, T=int(t), P=P, Q=P * P / t, kappa=2.0, tuning="unknown").total for t in T
        ],
        "LB-WeightUCB, Theorem 1 (P known)": [theory.lb_regret_bound(T=int(t), d=2, P_T=P).total for t in T],
        "BOB (nothing known)": [theory.bob_regret_bound(T=int(t), d=2, P_T=P).total for t in T],
    }
    figure, axes = plt.subplots(figsize=(7, 4.5), layout="constrained")
    for (name, values), colour in zip(curves.items(), ("C3", "C1", "C6", "C0", "C2"), strict=True):
        axes.loglog(T, values, label=name, color=colour)
    axes.loglog(T, 2.0 * T, "k--", label="the most one can lose, 2T")
    axes.set(xlabel="rounds T", ylabel="bound on the regret", title="One rotation, d = 2, S = L = R = 1, κ̄ = 2")
    axes.legend(fontsize=8)
    axes.grid(alpha=0.3)
    figure.savefig(OUT, dpi=130)
    for name, values in curves.items():
        below = T[np.array(values) < 2.0 * T]
        print(f"{name}: below 2T from T ≈ {below[0] if len(below) else 'beyond the figure'}")


if __name__ == "__main__":
    main()
