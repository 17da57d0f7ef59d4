"""How long should an MDP learner remember? Final regret against the memory, for discounted, windowed and restarted learners.

    python experiments/mdp_memory.py     # two minutes; writes docs/results/mdp_memory.json and docs/images/mdp_memory.png

Mirrored RiverSwim, gradual drift, K = 3000 episodes of H = 10 stages, bonus scales (1, 0.1), stages apart as in the paper and pooled. The
memory is 1/(1−γ), W or the period, in episodes; a dotted line is the theorem's. Beside them BOB, which chooses γ for every block of
episodes and starts each block afresh, and a restart at the length of BOB's blocks, which chooses nothing.
"""

import json
import pathlib
from typing import Any

import matplotlib as mpl
import numpy as np

import driftbandits as db
from driftbandits.io.files import write_atomically

mpl.use("Agg")
import matplotlib.pyplot as plt

DOCS = pathlib.Path(__file__).resolve().parents[1] / "docs"
K, H, TRIALS = 3000, 10, 10
MEMORIES = (10, 20, 40, 80, 160, 320, 640, 1280)
COLOURS = {"weighted": "#0072b2", "window": "#009e73", "restart": "#e69f00"}


def learner(name: str, memory: float, world: db.mdp.MDP, pooled: bool) -> Any:
    """A learner with this memory, in episodes; BOB finds one out."""
    lam_theta, lam_w = db.theory.linear_mixture_lambdas(H=H, d_theta=world.phi.shape[-1], d_w=world.psi.shape[-1])
    common = {"lam_theta": lam_theta, "lam_w": lam_w, "delta": db.theory.default_delta("mdp", T=K * H), **world.bounds}
    common |= {"reward_bonus_scale": 1.0, "transition_bonus_scale": 0.1, "share_stages": pooled}
    if name == "BOB":
        return db.zoo.bob_ucrl(db.zoo.weight_ucrl(gamma=0.9, **common), episodes=K)
    if name == "weighted":
        return db.zoo.weight_ucrl(gamma=1.0 - 1.0 / memory, **common)
    if name == "window":
        return db.zoo.sw_ucrl(window=round(memory), **common)
    return db.zoo.restart_ucrl(period=round(memory), **common)


def study() -> dict[str, Any]:
    """Mean final regret and its standard error, for every learner and memory, the theorem's memory, and BOB beside blind restarts."""
    world = db.mdp.riverswim(episodes=K, horizon=H, drift="gradual")
    theorem = 1.0 / (1.0 - db.theory.mdp_gamma(K=K, H=H, Delta=world.Delta))
    block = int(learner("BOB", 0.0, world, False).blocks.size)

    def row(name: str, pooled: bool, memory: float | None) -> dict[str, Any]:
        runs = db.mdp.trials_mdp(learner(name, memory or 0.0, world, pooled), lambda _: world, trials=TRIALS, seed=0)
        final = np.array([run.regret[-1] for run in runs])
        error = float(final.std(ddof=1) / np.sqrt(TRIALS))
        return {"learner": name, "pooled": pooled, "memory": memory, "mean": float(final.mean()), "error": error}

    rows, at_theorem, blind = [], [], []
    for pooled in (False, True):
        for name in COLOURS:
            rows += [row(name, pooled, memory) for memory in MEMORIES]
            at_theorem.append(row(name, pooled, theorem))
            print(name, pooled, [round(row["mean"]) for row in (*rows[-len(MEMORIES) :], at_theorem[-1])], flush=True)
        blind += [row("BOB", pooled, None), row("restart", pooled, block)]
        print("BOB, restart", pooled, [round(row["mean"]) for row in blind[-2:]], flush=True)
    found = {"made_by": "python experiments/mdp_memory.py", "episodes": K, "trials": TRIALS, "Delta": world.Delta}
    found |= {"random": float(db.mdp.uniform_regret(world)[-1]), "block": block}
    return found | {"theorem": theorem, "rows": rows, "at_theorem": at_theorem, "blind": blind}


def draw(found: dict[str, Any], path: pathlib.Path) -> None:
    """Regret against memory, one panel for stages apart and one for pooled stages."""
    figure, axes = plt.subplots(1, 2, figsize=(9.5, 3.8), sharey=True, layout="constrained")
    for axis, pooled in zip(axes, (False, True), strict=True):
        for name, colour in COLOURS.items():
            line = [row for row in found["rows"] if (row["learner"], row["pooled"]) == (name, pooled)]
            x, y, error = ([row[key] for row in line] for key in ("memory", "mean", "error"))
            axis.errorbar(x, y, error, color=colour, marker="o", ms=4, lw=1.6, capsize=2, label=name)
        axis.axvline(found["theorem"], color="0.4", ls=":", label="the theorem's γ")
        axis.set(
            xscale="log", yscale="log", xlabel="memory, episodes", title="stages pooled" if pooled else "stages apart"
        )
        axis.set_xticks(MEMORIES, [str(m) for m in MEMORIES])
        axis.set_yticks((50, 100, 200, 400, 800), ("50", "100", "200", "400", "800"))
        axis.minorticks_off()
        axis.grid(alpha=0.25, lw=0.6)
        axis.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("final dynamic regret")
    axes[0].legend(frameon=False)
    figure.savefig(path, dpi=130)


if __name__ == "__main__":
    result = study()
    write_atomically(DOCS / "results" / "mdp_memory.json", json.dumps(result, indent=1).encode())
    draw(result, DOCS / "images" / "mdp_memory.png")
