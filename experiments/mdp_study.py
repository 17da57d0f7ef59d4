"""Drifting MDPs: what the weighted learners of Theorems 5 and 6 do, at theory scale and tuned.

    python experiments/mdp_study.py                  # about ten minutes on two cores; docs/results/mdp_study.json, docs/images/mdp_*.png
    python experiments/mdp_study.py --quick          # the same in small, about a minute, under results/mdp/ only
    python experiments/mdp_study.py --parts tuning   # one part after the other (--help names them); then --parts alone: draw and keep

Three parts, each a CSV file under results/mdp/ and a figure:

tuning   for every learner the pair (reward, transition) of bonus scales with the least regret on the gradual world, on seeds of its own
curves   regret against episodes: static, gradual and abrupt drift; theory scales and tuned ones; mean ± std over the trials
scaling  final regret against K at fixed Δ, and against Δ at fixed K, with fitted exponents next to those of the theorem
"""

import argparse
import csv
import itertools
import json
import pathlib
import shutil
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import matplotlib as mpl
import numpy as np

import driftbandits as db
from driftbandits.io.files import write_atomically

mpl.use("Agg")
import matplotlib.pyplot as plt

ROOT = pathlib.Path(__file__).resolve().parent.parent
HERE = ROOT / "results" / "mdp"
LEARNERS = ("weight", "pooled", "window", "restart", "static")
NAMES = {"weight": "weighted (this paper)", "pooled": "weighted, stages pooled", "window": "sliding window"}
NAMES |= {"restart": "restart", "static": "static"}
COLOURS = {"weight": "#0072b2", "pooled": "#56b4e9", "window": "#009e73", "restart": "#e69f00", "static": "#cc3311"}
COLOURS |= {"random": "#777777"}
STYLES = {"weight": "-", "pooled": "-", "window": "--", "restart": "-.", "static": "-"}
WIDTHS = {"weight": 2.2, "pooled": 2.2, "window": 1.6, "restart": 1.6, "static": 1.6}
DRIFTS = ("static", "gradual", "abrupt")
CHECKPOINTS = 200
TUNING_SEED, REPORT_SEED = 1000, 0
Scales = tuple[float, float]


class Family(NamedTuple):
    """One model: its world, its learners, the scales to try."""

    title: str
    world: Callable[..., db.mdp.MDP]
    zoo: dict[str, Callable[..., Any]]
    rewards: tuple[float, ...]
    transitions: tuple[float, ...]


LINEAR = Family(
    "linear mixture (mirrored RiverSwim, H = 10)",
    lambda **c: db.mdp.riverswim(horizon=10, **c),
    {"weight": db.zoo.weight_ucrl, "window": db.zoo.sw_ucrl, "restart": db.zoo.restart_ucrl, "static": db.zoo.ucrl_vtr},
    (0.1, 0.3, 1.0),
    (0.01, 0.03, 0.1, 0.3),
)
MNL = Family(
    "multinomial logit (symmetric RiverSwim, H = 8)",
    lambda **c: db.mdp.mnl_riverswim(horizon=8, **c),
    {
        "weight": db.zoo.mnl_weight_ucrl,
        "window": db.zoo.mnl_sw_ucrl,
        "restart": db.zoo.mnl_restart_ucrl,
        "static": db.zoo.ucrl_mnl,
    },
    (0.1, 0.3, 1.0),
    (1e-5, 3e-5, 1e-4, 3e-4),
)
FAMILIES = {"linear": LINEAR, "mnl": MNL}
CURVES = {f"curves-{key}-{drift}": (key, drift) for key, drift in itertools.product(FAMILIES, DRIFTS)}
PARTS = ("tuning", *CURVES, "scaling")


def learner(family: Family, name: str, world: db.mdp.MDP, scales: Scales) -> Any:
    """A learner with the theorem's λ, δ, γ and W, and the given bonus scales."""
    K, H = world.episodes, world.horizon
    d_theta, d_w = world.phi.shape[-1], world.psi.shape[-1]
    lam_theta, lam_w = (
        db.theory.mnl_lambdas(d_theta=d_theta, d_w=d_w)
        if world.multinomial
        else db.theory.linear_mixture_lambdas(H=H, d_theta=d_theta, d_w=d_w)
    )
    gamma = db.theory.mdp_gamma(K=K, H=H, Delta=world.Delta)
    memory: dict[str, dict[str, Any]] = {
        "weight": {"gamma": gamma},
        "pooled": {"gamma": gamma, "share_stages": True},
        "window": {"window": db.theory.mdp_window(K=K, H=H, Delta=world.Delta)},
        "restart": {"period": db.theory.mdp_window(K=K, H=H, Delta=world.Delta)},
        "static": {},
    }
    return family.zoo["weight" if name == "pooled" else name](
        **memory[name],
        lam_theta=lam_theta,
        lam_w=lam_w,
        delta=db.theory.default_delta("mdp", T=K * H),
        reward_bonus_scale=scales[0],
        transition_bonus_scale=scales[1],
        **world.bounds,
    )


