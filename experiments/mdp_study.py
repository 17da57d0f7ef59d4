"""Drifting MDPs: what the weighted learners of Theorems 5 and 6 do, at theory scale and tuned.

tuning   for every learner the pair (reward, transition) of bonus scales with the least regret on the gradual world, on seeds of its own
curves   regret against episodes: static, gradual and abrupt drift; theory scales and tuned ones; mean ± std over the trials
scaling  final regret against K at fixed Δ, and against Δ at fixed K, with fitted exponents next to those of the theorem
"""

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure

import driftbandits as db
from driftbandits.experiment.study import Cells, Report, few, study, table
from driftbandits.plots.style import role_colour

LEARNERS = ("weight", "pooled", "window", "restart", "static")
NAMES = {"weight": "weighted (this paper)", "pooled": "weighted, stages pooled", "window": "sliding window"}
NAMES |= {"restart": "restart", "static": "static"}
COLOURS = {name: role_colour("fixed forgetting", i) for i, name in enumerate(("weight", "pooled", "window", "restart"))}
COLOURS |= {"static": role_colour("never forgets"), "random": role_colour("baseline")}
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


def drifting(model: str, drift: str, episodes: int) -> dict[str, Any]:
    """The world of a panel, as arguments of a cell."""
    return {
        "model": model,
        "world": {"episodes": episodes, "drift": drift} | ({"changes": 4} if drift == "abrupt" else {}),
    }


def regrets(
    model: str, world: dict[str, Any], name: str, scales: list[float], trials: int, seed: int
) -> dict[str, list[float]]:
    """A cell: mean and standard deviation of the regret at 200 episodes; random play needs no trials."""
    place = FAMILIES[model].world(**world)
    K = place.episodes
    marks = np.unique(np.linspace(K / CHECKPOINTS, K, min(CHECKPOINTS, K)).round().astype(int))
    if name == "random":
        mean = db.mdp.uniform_regret(place)[marks - 1]
        return {"episode": marks.tolist(), "mean": mean.tolist(), "std": [0.0] * len(marks)}
    strategy = learner(FAMILIES[model], name, place, (scales[0], scales[1]))
    runs = db.mdp.trials_mdp(strategy, lambda _: place, trials=trials, seed=seed)
    found = np.array([run.regret for run in runs])[:, marks - 1]
    return {"episode": marks.tolist(), "mean": found.mean(axis=0).tolist(), "std": found.std(axis=0).tolist()}


# ------------------------------------------------------------------------------------------------------------------- parts


def tuned(cells: Cells, episodes: Mapping[str, int], trials: int, pairs: int) -> dict[tuple[str, str], Scales]:
    """The pair of scales of least regret, of the first so many, of every model and learner on the gradual world."""
    tried = [
        (model, name, scales)
        for model, family in FAMILIES.items()
        for name in LEARNERS
        for scales in list(itertools.product(family.rewards, family.transitions))[:pairs]
    ]
    found = cells(
        regrets,
        [
            drifting(model, "gradual", episodes[model])
            | {"name": name, "scales": list(scales), "trials": trials, "seed": TUNING_SEED}
            for model, name, scales in tried
        ],
    )
    finals = [round(one["mean"][-1], 2) for one in found]
    best: dict[tuple[str, str], Scales] = {}
    for _, (model, name, scales) in sorted(zip(finals, tried, strict=True), key=lambda pair: pair[0]):
        best.setdefault((model, name), scales)
    return best


def curves(
    cells: Cells, best: Mapping[tuple[str, str], Scales], episodes: Mapping[str, int], trials: int
) -> list[dict[str, Any]]:
    """Regret against episodes, a row per world, scale and learner."""
    rows: list[dict[str, Any]] = []
    for model, drift in itertools.product(FAMILIES, DRIFTS):
        rows.append({"model": model, "drift": drift, "scale": "none", "learner": "random", "pair": (0.0, 0.0)})
        for scale, name in itertools.product(("theory", "tuned"), LEARNERS):
            pair = (1.0, 1.0) if scale == "theory" else best[model, name]
            rows.append({"model": model, "drift": drift, "scale": scale, "learner": name, "pair": pair})
    found = cells(
        regrets,
        [
            drifting(row["model"], row["drift"], episodes[row["model"]])
            | {"name": row["learner"], "scales": list(row["pair"]), "trials": trials, "seed": REPORT_SEED}
            for row in rows
        ],
    )
    return [row | one for row, one in zip(rows, found, strict=True)]


