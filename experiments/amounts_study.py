"""Whether bounds on the value of amounts that are mostly zero are ever wrong, and when there are any.

Amounts have no known range, so that their bounds are asymptotic (`inference.asymptotic`). In each loop the probabilities follow what was
learned from earlier purchases: a softmax of shrunken means, mixed with uniform choice so that no item has less than explore/items. After
every tenth round it is checked whether the bounds on the loop's own mean, on uniform choice, on the first item and on both lifts contain
the running mean of the true values. Role "design" has the worlds and seeds on which the four rules of `inference.asymptotic` were chosen;
"judge" has others, and was looked at once.
"""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from driftbandits.experiment.study import Cells, Report, study, table
from driftbandits.inference import outcomes as oc
from driftbandits.inference import policy_value as pv
from driftbandits.inference.always_valid import J, stakes
from driftbandits.inference.asymptotic import unknown_share

WORLDS = ("one price each", "baskets", "seasons", "rare", "always paid", "cheap and dear")
SIZES = ((3, 0.1), (3, 0.02), (5, 0.25), (10, 0.1))  # items, explore
WHAT = ("own", "uniform", "first", "lift over uniform", "lift over first")
ALPHA, EVERY = 0.05, 10
FIRST = 100  # seeds before it were looked at when there were three rules


def design(kind: str, K: int, T: int, many: int, rng: np.random.Generator) -> tuple[Any, Any, float]:
    """Worlds on which rules were chosen: chances of a purchase and mean amounts, (T or 1, loops, K), and the sd of the log of amounts."""
    t, each = np.arange(T)[:, None, None], (1, many, K)
    if kind == "one price each":
        return rng.uniform(0.02, 0.12, each), np.exp(rng.normal(2.0, 0.8, each)), 0.0
    if kind == "baskets":
        return rng.uniform(0.03, 0.15, each), np.exp(rng.normal(2.0, 0.4, each)), 1.0
    if kind == "seasons":
        waves = 1.0 + 0.8 * np.sin(t / 150.0 + rng.uniform(0.0, 6.0, each))
        return np.clip(rng.uniform(0.03, 0.12, each) * waves, 0.005, 0.5), np.exp(rng.normal(2.0, 0.6, each)), 0.5
    if kind == "rare":
        return rng.uniform(0.005, 0.02, each), np.exp(rng.normal(3.0, 0.5, each)), 0.5
    if kind == "cheap and dear":  # of similar value, but bought in 1 of 2 cases or in 1 of 200
        chance = np.exp(rng.uniform(math.log(0.005), math.log(0.5), each))
        return chance, rng.uniform(0.5, 3.0, each) / chance, 0.0
    return np.ones(each), np.exp(rng.normal(1.0, 0.4, each)), 0.8


