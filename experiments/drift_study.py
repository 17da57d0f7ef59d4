"""What drift costs: the curves of the picture in docs/start.md. Run: python experiments/drift_study.py [--trials 5]

The paper's world (d = 2, 50 arms, noise 1, T = 6000), with θ turning around the circle faster and faster. Three learners: one that never
forgets, one that forgets at the speed that Theorem 1 derives from the path length, one that finds the speed out.
"""

import argparse
import json
import pathlib

import numpy as np

import driftbandits as db

T = 6000
TURNS = (0.0, 0.125, 0.25, 0.5, 1.0, 2.0, 4.0)
KNOWN = {"lam": 2.0, "S": 1.0, "L": 1.0, "R": 1.0, "delta": 1 / (2 * T)}


def learners(P_T: float) -> dict[str, object]:
    """The three."""
    gamma = db.theory.lb_gamma(T=T, d=2, P_T=P_T)
    return {
        "never forgets": db.zoo.oful(**KNOWN),
        "forgets at the theorem's speed": db.zoo.lb_weight_ucb(gamma=gamma, **KNOWN),
        "finds the speed out": db.zoo.adaptive_weight_ucb(**KNOWN),
    }


def main() -> None:
    """Play, and write the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=5)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("docs/results/drift.json"))
    asked = parser.parse_args()
    curves, final = {}, {}
    for turns in TURNS:
        world = db.env.linear(db.env.unit_arms(50, dim=2, seed=0), db.env.rotating(T, turns=turns), noise=1.0)
        for name, strategy in learners(db.theory.path_length(world.path)).items():
            runs = db.trials(strategy, world, trials=asked.trials, seed=0, checkpoints=60)
            regret = np.array([run.regret for run in runs])
            final.setdefault(name, []).append(
                [round(float(regret[:, -1].mean()), 1), round(float(regret[:, -1].std()), 1)]
            )
            if turns == 1.0:
                curves[name] = [round(float(x), 1) for x in regret.mean(axis=0)]
                rounds = [int(t) for t in runs[0].rounds]
    made = {
        "made_by": f"python experiments/drift_study.py --trials {asked.trials}",
        "horizon": T,
        "trials": asked.trials,
        "turns": TURNS,
        "final": final,
        "rounds": rounds,
        "curves": curves,
    }
    asked.out.parent.mkdir(parents=True, exist_ok=True)
    asked.out.write_text(json.dumps(made, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