def final_regrets(family: Family, name: str, world: db.mdp.MDP, scales: Scales, trials: int, seed: int) -> np.ndarray:
    """(trials, K) cumulative regret."""
    runs = db.mdp.trials_mdp(learner(family, name, world, scales), lambda _: world, trials=trials, seed=seed)
    return np.array([run.regret for run in runs])


def write(name: str, header: list[str], rows: list[list[Any]]) -> None:
    """A table of the study."""
    HERE.mkdir(parents=True, exist_ok=True)
    with (HERE / name).open("w", newline="") as file:
        csv.writer(file).writerows([header, *rows])


def tune(episodes: dict[str, int], trials: int) -> None:
    """Every pair of scales of every learner on the gradual world, into tuning.csv."""
    rows: list[list[Any]] = []
    for key, family in FAMILIES.items():
        world = family.world(episodes=episodes[key], drift="gradual")
        for name in LEARNERS:
            for scales in itertools.product(family.rewards, family.transitions):
                final = final_regrets(family, name, world, scales, trials, TUNING_SEED)[:, -1]
                rows.append([key, name, *scales, round(float(final.mean()), 2), round(float(final.std()), 2)])
            print("tuned", key, name, flush=True)
    write("tuning.csv", ["model", "learner", "reward_scale", "transition_scale", "final_mean", "final_std"], rows)


def tuned() -> dict[tuple[str, str], Scales]:
    """The pair of scales of least regret of every model and learner, from tuning.csv."""
    best: dict[tuple[str, str], Scales] = {}
    for row in sorted(read("tuning.csv"), key=lambda row: float(row["final_mean"])):
        best.setdefault((row["model"], row["learner"]), (float(row["reward_scale"]), float(row["transition_scale"])))
    return best


def drifting(family: Family, drift: str, episodes: int) -> db.mdp.MDP:
    """The world of a panel."""
    return family.world(episodes=episodes, drift=drift, **({"changes": 4} if drift == "abrupt" else {}))


def curves(key: str, drift: str, pairs: dict[tuple[str, str], Scales], episodes: int, trials: int) -> None:
    """Regret against episodes in one world, into curves.csv; the rows of other worlds stay."""
    world = drifting(FAMILIES[key], drift, episodes)
    K = world.episodes
    marks = np.unique(np.linspace(K / CHECKPOINTS, K, min(CHECKPOINTS, K)).round().astype(int))
    header = ["model", "drift", "scale", "learner", "reward_scale", "transition_scale", "episode", "mean", "std"]
    others = read("curves.csv") if (HERE / "curves.csv").exists() else []
    rows: list[list[Any]] = [list(row.values()) for row in others if (row["model"], row["drift"]) != (key, drift)]
    random = db.mdp.uniform_regret(world)[marks - 1]
    rows += [[key, drift, "none", "random", 0, 0, k, round(m, 3), 0.0] for k, m in zip(marks, random, strict=True)]
    for scale, name in itertools.product(("theory", "tuned"), LEARNERS):
        pair = (1.0, 1.0) if scale == "theory" else pairs[key, name]
        regret = final_regrets(FAMILIES[key], name, world, pair, trials, REPORT_SEED)[:, marks - 1]
        rows += [
            [key, drift, scale, name, *pair, k, round(m, 3), round(s, 3)]
            for k, m, s in zip(marks, regret.mean(axis=0), regret.std(axis=0), strict=True)
        ]
    write("curves.csv", header, rows)
    print("curves", key, drift, flush=True)