def judged(kind: str, K: int, T: int, many: int, rng: np.random.Generator) -> tuple[Any, Any, float]:
    """Worlds on which nothing was chosen: who is bought more often is cheaper, chances that jump, amounts that grow."""
    t, each = np.arange(T)[:, None, None], (1, many, K)
    if kind == "one price each":
        chance = rng.beta(1.5, 20.0, each) + 0.01
        return chance, rng.uniform(0.5, 1.5, each) / chance, 0.0
    if kind == "baskets":
        return rng.uniform(0.02, 0.3, each), rng.gamma(3.0, 10.0, each), 0.7
    if kind == "seasons":  # all chances jump at a random time, amounts grow by half
        before, after = rng.uniform(0.02, 0.2, each), rng.uniform(0.02, 0.2, each)
        chance = np.where(t < rng.integers(T // 4, 3 * T // 4, (1, many, 1)), before, after)
        return chance, rng.gamma(4.0, 3.0, each) * (1.0 + 0.5 * t / T), 0.3
    if kind == "rare":
        return np.exp(rng.normal(math.log(0.01), 0.4, each)), np.exp(rng.normal(4.0, 0.7, each)), 0.4
    if (
        kind == "cheap and dear"
    ):  # half of the items are bought often, and the others are dear, with baskets of different size
        dear = rng.random(each) < 0.5
        chance = np.where(dear, rng.uniform(0.01, 0.06, each), rng.uniform(0.2, 0.7, each))
        return chance, rng.gamma(4.0, 0.5, each) * np.where(dear, 1.5, 1.0) / chance, 0.5
    return np.ones(each), rng.uniform(1.0, 5.0, each), 1.0


def loops(kind: str, role: str, K: int, explore: float, T: int, many: int, seed: int) -> tuple[Any, ...]:
    """Loops side by side: true means, probabilities and forecasts (T, loops, K), choices and rewards (T, loops)."""
    rng, every = np.random.default_rng([role == "judge", WORLDS.index(kind), K, seed]), np.arange(many)
    chance, amount, sd = (judged if role == "judge" else design)(kind, K, T, many, rng)
    chance, amount = np.broadcast_to(chance, (T, many, K)), np.broadcast_to(amount, (T, many, K))
    P, F = np.empty((T, many, K)), np.empty((T, many, K))
    A, R = np.empty((T, many), np.int64), np.empty((T, many))
    n, total, squares = np.zeros((many, K)), np.zeros((many, K)), np.zeros(many)
    for t in range(T):
        shown = np.maximum(n.sum(1), 1.0)
        f = (total + 3.0 * (total.sum(1) / shown)[:, None]) / (n + 3.0)
        deviation = np.sqrt((squares / shown)[:, None] / (n + 1.0)).min(1, keepdims=True)
        e = np.exp((f - f.max(1, keepdims=True)) / np.maximum(0.5 * deviation, 1e-9))
        p = explore / K + (1.0 - explore) * e / e.sum(1, keepdims=True)
        a = np.minimum((p.cumsum(1) < rng.random(many)[:, None]).sum(1), K - 1)
        bought = rng.random(many) < chance[t, every, a]
        r = bought * amount[t, every, a] * np.exp(sd * rng.normal(size=many) - 0.5 * sd * sd)
        P[t], F[t], A[t], R[t] = p, f, a, r
        n[every, a] += 1.0
        total[every, a] += r
        squares += r * r
    return chance * amount, P, F, A, R


def one_loop(means: Any, P: Any, F: Any, A: Any, R: Any) -> list[tuple[bool, int, float]]:
    """Of the five means of `WHAT`: whether a bound was ever wrong, the round from which there were any, and the width at the end."""
    T, K = P.shape
    start, pi = np.arange(T) * K, np.stack([np.full(K, 1.0 / K), np.eye(K)[0]])
    batch = oc.Batch(
        np.ascontiguousarray(P).ravel(), np.ascontiguousarray(F).ravel(), start, np.full(T, K), start + A,
        np.ascontiguousarray(R), np.ones(T), np.full(T * K, -1),
    )  # fmt: skip
    lam = np.array([stakes()] * 2)
    terms = np.empty((2, T, oc.UNBOUNDED))
    space = np.zeros((1, oc.UNBOUNDED)), np.empty(oc.UNBOUNDED), np.empty((2, J))
    probabilities = np.ascontiguousarray(np.tile(pi, (1, T)))
    assert oc.count(batch, probabilities, np.ones((2, T)), oc.Stakes(lam, lam[0], lam[0]), terms, *space) == T
    looks = np.arange(EVERY - 1, T, EVERY)
    sums, n = terms.cumsum(1)[:, looks], looks + 1.0
    weights = np.eye(K)[A] * (R != 0.0)[:, None] / P
    paid = [weights.cumsum(0)[looks], (weights**2).cumsum(0)[looks]]
    masses = [shown.cumsum(0)[looks] for shown in (P, np.full((T, K), 1.0 / K), np.tile(np.eye(K)[0], (T, 1)))]
    own_u, uniform_u, first_u = (
        np.array([unknown_share(*args) for args in zip(mass, *paid, n, strict=True)]) for mass in masses
    )
    unknown = [own_u, uniform_u, first_u, np.maximum(own_u, uniform_u), np.maximum(own_u, first_u)]
    own, other = (P * means).sum(1).cumsum()[looks] / n, (means @ pi.T).cumsum(0)[looks].T / n
    true = [own, other[0], other[1], own - other[0], own - other[1]]
    intervals = [pv.own_interval, pv.other_interval, pv.other_interval, pv.lift_interval, pv.lift_interval]
    columns = [oc.V_OWN, oc.V_PHI, oc.V_PHI, oc.V_D, oc.V_D]
    found = []
    for which, interval, k, column, shares in zip(true, intervals, (0, 0, 1, 0, 1), columns, unknown, strict=True):
        wrong, since, width = False, T, math.nan
        for t, (row, value) in enumerate(zip(sums[k].tolist(), which.tolist(), strict=True)):
            _, lower, upper, *_ = interval(row, bounded=False, alpha=ALPHA, lam=lam[0].tolist(), unknown=shares[t])
            wrong = wrong or not lower <= value <= upper
            since = min(since, int(looks[t]) + 1) if math.isfinite(lower) else since
            width = (upper - lower) / (2 * 1.96 * math.sqrt(row[column]) / row[oc.N]) if row[column] else math.nan
        found.append((wrong, since, width if math.isfinite(width) else math.nan))
    return found


def coverage(kind: str, role: str, K: int, explore: float, T: int, many: int, seed: int) -> dict[str, Any]:
    """A cell: of some loops, which had a bound that was ever wrong, since when there were bounds, and how wide they are at the end."""
    means, P, F, A, R = loops(kind, role, K, explore, T, many, seed)
    found = [one_loop(means[:, i], P[:, i], F[:, i], A[:, i], R[:, i]) for i in range(many)]
    return {"wrong": [[x[0] for x in one] for one in found], "since": [[x[1] for x in one] for one in found],
            "width": [[None if math.isnan(x[2]) else x[2] for x in one] for one in found]}  # fmt: skip


def amounts_table(made: Mapping[str, Any]) -> str:
    """Share of loops with any violation, the median round of the first bounds, and the median width over a fixed-sample interval's."""
    rows = []
    for w in made["worlds"]:
        cells = [
            f"{x:.1%} · {'never' if s >= made['rounds'] else f'{s:.0f}'} · {'–' if y is None else f'{y:.2f}'}"
            for x, s, y in zip(w["wrong"], w["since"], w["width"], strict=True)
        ]
        rows.append([w["world"], str(w["items"]), f"{w['explore']:g}", f"{w['loops']:,}", *cells])
    return table(["world", "items", "explore", "loops", *(f"{what}: ever wrong · from · width" for what in WHAT)], rows)


@study(
    tiny={"T": 400, "loops": 2, "batch": 2, "role": "design"},
    tables={"amounts": amounts_table},
    also=frozenset({"inference"}),
)
def amounts(cells: Cells, *, T: int = 4000, loops: int = 100, batch: int = 50, role: str = "judge") -> Report:
    """Whether bounds on the value of amounts that are mostly zero are ever wrong, and when there are any."""
    given = [
        {"kind": kind, "role": role, "K": K, "explore": explore, "T": T, "many": batch, "seed": seed}
        for kind in WORLDS
        for K, explore in SIZES
        for seed in range(FIRST, FIRST + loops // batch)
    ]
    found = cells(coverage, given)
    worlds = []
    for kind in WORLDS:
        for K, explore in SIZES:
            mine = [
                one
                for one, case in zip(found, given, strict=True)
                if (case["kind"], case["K"], case["explore"]) == (kind, K, explore)
            ]
            wrong = np.array([w for one in mine for w in one["wrong"]])
            since = np.array([w for one in mine for w in one["since"]])
            width = np.array([[math.nan if x is None else x for x in w] for one in mine for w in one["width"]])
            medians = [
                float(np.median(column[~np.isnan(column)])) if (~np.isnan(column)).any() else None for column in width.T
            ]
            worlds.append(
                {
                    "world": kind, "items": K, "explore": explore, "loops": len(wrong),
                    "wrong": wrong.mean(0).tolist(), "since": np.median(since, axis=0).tolist(), "width": medians,
                }
            )  # fmt: skip
    every = sum(w["loops"] * np.array(w["wrong"]) for w in worlds) / sum(w["loops"] for w in worlds)
    limit = ALPHA + 2.0 * math.sqrt(ALPHA * (1.0 - ALPHA) / (len(WORLDS) * len(SIZES) * loops))
    return Report({"role": role, "rounds": T, "what": WHAT, "worlds": worlds, "wrong": every.tolist(), "limit": limit})
