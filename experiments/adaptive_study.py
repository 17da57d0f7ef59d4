"""Adaptive weights next to everything that knows more, or less: table of docs/notebook/adaptive.md, figure of docs/adaptive.md.

Every world runs at bonus_scale 1 (theory) and 0.3 (practice). "best γ" is the γ of least mean regret on a grid: nobody can
know it in advance. "tuned γ" is the paper's, which knows P_T. All see the same arms and the same noise.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from matplotlib.figure import Figure

import driftbandits as db
from driftbandits.experiment.study import Cells, Report, study, table
from driftbandits.plots.style import role_colour

SCALES = (1.0, 0.3)
C_MU = 0.19661193324148185  # of the logistic link on |z| ≤ 1
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


def suites(T: int) -> dict[str, tuple[str, int, Callable[[int], Any], dict[str, Any]]]:
    """Kind, dimension, path by trial and what else is different, of every world; by "group: world"."""
    plain = {
        f"{kind} d={d}: {name}": (kind, d, path, {})
        for kind in ("linear", "logistic")
        for d in (2, 10)
        for name, path in listed(T, d).items()
    }
    others = {f"linear, other: {name}": ("linear", 0, path, more) for name, (path, more) in invented(T).items()}
    return plain | others


def strategies(kind: str, T: int, d: int, P_T: float, scale: float) -> dict[str, Any]:
    """Every strategy of a row: the competitors, then the grid of fixed γ."""
    return competitors(kind, T, d, P_T, scale) | fixed(kind, T, d, scale)


def final_regret(world: str, label: str, scale: float, T: int, trials: int, curve: bool) -> dict[str, Any]:
    """A cell: mean and standard error of the final regret over trials; with `curve` also what the figure shows."""
    kind, _, path, options = suites(T)[world]
    P_T = float(np.mean([db.theory.path_length(path(i)) for i in range(min(trials, 4))]))
    strategy = strategies(kind, T, path(0).dim, P_T, scale)[label]
    runs = db.trials(strategy, partial(make_trial, kind, path, options), trials=trials)
    final = np.array([run.regret[-1] for run in runs])
    found = {"mean": float(final.mean()), "se": float(final.std(ddof=1) / np.sqrt(len(final)))}
    if not curve:
        return found
    found |= {"rounds": runs[0].rounds, "regret": np.mean([run.regret for run in runs], axis=0)}
    if label == "adaptive":
        traces = [run.trace for run in runs]
        found |= {"memory rounds": traces[0]["round"], "memory": [trace["effective_memory"] for trace in traces]}
    return found


# ------------------------------------------------------------------------------------------------------------------ tables


COLUMNS = ("adaptive", "best γ", "tuned γ", "BOB", "MASTER(0)", "MASTER(13)", "DAL", "static")
LEAST_RATIO = 1.15  # what adaptive weights were to stay below


def regret_table(made: Mapping[str, Any]) -> str:
    """Adaptive weights beside the best γ in hindsight and everybody else. Bold: a ratio that missed its target."""
    rows, group = [], ""
    for row in made["rows"]:
        if row["group"] != group:
            group = row["group"]
            rows.append([f"**{group}**, {made['trials']} trials", *[""] * (len(COLUMNS) + 3)])
        ratio = row["ratio"]
        miss = ratio > LEAST_RATIO or (row["changes_speed"] and ratio > 1.0)
        regrets = [f"{row[c]['mean']:.0f}" if c in row else "–" for c in COLUMNS]
        rows.append(
            [
                row["world"],
                str(row["scale"]),
                f"**{ratio:.2f}**" if miss else f"{ratio:.2f}",
                *regrets,
                row["best memory"],
            ]
        )
    return table(["world", "c", "ratio", *COLUMNS, "best memory"], rows)


@study(
    tiny={"T": 12, "trials": 2, "worlds": ("linear d=2: static", "linear, other: 10 arms"), "scales": (0.3,)},
    tables={"adaptive": regret_table},
)
def adaptive_study(
    cells: Cells, *, T: int = 6000, trials: int = 20, worlds: Sequence[str] = (), scales: Sequence[float] = SCALES
) -> Report:
    """Adaptive weights next to everything that knows more, or less, in 39 worlds."""
    rows, curves, known = [], {}, suites(T)
    for title in worlds or known:
        kind, _, path, _ = known[title]
        group, _, name = title.partition(": ")
        for scale in scales:
            dim = path(0).dim
            labels, grid = list(competitors(kind, T, dim, 1.0, scale)), list(fixed(kind, T, dim, scale))
            drawn = group == "linear d=2" and scale == 0.3 and name in DRAWN
            given = {"world": title, "scale": scale, "T": T, "trials": trials}
            asked = [given | {"label": label, "curve": drawn and label in labels} for label in (*labels, *grid)]
            found = dict(zip((*labels, *grid), cells(final_regret, asked), strict=True))
            if drawn:
                curves[name] = {label: found[label] for label in labels}
            ends = {label: {key: one[key] for key in ("mean", "se")} for label, one in found.items()}
            best = min(grid, key=lambda label: ends[label]["mean"])
            row: dict[str, Any] = {
                "group": group,
                "world": name,
                "scale": scale,
                "changes_speed": name in SPEED_CHANGES,
            }
            row |= {label: ends[label] for label in labels}
            row |= {"best γ": ends[best], "best memory": best.removeprefix("memory ")}
            rows.append(row | {"ratio": row["adaptive"]["mean"] / row["best γ"]["mean"]})
    return Report(
        {"rounds": T, "trials": trials, "rows": rows}, {"adaptive_memory.png": draw(curves)} if curves else {}
    )


def draw(curves: dict[str, dict[str, Any]]) -> Figure:
    """Regret above, effective memory below, one column a world."""
    shown = [world for world in DRAWN if world in curves]
    labels = {
        "adaptive": "adaptive weights",
        "tuned γ": "γ tuned with P_T",
        "BOB": "BOB",
        "MASTER(13)": "MASTER(13)",
        "static": "OFUL",
    }
    roles = ("tuning-free", 0), ("fixed forgetting", 0), ("tuning-free", 1), ("detection", 0), ("never forgets", 0)
    colours = {label: role_colour(*role) for label, role in zip(labels, roles, strict=True)}
    fig = Figure(figsize=(3.4 * len(shown), 5.6), dpi=150)
    axes = fig.subplots(2, len(shown), sharex="col", sharey="row", squeeze=False)
    for j, world in enumerate(shown):
        top, bottom = axes[:, j]
        for label in labels:
            of = curves[world][label]
            top.plot(
                of["rounds"],
                of["regret"],
                color=colours[label],
                lw=2.2 if label == "adaptive" else 1.3,
                label=labels[label],
            )
        top.set_title(world)
        top.set_yscale("symlog", linthresh=100)
        top.set_ylim(0, 8000)
        rounds, memory = (np.array(curves[world]["adaptive"][name]) for name in ("memory rounds", "memory"))
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
    return fig
