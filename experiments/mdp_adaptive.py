"""Drift unknown: the learner that finds out its memory, next to the best fixed memory and bonus scale in hindsight.

Every world that comes with the library, and windy lakes and a random world as tables; static, gradual and abrupt; K = 3000 episodes.

    adaptive     `weight_ucrl()` or `mnl_weight_ucrl()`, nothing set: memory and scale of the bonus are found out
    hindsight    the paper's learner with practical constants and γ given, γ = 1 − 1/m over MEMORIES, both bonuses times each of SCALES: the
                 pair of least mean regret on the same seeds, so that it is a little too good
    measured     the same choice in hindsight among learners whose bonus is measured as that of the adaptive one is
    rivals       BOB, window and restart, at the theorem's memory (BOB needs none): with the theorem's constants, and with practical ones
"""

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from mdp_rivals import lake

import driftbandits as db
from driftbandits.experiment.study import Cells, Report, few, study, table
from driftbandits.mdp.protocol import settled

MEMORIES = (10.0, 30.0, 100.0, 300.0, 1000.0, None)  # episodes; None remembers all
SCALES = (0.1, 0.3, 1.0, 3.0)  # times the practical ones
DRIFTS = ("static", "gradual", "abrupt")
World = Callable[..., db.mdp.MDP]
LAKE_5 = ("SFFFF", "FHFHF", "FFFFH", "HFHFF", "FFFFG")
LAKE_8 = ("SFFFFFFF", "FFFFFFFF", "FFFHFFFF", "FFFFFHFF", "FFFHFFFF", "FHHFFFHF", "FHFFHFHF", "FFFHFFFG")  # Gymnasium's


def sparse(*, episodes: int, drift: Any, S: int = 20, A: int = 3, U: int = 3) -> db.mdp.MDP:
    """Each pair leads to three states, others in each of two worlds between which it drifts; a tenth of the pairs pay."""
    rng = np.random.default_rng(7)
    P = np.zeros((S, A, S, 2))
    for s, a, world in np.ndindex(S, A, 2):
        P[s, a, rng.choice(S, U, replace=False), world] = rng.dirichlet(np.ones(U))
    pay = (rng.random((S, A, 1)) < 0.1) * rng.random((S, A, 1))
    phase = db.mdp.phase(episodes, drift)
    w = np.column_stack([1 - phase, phase])
    return db.mdp.linear_mixture(pay, P, np.ones((episodes, 1)), w, horizon=12)


WORLDS: dict[str, World] = {
    "river, mirrored": lambda **c: db.mdp.riverswim(**c),
    "river, current": lambda **c: db.mdp.riverswim(form="current", **c),
    "inventory": lambda **c: db.mdp.inventory(**c),
    "random mixture": lambda **c: db.mdp.random_linear_mixture(**c),
    "river, logit": lambda **c: db.mdp.mnl_riverswim(horizon=8, **c),
    "river, logit, one-sided": lambda **c: db.mdp.mnl_riverswim(horizon=8, form="one-sided", **c),
    "random logit": lambda **c: db.mdp.random_mnl(**c),
    "windy lake (table)": lambda **c: lake(**c),
    # Of other sizes, looked at once, after the learner was finished:
    "river, 8 states": lambda **c: db.mdp.riverswim(states=8, horizon=14, **c),
    "windy lake 5×5 (table)": lambda **c: lake(rows=LAKE_5, horizon=16, **c),
    "windy lake 8×8 (table)": lambda **c: lake(rows=LAKE_8, horizon=28, **c),
    "random sparse (table)": lambda **c: sparse(**c),
    "random mixture, 8 states": lambda **c: db.mdp.random_linear_mixture(states=8, actions=3, dim=5, seed=1, **c),
}


def features(name: str, world: db.mdp.MDP) -> db.mdp.Features | None:
    """What the learners know: nothing in a world whose name says so."""
    return db.mdp.tabular(world.states, world.actions) if "table" in name else None


def scaled(name: str, world: db.mdp.MDP, scale: float, bonus: str) -> dict[str, float]:
    """The practical bonus scales times `scale`."""
    known = features(name, world)
    task = world.task if known is None else known.task(world.horizon, world.episodes)
    practical, _ = settled(learners(world)[0](gamma=0.9, bonus=bonus), task)
    parts = {"reward_bonus_scale": practical.reward, "transition_bonus_scale": practical.transition}
    return {name: part.scale * scale for name, part in parts.items()}


def learners(world: db.mdp.MDP) -> tuple[Any, Any, Any]:
    """Weighted, window and restart of the world's family."""
    if world.multinomial:
        return db.zoo.mnl_weight_ucrl, db.zoo.mnl_sw_ucrl, db.zoo.mnl_restart_ucrl
    return db.zoo.weight_ucrl, db.zoo.sw_ucrl, db.zoo.restart_ucrl