def scaling(
    cells: Cells,
    best: Mapping[tuple[str, str], Scales],
    sizes: Sequence[int],
    K: int,
    turns: Sequence[float],
    trials: int,
) -> list[dict[str, Any]]:
    """Final regret of linear-mixture learners against K at fixed Δ, and against Δ at fixed K."""
    cases = [(name, best["linear", name], "tuned") for name in LEARNERS]
    cases += [("weight", (1.0, 1.0), "theory"), ("random", (0.0, 0.0), "none")]
    worlds: dict[str, list[dict[str, Any]]] = {
        "K": [{"episodes": k} for k in sizes],
        "Delta": [{"episodes": K, "turns": t} for t in turns],
    }
    rows = [(what, case, world) for what, own in worlds.items() for case in cases for world in own]
    same = {"model": "linear", "trials": trials, "seed": REPORT_SEED}
    asked = [same | {"world": world, "name": name, "scales": list(pair)} for _, (name, pair, _), world in rows]
    answer = []
    for (what, (name, _, kind), world), found in zip(rows, cells(regrets, asked), strict=True):
        mean, std, Delta = found["mean"][-1], found["std"][-1], LINEAR.world(**world).Delta
        if name != "random":
            mean, std, Delta = (round(float(v), 3) for v in (mean, std, Delta))
        told = {"against": what, "learner": name, "scale": kind, "K": world["episodes"], "Delta": Delta}
        answer.append(told | {"mean": mean, "std": std})
    return answer


def slope(x: Sequence[float], y: Sequence[float]) -> float:
    """The exponent fitted to a power law."""
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])


def lines(growth: list[dict[str, Any]]) -> dict[tuple[str, str, str], list[dict[str, Any]]]:
    """The rows of `scaling`, by what they are against, learner and scale."""
    found: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
    for row in growth:
        found.setdefault((row["against"], row["learner"], row["scale"]), []).append(row)
    return found


# ----------------------------------------------------------------------------------------------------------------- figures


def draw_curves(table: list[dict[str, Any]], trials: int) -> dict[str, Figure]:
    """One figure for each model."""
    figures = {}
    for key, family in FAMILIES.items():
        figure = Figure(figsize=(11.5, 6.6), layout="constrained", dpi=130)
        axes = figure.subplots(2, 3, sharex=True)
        for column, drift in enumerate(DRIFTS):
            panel = [row for row in table if row["model"] == key and row["drift"] == drift]
            K = panel[0]["episode"][-1]
            Delta = family.world(**drifting(key, drift, K)["world"]).Delta
            for row, scale in enumerate(("theory", "tuned")):
                axis = axes[row, column]
                highest, ends = 0.0, []
                for name in reversed(LEARNERS):
                    line = next(r for r in panel if r["scale"] == scale and r["learner"] == name)
                    k, mean, std = (np.array(line[c]) for c in ("episode", "mean", "std"))
                    pair = f", ({line['pair'][0]:g}, {line['pair'][1]:g})"
                    label = NAMES[name] + (pair if scale == "tuned" else "")
                    axis.plot(k, mean, color=COLOURS[name], lw=WIDTHS[name], ls=STYLES[name], label=label)
                    axis.fill_between(k, mean - std, mean + std, color=COLOURS[name], alpha=0.18, lw=0)
                    highest = max(highest, float((mean + std).max()))
                    ends.append(mean[-1])
                line = next(r for r in panel if r["learner"] == "random")
                k, mean = np.array(line["episode"]), np.array(line["mean"])
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
        figures[f"images/mdp_curves_{key}.png"] = figure
    return figures


def draw_scaling(growth: list[dict[str, Any]], trials: int) -> Figure:
    """Fitted exponents next to those of Theorem 5."""
    figure = Figure(figsize=(11.5, 5.2), layout="constrained", dpi=130)
    axes = figure.subplots(1, 2)
    for axis, (what, exponent) in zip(axes, {"K": 0.75, "Delta": 0.25}.items(), strict=True):
        panel = [row for row in growth if row["against"] == what]
        for (_, name, kind), line in lines(panel).items():
            x, mean, std = (np.array([row[c] for row in line]) for c in (what, "mean", "std"))
            label = (
                f"{NAMES.get(name, 'random play')}{f', {kind} scale' if kind != 'none' else ''}: {slope(x, mean):.2f}"
            )
            style = {"theory": ":", "none": (0, (1, 1.5))}.get(kind, STYLES.get(name, "-"))
            axis.errorbar(x, mean, std, color=COLOURS[name], ls=style, marker="o", ms=4, lw=1.6, capsize=2, label=label)
            if (name, kind) == ("weight", "tuned"):
                label = f"Theorem 5 (upper bound, shape only): {exponent:g}"
                axis.plot(x, 2.0 * mean.max() * (x / x[-1]) ** exponent, color="0.35", ls="--", lw=1.2, label=label)
        axis.set_xscale("log")
        axis.set_yscale("log")
        axis.set_xticks(x, [f"{v:.0f}" for v in x])
        axis.minorticks_off()
        fixed = f"Δ = {panel[0]['Delta']:.0f}" if what == "K" else f"K = {panel[0]['K']}"
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
    return figure


