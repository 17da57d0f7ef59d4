"""News: 20 candidates of many live articles, with a category, an age and an embedding; readers; rare clicks; articles come and go.

`db.Bandit`, with nothing set, beside two learners with columns and settings made by hand for this world: LinUCB and Thompson sampling over
(category, age, embedding, embedding × reader), whose width and forgetting are the best of a grid on other seeds. A world in which the
columns are known to be good is where a hand-made learner is hard to beat.
"""

import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import driftbandits as db
from driftbandits.experiment.study import Cells, Report, study

CATEGORIES, READERS = 8, 3
OFFERED = 20
WIDTHS, DISCOUNTS = (0.1, 0.3, 1.0), (1.0, 0.9995)
Item = dict[str, Any]


class News:
    """Articles replace each other; the taste for categories turns once in T decisions. Click rates are 1 to 4 % for most articles."""

    def __init__(self, seed: int, T: int, live: int, d: int) -> None:
        self.rng, self.T, self.d = np.random.default_rng(seed), T, d
        r = self.rng
        self.category, self.turned = r.normal(size=(2, CATEGORIES)) * 0.3
        self.taste, self.match = r.normal(size=d) * 0.3 / math.sqrt(d), r.normal(size=(d, READERS)) * 0.3 / math.sqrt(d)
        self.articles: dict[str, tuple[int, int, Any, float]] = {}
        self.made = 0
        for _ in range(live):
            self._publish(-int(r.integers(T)))

    def _publish(self, t: int) -> None:
        r = self.rng
        self.articles[f"n{self.made}"] = int(r.integers(CATEGORIES)), t, r.normal(size=self.d), float(r.normal() * 0.3)
        self.made += 1

    def offer(self, t: int) -> tuple[dict[str, Item], dict[str, float]]:
        """Candidates with their features, and the reader."""
        if t % 20 == 0:
            del self.articles[min(self.articles, key=lambda name: self.articles[name][1])]
            self._publish(t)
        names = self.rng.choice([*self.articles], min(OFFERED, len(self.articles)), replace=False).tolist()
        items = {}
        for name in names:
            category, born, embedding, _ = self.articles[name]
            items[name] = {"category": f"c{category}", "age": (t - born) / 1000.0, "embedding": embedding}
        return items, {f"u{j}": float(x) for j, x in enumerate(self.rng.normal(size=READERS))}

    def rate(self, name: str, t: int, reader: dict[str, float]) -> float:
        """The probability of a click."""
        category, born, e, own = self.articles[name]
        turn = math.pi * t / self.T
        taste = math.cos(turn) * self.category[category] + math.sin(turn) * self.turned[category]
        u = np.array([*reader.values()])
        return float(
            1.0 / (1.0 + math.exp(3.8 - taste - own - e @ self.taste - e @ self.match @ u + 0.1 * (t - born) / 1000.0))
        )


class ByHand:
    """Ridge regression on good columns, discounted; chooses by an upper bound, or by a draw from the posterior."""

    def __init__(self, d: int, width: float, discount: float, seed: int) -> None:
        p = 2 + CATEGORIES + d * (1 + READERS)
        self.V, self.b, self.inverse, self.age = np.eye(p), np.zeros(p), np.eye(p), 0
        self.width, self.discount, self.rng = width, discount, np.random.default_rng(seed)

    def columns(self, item: Item, reader: dict[str, float]) -> Any:
        """(1, age, category, embedding, embedding × reader)."""
        category = np.eye(CATEGORIES)[int(item["category"][1:])]
        e, u = item["embedding"], [*reader.values()]
        return np.concatenate([[1.0, item["age"]], category, e, np.outer(e, u).ravel()])

    def choose(self, X: Any, sampled: bool) -> int:
        """The best row of X (n, p)."""
        theta = self.inverse @ self.b
        if sampled:
            theta = theta + self.width * 0.15 * np.linalg.cholesky(self.inverse) @ self.rng.normal(size=len(theta))
            return int(np.argmax(X @ theta))
        bonus = np.sqrt(np.einsum("ij,jk,ik->i", X, self.inverse, X))
        return int(np.argmax(X @ theta + self.width * 0.15 * bonus))

    def learn(self, x: Any, r: float) -> None:
        """One observation; the inverse is renewed every 20."""
        self.V = self.discount * self.V + np.outer(x, x) + (1.0 - self.discount) * np.eye(len(x))
        self.b = self.discount * self.b + r * x
        self.age += 1
        if self.age % 20 == 0:
            self.inverse = np.linalg.inv(self.V)


