"""Adaptive weights next to everything that knows more, or less: table and figure of docs/adaptive.md.

    python experiments/adaptive_study.py                      # docs/results/adaptive_study.json, docs/adaptive_memory.png
    python experiments/adaptive_study.py --trials 2 --horizon 600 --only "linear d=2" --out /tmp/study
    python experiments/adaptive_study.py --only logistic --column DAL         # one learner anew, in rows that the file has

`python docs/tables.py` makes the table. Worlds that the file already has, with as many trials and rounds, are not run again.

Every world runs at bonus_scale 1 (theory) and 0.3 (practice). "best γ" is the γ of least mean regret on a grid: nobody can
know it in advance. "tuned γ" is the paper's, which knows P_T. All see the same arms and the same noise.
"""

import argparse
import json
import pathlib
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import driftbandits as db

SCALES = (1.0, 0.3)
C_MU = 0.19661193324148185  # of the logistic link on |z| ≤ 1
COLUMNS = ("adaptive", "tuned γ", "BOB", "MASTER(0)", "MASTER(13)", "DAL", "static")
DRAWN = ("static", "rotating ×4", "5 jumps", "half static, half fast")
SPEED_CHANGES = {"half static, half fast", "bursts", "accelerating", "5 jumps", "20 jumps"}


# ------------------------------------------------------------------------------------------------------------- worlds


def turning(T: int, d: int, angle: Any) -> Any:
    """A unit parameter at angle(t), in the plane of the first two coordinates."""
    phi = np.asarray(angle(np.arange(T)), float)
    theta = np.zeros((T, d))
    theta[:, 0], theta[:, 1] = np.cos(phi), np.sin(phi)
    return db.env.from_array(theta)


