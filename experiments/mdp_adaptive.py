"""Drift unknown: the learner that finds out its memory, next to the best fixed memory and bonus scale in hindsight.

    python experiments/mdp_adaptive.py                        # writes docs/results/mdp_adaptive.json; --worlds "inventory" for a part of it
    python experiments/mdp_adaptive.py --quick                # the same in small, to standard output

Every world that comes with the library, and windy lakes and a random world as tables; static, gradual and abrupt; K = 3000 episodes.

    adaptive     `weight_ucrl()` or `mnl_weight_ucrl()`, nothing set: memory and scale of the bonus are found out
    hindsight    the paper's learner with practical constants and γ given, γ = 1 − 1/m over MEMORIES, both bonuses times each of SCALES: the
                 pair of least mean regret on the same seeds, so that it is a little too good
    measured     the same choice in hindsight among learners whose bonus is measured as that of the adaptive one is
    rivals       BOB, window and restart, at the theorem's memory (BOB needs none): with the theorem's constants, and with practical ones
"""

import argparse
import itertools
import json
import pathlib
from collections.abc import Callable
from typing import Any

import numpy as np
from mdp_rivals import lake

import driftbandits as db
from driftbandits.io.files import write_atomically
from driftbandits.mdp.protocol import settled

HERE = pathlib.Path(__file__).resolve().parents[1] / "docs" / "results" / "mdp_adaptive.json"
MEMORIES = (10.0, 30.0, 100.0, 300.0, 1000.0, float("inf"))  # episodes
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


def rivals(name: str, world: db.mdp.MDP) -> dict[str, Any]:
    """BOB, window and restart."""
    weighted, window, restart = learners(world)
    W = db.theory.mdp_window(K=world.episodes, H=world.horizon, Delta=world.Delta)
    found = {}
    for constants in ("practical",) if "table" in name else ("theory", "practical"):
        base = weighted(gamma=0.9, constants=constants)
        found[f"BOB, {constants}"] = db.zoo.bob_ucrl(base, episodes=world.episodes)
        found[f"window, {constants}"] = window(window=W, constants=constants)
        found[f"restart, {constants}"] = restart(period=W, constants=constants)
    return found


def study(name: str, drift: str, episodes: int, trials: int) -> dict[str, Any]:
    """One row: mean final regrets, and the ratio to the best fixed pair."""
    world = WORLDS[name](episodes=episodes, drift=drift)
    known, weighted = features(name, world), learners(world)[0]

    def final(strategy: Any) -> dict[str, float]:
        runs = db.mdp.trials_mdp(strategy, lambda _: world, trials=trials, seed=0, jobs=1, features=known)
        ends = np.array([run.regret[-1] for run in runs])
        return {"mean": float(ends.mean()), "error": float(ends.std(ddof=1) / np.sqrt(trials))}

    def best(bonus: str) -> dict[str, Any]:
        tried = []
        for memory, scale in itertools.product(MEMORIES, SCALES):
            strategy = weighted(gamma=1.0 - 1.0 / memory, bonus=bonus, **scaled(name, world, scale, bonus))
            tried.append(final(strategy) | {"memory": None if memory == float("inf") else memory, "scale": scale})
        return min(tried, key=lambda row: row["mean"])

    row: dict[str, Any] = {"world": name, "drift": drift, "random": float(db.mdp.uniform_regret(world)[-1])}
    row |= {"adaptive": final(weighted()), "hindsight": best("fixed"), "measured": best("measured")}
    return row | {"rivals": {rival: final(strategy) for rival, strategy in rivals(name, world).items()}}


def kept(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows of earlier runs that are not made anew."""
    if not HERE.exists():
        return []
    made = {(row["world"], row["drift"]) for row in rows}
    return [row for row in json.loads(HERE.read_text())["rows"] if (row["world"], row["drift"]) not in made]


def main() -> None:
    """Run the study."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--worlds", nargs="*", default=list(WORLDS))
    parser.add_argument("--drifts", nargs="*", default=list(DRIFTS))
    given = parser.parse_args()
    K, trials = (100, 2) if given.quick else (3000, 5)
    for name, drift in itertools.product(given.worlds, given.drifts):
        row = study(name, drift, K, trials)
        print(json.dumps(row), flush=True)
        if not given.quick:
            order = list(itertools.product(WORLDS, DRIFTS))
            rows = sorted([*kept([row]), row], key=lambda row: order.index((row["world"], row["drift"])))
            found = {"made_by": "python experiments/mdp_adaptive.py", "episodes": K, "trials": trials, "rows": rows}
            write_atomically(HERE, json.dumps(found, indent=1).encode())


if __name__ == "__main__":
    main()