def draw_curves(trials: int) -> None:
    """One figure for each model, from curves.csv."""
    table = read("curves.csv")
    for key, family in FAMILIES.items():
        figure, axes = plt.subplots(2, 3, figsize=(11.5, 6.6), sharex=True, constrained_layout=True)
        for column, drift in enumerate(DRIFTS):
            panel = [row for row in table if row["model"] == key and row["drift"] == drift]
            K = max(int(row["episode"]) for row in panel)
            Delta = drifting(family, drift, K).Delta
            for row, scale in enumerate(("theory", "tuned")):
                axis = axes[row, column]
                highest, ends = 0.0, []
                for name in reversed(LEARNERS):
                    line = [r for r in panel if r["scale"] == scale and r["learner"] == name]
                    k, mean, std = (np.array([float(r[c]) for r in line]) for c in ("episode", "mean", "std"))
                    pair = f", ({float(line[0]['reward_scale']):g}, {float(line[0]['transition_scale']):g})"
                    label = NAMES[name] + (pair if scale == "tuned" else "")
                    axis.plot(k, mean, color=COLOURS[name], lw=WIDTHS[name], ls=STYLES[name], label=label)
                    axis.fill_between(k, mean - std, mean + std, color=COLOURS[name], alpha=0.18, lw=0)
                    highest = max(highest, float((mean + std).max()))
                    ends.append(mean[-1])
                line = [r for r in panel if r["learner"] == "random"]
                k, mean = (np.array([float(r[c]) for r in line]) for c in ("episode", "mean"))
                axis.plot(k, mean, color=COLOURS["random"], lw=1.3, ls=(0, (1, 1.5)), label="uniformly random play")
                if max(np.abs(np.array(ends) - mean[-1])) < 0.01 * mean[-1]:
                    axis.text(0.97, 0.06, "all six curves coincide", transform=axis.transAxes, ha="right", fontsize=8.5)
                axis.grid(alpha=0.25, lw=0.6)
                axis.spines[["top", "right"]].set_visible(False)
                axis.set_xlim(0, K)
                axis.set_ylim(0, (1.45 if column == 1 else 1.12) * (mean[-1] if scale == "theory" else highest))
                if row == 0:
                    axis.set_title(f"{drift}, Δ = {Delta:.0f}", fontsize=11)
                else:
                    axis.set_xlabel("episode")
                if column == 0:
                    what = "theory scales (1, 1)" if scale == "theory" else "tuned scales"
                    axis.set_ylabel(f"{what}\ndynamic regret", fontsize=10)
                if column == 1:
                    handles, labels = axis.get_legend_handles_labels()
                    order = [*reversed(range(len(LEARNERS))), len(LEARNERS)]
                    axis.legend(
                        [handles[o] for o in order],
                        [labels[o] for o in order],
                        fontsize=7.5,
                        frameon=False,
                        loc="upper left",
                    )
        figure.suptitle(f"{family.title}: mean ± one standard deviation of {trials} trials", fontsize=12)
        figure.savefig(HERE / f"curves_{key}.png", dpi=130)
        plt.close(figure)


def slope(x: np.ndarray, y: np.ndarray) -> float:
    """The exponent fitted to a power law."""
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])


def scaling(best: dict[tuple[str, str], Scales], sizes: list[int], K: int, turns: list[float], trials: int) -> None:
    """Final regret of linear-mixture learners against K at fixed Δ, and against Δ at fixed K, into scaling.csv."""
    cases = [(name, best["linear", name], "tuned") for name in LEARNERS] + [("weight", (1.0, 1.0), "theory")]
    panels = {
        "K": [LINEAR.world(episodes=k) for k in sizes],
        "Delta": [LINEAR.world(episodes=K, turns=t) for t in turns],
    }
    rows: list[list[Any]] = []
    for what, worlds in panels.items():
        for name, pair, kind in cases:
            for world in worlds:
                final = final_regrets(LINEAR, name, world, pair, trials, REPORT_SEED)[:, -1]
                numbers = [round(float(v), 3) for v in (world.Delta, final.mean(), final.std())]
                rows.append([what, name, kind, world.episodes, *numbers])
        rows += [[what, "random", "none", w.episodes, w.Delta, db.mdp.uniform_regret(w)[-1], 0.0] for w in worlds]
    write("scaling.csv", ["against", "learner", "scale", "K", "Delta", "mean", "std"], rows)


