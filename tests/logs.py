"""Logs of a world whose truth is known: three items, one feature, a logger that does not choose uniformly."""

import math
import typing

import numpy as np
import pandas as pd

import driftbandits as db

ITEMS = ("a", "b", "c")
START = 1714521600.0  # 1 May 2024, UTC


def mean(item, x, t=0.0, drift=False):
    """The probability of a reward; with drift, "c" becomes the best halfway, t being the share of the log that has passed."""
    base = {"a": 0.35 + 0.25 * math.tanh(x), "b": 0.35 - 0.25 * math.tanh(x), "c": 0.3}[item]
    return 0.9 if drift and item == "c" and t >= 0.5 else base


def chances(x):
    """What the logger does: it likes "a", the more so the larger x is."""
    score = np.exp([0.7 + 0.5 * x, 0.0, 0.0])
    return score / score.sum()


def frame(rows, seed, *, uniform=False, drift=False, days=10):
    """One log, as a frame with the columns item, r, p, x, at."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=rows)
    p = np.full((rows, 3), 1 / 3) if uniform else np.array([chances(v) for v in x])
    chosen = (rng.random(rows)[:, None] > p.cumsum(axis=1)).sum(axis=1).clip(max=2)
    items = np.array(ITEMS)[chosen]
    mu = [mean(item, v, t / rows, drift) for t, (item, v) in enumerate(zip(items, x, strict=True))]
    at = pd.to_datetime(START + np.arange(rows) * (86400.0 * days / rows), unit="s")
    return pd.DataFrame(
        {"item": items, "r": (rng.random(rows) < mu) * 1.0, "p": p[np.arange(rows), chosen], "x": x, "at": at}
    )


def log(rows, seed, **options):
    """The same, read."""
    known = None if options.get("uniform") else "p"
    return db.Log.read(
        frame(rows, seed, **options), item="item", reward="r", propensity=known, time="at", context=["x"]
    )


def threshold(items, context, at):
    """A fixed policy without chance: "b" for small x, else "a"."""
    return "b" if context["x"] < 0.0 else "a"


def soft(items, context, at):
    """A fixed policy with chance."""
    return {"a": 0.2, "b": 0.3, "c": 0.5}


def value(policy, draws=200_000):
    """What a fixed policy earns per decision in the world without drift."""
    x = np.random.default_rng(99).normal(size=draws)
    tanh = np.tanh(x)
    if policy is threshold:
        return float(np.where(x < 0.0, 0.35 - 0.25 * tanh, 0.35 + 0.25 * tanh).mean())
    return float((0.2 * (0.35 + 0.25 * tanh) + 0.3 * (0.35 - 0.25 * tanh) + 0.5 * 0.3).mean())


class Learner:
    """An adaptive policy: the better of running means most of the time; it notes what it really would have earned."""

    noted: typing.ClassVar[list[float]] = []  # shared by all copies: a replay works on copies

    def __init__(self, drift=False, rows=1):
        self.sums, self.drift, self.rows, self.t = {item: [1.0, 2.0] for item in ITEMS}, drift, rows, 0

    def decide(self, items, context, at):
        best = max(ITEMS, key=lambda item: self.sums[item][0] / self.sums[item][1])
        p = {item: 0.1 + 0.7 * (item == best) for item in ITEMS}
        self.noted.append(sum(p[i] * mean(i, context["x"], self.t / self.rows, self.drift) for i in ITEMS))
        self.t += 1
        return p

    def reward(self, item, reward):
        own = self.sums[item]
        own[0], own[1] = 0.99 * own[0] + reward, 0.99 * own[1] + 1.0
