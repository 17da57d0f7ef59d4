"""The learners on worlds that were written down: what docs/learner.md reports.

Synthetic worlds always; the streams elec.csv, weather.csv and sea_stream.csv where DRIFTBANDITS_DATA or `--set data=` names their folder.
*Design* worlds were looked at while the learner was built (other seeds than here), *judge* worlds only here. Every world gives, per
learner, the share of the way from random play (0) to the best choice of every round (1); the fixed γ is LB-WeightUCB's, the best of a grid
in hindsight, with bonus × 1 and × 0.3. Then regrets, next to rivals given S, L, R and δ: ordinary data (OFUL at its best bonus), held-out
drift (the best fixed γ), fixed arms (adaptive weights).
"""

import hashlib
import os
import pathlib
from collections.abc import Mapping
from typing import Any

import numpy as np

import driftbandits as db
from driftbandits.experiment.study import Cells, Report, study, table

GAMMAS = (0.9, 0.97, 0.99, 0.997, 1.0)
BOUNDS = {"lam": 1.0, "S": 1.0, "L": 1.0, "R": 0.5, "delta": 0.05}


def drifting(theta, *, seed, n=10, noise=0.3):
    """Arms of norm 1, redrawn in every round; mean ½xᵀθ_t."""
    rng = np.random.default_rng(seed)
    T, d = theta.shape
    X = rng.standard_normal((T, n, d))
    X /= np.linalg.norm(X, axis=2, keepdims=True)
    mean = 0.5 * np.einsum("tnd,td->tn", X, theta)
    return db.env.from_rewards(X, mean + np.reshape(noise, (-1, 1)) * rng.standard_normal(mean.shape), expected=mean)


def directions(rng, count, d):
    """Unit vectors."""
    v = rng.standard_normal((count, d))
    return v / np.linalg.norm(v, axis=1, keepdims=True)


