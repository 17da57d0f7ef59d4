"""What `Bandit` earns on twelve kinds of worlds, paired by seed: the study behind docs/notebook/learner.md.

A number is the share of the way from random play (0) to the best item of every round (1). Seeds below 100 were used while the learner was
designed; seeds from 100 on judge it. The study runs the version of driftbandits that is imported (PYTHONPATH chooses), and `--set before=`
names the results of another version, with which it compares seed by seed.
"""

import json
import math
import pathlib
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

import driftbandits as db
from driftbandits.experiment.study import Cells, Report, study


class World(NamedTuple):
    """What is on offer in each round, and what every choice would pay."""

    offer: Callable[[int], tuple[Any, Any]]  # items and context of round t
    names: list[Any]  # of the items, in the order of the columns below; a function of t where they change
    mean: np.ndarray  # (T, n)
    paid: np.ndarray  # (T, n)
    delay: int = 0
    reward: str = "value"


def directions(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Unit vectors."""
    x = rng.normal(size=shape)
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


def vectors(seed: int, theta: np.ndarray, noise: float = 0.3, n: int = 10, **more: Any) -> World:
    """n fresh feature vectors a round, rewards linear in them."""
    rng = np.random.default_rng([seed, 1])
    T, d = theta.shape
    X = directions(rng, T, n, d)
    mean = np.einsum("tnd,td->tn", X, theta)
    paid = mean + noise * rng.normal(size=mean.shape)
    return World(lambda t: (X[t], None), [*range(n)], mean, paid, **more)


def path(seed: int, kind: str, T: int, d: int) -> np.ndarray:
    """The weights of the features over time."""
    v, t = directions(np.random.default_rng([seed, 2]), 12, d), np.arange(T)
    if kind == "still":
        return np.tile(v[0], (T, 1))
    if kind == "jumps":
        return v[t * 4 // T]
    if kind == "pulses":
        return v[((t % (T // 6)) < T // 40).astype(int)]
    w = v[1] - (v[1] @ v[0]) * v[0]
    a = 6.0 * math.pi * t[:, None] / T
    return np.cos(a) * v[0] + np.sin(a) * w / np.linalg.norm(w)


def clicks(seed: int, rate: float, T: int) -> World:
    """Rare clicks, fresh vectors."""
    rng = np.random.default_rng([seed, 3])
    X = directions(rng, T, 10, 7)
    mean = rate * (1.0 + X @ directions(rng, 7))
    paid = (rng.random(mean.shape) < mean).astype(float)
    return World(lambda t: (X[t], None), [*range(10)], mean, paid, reward="click")


def items(seed: int, K: int, rounds: int, d: int, jump: bool = False) -> World:
    """K named items without features, each with slopes of its own on a context of d numbers; with `jump`, others after half of the time."""
    rng = np.random.default_rng([seed, 4])
    T = K * rounds
    C, slopes = rng.normal(size=(T, d)), 0.3 * rng.normal(size=(2, K, d))
    phase = (np.arange(T) * 2 // T) * jump
    mean = np.einsum("td,tkd->tk", C, slopes[phase])
    paid = mean + 0.5 * rng.normal(size=mean.shape)
    names = [f"i{k}" for k in range(K)]
    return World(lambda t: (names, C[t]), names, mean, paid)


def named(seed: int, T: int = 1500, d: int = 6) -> World:
    """Thirty named items with features that explain most of what they pay, and an effect of their own."""
    rng = np.random.default_rng([seed, 5])
    F, own, theta = directions(rng, 30, d), 0.15 * rng.normal(size=30), directions(rng, d)
    value = 0.5 * F @ theta + own
    names = [f"i{k}" for k in range(30)]
    offer = {name: dict(zip("abcdef", row.tolist(), strict=True)) for name, row in zip(names, F, strict=True)}
    mean = np.tile(value, (T, 1))
    return World(lambda _: (offer, None), names, mean, mean + 0.3 * rng.normal(size=mean.shape))


def trap(seed: int, T: int = 1500) -> World:
    """Prices 1, 2, 3 of which the middle one pays."""
    rng = np.random.default_rng([seed, 6])
    names = ["low", "mid", "high"]
    offer = {name: {"price": price} for name, price in zip(names, (1.0, 2.0, 3.0), strict=True)}
    mean = np.tile([0.2, 0.8, 0.2], (T, 1))
    return World(lambda _: (offer, None), names, mean, (rng.random(mean.shape) < mean).astype(float), reward="click")


def pricing(seed: int, T: int = 2000) -> World:
    """Ten prices, two segments of buyers: revenue is no line in the price."""
    rng = np.random.default_rng([seed, 7])
    middle, segment = np.array([rng.uniform(3.5, 4.5), rng.uniform(6.0, 7.5)]), rng.integers(2, size=T)
    price = np.arange(1.0, 11.0)
    bought = 1.0 / (1.0 + np.exp(1.5 * (price - middle[segment][:, None])))
    names = [f"p{k}" for k in range(1, 11)]
    offer = {name: {"price": float(x)} for name, x in zip(names, price, strict=True)}
    paid = price * (rng.random((T, 10)) < bought)
    return World(lambda t: (offer, {"segment": "ab"[segment[t]]}), names, price * bought, paid)


def arms(seed: int, T: int = 3000) -> World:
    """Five items without features or context; another becomes the best at half time."""
    rng = np.random.default_rng([seed, 8])
    level = 0.5 * rng.normal(size=(2, 5))
    mean = level[np.arange(T) * 2 // T]
    names = list("abcde")
    return World(lambda _: (names, None), names, mean, mean + 0.5 * rng.normal(size=mean.shape))


WORLDS: dict[str, Callable[[int], World]] = {
    "still": lambda s: vectors(s, path(s, "still", 2000, 5)),
    "still, d = 20": lambda s: vectors(s, path(s, "still", 2000, 20)),
    "jumps": lambda s: vectors(s, path(s, "jumps", 2400, 8)),
    "seasons": lambda s: vectors(s, path(s, "seasons", 2400, 8)),
    "pulses": lambda s: vectors(s, path(s, "pulses", 2400, 8)),
    "delay 100": lambda s: vectors(s, path(s, "jumps", 2400, 8), delay=100),
    "clicks 5 %": lambda s: clicks(s, 0.05, 3000),
    "5 items, d = 6": lambda s: items(s, 5, 300, 6),
    "5 items, d = 6, jump": lambda s: items(s, 5, 400, 6, jump=True),
    "40 items, d = 10": lambda s: items(s, 40, 50, 10),
    "5 arms, jump": arms,
    "30 named items": named,
    "trap": trap,
    "pricing": pricing,
}


def play(world: World, seed: int, **settings: Any) -> float:
    """The share of the way from random play to the best item of every round."""
    bandit = db.Bandit(reward=world.reward, seed=seed, **settings)
    T = len(world.mean)
    place = {name: k for k, name in enumerate(world.names)}
    earned, made = 0.0, []
    for t in range(T):
        items_, context = world.offer(t)
        d = bandit.decide(items_, context)
        k = place[d.item]
        earned += world.mean[t, k]
        made.append((d.id, float(world.paid[t, k])))
        if t >= world.delay:
            bandit.reward(*made[t - world.delay])
    low, high = world.mean.mean(), world.mean.max(axis=1).mean()
    return float((earned / T - low) / (high - low))


def share(world: str, seed: int, features: str, explore: float | None, most: int | None) -> float:
    """A cell; at `most` so many rounds."""
    made = WORLDS[world](seed)
    made = made._replace(mean=made.mean[:most], paid=made.paid[:most])
    return play(made, seed, features=features, **({} if explore is None else {"explore": explore}))


@study(
    tiny={"last": 102, "worlds": ("trap", "5 arms, jump"), "most": 8},
    also=frozenset({"agent", "bandit", "io", "util"}),
)
def one_learner(
    cells: Cells,
    *,
    first: int = 100,
    last: int = 116,
    worlds: Sequence[str] = tuple(WORLDS),
    features: str = "interact",
    explore: float | None = None,
    most: int | None = None,
    before: str = "",
) -> Report:
    """What `Bandit` earns on twelve kinds of worlds, paired by seed with another version of it."""
    same = {"features": features, "explore": explore, "most": most}
    asked = [same | {"world": world, "seed": seed} for world in worlds for seed in range(first, last)]
    shares = np.reshape(cells(share, asked), (len(worlds), last - first)).tolist()
    rows: list[dict[str, Any]] = [
        {"world": world, "mean": float(np.mean(own)), "shares": own} for world, own in zip(worlds, shares, strict=True)
    ]
    earlier = {row["world"]: row for row in json.loads(pathlib.Path(before).read_text())["rows"]} if before else {}
    for row in rows:
        if row["world"] in earlier:
            gap = np.subtract(row["shares"], earlier[row["world"]]["shares"])
            row |= {"gain": float(gap.mean()), "error": float(gap.std(ddof=1) / len(gap) ** 0.5)}
    return Report({"first_seed": first, "features": features, "rows": rows})
