"""The newest part of a loop's log as the numbers that the dashboard draws.

A `Window` reads the rows that were added since it last looked, so the cost of an open page is proportional to the traffic of the loop. It
keeps the newest `limit` decisions. It needs only rows from a store, so it works with every store and in every process.
"""

import json
import math
from collections import OrderedDict
from typing import Any, NamedTuple, Protocol

import numpy as np

from ...bandit.store import Row
from ...core.linalg import Vector

LIMIT = 20_000  # decisions kept
CHUNK = 5_000  # rows read at once
BINS = 60  # stretches of time in a chart, fewer if …
EACH = 20  # … they would have less than so many decisions on average
Z = 1.96  # of a 95 % interval
NAMED = 8  # items with a colour of their own; all others are drawn as one


class Rows(Protocol):
    """The part of a store's interface that a window uses."""

    def rows(self, after: int, limit: int) -> list[Row]:
        """At most `limit` rows after a row."""

    def last(self) -> int:
        """The number of the newest row."""


class Shown(NamedTuple):
    """A decision of the log."""

    at: float
    item: str
    reward: float  # NaN until it comes
    chances: dict[str, float]  # the propensity of every item on offer


class Window:
    """The newest decisions of a log, with their rewards."""

    def __init__(self, limit: int = LIMIT) -> None:
        self.limit = limit
        self.seq = 0  # the last row that was read
        self.decisions: OrderedDict[str, Shown] = OrderedDict()

    def follow(self, store: Rows) -> bool:
        """Read the new rows; returns whether there were any."""
        last = store.last()
        if last < self.seq:  # the log was deleted, or another took its place
            self.seq, self.decisions = 0, OrderedDict()
        if (
            self.seq == 0
        ):  # each decision has at most a few rows: older ones cannot be among the newest decisions that matter
            self.seq = max(0, last - 3 * self.limit)
        began = self.seq
        while rows := store.rows(self.seq, CHUNK):
            for row in rows:
                self._apply(row)
            self.seq = rows[-1].seq
        return self.seq > began

    def _apply(self, row: Row) -> None:
        if row.id is None:
            return
        if row.kind == "decide":
            data = json.loads(row.data or "{}")
            names = [_name(name) for name in data.get("names", [])]
            chances = dict(zip(names, data.get("propensities", []), strict=False))
            self.decisions[row.id] = Shown(row.at or 0.0, _name(json.loads(row.item or '""')), math.nan, chances)
            if len(self.decisions) > self.limit:
                self.decisions.popitem(last=False)
        elif row.kind in ("reward", "replace") and row.id in self.decisions and row.reward is not None:
            self.decisions[row.id] = self.decisions[row.id]._replace(reward=row.reward)

    # ------------------------------------------------------------------------------------------------------------ numbers

    def series(self) -> dict[str, Any]:
        """Mean reward of each stretch of time, ± 2 standard errors; None where no reward came."""
        at, rewards, _ = self._columns()
        edges, place = _stretches(at)
        known, bins = ~np.isnan(rewards), len(edges) - 1
        n = np.bincount(place[known], minlength=bins).astype(float)
        total = np.bincount(place[known], rewards[known], minlength=bins)
        squares: Vector = np.bincount(place[known], rewards[known] ** 2, minlength=bins).astype(float)
        mean = np.divide(total, n, out=np.full(bins, math.nan), where=n > 0)
        error = _standard_error(n, mean, squares)
        return {
            "from": float(edges[0]),
            "to": float(edges[-1]),
            "t": ((edges[1:] + edges[:-1]) / 2).tolist(),
            "mean": _known(mean),
            "low": _known(mean - 2 * error),
            "high": _known(mean + 2 * error),
            "n": n.astype(int).tolist(),
        }

    def share(self) -> dict[str, Any]:
        """How often each item was chosen in each stretch; stretches without a decision are left out."""
        at, _, items = self._columns()
        edges, place = _stretches(at)
        bins = len(edges) - 1
        counted = np.bincount(place, minlength=bins)
        used = counted > 0
        names, many = np.unique(items, return_counts=True)
        named = list(names[np.argsort(-many, kind="stable")][:NAMED])
        values = [np.bincount(place[items == name], minlength=bins)[used] / counted[used] for name in named]
        if len(names) > NAMED:
            named.append(f"{len(names) - NAMED} others")
            values.append(1.0 - np.sum(values, axis=0))
        centres = (edges[1:] + edges[:-1]) / 2
        return {"items": [str(n) for n in named], "t": centres[used].tolist(), "values": [v.tolist() for v in values]}

    def items(self) -> list[dict[str, Any]]:
        """Of each item: how often it was shown, its mean reward with a 95 % interval, and its propensity when it was last on offer."""
        now: dict[str, float] = {}
        for shown in self.decisions.values():
            now |= shown.chances
        _, rewards, items = self._columns()
        clicks = set(rewards[~np.isnan(rewards)].tolist()) == {0.0, 1.0}
        rows = []
        for name in sorted({*now, *map(str, items)}):
            r = rewards[items == name]
            known = r[~np.isnan(r)]
            low, high = _share_interval(known) if clicks else _mean_interval(known)
            rows.append(
                {
                    "item": name,
                    "shown": len(r),
                    "reward": float(known.mean()) if len(known) else None,
                    "low": low,
                    "high": high,
                    "propensity": now.get(name),
                }
            )
        return rows

    def newest(self, count: int) -> list[tuple[str, Shown]]:
        """The newest decisions, the latest first."""
        return [*self.decisions.items()][: -count - 1 : -1]

    def _columns(self) -> tuple[Vector, Vector, Any]:
        shown = self.decisions.values()
        at = np.array([s.at for s in shown], dtype=float)
        rewards = np.array([s.reward for s in shown], dtype=float)
        return at, rewards, np.array([s.item for s in shown], dtype=object).astype(str)


