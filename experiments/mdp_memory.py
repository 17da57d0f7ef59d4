"""How long should an MDP learner remember? Final regret against the memory, for discounted, windowed and restarted learners.

Mirrored RiverSwim, gradual drift, K = 3000 episodes of H = 10 stages, bonus scales (1, 0.1), stages apart as in the paper and pooled. The
memory is 1/(1−γ), W or the period, in episodes; a dotted line is the theorem's. Beside them BOB, which chooses γ for every block of
episodes and starts each block afresh, and a restart at the length of BOB's blocks, which chooses nothing.
"""

import itertools
from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.figure import Figure

import driftbandits as db
from driftbandits.experiment.study import Cells, Report, few, study, table
from driftbandits.plots.style import role_colour

H = 10
MEMORIES = (10, 20, 40, 80, 160, 320, 640, 1280)
# The positions are those of mdp_study.
COLOURS = {name: role_colour("fixed forgetting", i) for name, i in (("weighted", 0), ("window", 2), ("restart", 3))}


def river(K: int) -> db.mdp.MDP:
    """The world."""
    return db.mdp.riverswim(episodes=K, horizon=H, drift="gradual")


def learner(name: str, memory: float | None, world: db.mdp.MDP, pooled: bool) -> Any:
    """A learner with this memory, in episodes; BOB finds one out."""
    K = world.episodes
    lam_theta, lam_w = db.theory.linear_mixture_lambdas(H=H, d_theta=world.phi.shape[-1], d_w=world.psi.shape[-1])
    common = {"lam_theta": lam_theta, "lam_w": lam_w, "delta": db.theory.default_delta("mdp", T=K * H), **world.bounds}
    common |= {"reward_bonus_scale": 1.0, "transition_bonus_scale": 0.1, "share_stages": pooled}
    if memory is None:
        return db.zoo.bob_ucrl(db.zoo.weight_ucrl(gamma=0.9, **common), episodes=K)
    if name == "weighted":
        return db.zoo.weight_ucrl(gamma=1.0 - 1.0 / memory, **common)
    if name == "window":
        return db.zoo.sw_ucrl(window=round(memory), **common)
    return db.zoo.restart_ucrl(period=round(memory), **common)


def final(name: str, pooled: bool, memory: float | None, K: int, trials: int) -> dict[str, float]:
    """A cell: mean final regret and its standard error."""
    world = river(K)
    runs = db.mdp.trials_mdp(learner(name, memory, world, pooled), lambda _: world, trials=trials, seed=0)
    ends = np.array([run.regret[-1] for run in runs])
    return {"mean": float(ends.mean()), "error": float(ends.std(ddof=1) / np.sqrt(trials))}


# ------------------------------------------------------------------------------------------------------------------ tables


def memory_table(made: Mapping[str, Any]) -> str:
    """Final regret at the theorem's memory and at the best one, stages apart and pooled; then BOB beside blind restarts."""

    def told(run: Mapping[str, Any], memory: bool = False) -> str:
        where = f" ({run['memory']:.0f})" if memory else ""
        return f"{few(run['mean'])} ± {few(run['error'])}{where}"

    rows = []
    for learner in dict.fromkeys(row["learner"] for row in made["rows"]):
        cells = []
        for pooled in (False, True):
            own = [row for row in made["rows"] if (row["learner"], row["pooled"]) == (learner, pooled)]
            same = (row for row in made["at_theorem"] if (row["learner"], row["pooled"]) == (learner, pooled))
            cells += [told(next(same)), told(min(own, key=lambda row: row["mean"]), memory=True)]
        rows.append([learner, *cells])
    for learner, name in (("BOB", "BOB"), ("restart", f"restart every {made['block']} episodes, BOB's block")):
        found = [row for row in made["blind"] if row["learner"] == learner]
        rows.append([name, *(cell for row in found for cell in (told(row), ""))])
    head = [
        f"stages {how}: {which}" for how in ("apart", "pooled") for which in ("the theorem's memory", "its best one")
    ]
    return table([f"K = {made['episodes']}", *head], rows)


@study(tiny={"K": 12, "trials": 2, "memories": (4, 8)}, tables={"mdp_memory": memory_table})
def mdp_memory(cells: Cells, *, K: int = 3000, trials: int = 10, memories: tuple[int, ...] = MEMORIES) -> Report:
    """How long an MDP learner should remember: regret against its memory."""
    world = river(K)
    theorem = 1.0 / (1.0 - db.theory.mdp_gamma(K=K, H=H, Delta=world.Delta))
    block = int(learner("BOB", None, world, False).blocks.size)

    def rows(asked: list[tuple[bool, str, float | None]]) -> list[dict[str, Any]]:
        keys = [{"learner": name, "pooled": pooled, "memory": memory} for pooled, name, memory in asked]
        given = [{"name": n, "pooled": p, "memory": m, "K": K, "trials": trials} for p, n, m in asked]
        return [key | answer for key, answer in zip(keys, cells(final, given), strict=True)]

    both = (False, True)
    found: dict[str, Any] = {"episodes": K, "trials": trials, "Delta": world.Delta}
    found |= {"random": float(db.mdp.uniform_regret(world)[-1]), "block": block, "theorem": theorem}
    found["rows"] = rows(list(itertools.product(both, COLOURS, memories)))
    found["at_theorem"] = rows(list(itertools.product(both, COLOURS, (theorem,))))
    found["blind"] = rows([row for pooled in both for row in ((pooled, "BOB", None), (pooled, "restart", block))])
    return Report(found, {"images/mdp_memory.png": draw(found, memories)})


def draw(found: dict[str, Any], memories: tuple[int, ...]) -> Figure:
    """Regret against memory, one panel for stages apart and one for pooled stages."""
    figure = Figure(figsize=(9.5, 3.8), layout="constrained", dpi=130)
    axes = figure.subplots(1, 2, sharey=True)
    for axis, pooled in zip(axes, (False, True), strict=True):
        for name, colour in COLOURS.items():
            line = [row for row in found["rows"] if (row["learner"], row["pooled"]) == (name, pooled)]
            x, y, error = ([row[key] for row in line] for key in ("memory", "mean", "error"))
            axis.errorbar(x, y, error, color=colour, marker="o", ms=4, lw=1.6, capsize=2, label=name)
        axis.axvline(found["theorem"], color="0.4", ls=":", label="the theorem's γ")
        title = "stages pooled" if pooled else "stages apart"
        axis.set(xscale="log", yscale="log", xlabel="memory, episodes", title=title)
        axis.set_xticks(memories, [str(m) for m in memories])
        axis.set_yticks((50, 100, 200, 400, 800), ("50", "100", "200", "400", "800"))
        axis.minorticks_off()
        axis.grid(alpha=0.25, lw=0.6)
        axis.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("final dynamic regret")
    axes[0].legend(frameon=False)
    return figure
