"""Drifting MDPs: what the weighted learners of Theorems 5 and 6 do, at theory scale and tuned.

    python experiments/mdp_study.py            # tables and figures under results/mdp/, about ten minutes on two cores
    python experiments/mdp_study.py --quick    # the same in small, about a minute

Three parts, each a CSV file and a figure:

tuning   for every learner the pair (reward, transition) of bonus scales with the least regret on the gradual world, on seeds of its own
curves   regret against episodes: static, gradual and abrupt drift; theory scales and tuned ones; mean ± std over the trials
scaling  final regret against K at fixed Δ, and against Δ at fixed K, with fitted exponents next to those of the theorem
"""

import argparse
import csv
import itertools
import pathlib
from collections.abc import Callable
from typing import Any, NamedTuple

import matplotlib as mpl
import numpy as np

import driftbandits as db

mpl.use("Agg")
import matplotlib.pyplot as plt

HERE = pathlib.Path(__file__).resolve().parent.parent / "results" / "mdp"
LEARNERS = ("weight", "window", "restart", "static")
NAMES = {"weight": "weighted (this paper)", "window": "sliding window", "restart": "restart", "static": "static"}
COLOURS = {"weight": "#0072b2", "window": "#009e73", "restart": "#e69f00", "static": "#cc3311", "random": "#777777"}
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


def learner(family: Family, name: str, world: db.mdp.MDP, scales: Scales) -> Any:
    """A learner with the theorem's λ, δ, γ and W, and the given bonus scales."""
    K, H = world.episodes, world.horizon
    d_theta, d_w = world.phi.shape[-1], world.psi.shape[-1]
    lam_theta, lam_w = (
        db.theory.mnl_lambdas(d_theta=d_theta, d_w=d_w)
        if world.multinomial
        else db.theory.linear_mixture_lambdas(H=H, d_theta=d_theta, d_w=d_w)
    )
    memory: dict[str, dict[str, Any]] = {
        "weight": {"gamma": db.theory.mdp_gamma(K=K, H=H, Delta=world.Delta)},
        "window": {"window": db.theory.mdp_window(K=K, H=H, Delta=world.Delta)},
        "restart": {"period": db.theory.mdp_window(K=K, H=H, Delta=world.Delta)},
        "static": {},
    }
    return family.zoo[name](
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


def tune(episodes: dict[str, int], trials: int) -> dict[tuple[str, str], Scales]:
    """The best scales of every learner on the gradual world; every pair tried is in tuning.csv."""
    best: dict[tuple[str, str], Scales] = {}
    rows: list[list[Any]] = []
    for key, family in FAMILIES.items():
        world = family.world(episodes=episodes[key], drift="gradual")
        for name in LEARNERS:
            tried = {}
            for scales in itertools.product(family.rewards, family.transitions):
                final = final_regrets(family, name, world, scales, trials, TUNING_SEED)[:, -1]
                tried[scales] = float(final.mean())
                rows.append([key, name, *scales, round(tried[scales], 2), round(float(final.std()), 2)])
            best[key, name] = min(tried, key=lambda pair: tried[pair])
            print(f"tuned {key} {name}: {best[key, name]} → {tried[best[key, name]]:.0f}")
    write("tuning.csv", ["model", "learner", "reward_scale", "transition_scale", "final_mean", "final_std"], rows)
    return best


def curves(best: dict[tuple[str, str], Scales], episodes: dict[str, int], trials: int) -> None:
    """Regret against episodes, one figure for each model."""
    rows: list[list[Any]] = []
    for key, family in FAMILIES.items():
        figure, axes = plt.subplots(2, 3, figsize=(11.5, 6.4), sharex=True, sharey="col", constrained_layout=True)
        for column, drift in enumerate(DRIFTS):
            path = {"changes": 4} if drift == "abrupt" else {}
            world = family.world(episodes=episodes[key], drift=drift, **path)
            K = world.episodes
            marks = np.unique(np.linspace(K / CHECKPOINTS, K, min(CHECKPOINTS, K)).round().astype(int))
            random = db.mdp.uniform_regret(world)[marks - 1]
            for row, scale in enumerate(("theory", "tuned")):
                axis = axes[row, column]
                for name in LEARNERS:
                    pair = (1.0, 1.0) if scale == "theory" else best[key, name]
                    regret = final_regrets(family, name, world, pair, trials, REPORT_SEED)[:, marks - 1]
                    mean, std = regret.mean(axis=0), regret.std(axis=0)
                    label = NAMES[name] if scale == "theory" else f"{NAMES[name]}, ({pair[0]:g}, {pair[1]:g})"
                    axis.plot(marks, mean, color=COLOURS[name], lw=1.7, label=label)
                    axis.fill_between(marks, mean - std, mean + std, color=COLOURS[name], alpha=0.18, lw=0)
                    rows += [
                        [key, drift, scale, name, *pair, k, round(m, 3), round(s, 3)]
                        for k, m, s in zip(marks, mean, std, strict=True)
                    ]
                axis.plot(marks, random, color=COLOURS["random"], lw=1.2, ls="--", label="uniformly random play")
                axis.grid(alpha=0.25, lw=0.6)
                axis.spines[["top", "right"]].set_visible(False)
                axis.set_xlim(0, K)
                axis.set_ylim(0, 1.08 * random[-1])
                if row == 0:
                    axis.set_title(f"{drift}, Δ = {world.Delta:.0f}", fontsize=11)
                else:
                    axis.set_xlabel("episode")
                if column == 0:
                    what = "theory scales (1, 1)" if scale == "theory" else "tuned scales"
                    axis.set_ylabel(f"{what}\ndynamic regret", fontsize=10)
                if column == 1:
                    axis.legend(fontsize=7.5, frameon=False, loc="upper left")
        figure.suptitle(f"{family.title}: mean ± one standard deviation of {trials} trials", fontsize=12)
        figure.savefig(HERE / f"curves_{key}.png", dpi=150)
        plt.close(figure)
        print("curves", key)
    header = ["model", "drift", "scale", "learner", "reward_scale", "transition_scale", "episode", "mean", "std"]
    write("curves.csv", header, rows)


def slope(x: np.ndarray, y: np.ndarray) -> float:
    """The exponent fitted to a power law."""
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])