def rivals(world: db.mdp.MDP, constants: str) -> dict[str, Any]:
    """BOB, window and restart."""
    weighted, window, restart = learners(world)
    W = db.theory.mdp_window(K=world.episodes, H=world.horizon, Delta=world.Delta)
    base = weighted(gamma=0.9, constants=constants)
    return {
        "BOB": db.zoo.bob_ucrl(base, episodes=world.episodes),
        "window": window(window=W, constants=constants),
        "restart": restart(period=W, constants=constants),
    }


def final(name: str, drift: str, K: int, trials: int, learner: list[Any]) -> dict[str, float]:
    """A cell: mean final regret and its standard error of ["adaptive"], ["fixed" or "measured", memory, scale] or [rival, constants]."""
    world = WORLDS[name](episodes=K, drift=drift)
    kind, *given = learner
    if kind == "adaptive":
        strategy = learners(world)[0]()
    elif kind in ("fixed", "measured"):
        gamma = 1.0 if given[0] is None else 1.0 - 1.0 / given[0]
        strategy = learners(world)[0](gamma=gamma, bonus=kind, **scaled(name, world, given[1], kind))
    else:
        strategy = rivals(world, given[0])[kind]
    runs = db.mdp.trials_mdp(strategy, lambda _: world, trials=trials, seed=0, jobs=1, features=features(name, world))
    ends = np.array([run.regret[-1] for run in runs])
    return {"mean": float(ends.mean()), "error": float(ends.std(ddof=1) / np.sqrt(trials))}


# ------------------------------------------------------------------------------------------------------------------ tables


MDP_RATIO, NOTHING = 1.25, 0.5  # the target, and a regret so small that a ratio to it says nothing
RIVALS = ("BOB", "window", "restart")


def ratio_to(mean: float, best: Mapping[str, Any] | None) -> str:
    """The ratio to a regret chosen in hindsight; bold where it misses the target."""
    if best is None or best["mean"] < NOTHING:
        return "–"
    ratio = mean / best["mean"]
    return f"**{ratio:.2f}**" if ratio > MDP_RATIO else f"{ratio:.2f}"


def regret_table(made: Mapping[str, Any]) -> str:
    """Memory and scale found out, beside the best fixed pair in hindsight, of the paper's bonus and of a measured one."""
    rows = []
    for row in made["rows"]:
        own, best, measured = row["adaptive"], row["hindsight"], row.get("measured")
        memory = "all" if best["memory"] is None else f"{best['memory']:.0f}"
        chosen = f"{few(best['mean'])} ({memory}, × {best['scale']:g})"
        others = [f"{row['rivals'][f'{rival}, practical']['mean']:.0f}" for rival in RIVALS]
        mean, ratios = own["mean"], [ratio_to(own["mean"], pair) for pair in (best, measured)]
        ours = [
            f"{few(mean)} ± {few(own['error'])}",
            chosen,
            ratios[0],
            few(measured["mean"]) if measured else "–",
            ratios[1],
        ]
        rows.append([f"{row['world']}, {row['drift']}", f"{row['random']:.0f}", *ours, *others])
    paper = "the paper's bonus, best pair (memory, scale)"
    head = ["K = 3000", "random play", "nothing set", paper, "ratio", "measured bonus, best pair", "ratio", *RIVALS]
    return table(head, rows)


@study(
    tiny={
        "K": 6,
        "trials": 2,
        "worlds": ("river, mirrored", "windy lake (table)"),
        "drifts": ("gradual",),
        "memories": (10.0, None),
        "scales": (1.0,),
    },
    tables={"mdp_adaptive": regret_table},
)
def mdp_adaptive(
    cells: Cells,
    *,
    K: int = 3000,
    trials: int = 5,
    worlds: Sequence[str] = tuple(WORLDS),
    drifts: Sequence[str] = DRIFTS,
    memories: Sequence[float | None] = MEMORIES,
    scales: Sequence[float] = SCALES,
) -> Report:
    """MDP learners that find out their memory, next to the best fixed one in hindsight."""
    rows = []
    for name, drift in itertools.product(worlds, drifts):
        grid = [[bonus, *pair] for bonus in ("fixed", "measured") for pair in itertools.product(memories, scales)]
        constants = ("practical",) if "table" in name else ("theory", "practical")
        others = [[rival, c] for c in constants for rival in ("BOB", "window", "restart")]
        asked = [["adaptive"], *grid, *others]
        same = {"name": name, "drift": drift, "K": K, "trials": trials}
        own, *found = cells(final, [same | {"learner": learner} for learner in asked])
        random = float(db.mdp.uniform_regret(WORLDS[name](episodes=K, drift=drift))[-1])
        row: dict[str, Any] = {"world": name, "drift": drift, "random": random, "adaptive": own}
        for title, bonus in (("hindsight", "fixed"), ("measured", "measured")):
            tried = [
                regret | {"memory": memory, "scale": scale}
                for (kind, memory, scale), regret in zip(grid, found[: len(grid)], strict=True)
                if kind == bonus
            ]
            row[title] = min(tried, key=lambda regret: regret["mean"])
        row["rivals"] = {f"{r}, {c}": regret for (r, c), regret in zip(others, found[len(grid) :], strict=True)}
        rows.append(row)
    return Report({"episodes": K, "trials": trials, "rows": rows})
