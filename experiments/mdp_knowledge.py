"""Does knowing more ever cost more? Learners that know the models, the rewards, both or nothing, in the same drifting worlds.

    python experiments/mdp_knowledge.py              # a quarter of an hour on one core; writes docs/results/mdp_knowledge.json
    python experiments/mdp_knowledge.py --quick      # the same in small, to standard output
    python experiments/mdp_knowledge.py --design     # the worlds and seeds on which constants were chosen, to standard output

Every world is a drifting mixture of two to eight kernels: a machine that wears, a queue, a shop, and random sparse kernels; static,
seasonal (w goes there and back once), and with jumps (w is drawn anew twice). `weight_ucrl()` with nothing
set plays four times, on the same random numbers:

    nothing            `tabular(S, A)`
    rewards            `tabular(S, A, known_rewards=r)`
    models             `mixture_of(kernels)`
    models, rewards    `mixture_of(kernels, known_rewards=r)`

A pair (more, less) of these is violated if the regret of `more` exceeds that of `less` by more than 10 % and by more than two standard
errors of their difference, seed by seed.
"""

import argparse
import itertools
import json
import pathlib
from collections.abc import Callable
from typing import Any

import numpy as np

import driftbandits as db
from driftbandits.io.files import write_atomically

HERE = pathlib.Path(__file__).resolve().parents[1] / "docs" / "results" / "mdp_knowledge.json"
DRIFTS = ("static", "seasonal", "jumps")
KNOWS = ("nothing", "rewards", "models", "models, rewards")
ORDER = (("rewards", "nothing"), ("models", "nothing"), ("models, rewards", "rewards"), ("models, rewards", "models"))
Kernels = tuple[list[np.ndarray], np.ndarray]  # d of (S, A, S), and rewards (S, A)


# ------------------------------------------------------------------------------------------------------------------ worlds


def machine(d: int, rng: np.random.Generator) -> Kernels:
    """Eight levels of wear; run, service or replace. Kernels differ in how fast it wears."""
    S, kernels = 8, []
    for wear in np.linspace(0.05, 0.6, d):
        P = np.zeros((S, 3, S))
        for s in range(S):
            P[s, 0, s], P[s, 0, min(s + 1, S - 1)] = 1 - wear, wear
            P[s, 1, max(s - 2, 0)] += 0.7
            P[s, 1, s] += 0.3
            P[s, 2, 0] = 1.0
            P[s, 0] /= P[s, 0].sum()
        kernels.append(P)
    pay = np.zeros((S, 3))
    pay[:, 0] = np.linspace(1.0, 0.0, S) ** rng.uniform(0.5, 1.5)
    pay[:, 1] = rng.uniform(0.2, 0.5) * pay[:, 0]
    return kernels, pay


def queue(d: int, rng: np.random.Generator) -> Kernels:
    """Up to nine customers; a slow, a medium and a fast server. Kernels differ in how many arrive."""
    S, speed, cost = 10, (0.2, 0.5, 0.8), np.array([0.0, rng.uniform(0.1, 0.2), rng.uniform(0.3, 0.45)])
    kernels = []
    for arrival in np.linspace(0.1, 0.9, d):
        P = np.zeros((S, 3, S))
        for s, a in np.ndindex(S, 3):
            for come, leave in itertools.product((0, 1), (0, 1)):
                p = (arrival if come else 1 - arrival) * (speed[a] if leave else 1 - speed[a])
                P[s, a, min(max(s - leave, 0) + come, S - 1)] += p
        kernels.append(P)
    return kernels, np.clip(np.linspace(1.0, 0.45, S)[:, None] - cost, 0.0, 1.0)


def shop(d: int, rng: np.random.Generator) -> Kernels:
    """Up to seven pieces in stock; order 0, 2 or 4 more. Kernels differ in demand."""
    S, order, price = 8, (0, 2, 4), rng.uniform(0.05, 0.15)
    kernels, pay = [], np.zeros((S, 3))
    for rate in np.linspace(0.3, 5.0, d):
        demand = np.exp(-rate) * np.cumprod(np.concatenate([[1.0], rate / np.arange(1, S)]))
        demand[-1] += 1.0 - demand.sum()
        P = np.zeros((S, 3, S))
        for s, a, sold in np.ndindex(S, 3, S):
            P[s, a, max(min(s + order[a], S - 1) - sold, 0)] += demand[sold]
        kernels.append(P)
    for s, a in np.ndindex(S, 3):
        pay[s, a] = max(0.0, 0.8 * min(s, 3) / 3 + 0.2 - price * a - 0.04 * s)
    return kernels, np.clip(pay, 0.0, 1.0)