def _stretches(at: Vector) -> tuple[Vector, Any]:
    """Edges of equal stretches of time, and the stretch of each decision."""
    bins = int(np.clip(len(at) // EACH, 2, BINS))
    low, high = (float(at.min()), float(at.max())) if len(at) else (0.0, 1.0)
    edges = np.linspace(low, max(high, low + 1e-3), bins + 1)
    return edges, np.clip(np.searchsorted(edges, at, side="right") - 1, 0, bins - 1)


def _standard_error(n: Vector, mean: Vector, squares: Vector) -> Vector:
    """s / √n, with the spread of all rewards added as one observation: three equal clicks in a row are no certainty."""
    total = n.sum()
    if total == 0:
        return np.full(len(n), math.nan)
    overall = max(0.0, float(np.nansum(squares) / total - (np.nansum(mean * n) / total) ** 2))
    within = np.maximum(0.0, squares - n * mean**2)
    return np.sqrt((within + overall) / np.maximum(n, 1.0)) / np.sqrt(np.maximum(n, 1.0))


def _mean_interval(known: Vector) -> tuple[float | None, float | None]:
    """The mean ± 1.96 standard errors."""
    spread = float(known.std(ddof=1)) if len(known) > 1 else 0.0
    if (
        spread == 0.0
    ):  # sixteen equal rewards do not show that the seventeenth is equal too: none rather than one of width 0
        return None, None
    mean, half = float(known.mean()), Z * spread / math.sqrt(len(known))
    return mean - half, mean + half


def _share_interval(known: Vector) -> tuple[float | None, float | None]:
    """Wilson's interval of a share, which is between 0 and 1."""
    n = len(known)
    if n == 0:
        return None, None
    p, w = float(known.mean()), Z * Z / n
    centre, half = (p + w / 2.0) / (1.0 + w), Z * math.sqrt(p * (1.0 - p) / n + w / (4.0 * n)) / (1.0 + w)
    return max(0.0, centre - half), min(1.0, centre + half)


def _known(values: Vector) -> list[float | None]:
    return [None if math.isnan(v) else float(v) for v in values]


def _name(item: Any) -> str:
    return item if isinstance(item, str) else json.dumps(item)
