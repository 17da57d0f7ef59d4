"""The streams that every learner plays: the same features, the same rewards, the same seeds."""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

import driftbandits as db


class Offer(NamedTuple):
    """What is on offer in a round: a context for items that stay, or features of arms that change."""

    context: Any  # (d,), or None
    arms: Any  # (n, d), or None
    names: Any  # of the arms where they have one, or None


@dataclass(frozen=True)
class Stream:
    """T rounds, written down."""

    name: str
    X: Any  # (T, d) contexts, or (T, n, d) features of arms
    R: Any  # (T, n) what each choice pays
    E: Any  # (T, n) the means of that, where they are known; what is earned is counted in them
    clicks: bool  # rewards are 0 and 1
    delay: int = 0  # rounds until a reward comes
    names: Any = None  # (T, n) names of the arms

    @property
    def items(self) -> bool:
        return self.X.ndim == 2

    @property
    def d(self) -> int:
        return int(self.X.shape[-1])

    @property
    def n(self) -> int:
        return int(self.R.shape[1])

    def offer(self, t: int) -> Offer:
        if self.items:
            return Offer(self.X[t], None, None)
        return Offer(None, self.X[t], None if self.names is None else self.names[t])


class Source(NamedTuple):
    """A kind of stream. Settings are tuned on rounds that are not the ones that count."""

    make: Callable[[int], Stream]  # by seed
    tuning: Callable[[int], list[Stream]]  # by seed: what may be tuned on
    seeds: int  # that the page needs; all there are, where the stream is a record of the world
    fixed: bool = False  # there are no more


class NotHere(Exception):
    """The data of a stream are not on this machine."""


def units(rng, *shape):
    x = rng.standard_normal(shape)
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


# ------------------------------------------------------------------------------------------------------------- real streams


@functools.cache
def loaded(name: str) -> Any:
    """A data set in a file, read once per process."""
    return getattr(db.datasets, name)()