def scattered(d: int, rng: np.random.Generator) -> Kernels:
    """Nine states; in each kernel a pair leads to three of them; every fifth pair pays."""
    S, A, kernels = 9, 3, []
    for _ in range(d):
        P = np.zeros((S, A, S))
        for s, a in np.ndindex(S, A):
            P[s, a, rng.choice(S, 3, replace=False)] = rng.dirichlet(np.ones(3))
        kernels.append(P)
    return kernels, (rng.random((S, A)) < 0.2) * rng.random((S, A))


FAMILIES: dict[str, Callable[[int, np.random.Generator], Kernels]] = {
    "machine": machine,
    "queue": queue,
    "shop": shop,
    "scattered": scattered,
}
SIZES = {"machine": (2, 4), "queue": (3, 5), "shop": (2, 8), "scattered": (3, 5)}
DESIGN = {"machine": (3,), "queue": (2,), "shop": (5,), "scattered": (4, 8)}


def weights(d: int, drift: str, episodes: int, rng: np.random.Generator) -> np.ndarray:
    """w of every episode, (K, d)."""
    ends = rng.dirichlet(np.full(d, 0.5), 3)
    if drift == "static":
        return np.tile(ends[0], (episodes, 1))
    if drift == "seasonal":
        q = np.sin(np.pi * np.arange(episodes) / episodes)[:, None] ** 2
        return (1 - q) * ends[0] + q * ends[1]
    return ends[np.arange(episodes) * 3 // episodes]


def world_of(family: str, d: int, drift: str, episodes: int, seed: int) -> tuple[db.mdp.MDP, Kernels]:
    """A world and what can be known of it."""
    rng = np.random.default_rng([seed, d, list(FAMILIES).index(family)])
    kernels, pay = FAMILIES[family](d, rng)
    w = weights(d, drift, episodes, rng)
    psi = np.stack(kernels, axis=-1)
    return db.mdp.linear_mixture(pay[..., None], psi, np.ones((episodes, 1)), w, horizon=15), (kernels, pay)


def features(kernels: list[np.ndarray], pay: np.ndarray, knows: str) -> db.mdp.Features:
    """What a learner knows."""
    known = {"known_rewards": pay} if "rewards" in knows else {}
    S, A = pay.shape
    return db.mdp.mixture_of(kernels, **known) if "models" in knows else db.mdp.tabular(S, A, **known)


# ------------------------------------------------------------------------------------------------------------------- study


def study(family: str, d: int, drift: str, episodes: int, trials: int, seed: int, **options: Any) -> dict[str, Any]:
    """One row: the mean regret of each learner, and of each pair the mean of the differences with its standard error."""
    world, (kernels, pay) = world_of(family, d, drift, episodes, seed)
    found = {}
    for knows in KNOWS:
        given = options if "models" in knows else {}
        runs = db.mdp.trials_mdp(
            db.zoo.weight_ucrl(**given), lambda _: world, trials=trials, seed=seed, jobs=1, features=features(kernels, pay, knows)
        )  # fmt: skip
        found[knows] = np.array([run.regret[-1] for run in runs])
    row: dict[str, Any] = {"world": f"{family}, {d} kernels", "drift": drift}
    row["regret"] = {knows: [float(x.mean()), float(x.std(ddof=1) / trials**0.5)] for knows, x in found.items()}
    row["random"] = float(db.mdp.uniform_regret(world)[-1])
    row["violated"] = [f"{more} > {less}" for more, less in ORDER if violated(found[more], found[less])]
    return row


def violated(more: np.ndarray, less: np.ndarray) -> bool:
    """Is knowing more worse by more than 10 %, beyond the noise?"""
    excess = more - 1.1 * less
    return bool(excess.mean() > 2.0 * excess.std(ddof=1) / len(excess) ** 0.5)


def main() -> None:
    """Run the study."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--design", action="store_true")
    parser.add_argument("--scale", type=float, help="of the bonus of transitions where models are known")
    given = parser.parse_args()
    K, trials = (60, 2) if given.quick else (1000, 6)
    sizes, seed = (DESIGN, 1000) if given.design else (SIZES, 0)
    options = {} if given.scale is None else {"transition_bonus_scale": given.scale}
    rows = []
    for family, drift in itertools.product(sizes, DRIFTS):
        for d in sizes[family]:
            rows.append(study(family, d, drift, K, trials, seed, **options))
            print(json.dumps(rows[-1]), flush=True)
    print("violated:", sum(len(row["violated"]) for row in rows), "of", len(ORDER) * len(rows))
    if not (given.quick or given.design):
        found = {"made_by": "python experiments/mdp_knowledge.py", "episodes": K, "trials": trials, "rows": rows}
        write_atomically(HERE, json.dumps(found, indent=1, ensure_ascii=False).encode())


if __name__ == "__main__":
    main()