def _clicks(
    world: News, T: int, seed: int, step: Callable[[dict[str, Item], dict[str, float], Callable[[str], float]], str]
) -> float:
    """Expected clicks per decision of a learner, given as a function of an offer and of what answers a choice."""
    chance, total = np.random.default_rng([seed, 1]), 0.0
    for t in range(1, T + 1):
        items, reader = world.offer(t)
        u = chance.random()
        chosen = step(items, reader, lambda name, t=t, reader=reader, u=u: float(u < world.rate(name, t, reader)))  # type: ignore[misc]
        total += world.rate(chosen, t, reader)
    return total / T


def by_hand(seed: int, T: int, live: int, d: int, width: float, discount: float, sampled: bool) -> float:
    """Clicks per decision of a learner made by hand."""
    learner = ByHand(d, width, discount, seed)

    def step(items: dict[str, Item], reader: dict[str, float], answer: Callable[[str], float]) -> str:
        X = np.array([learner.columns(item, reader) for item in items.values()])
        a = learner.choose(X, sampled)
        name = [*items][a]
        learner.learn(X[a], answer(name))
        return name

    return _clicks(News(seed, T, live, d), T, seed, step)


def bandit(seed: int, T: int, live: int, d: int) -> dict[str, float]:
    """Clicks per decision of `db.Bandit` with nothing set, and milliseconds per decision with its reward, the compiler's included."""
    learner, begun = db.Bandit(reward="click", seed=seed), time.perf_counter()

    def step(items: dict[str, Item], reader: dict[str, float], answer: Callable[[str], float]) -> str:
        made = learner.decide(items, reader)
        learner.reward(made.id, answer(made.item))
        return str(made.item)

    clicks = _clicks(News(seed, T, live, d), T, seed, step)
    return {
        "clicks": clicks,
        "ms": 1e3 * (time.perf_counter() - begun) / T,
        "columns": float(learner.info()["columns"]),
    }


def best_and_random(seed: int, T: int, live: int, d: int) -> tuple[float, float]:
    """Clicks per decision of one who knows all rates, and of random choices."""
    world, best, random = News(seed, T, live, d), 0.0, 0.0
    for t in range(1, T + 1):
        items, reader = world.offer(t)
        rates = [world.rate(name, t, reader) for name in items]
        best, random = best + max(rates), random + sum(rates) / len(rates)
    return best / T, random / T


@study(tiny={"T": 20, "trials": 1, "live": 25, "d": 1}, also=frozenset({"bandit", "adaptive"}))
def news(cells: Cells, *, T: int = 5000, trials: int = 8, live: int = 300, d: int = 32) -> Report:
    """Clicks per decision of Bandit with nothing set, and of hand-tuned learners on good columns."""
    setting = {"T": T, "live": live, "d": d}
    grid = [{"width": w, "discount": g} for w in WIDTHS for g in DISCOUNTS]
    rows = {}
    for name, sampled in (("LinUCB, tuned", False), ("Thompson sampling, tuned", True)):
        tried = [{**one, "sampled": sampled, "seed": 900 + s} for one in grid for s in range(max(1, trials // 4))]
        first = cells(by_hand, [{**one, **setting} for one in tried])
        chosen = grid[int(np.argmax(np.reshape(first, (len(grid), -1)).mean(axis=1)))]
        rows[name] = np.array(
            cells(by_hand, [{"seed": s, "sampled": sampled, **chosen, **setting} for s in range(trials)])
        )
    made = cells(bandit, [{"seed": s, **setting} for s in range(trials)])
    rows["db.Bandit"] = np.array([one["clicks"] for one in made])
    known = np.array(cells(best_and_random, [{"seed": s, **setting} for s in range(trials)]))
    rows["random"], rows["all rates known"] = known[:, 1], known[:, 0]
    found = [
        {
            "learner": name,
            "clicks": float(x.mean()),
            "error": float(x.std(ddof=1) / math.sqrt(trials)) if trials > 1 else 0.0,
        }
        for name, x in rows.items()
    ]
    return Report(
        {"rows": found, "ms": float(np.mean([one["ms"] for one in made])), "columns": made[0]["columns"], **setting}
    )