def stretch(data: Any, begin: int, end: int) -> Stream:
    """Rounds of a data set; features are standardised by the first tenth, for everybody."""
    X, R = data.X[begin:end], data.R[begin:end]
    past = X[: len(X) // 10]
    X = np.clip((X - past.mean(axis=0)) / np.where(past.std(axis=0) > 0, past.std(axis=0), 1.0), -5, 5)
    return Stream(data.name, X, R, R, clicks=True)


def real(load: Callable[[], Any], starts: Callable[[int, int], list[int]], T: int) -> Source:
    """Seed i plays the i-th of three stretches, and tunes on the rounds just before it, at most as many."""

    def opened() -> Any:
        try:
            return load()
        except db.DriftBanditsError as problem:
            raise NotHere(str(problem)) from None

    def make(seed: int) -> Stream:
        data = opened()
        begin = starts(len(data), T)[seed]
        return stretch(data, begin, begin + T)

    def tuning(seed: int) -> list[Stream]:
        data = opened()
        begin = starts(len(data), T)[seed]
        return [stretch(data, max(0, begin - T), begin)]

    return Source(make, tuning, 3, fixed=True)


def thirds(length: int, T: int) -> list[int]:
    """Three stretches, evenly spread, the first after a quarter of its length."""
    return [int(s) for s in np.linspace(min(T // 4, length - T), length - T, 3)]


def around_changes(length: int, T: int) -> list[int]:
    """Stretches whose middle is a change of SEA's concept: there are four of equal length."""
    return [length * k // 4 - T // 2 for k in (1, 2, 3)]


def made(make: Callable[..., Any], T: int) -> Callable[[int], Stream]:
    """A generator of labelled rounds."""
    return lambda seed: stretch(make(horizon=T, changes=1, seed=seed), 0, T)


# ----------------------------------------------------------------------------------------------------------- synthetic worlds


def drifting(name, seed, theta, n, *, noise=0.3, delay=0, fixed=False):
    """Arms of norm 1, redrawn in every round unless fixed; mean xᵀθ_t."""
    rng = np.random.default_rng([seed, 7])
    T, d = theta.shape
    X = np.broadcast_to(units(rng, n, d), (T, n, d)) if fixed else units(rng, T, n, d)
    E = np.einsum("tnd,td->tn", X, theta)
    return Stream(name, np.ascontiguousarray(X), E + noise * rng.standard_normal(E.shape), E, False, delay)


def paper(T):
    def make(seed):
        angle = 2 * np.pi * np.arange(T) / T
        return drifting("paper", seed, np.stack([np.cos(angle), np.sin(angle)], axis=1), 50, noise=1.0, fixed=True)

    return make


def still(d, T):
    return lambda seed: drifting(f"d={d}", seed, np.tile(units(np.random.default_rng([seed, 1]), d), (T, 1)), 10)


def jump(T, delay):
    """θ jumps in the middle, and rewards come late."""

    def make(seed):
        v = units(np.random.default_rng([seed, 2]), 2, 8)
        return drifting(f"delay {delay}", seed, v[np.arange(T) * 2 // T], 10, delay=delay)

    return make


def clicks(rate, T, d=7, n=10):
    """Clicks with mean rate·(1 + xᵀθ)."""

    def make(seed):
        rng = np.random.default_rng([seed, 3])
        X = units(rng, T, n, d)
        E = rate * (1 + X @ units(rng, d))
        return Stream(f"clicks {rate}", X, (rng.random(E.shape) < E).astype(float), E, clicks=True)

    return make


def revenue(T, d=7, n=10):
    """5 % buy, and then spend 20 on average, log-normally."""

    def make(seed):
        rng = np.random.default_rng([seed, 4])
        X = units(rng, T, n, d)
        P = 0.05 * (1 + X @ units(rng, d))
        spent = rng.lognormal(np.log(20) - 0.5, 1.0, P.shape)
        return Stream("revenue", X, (rng.random(P.shape) < P) * spent, 20 * P, clicks=False)

    return make


def coming_and_going(T, items=1000, alive=40, offered=20, d=8):
    """Each item lives for a while, has features and something of its own; 20 of those alive are on offer."""

    def make(seed):
        rng = np.random.default_rng([seed, 5])
        features, own, theta = units(rng, items, d), 0.1 * rng.standard_normal(items), units(rng, d)
        first = np.linspace(0, items - alive, T).astype(int)
        who = np.stack([f + rng.permutation(alive)[:offered] for f in first])
        E = 0.5 * features[who] @ theta + own[who]
        names = np.array([f"i{k}" for k in range(items)])[who]
        return Stream("1000 items", features[who], E + 0.3 * rng.standard_normal(E.shape), E, False, names=names)

    return make


SEEDS, NOISY = 32, 64  # of a synthetic stream; where a few clicks or purchases decide
TUNING = (1000, 1001, 1002, 1003)  # seeds to tune on, never played


def synthetic(make: Callable[[int], Stream], seeds: int = SEEDS, tuning: tuple[int, ...] = TUNING) -> Source:
    """Tuned on other seeds."""
    return Source(make, lambda _: [make(seed) for seed in tuning], seeds)


def catalogue(scale: float = 1.0) -> dict[str, Source]:
    """Every stream by name; `scale` makes them shorter or longer."""
    S, L = int(1200 * scale), int(2400 * scale)
    return {
        "Elec2": real(lambda: loaded("elec2"), thirds, L),
        "weather": real(lambda: loaded("weather"), thirds, L),
        "SEA": real(lambda: loaded("sea"), around_changes, L),
        "keystroke": real(lambda: loaded("keystroke"), thirds, S),
        "LED with drift": synthetic(made(db.datasets.led, S)),
        "digits, permuted": synthetic(made(db.datasets.digits, S), tuning=TUNING[:2]),
        "paper's rotation": synthetic(paper(S), tuning=TUNING[:2]),
        "standing still, d = 5": synthetic(still(5, S)),
        "standing still, d = 20": synthetic(still(20, S)),
        "standing still, d = 50": synthetic(still(50, S)),
        "standing still, d = 100": synthetic(still(100, S)),
        "clicks 5 %": synthetic(clicks(0.05, L), NOISY),
        "rare clicks, 1 %": synthetic(clicks(0.01, int(6000 * scale)), NOISY),
        "revenue, 95 % zeros": synthetic(revenue(L), NOISY),
        "one jump, delay 100": synthetic(jump(S, 100)),
        "one jump, delay 300": synthetic(jump(S, 300)),
        "1000 items come and go": synthetic(coming_and_going(S)),
    }