def listed(T: int, d: int) -> dict[str, Callable[[int], Any]]:
    """The issue's worlds."""
    return {
        "static": lambda i: db.env.static(T, dim=d, seed=i),
        "rotating ×1": lambda _: db.env.rotating(T, dim=d),
        "rotating ×4": lambda _: db.env.rotating(T, dim=d, turns=4.0),
        "5 jumps": lambda i: db.env.piecewise(T, dim=d, changes=5, seed=i),
        "20 jumps": lambda i: db.env.piecewise(T, dim=d, changes=20, seed=i),
        "random walk": lambda i: db.env.random_walk(T, dim=d, step=0.01, seed=i),
        "half static, half fast": lambda _: turning(T, d, lambda t: 8 * np.pi * np.maximum(t - T // 2, 0) / T),
    }


def invented(T: int) -> dict[str, tuple[Callable[[int], Any], dict[str, Any]]]:
    """Worlds nothing was chosen for: paths, and what else is different."""

    def hidden(i: int) -> Any:  # the best arm stays as it is; in the middle another one becomes better, unseen
        return db.env.piecewise(T, dim=5, values=[[0.5, 0, 0, 0, 0], [0.5, 0.8, 0, 0, 0]], changes=1)

    def rotating(i: int) -> Any:
        return db.env.rotating(T, turns=2.0)

    return {
        "accelerating": (lambda _: turning(T, 2, lambda t: 12 * np.pi * (t / T) ** 3), {}),
        "bursts": (lambda _: turning(T, 2, lambda t: np.cumsum((t % 1500 >= 1300) * np.pi / 200)), {}),
        "seasonal": (lambda _: turning(T, 2, lambda t: 0.5 * np.pi * np.sin(2 * np.pi * t / 1000)), {}),
        "random jumps, d = 5": (
            lambda i: db.env.piecewise(
                T, dim=5, changes=10, seed=i, at=np.sort(np.random.default_rng(i).choice(np.arange(2, T), 10, False))
            ),
            {},
        ),
        "faint: ‖θ‖ = 0.3": (lambda _: db.env.rotating(T, turns=2.0, norm=0.3), {}),
        "quiet: noise 0.1, R = 1": (rotating, {"noise": 0.1}),
        "loud: noise 2, R = 1": (rotating, {"noise": 2.0}),
        "10 arms": (rotating, {"n": 10}),
        "200 arms": (rotating, {"n": 200}),
        "arms redrawn": (rotating, {"redrawn": True}),
        "a hidden arm improves": (hidden, {"basis": True}),
    }


def make_world(
    kind: str, path: Any, i: int, n: int = 50, noise: float = 1.0, redrawn: bool = False, basis: bool = False
) -> db.env.Bandit:
    """Trial i of a world."""
    arms = db.env.redrawn_arms(n, dim=path.dim, seed=i) if redrawn else db.env.unit_arms(n, dim=path.dim, seed=i)
    if basis:
        arms = np.eye(path.dim)
    return db.env.linear(arms, path, noise=noise) if kind == "linear" else db.env.generalized(arms, path)


def make_trial(kind: str, path: Callable[[int], Any], options: dict[str, Any], i: int) -> db.env.Bandit:
    """Trial i, its path included."""
    return make_world(kind, path(i), i, **options)


# --------------------------------------------------------------------------------------------------------- strategies


def competitors(kind: str, T: int, d: int, P_T: float, scale: float) -> dict[str, Any]:
    """Every strategy of the table but the grid of fixed γ."""
    z, delta = db.zoo, 1 / (2 * T)
    if kind == "linear":
        lb: dict[str, Any] = {"lam": float(d), "S": 1.0, "L": 1.0, "R": 1.0, "bonus_scale": scale}
        static = z.oful(delta=delta, **lb)
        return {
            "adaptive": z.adaptive_weight_ucb(delta=delta, **lb),
            "tuned γ": z.lb_weight_ucb(gamma=db.theory.lb_gamma(T=T, d=d, P_T=P_T), delta=delta, **lb),
            "BOB": z.bob(horizon=T, dim=d, **lb),
            "MASTER(0)": z.master(static, horizon=T),
            "MASTER(13)": z.master(static, horizon=T, first_order=13),
            "DAL": z.dal(static),
            "static": static,
        }
    glb: dict[str, Any] = {"S": 1.0, "L": 1.0, "bonus_scale": scale}
    lam = d / C_MU**2
    tuned = db.theory.glb_gamma(T=T, d=d, P_T=P_T, c_mu=C_MU, k_mu=0.25)
    static = z.glm_ucb(lam=d, delta=delta, **glb)
    return {
        "adaptive": z.adaptive_weight_glm_ucb(delta=delta, **glb),
        "tuned γ": z.glb_weight_ucb(gamma=tuned, lam=lam, delta=delta, **glb),
        "BOB": z.bob_glm(horizon=T, dim=d, **glb),
        "MASTER(0)": z.master(static, horizon=T),
        "MASTER(13)": z.master(static, horizon=T, first_order=13),
        "DAL": z.dal(static),
        "static": static,
    }


def fixed(kind: str, T: int, d: int, scale: float) -> dict[str, Any]:
    """The grid: memories 8 … 4096 in steps of √2 and ∞ (logistic: 32 … 1024 in steps of 2, and both ridges)."""
    delta = 1 / (2 * T)
    if kind == "linear":
        lb = {"lam": float(d), "S": 1.0, "L": 1.0, "R": 1.0, "delta": delta, "bonus_scale": scale}
        memories = [8 * 2 ** (k / 2) for k in range(19)]
        grid = {f"memory {m:.0f}": db.zoo.lb_weight_ucb(gamma=1 - 1 / m, **lb) for m in memories}  # type: ignore[arg-type]
        return grid | {"memory ∞": db.zoo.oful(**lb)}  # type: ignore[arg-type]
    gammas = {f"memory {m}": 1 - 1 / m for m in (32, 64, 128, 256, 512, 1024)} | {"memory ∞": 1.0}
    return {
        f"{name}, λ = {lam:.0f}": db.zoo.glb_weight_ucb(gamma=g, lam=lam, S=1.0, L=1.0, delta=delta, bonus_scale=scale)
        for name, g in gammas.items()
        for lam in (5 / C_MU, d / C_MU**2)
    }


# -------------------------------------------------------------------------------------------------------------- study


def suites(T: int) -> list[Any]:
    """Kind, dimension, name, path by trial and what else is different, of every world."""
    plain = [
        (kind, d, name, path, {})
        for kind in ("linear", "logistic")
        for d in (2, 10)
        for name, path in listed(T, d).items()
    ]
    return plain + [("linear", 0, name, path, options) for name, (path, options) in invented(T).items()]


def study(T: int, trials: int, only: str, column: str, folder: pathlib.Path) -> None:
    """All worlds; the file is written anew after each, the figure at the end."""
    found, curves = Found(folder / "results" / "adaptive_study.json", T, trials), {}
    for kind, d, name, path, options in suites(T):
        group = f"{kind} d={d}" if d else "linear, other"
        if only not in f"{group}: {name}":
            continue
        dim = path(0).dim
        P_T = float(np.mean([db.theory.path_length(path(i)) for i in range(min(trials, 4))]))
        run = partial(db.trials, problem=partial(make_trial, kind, path, options), trials=trials)
        for scale in SCALES:
            row = found.row(group, name, scale)
            drawn = not column and group == "linear d=2" and scale == 0.3 and name in DRAWN
            if "best γ" in row and not (column or drawn):
                continue
            strategies = competitors(kind, T, dim, P_T, scale)
            done = {label: run(strategy) for label, strategy in strategies.items() if column in ("", label)}
            if drawn:
                curves[name] = done
            row |= {"group": group, "world": name, "scale": scale, "changes_speed": name in SPEED_CHANGES}
            row |= {label: spread(runs) for label, runs in done.items()}
            if not column:
                grid = {label: spread(run(strategy)) for label, strategy in fixed(kind, T, dim, scale).items()}
                best = min(grid, key=lambda label: grid[label]["mean"])
                row |= {"best γ": grid[best], "best memory": best.removeprefix("memory ")}
            if "best γ" in row:
                row["ratio"] = row["adaptive"]["mean"] / row["best γ"]["mean"]
            found.add(row)
            told = {label: round(row[label]["mean"]) for label in done}
            print(f"{group:14s} {name:24s} c={scale}: {told}", flush=True)
    if curves:
        draw(curves, folder)


def spread(runs: Any) -> dict[str, float]:
    """Final regret: mean and standard error over trials."""
    final = np.array([run.regret[-1] for run in runs])
    return {"mean": final.mean(), "se": final.std(ddof=1) / np.sqrt(len(final))}


class Found:
    """The rows of the study, in a file."""

    def __init__(self, path: pathlib.Path, T: int, trials: int) -> None:
        self.path, self.rows = path, []
        self.head = {
            "made_by": f"python experiments/adaptive_study.py --trials {trials} --horizon {T}",
            "rounds": T,
            "trials": trials,
        }
        if path.exists():
            old = json.loads(path.read_text())
            if (old["rounds"], old["trials"]) == (T, trials):
                self.head, self.rows = {k: v for k, v in old.items() if k != "rows"}, old["rows"]

    def row(self, *key: Any) -> dict[str, Any]:
        """What is known of a world; nothing at first."""
        return dict(next((row for row in self.rows if (row["group"], row["world"], row["scale"]) == key), {}))

    def add(self, new: dict[str, Any]) -> None:
        """A row, in the place of an older one of the same world."""
        key = new["group"], new["world"], new["scale"]
        places = [i for i, row in enumerate(self.rows) if (row["group"], row["world"], row["scale"]) == key]
        if places:
            self.rows[places[0]] = new
        else:
            self.rows.append(new)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_text(json.dumps(self.head | {"rows": self.rows}, indent=1, ensure_ascii=False) + "\n")


def draw(curves: dict[str, dict[str, Any]], folder: pathlib.Path) -> None:
    """Regret above, effective memory below, one column a world."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    shown = [world for world in DRAWN if world in curves]
    labels = {
        "adaptive": "adaptive weights",
        "tuned γ": "γ tuned with P_T",
        "BOB": "BOB",
        "MASTER(13)": "MASTER(13)",
        "static": "OFUL",
    }
    colours = dict(zip(labels, ("#c1272d", "#0000a7", "#008176", "#eecc16", "#7f7f7f"), strict=True))
    fig, axes = plt.subplots(2, len(shown), figsize=(3.4 * len(shown), 5.6), sharex="col", sharey="row", squeeze=False)
    for j, world in enumerate(shown):
        top, bottom = axes[:, j]
        for label in labels:
            of = curves[world][label]
            mean = np.mean([run.regret for run in of], axis=0)
            top.plot(
                of[0].rounds, mean, color=colours[label], lw=2.2 if label == "adaptive" else 1.3, label=labels[label]
            )
        top.set_title(world)
        top.set_yscale("symlog", linthresh=100)
        top.set_ylim(0, 8000)
        trace = [run.trace for run in curves[world]["adaptive"]]
        rounds, memory = trace[0]["round"], np.array([t["effective_memory"] for t in trace])
        low, middle, high = np.percentile(memory, [10, 50, 90], axis=0)
        bottom.fill_between(rounds, low, high, color=colours["adaptive"], alpha=0.2, lw=0, label="10–90 % of trials")
        bottom.plot(rounds, middle, color=colours["adaptive"], lw=1.6, label="effective memory, median")
        bottom.plot(rounds, rounds, color="black", lw=0.8, ls=":", label="all rounds so far")
        bottom.set_yscale("log")
        bottom.set_xlabel("round")
        for axis in (top, bottom):
            axis.grid(alpha=0.25)
            axis.spines[["top", "right"]].set_visible(False)
    axes[0, 0].set_ylabel("dynamic regret")
    axes[1, 0].set_ylabel("rounds remembered")
    handles, names = axes[0, 0].get_legend_handles_labels()
    more, more_names = axes[1, 0].get_legend_handles_labels()
    fig.legend(handles + more, names + more_names, loc="lower center", ncol=4, frameon=False)
    fig.tight_layout(rect=(0, 0.1, 1, 1))
    fig.savefig(folder / "adaptive_memory.png", dpi=150)


def main() -> None:
    """Run the study."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--horizon", type=int, default=6000)
    parser.add_argument("--trials", type=int, default=20)
    parser.add_argument("--only", default="", help='part of "group: world", e.g. "linear d=2" or "jumps"')
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[1] / "docs")
    parser.add_argument("--column", default="", choices=["", *COLUMNS], help="run this learner only, and keep the rest")
    args = parser.parse_args()
    study(args.horizon, args.trials, args.only, args.column, args.out)


if __name__ == "__main__":
    main()
