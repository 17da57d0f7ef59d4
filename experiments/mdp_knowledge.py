"""Does knowing more ever cost more? Learners that know the models, the rewards, both or nothing, in the same drifting worlds.

Every world is a drifting mixture of two to eight kernels: a machine that wears, a queue, a shop, and random sparse kernels; static,
seasonal (w goes there and back once), and with jumps (w is drawn anew twice). `weight_ucrl()` with nothing
set plays four times, on the same random numbers:

    nothing            `tabular(S, A)`
    rewards            `tabular(S, A, known_rewards=r)`
    models             `mixture_of(kernels)`
    models, rewards    `mixture_of(kernels, known_rewards=r)`

A pair (more, less) of these is violated if the regret of `more` exceeds that of `less` by more than 10 % and by more than two standard
errors of their difference, seed by seed. `mdp_knowledge_design` are the worlds and seeds on which constants were chosen.
"""

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

import driftbandits as db
from driftbandits.experiment.study import Cells, Report, study, table

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


def final_regrets(
    family: str, d: int, drift: str, knows: str, K: int, trials: int, seed: int, scale: float | None
) -> list[float]:
    """A cell: the final regret of every trial; `scale` is that of the bonus of transitions where models are known."""
    world, (kernels, pay) = world_of(family, d, drift, K, seed)
    given = {} if scale is None or "models" not in knows else {"transition_bonus_scale": scale}
    known = features(kernels, pay, knows)
    runs = db.mdp.trials_mdp(
        db.zoo.weight_ucrl(**given), lambda _: world, trials=trials, seed=seed, jobs=1, features=known
    )
    return [float(run.regret[-1]) for run in runs]


def violated(more: np.ndarray, less: np.ndarray) -> bool:
    """Is knowing more worse by more than 10 %, beyond the noise?"""
    excess = more - 1.1 * less
    return bool(excess.mean() > 2.0 * excess.std(ddof=1) / len(excess) ** 0.5)


def compare(
    cells: Cells, sizes: Mapping[str, Sequence[int]], K: int, trials: int, seed: int, scale: float | None = None
) -> Report:
    """A row per world: the mean regret of each learner with its standard error, and the pairs that are violated."""
    worlds = [(family, d, drift) for family, drift in itertools.product(sizes, DRIFTS) for d in sizes[family]]
    same = {"K": K, "trials": trials, "seed": seed, "scale": scale}
    asked = [same | {"family": f, "d": d, "drift": drift, "knows": k} for f, d, drift in worlds for k in KNOWS]
    answers = np.reshape(cells(final_regrets, asked), (len(worlds), len(KNOWS), trials))
    rows = []
    for (family, d, drift), regrets in zip(worlds, answers, strict=True):
        found = dict(zip(KNOWS, regrets, strict=True))
        row: dict[str, Any] = {"world": f"{family}, {d} kernels", "drift": drift}
        row["regret"] = {knows: [float(x.mean()), float(x.std(ddof=1) / trials**0.5)] for knows, x in found.items()}
        row["random"] = float(db.mdp.uniform_regret(world_of(family, d, drift, K, seed)[0])[-1])
        row["violated"] = [f"{more} > {less}" for more, less in ORDER if violated(found[more], found[less])]
        rows.append(row)
    return Report({"episodes": K, "trials": trials, "rows": rows})


def few(value: float) -> str:
    """A regret, with digits where it is small."""
    return f"{value:.2g}" if value < 9.95 else f"{value:.0f}"


def regret_table(found: Mapping[str, Any]) -> str:
    """Mean regret by what is known, and which comparisons are out of order."""
    rows = []
    for row in found["rows"]:
        regrets = [f"{few(mean)} ± {few(error)}" for mean, error in row["regret"].values()]
        violations = ", ".join(row["violated"]) or "–"
        rows.append([f"{row['world']}, {row['drift']}", f"{row['random']:.0f}", *regrets, violations])
    return table(["known:", "random play", *KNOWS, "violated"], rows)


@study(tiny={"K": 4, "trials": 2, "sizes": {"shop": (2,)}}, tables={"mdp_knowledge": regret_table})
def mdp_knowledge(
    cells: Cells, *, K: int = 1000, trials: int = 6, sizes: Mapping[str, Sequence[int]] = SIZES
) -> Report:
    """Whether knowing more ever costs more: learners that know the models, the rewards, both or nothing."""
    return compare(cells, sizes, K, trials, seed=0)


@study(tiny={"K": 4, "trials": 2, "sizes": {"queue": (2,)}})
def mdp_knowledge_design(
    cells: Cells,
    *,
    K: int = 1000,
    trials: int = 6,
    sizes: Mapping[str, Sequence[int]] = DESIGN,
    scale: float | None = None,
) -> Report:
    """The same on the worlds and seeds on which constants were chosen; nothing of it is reported."""
    return compare(cells, sizes, K, trials, seed=1000, scale=scale)
