"""Dynamic regret of the one-pass estimator beside the exact one: same γ, λ, radius and bonus, 50 changing arms. docs/generalized.md."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import driftbandits as db
from driftbandits.experiment.study import Cells, Report, study, table
from driftbandits.links import slopes

COMPARED = (  # link, d, bonus_scale, rounds
    ("logistic", 2, 0.1, 6000),
    ("logistic", 10, 0.1, 6000),
    ("logistic", 20, 0.1, 1000),
    ("logistic", 2, 1.0, 1000),
    ("logistic", 10, 1.0, 1000),
    ("logistic", 20, 1.0, 1000),
    ("poisson", 2, 0.1, 1000),
    ("poisson", 10, 0.1, 1000),
    ("poisson", 2, 1.0, 1000),
)
WORLDS = ("rot×1", "rot×4", "5 jumps", "static")
TURNS = {"rot×1": "one turn", "rot×4": "four turns"}


def world_of(name: str, link: str, d: int, T: int, seed: int) -> db.env.Bandit:
    """The worlds of successors §A.7."""
    if name == "static":
        path = db.env.static(T, dim=d, seed=seed)
    elif name == "5 jumps":
        path = db.env.piecewise(T, dim=d, changes=5, seed=seed)
    else:
        path = db.env.rotating(T, dim=d, turns=float(name[4:]))
    return db.env.generalized(db.env.redrawn_arms(50, dim=d, seed=seed), path, link=link)


def pair(name: str, link: str, d: int, scale: float, T: int, seed: int) -> list[float]:
    """A cell: final regret of one trial, exact and in one pass."""
    world = world_of(name, link, d, T, seed)
    k_mu, c_mu = slopes(link, 1.0)
    P_T = max(db.theory.path_length(world.path.to_array()), 1e-9)
    gamma = db.theory.glb_gamma(T=T, d=d, P_T=P_T, c_mu=c_mu, k_mu=k_mu, preset="experiment")
    common = {"link": link, "gamma": gamma, "lam": d / c_mu**2, "bonus_scale": scale, "S": 1.0, "L": 1.0, "delta": 1e-3}
    common |= {"R": 1.0} if link == "poisson" else {}
    strategies = [db.zoo.glb_weight_ucb(estimator=e, **common) for e in ("exact", "one_pass")]
    return [float(db.simulate(strategy, world, seed=seed).regret[-1]) for strategy in strategies]


def gap_table(made: Mapping[str, Any]) -> str:
    """Regret, exact → one pass, and the mean difference with its standard error."""
    found = made["rows"]
    names = list(dict.fromkeys(row["world"] for row in found))
    rows = []
    for key in dict.fromkeys((row["link"], row["d"], row["scale"], row["rounds"]) for row in found):
        own = {r["world"]: r for r in found if (r["link"], r["d"], r["scale"], r["rounds"]) == key}
        cells = [
            f"{r['exact']:.0f} → {r['one pass']:.0f} ({r['gap']:+.0f} ± {r['se']:.0f})".replace("-", "−")
            for r in (own[name] for name in names)
        ]
        rows.append([f"{key[0]}, d = {key[1]}, bonus × {key[2]:g}, T = {key[3]}", *cells])
    return table(["exact → one pass", *(TURNS.get(name, name) for name in names)], rows)


@study(
    tiny={"trials": 2, "compared": (("logistic", 2, 0.1, 20), ("poisson", 2, 1.0, 20))}, tables={"one_pass": gap_table}
)
def one_pass(cells: Cells, *, trials: int = 20, compared: Sequence[tuple[str, int, float, int]] = COMPARED) -> Report:
    """What one pass over the data costs in regret, beside the exact estimator."""
    cases = [(*case, name) for case in compared for name in WORLDS]
    keys = [{"link": link, "d": d, "scale": scale, "T": T, "name": name} for link, d, scale, T, name in cases]
    found = np.reshape(cells(pair, [key | {"seed": i} for key in keys for i in range(trials)]), (len(cases), trials, 2))
    rows = []
    for (link, d, scale, T, name), runs in zip(cases, found, strict=True):
        exact, one = runs.T
        gap = one - exact
        row = {"link": link, "d": d, "scale": scale, "rounds": T, "world": name, "exact": float(exact.mean())}
        row |= {"one pass": float(one.mean()), "gap": float(gap.mean()), "se": float(gap.std(ddof=1) / np.sqrt(trials))}
        rows.append(row)
    return Report({"trials": trials, "rows": rows})