def draw_scaling(trials: int) -> None:
    """The figure of scaling.csv: fitted exponents next to those of Theorem 5."""
    table = read("scaling.csv")
    figure, axes = plt.subplots(1, 2, figsize=(11.5, 5.2), constrained_layout=True)
    for axis, (what, exponent) in zip(axes, {"K": 0.75, "Delta": 0.25}.items(), strict=True):
        panel = [row for row in table if row["against"] == what]
        for name, kind in dict.fromkeys((row["learner"], row["scale"]) for row in panel):
            line = [row for row in panel if (row["learner"], row["scale"]) == (name, kind)]
            x, mean, std = (np.array([float(row[c]) for row in line]) for c in (what, "mean", "std"))
            label = (
                f"{NAMES.get(name, 'random play')}{f', {kind} scale' if kind != 'none' else ''}: {slope(x, mean):.2f}"
            )
            style = {"theory": ":", "none": (0, (1, 1.5))}.get(kind, STYLES.get(name, "-"))
            axis.errorbar(x, mean, std, color=COLOURS[name], ls=style, marker="o", ms=4, lw=1.6, capsize=2, label=label)
            if (name, kind) == ("weight", "tuned"):
                label = f"Theorem 5 (upper bound, shape only): {exponent:g}"
                axis.plot(x, 2.0 * mean.max() * (x / x[-1]) ** exponent, color="black", ls="--", lw=1.2, label=label)
        axis.set_xscale("log")
        axis.set_yscale("log")
        axis.set_xticks(x, [f"{v:.0f}" for v in x])
        axis.minorticks_off()
        fixed = f"Δ = {float(panel[0]['Delta']):.0f}" if what == "K" else f"K = {panel[0]['K']}"
        axis.set_xlabel(f"episodes K   ({fixed})" if what == "K" else f"drift Δ   ({fixed})")
        axis.set_ylabel("final dynamic regret")
        low, high = axis.get_ylim()
        axis.set_ylim(low, 30.0 * high)
        axis.grid(alpha=0.25, lw=0.6)
        axis.spines[["top", "right"]].set_visible(False)
        axis.legend(
            fontsize=8, frameon=False, loc="upper left", title="fitted exponents", title_fontsize=8, alignment="left"
        )
    figure.suptitle(f"linear mixture: how the final regret grows, mean ± std of {trials} trials", fontsize=12)
    figure.savefig(HERE / "scaling.png", dpi=130)
    plt.close(figure)


def read(name: str) -> list[dict[str, str]]:
    """A table of the study."""
    with (HERE / name).open(newline="") as file:
        return list(csv.DictReader(file))


def keep(trials: int) -> None:
    """What docs/mdp.md shows: final regrets and exponents into docs/results/mdp_study.json, figures into docs/images/."""
    table, growth = read("curves.csv"), read("scaling.csv")
    last = {key: max(int(row["episode"]) for row in table if row["model"] == key) for key in FAMILIES}
    numbers = ("reward_scale", "transition_scale", "mean", "std")
    finals = [
        {name: row[name] for name in ("model", "drift", "scale", "learner")}
        | {name: float(row[name]) for name in numbers}
        for row in table
        if int(row["episode"]) == last[row["model"]]
    ]
    exponents = []
    for what, name, kind in dict.fromkeys((row["against"], row["learner"], row["scale"]) for row in growth):
        line = [row for row in growth if (row["against"], row["learner"], row["scale"]) == (what, name, kind)]
        x, mean = (np.array([float(row[c]) for row in line]) for c in (what, "mean"))
        exponents.append({"against": what, "learner": name, "scale": kind, "exponent": slope(x, mean)})
    drifts = {
        key: {drift: drifting(family, drift, last[key]).Delta for drift in DRIFTS} for key, family in FAMILIES.items()
    }
    found = {"made_by": "python experiments/mdp_study.py", "trials": trials, "episodes": last, "Delta": drifts}
    found |= {"rows": finals, "exponents": exponents}
    write_atomically(ROOT / "docs" / "results" / "mdp_study.json", json.dumps(found, indent=1).encode())
    for figure in ("curves_linear", "curves_mnl", "scaling"):
        shutil.copy(HERE / f"{figure}.png", ROOT / "docs" / "images" / f"mdp_{figure}.png")


def run(parts: Sequence[str], quick: bool, trials: int) -> None:
    """Make the tables."""
    if "tuning" in parts:
        tune({"linear": 300, "mnl": 100} if quick else {"linear": 3000, "mnl": 800}, 1 if quick else 4)
    for key, drift in (world for part, world in CURVES.items() if part in parts):
        curves(
            key,
            drift,
            tuned(),
            {"linear": 500, "mnl": 100}[key] if quick else {"linear": 10_000, "mnl": 2000}[key],
            trials,
        )
    if "scaling" in parts:
        sizes = [100, 300, 1000] if quick else [300, 1000, 3000, 10_000]
        scaling(tuned(), sizes, 300 if quick else 3000, [0.5, 1, 2] if quick else [0.25, 0.5, 1, 2, 4, 8], trials)


def main() -> None:
    """Run the study."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small sizes")
    parser.add_argument("--parts", nargs="*", choices=PARTS, help="some parts of it; without a name: draw and keep")
    parser.add_argument("--trials", type=int, default=20)
    given = parser.parse_args()
    quick, trials = given.quick, 3 if given.quick else given.trials
    run(PARTS if given.parts is None else given.parts, quick, trials)
    if given.parts:
        return
    draw_curves(trials)
    draw_scaling(trials)
    if not quick:
        keep(trials)


if __name__ == "__main__":
    main()