def scaling(best: dict[tuple[str, str], Scales], sizes: list[int], K: int, turns: list[float], trials: int) -> None:
    """Final regret of linear-mixture learners against K at fixed Δ, and against Δ at fixed K."""
    cases = [("weight", best["linear", "weight"], "-"), ("restart", best["linear", "restart"], "-")]
    cases += [("static", best["linear", "static"], "-"), ("weight", (1.0, 1.0), ":")]
    figure, axes = plt.subplots(1, 2, figsize=(11, 4.6), constrained_layout=True)
    rows: list[list[Any]] = []
    panels = [
        ("K", [LINEAR.world(episodes=k) for k in sizes], 0.75, "episodes K   (Δ = 55)"),
        ("Delta", [LINEAR.world(episodes=K, turns=t) for t in turns], 0.25, f"drift Δ   (K = {K})"),
    ]
    for axis, (what, worlds, exponent, label) in zip(axes, panels, strict=True):
        x = np.array([w.episodes if what == "K" else w.Delta for w in worlds], float)
        for name, pair, style in cases:
            final = np.array([final_regrets(LINEAR, name, w, pair, trials, REPORT_SEED)[:, -1] for w in worlds])
            mean, std = final.mean(axis=1), final.std(axis=1)
            fitted = slope(x, mean)
            kind = "theory scale" if style == ":" else "tuned"
            axis.errorbar(
                x, mean, std, color=COLOURS[name], ls=style, marker="o", ms=4, lw=1.6, capsize=2,
                label=f"{NAMES[name]}, {kind}: exponent {fitted:.2f}",
            )  # fmt: skip
            rows += [
                [what, name, kind, v, w.Delta, w.episodes, round(m, 2), round(s, 2), round(fitted, 3)]
                for v, w, m, s in zip(x, worlds, mean, std, strict=True)
            ]
            if name == "weight" and style == "-":
                axis.plot(
                    x, 1.6 * mean[0] * (x / x[0]) ** exponent, color="black", ls="--", lw=1.1,
                    label=f"Theorem 5: exponent {exponent:g}",
                )  # fmt: skip
        random = [db.mdp.uniform_regret(w)[-1] for w in worlds]
        axis.plot(x, random, color=COLOURS["random"], lw=1.1, label=f"random play: exponent {slope(x, random):.2f}")
        axis.set_xscale("log")
        axis.set_yscale("log")
        axis.set_xlabel(label)
        axis.set_ylabel("final dynamic regret")
        axis.grid(alpha=0.25, lw=0.6, which="both")
        axis.spines[["top", "right"]].set_visible(False)
        axis.legend(fontsize=7.5, frameon=False)
    figure.suptitle(f"linear mixture: how the final regret grows ({trials} trials)", fontsize=12)
    figure.savefig(HERE / "scaling.png", dpi=150)
    plt.close(figure)
    write("scaling.csv", ["against", "learner", "scale", "x", "Delta", "K", "mean", "std", "exponent"], rows)


def main() -> None:
    """Run the study."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small sizes")
    quick = parser.parse_args().quick
    trials = 3 if quick else 20
    best = tune({"linear": 300, "mnl": 100} if quick else {"linear": 3000, "mnl": 800}, 1 if quick else 4)
    curves(best, {"linear": 500, "mnl": 100} if quick else {"linear": 10_000, "mnl": 2000}, trials)
    sizes = [100, 300, 1000] if quick else [300, 1000, 3000, 10_000]
    scaling(best, sizes, 300 if quick else 3000, [0.5, 1, 2] if quick else [0.25, 0.5, 1, 2, 4, 8], trials)


if __name__ == "__main__":
    main()