# ------------------------------------------------------------------------------------------------------------------- study


def final_row(row: dict[str, Any]) -> dict[str, Any]:
    """The end of a curve."""
    told = {name: row[name] for name in ("model", "drift", "scale", "learner")}
    told |= {"reward_scale": row["pair"][0], "transition_scale": row["pair"][1]}
    return told | {name: round(row[name][-1], 3) for name in ("mean", "std")}


# ------------------------------------------------------------------------------------------------------------------ tables


TITLES = {
    "weight": "weighted",
    "pooled": "weighted, stages pooled",
    "window": "window",
    "restart": "restart",
    "static": "static",
}


def curves_table(made: Mapping[str, Any], model: str) -> str:
    """Final regret of the four learners at the theory's scales and at tuned ones."""
    found = {(r["scale"], r["learner"], r["drift"]): r for r in made["rows"] if r["model"] == model}
    drifts = made["Delta"][model]
    played = {learner: name for learner, name in TITLES.items() if any(key[1] == learner for key in found)}

    def line(kind: str, learner: str, title: str) -> list[str]:
        cells = [found[kind, learner, drift] for drift in drifts]
        return [title, *(few(c["mean"]) + (f" ± {few(c['std'])}" if c["std"] else "") for c in cells)]

    rows = [line("none", "random", "random play")]
    rows += [line("theory", learner, f"theory (1, 1): {name}") for learner, name in played.items()]
    for learner, name in played.items():
        pair = found["tuned", learner, next(iter(drifts))]
        scales = f"({pair['reward_scale']:g}, {pair['transition_scale']:g})"
        rows.append(line("tuned", learner, f"tuned {scales}: {name}"))
    return table(["final regret", *(f"{drift}, Δ = {Delta:.0f}" for drift, Delta in drifts.items())], rows)


def exponents_table(made: Mapping[str, Any]) -> str:
    """Fitted exponents of the linear mixture."""
    names, rows = TITLES | {"random": "random play"}, {}
    for row in made["exponents"]:
        title = names.get(row["learner"], row["learner"]) + (
            f", {row['scale']} scale" if row["scale"] != "none" else ""
        )
        rows.setdefault(title, {})[row["against"]] = f"{row['exponent']:.2f}"
    theorem = [["Theorem 5, at most", "0.75", "0.25"]]
    return table(["exponent in", "K", "Δ"], [[title, own["K"], own["Delta"]] for title, own in rows.items()] + theorem)


@study(
    tiny={
        "trials": 1,
        "tuning_trials": 1,
        "pairs": 1,
        "tuning_episodes": {"linear": 4, "mnl": 2},
        "episodes": {"linear": 4, "mnl": 2},
        "sizes": (3, 4),
        "K": 4,
        "turns": (0.5, 1.0),
    },
    tables={"mdp_curves": curves_table, "mdp_exponents": exponents_table},
)
def mdp_study(
    cells: Cells,
    *,
    trials: int = 20,
    tuning_trials: int = 4,
    pairs: int = 12,
    tuning_episodes: Mapping[str, int] = {"linear": 3000, "mnl": 800},
    episodes: Mapping[str, int] = {"linear": 10_000, "mnl": 2000},
    sizes: Sequence[int] = (300, 1000, 3000, 10_000),
    K: int = 3000,
    turns: Sequence[float] = (0.25, 0.5, 1, 2, 4, 8),
) -> Report:
    """What the weighted MDP learners of Theorems 5 and 6 do, at theory scale and tuned."""
    best = tuned(cells, tuning_episodes, tuning_trials, pairs)
    table = curves(cells, best, episodes, trials)
    growth = scaling(cells, best, sizes, K, turns, trials)
    drifts = {
        key: {drift: family.world(**drifting(key, drift, episodes[key])["world"]).Delta for drift in DRIFTS}
        for key, family in FAMILIES.items()
    }
    exponents = [
        {
            "against": what,
            "learner": name,
            "scale": kind,
            "exponent": slope([row[what] for row in line], [row["mean"] for row in line]),
        }
        for (what, name, kind), line in lines(growth).items()
    ]
    found = {"trials": trials, "episodes": episodes, "Delta": drifts}
    found |= {"rows": [final_row(row) for row in table], "exponents": exponents}
    figures = draw_curves(table, trials) | {"images/mdp_scaling.png": draw_scaling(growth, trials)}
    return Report(found, figures)