def path(kind, seed, T=3000, d=8):
    """θ_1..θ_T of unit norm, and the noise."""
    rng = np.random.default_rng([seed, 1])
    v, t = directions(rng, 6, d), np.arange(T)
    noise = 0.3
    if kind == "static":
        theta = np.tile(v[0], (T, 1))
    elif kind == "3 jumps":
        theta = v[t * 4 // T]
    elif kind == "2 jumps":
        theta = v[t * 3 // T]
    elif kind == "pulses that return":
        theta = v[((t % (T // 6)) < T // 40).astype(int)]
    elif kind == "seasons":
        angle = 2 * np.pi * 3 * t / T
        w = v[1] - (v[1] @ v[0]) * v[0]
        theta = np.cos(angle)[:, None] * v[0] + np.sin(angle)[:, None] * w / np.linalg.norm(w)
    elif kind == "regimes that return":
        theta = v[(t * 8 // T) % 2]
    elif kind == "one coordinate drifts":
        theta = np.tile(v[0], (T, 1))
        theta[:, 0] = np.sin(2 * np.pi * 2 * t / T)
        theta /= np.linalg.norm(theta, axis=1, keepdims=True)
    elif kind == "the noise drifts":
        theta, noise = np.tile(v[0], (T, 1)), 0.1 + 0.9 * (np.sin(2 * np.pi * 2 * t / T) > 0)
    else:
        raise ValueError(kind)
    return drifting(theta, seed=seed, noise=noise)


def clicks(rate, seed, T=4000, n=10, d=7):
    """Clicks with mean rate·(1 + xᵀθ)."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((T, n, d))
    X /= np.linalg.norm(X, axis=2, keepdims=True)
    mean = rate * (1 + X @ directions(rng, 1, d)[0])
    return db.env.from_rewards(X, (rng.random(mean.shape) < mean).astype(float), expected=mean)


def items(seed, K=40, rounds=100, d=10, common=0.0, drift=False):
    """Items with slopes N(common part, ·); with `drift`, half of them jump, each at its own time."""
    rng = np.random.default_rng(seed)
    T = K * rounds
    X, slopes = rng.standard_normal((T, d)), rng.standard_normal((K, d)) + common * rng.standard_normal(d)
    theta = np.tile(slopes, (T, 1, 1)) if K * T * d < 2e7 else slopes[None]
    if drift:
        for k, t in enumerate(rng.integers(T // 4, T, K // 2)):
            theta[t:, k] = rng.standard_normal(d)
    mean = 0.2 * np.einsum("td,tkd->tk", X, np.broadcast_to(theta, (T, K, d)))
    return db.env.from_rewards(X, mean + 0.5 * rng.standard_normal(mean.shape), expected=mean)


def stream(file):
    """A labelled stream: one item per label, reward 1 for the right one."""
    table = np.genfromtxt(file, delimiter=",", skip_header=1)[:6000]
    labels = table[:, -1].astype(int)
    return db.env.from_rewards(table[:, :-1], np.eye(labels.max() + 1)[labels])


def share(world, run):
    """Of the way from random play to the best choice of every round."""
    low, high = world.expected.mean(), world.expected.max(axis=1).mean()
    return float((run.reward[-1] / world.horizon - low) / (high - low))


def fixed(world, scale):
    """The best fixed γ in hindsight."""
    found = (db.zoo.lb_weight_ucb(gamma=g, bonus_scale=scale, **BOUNDS) for g in GAMMAS)
    return max(share(world, db.simulate(strategy, world, seed=0)) for strategy in found)


SHARED = {
    ("design", "static"): lambda i: path("static", i),
    ("design", "3 jumps"): lambda i: path("3 jumps", i),
    ("design", "clicks 5 %"): lambda i: clicks(0.05, i),
    ("design", "clicks 1 %"): lambda i: clicks(0.01, i),
    ("judge", "2 jumps"): lambda i: path("2 jumps", i),
    ("judge", "pulses that return"): lambda i: path("pulses that return", i),
    ("design", "seasons"): lambda i: path("seasons", i),
    ("judge", "regimes that return"): lambda i: path("regimes that return", i),
    ("judge", "one coordinate drifts"): lambda i: path("one coordinate drifts", i),
    ("judge", "the noise drifts"): lambda i: path("the noise drifts", i),
}
ITEMS = {
    ("judge", "40 items, nothing in common"): lambda i: items(i),
    ("judge", "40 items, slopes in common"): lambda i: items(i, common=2.0),
    ("judge", "12 items that drift separately"): lambda i: items(i, K=12, rounds=250, d=5, drift=True),
}


# ---------------------------------------------------------------------------------------------------------------- regrets


def standing_still(d, seed, T=2000, noise=0.3, tails=None):
    """Arms of norm 1, redrawn in every round; mean xᵀθ. `tails`: degrees of freedom of Student's noise."""
    rng = np.random.default_rng(seed)
    theta, X = directions(rng, 1, d)[0], directions(rng, T * 10, d).reshape(T, 10, d)
    errors = rng.standard_t(tails, (T, 10)) if tails else rng.standard_normal((T, 10))
    return db.env.from_rewards(X, X @ theta + noise * errors, expected=X @ theta)


def revenue(seed, T=3000, n=10, d=7):
    """5 % buy, and then spend 20 on average, log-normally."""
    rng = np.random.default_rng(seed)
    X = directions(rng, T * n, d).reshape(T, n, d)
    buys = 0.05 * (1 + X @ directions(rng, 1, d)[0])
    spent = rng.lognormal(np.log(20) - 0.5, 1.0, buys.shape)
    return db.env.from_rewards(X, (rng.random(buys.shape) < buys) * spent, expected=20 * buys)


def bounds(R, T):
    """What the rivals are given."""
    return {"lam": 1.0, "S": 1.0, "L": 1.0, "R": R, "delta": 1 / (2 * T)}


def oful(R, T):
    """OFUL at four bonuses."""
    return {"OFUL's best bonus": [db.zoo.oful(bonus_scale=c, **bounds(R, T)) for c in (1.0, 0.5, 0.3, 0.1)]}


def best_gamma(R, T):
    """LB-WeightUCB at every γ of the grid, with two bonuses."""
    return {
        f"best γ, bonus × {c}": [db.zoo.lb_weight_ucb(gamma=g, bonus_scale=c, **bounds(R, T)) for g in GAMMAS]
        for c in (0.3, 1.0)
    }


def adaptive(R, T):
    """Adaptive weights with two bonuses."""
    return {
        f"`adaptive_weight_ucb`, c = {c}": [db.zoo.adaptive_weight_ucb(bonus_scale=c, **bounds(R, T))]
        for c in (0.3, 1.0)
    }


def ordinary(_=None):
    """Worlds of ../shared/checks/ordinary.py's kinds, under other seeds. (name, world of a seed, noise, kind of reward, runs)."""
    for d in (5, 20, 40, 100):
        yield f"standing still, d = {d}", lambda i, d=d: standing_still(d, i), 0.3, "value", 1
    yield "Student-t₃ noise, d = 5", lambda i: standing_still(5, i, tails=3), 0.5, "value", 1
    yield "clicks 5 %", lambda i: clicks(0.05, i), 0.22, "click", 4
    yield "clicks 1 %", lambda i: clicks(0.01, i, T=6000), 0.1, "click", 3
    yield "revenue, 95 % zeros", revenue, 5.0, "value", 4


def held_out(T=6000):
    """Kinds of drift, twice as long as above."""
    kinds = (
        "2 jumps",
        "pulses that return",
        "regimes that return",
        "one coordinate drifts",
        "seasons",
        "the noise drifts",
    )
    for kind in kinds:
        yield kind, lambda i, kind=kind: path(kind, i, T), 0.3, "value", 1


def fixed_arms(T=6000):
    """The worlds of docs/adaptive.md: 50 fixed arms, noise 1; and the hidden arm."""
    from adaptive_study import invented, listed, make_world

    for d in (2, 10):
        for name, make in listed(T, d).items():
            yield f"d = {d}, {name}", lambda i, make=make: make_world("linear", make(i), i), 1.0, "value", 1
    make, options = invented(T)["a hidden arm improves"]
    yield "d = 5, a hidden arm improves", lambda i: make_world("linear", make(i), i, **options), 1.0, "value", 1


SECTIONS = {"ordinary": (ordinary, oful), "held_out": (held_out, best_gamma), "fixed_arms": (fixed_arms, adaptive)}


# ------------------------------------------------------------------------------------------------------------------ cells


def shared_shares(role: str, world: str, seed: int, T: int | None) -> list[float]:
    """A cell: the share of `self_tuning`, and of the best fixed γ with both bonuses."""
    place = shortened(SHARED[role, world](seed), T)
    own = share(place, db.simulate(db.zoo.self_tuning(), place, seed=0))
    return [own, *(fixed(place, scale) for scale in (1.0, 0.3))]


def item_share(role: str, world: str, seed: int, T: int | None) -> float:
    """A cell: the share of `self_tuning` with a model per item."""
    place = shortened(ITEMS[role, world](seed), T)
    return share(place, db.simulate(db.zoo.self_tuning(features="disjoint"), place, seed=0))


def stream_reward(file: str, sha256: str) -> float:
    """A cell: reward per round in a stream; its digest is an argument, so that other data are another cell."""
    place = stream(file)
    return float(db.simulate(db.zoo.self_tuning(features="disjoint"), place, seed=0).reward[-1] / place.horizon)


def shortened(place, T):
    """The first T rounds of rewards that are given; other worlds are made with T rounds."""
    return place.first(T) if T is not None and isinstance(place, db.env.Table) else place


def mean_regrets(section: str, world: str, trials: int, T: int | None) -> list[float]:
    """A cell: how many runs, mean regret of self_tuning, and of the best of every group of rivals in hindsight."""
    worlds, rivals = SECTIONS[section]
    make, R, reward, more = {name: rest for name, *rest in worlds(*([] if T is None else [T]))}[world]
    made = [shortened(make(1000 + i), T) for i in range(trials * more)]

    def mean(strategy):
        return float(np.mean([db.simulate(strategy, w, seed=i).regret[-1] for i, w in enumerate(made)]))

    own = mean(db.zoo.self_tuning(reward=reward))
    groups = rivals(R, made[0].horizon).values()
    return [len(made), round(own, 1), *(round(min(map(mean, g)), 1) for g in groups)]


# ------------------------------------------------------------------------------------------------------------------ tables


def of_one(value: float) -> str:
    """A share without its leading zero."""
    return f"{value:.3f}".removeprefix("0")


def shares_table(made: Mapping[str, Any]) -> str:
    """Of the way to the best arm: the learner with nothing set, and the best fixed γ in hindsight. The best is bold."""
    rows = []
    for role, world, *values in made["shared"]:
        rows.append([role, world, *(f"**{of_one(v)}**" if v == max(values) else of_one(v) for v in values)])
    return table(["", "shared features", "`self_tuning`", "best fixed γ, bonus × 1", "× 0.3"], rows)


def item_shares_table(made: Mapping[str, Any]) -> str:
    """The same of items, then the reward per round of streams."""
    rows = [[role, world, of_one(value)] for role, world, value in made["items"]]
    rows += [[role, f"{name}: reward per round", of_one(value)] for role, name, value in made["streams"]]
    return table(["", "items", "`self_tuning`"], rows)


def regrets_table(made: Mapping[str, Any], section: str) -> str:
    """Mean regrets next to rivals, and the ratio to the best of them. The best is bold."""
    made = made[section]
    rows = []
    for name, runs, own, *rivals in made["rows"]:
        told = [f"**{v:g}**" if v == min(own, *rivals) else f"{v:g}" for v in (own, *rivals)]
        rows.append([name, str(runs), *told, f"{own / min(rivals):.2f}"])
    return table(["", "runs", *made["columns"], "ratio to the best rival"], rows)


# ------------------------------------------------------------------------------------------------------------------ study


@study(
    tiny={"trials": 1, "T": 8, "most": 1},
    tables={"shares": shares_table, "item_shares": item_shares_table, "regrets": regrets_table},
)
def learners_study(
    cells: Cells,
    *,
    trials: int = 8,
    data: str = os.environ.get("DRIFTBANDITS_DATA", ""),
    T: int | None = None,
    most: int = 100,
) -> Report:
    """`self_tuning` on worlds that were written down before it was built; at `most` so many of each kind."""
    seeds = range(1000, 1000 + trials)

    def shares(worlds: Mapping[tuple[str, str], Any], cell: Any) -> list[list[Any]]:
        names = list(worlds)[:most]
        asked = [{"role": role, "world": world, "seed": i, "T": T} for role, world in names for i in seeds]
        means = np.reshape(cells(cell, asked), (len(names), trials, -1)).mean(axis=1)
        return [[*name, *(round(float(v), 4) for v in own)] for name, own in zip(names, means, strict=True)]

    made: dict[str, Any] = {
        "trials": trials,
        "shared": shares(SHARED, shared_shares),
        "items": shares(ITEMS, item_share),
    }
    files = sorted(pathlib.Path(data).glob("*.csv")) if data else []
    asked = [{"file": str(f), "sha256": hashlib.sha256(f.read_bytes()).hexdigest()} for f in files]
    rewards = cells(stream_reward, asked)
    made["streams"] = [["design", f.stem, round(reward, 4)] for f, reward in zip(files, rewards, strict=True)]
    for section, (worlds, rivals) in SECTIONS.items():
        names = [name for name, *_ in worlds()][:most]
        found = cells(mean_regrets, [{"section": section, "world": n, "trials": trials, "T": T} for n in names])
        columns = ["`self_tuning`", *rivals(1.0, 100)]
        made[section] = {"columns": columns, "rows": [[n, *own] for n, own in zip(names, found, strict=True)]}
    return Report(made)
