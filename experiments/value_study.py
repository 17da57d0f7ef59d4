"""Whether always-valid bounds on values are ever wrong, and how wide they are.

In each loop the probabilities follow what was learned from earlier rewards: a softmax of exponentially weighted means, mixed with uniform
choice so that no item has less than .05. Two policies are valued beside it: uniform choice, and the first of five items. After *every*
round it is checked whether the bounds on the loop's own mean, on the other policy's and on the lift contain the running mean of the true
values, over the decisions whose reward has come. At the end their width is compared with that of a fixed-sample interval, ± 1.96 standard
errors of the same pseudo-outcomes; how often that one is right at the end, and how much wider it would have to be to be right in 95 % of
the loops, is counted too. The first decisions of a loop say how rare rewards are, as in `Bandit`, and do not count.

Roles "design" and "earlier" have the worlds on which stakes and levels were chosen ("earlier" judged the stakes before these); "before" and
"judge" have others. On "before" the stakes were judged with both levels α/2; on "judge", the same worlds with fresh seeds, the levels of
now, once.
"""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from driftbandits.experiment.study import Cells, Report, study, table
from driftbandits.inference import outcomes as oc
from driftbandits.inference import policy_value as pv
from driftbandits.inference.always_valid import LOG_PRIOR, LONG, SHORT, J, levels, stakes

ROLES = {"design": 0, "earlier": 1, "before": 2, "judge": 3}
WORLDS = ("drift", "jumps", "still", "late rewards", "clicks of 1 %")
ITEMS, FLOOR, ALPHA = 5, 0.05, 0.05
WHAT = ("own", "uniform", "first", "lift over uniform", "lift over first")


def world(kind: str, role: str, T: int, rng: np.random.Generator) -> Any:
    """What each item earns on average in each round, (T, items)."""
    t = np.arange(T)[:, None]
    if role == "design":
        if kind in ("drift", "late rewards"):
            return 0.5 + 0.4 * np.sin(t / 200 + rng.uniform(0, 6, ITEMS))
        if kind == "jumps":
            return np.repeat(rng.uniform(0.05, 0.95, (T // 400 + 1, ITEMS)), 400, 0)[:T]
        if kind == "still":
            return np.tile(rng.uniform(0.2, 0.8, ITEMS), (T, 1))
        return 0.01 * rng.uniform(0.5, 2.0, ITEMS) * (1 + 0.8 * np.sin(t / 300))
    if role in ("before", "judge"):
        return judged(kind, t, rng)
    if kind in ("drift", "late rewards"):  # a random walk of log-odds
        steps = rng.normal(0.0, 0.03, (T, ITEMS))
        steps[0] = rng.normal(-1.0, 0.7, ITEMS)
        return 1.0 / (1.0 + np.exp(-np.clip(steps.cumsum(0), -4.0, 4.0)))
    if kind == "jumps":  # at random times, of one item each
        means = np.tile(rng.beta(1.0, 3.0, ITEMS), (T, 1))
        for when in np.sort(rng.integers(0, T, 15)):
            means[when:, rng.integers(ITEMS)] = rng.beta(1.0, 3.0)
        return means
    if kind == "still":
        return np.tile(rng.beta(2.0, 8.0, ITEMS), (T, 1))
    return np.tile(rng.gamma(4.0, 0.0025, ITEMS), (T, 1)) * np.where((t // 2500) % 2 == 0, 1.0, 0.5)


def judged(kind: str, t: Any, rng: np.random.Generator) -> Any:
    """Worlds on which nothing was chosen."""
    T = len(t)
    if kind in ("drift", "late rewards"):  # each item rises and falls in its own time, from a level of its own
        period = rng.uniform(1000.0, 8000.0, ITEMS)
        return np.clip(
            rng.beta(2.0, 4.0, ITEMS) * (1.0 + np.sin(2.0 * np.pi * t / period + rng.uniform(0, 6, ITEMS))), 0.02, 0.98
        )
    if kind == "jumps":  # of all items at once, at random times: what was good may be bad
        means = np.tile(rng.uniform(0.02, 0.6, ITEMS), (T, 1))
        for when in rng.integers(0, T, 6):
            means[when:] = rng.uniform(0.02, 0.6, ITEMS)
        return means
    if kind == "still":
        return np.tile(rng.uniform(0.03, 0.5, ITEMS), (T, 1))
    rare = 0.01 * np.exp(rng.normal(-0.1, 0.5, ITEMS))  # about 1 %, with one item that doubles or halves
    means = np.tile(rare, (T, 1))
    means[rng.integers(T) :, rng.integers(ITEMS)] *= rng.choice([0.5, 2.0])
    return means


def loops(kind: str, role: str, T: int, many: int, seed: int) -> tuple[Any, ...]:
    """Loops side by side: true means, probabilities and forecasts (T, loops, items), choices, rewards, and when rewards came."""
    rng, every = np.random.default_rng([ROLES[role], WORLDS.index(kind), seed]), np.arange(many)
    means = np.stack([world(kind, role, T, rng) for _ in range(many)], axis=1)
    rare = kind == "clicks of 1 %"
    q = np.full((many, ITEMS), 0.01 if rare else 0.3)
    P, F = np.empty((T, many, ITEMS)), np.empty((T, many, ITEMS))
    A, R = np.empty((T, many), np.int64), np.empty((T, many))
    wait = rng.geometric(0.01, T) if kind == "late rewards" else np.zeros(T, np.int64)
    due: dict[int, list[int]] = {}
    order: list[int] = []
    for t in range(T):
        e = np.exp((q - q.max(1, keepdims=True)) * (1000.0 if rare else 20.0))
        p = FLOOR + (1.0 - ITEMS * FLOOR) * e / e.sum(1, keepdims=True)
        A[t] = np.minimum((p.cumsum(1) < rng.random(many)[:, None]).sum(1), ITEMS - 1)
        P[t], F[t], R[t] = p, q, rng.random(many) < means[t, every, A[t]]
        due.setdefault(t + int(wait[t]), []).append(t)
        for s in due.pop(t, ()):
            order.append(s)
            q[every, A[s]] += (0.01 if rare else 0.05) * (R[s] - q[every, A[s]])
    return means, P, F, A, R, np.array(order)


def exceeded(wealth: Any, lam: Any, total: Any, alpha: float) -> bool:
    """Whether Σ π exp(B − λ Σν) ever reached 1/α."""
    e = wealth + LOG_PRIOR - lam * total[:, None]
    top = e.max(1)
    return bool((top + np.log(np.exp(e - top[:, None]).sum(1)) > math.log(1.0 / alpha)).any())


def one_loop(means: Any, P: Any, F: Any, A: Any, R: Any) -> tuple[list[bool], list[tuple[float, float]], list[float]]:
    """Of the five means of `WHAT`: whether a bound was ever wrong, width and fixed-sample width at the end, and the error of the mean."""
    rate = pv.rate_of(pv.EARLY, R[: pv.EARLY].sum())
    means, P, F, A, R = (x[pv.EARLY :] for x in (means, P, F, A, R))
    T = len(R)
    start, pi = np.arange(T) * ITEMS, np.stack([np.full(ITEMS, 1.0 / ITEMS), np.eye(ITEMS)[0]])
    batch = oc.Batch(
        np.ascontiguousarray(P).ravel(), np.ascontiguousarray(F).ravel(), start, np.full(T, ITEMS), start + A,
        np.ascontiguousarray(R), np.ones(T), np.full(T * ITEMS, -1),
    )  # fmt: skip
    ours = stakes(rate=rate)
    lam = np.array([stakes(pv.usual_weight(most, FLOOR * ITEMS), rate=rate) for most in (1.0, float(ITEMS))])
    terms = np.empty((2, T, oc.BOUNDED))
    space = np.zeros((1, oc.BOUNDED)), np.empty(oc.BOUNDED), np.empty((2, J))
    probabilities = np.ascontiguousarray(np.tile(pi, (1, T)))
    assert oc.count(batch, probabilities, np.ones((2, T)), oc.Stakes(lam, lam[0], ours), terms, *space) == T
    sums, n = terms.cumsum(1), np.arange(1.0, T + 1.0)
    own, other = (P * means).sum(1).cumsum(), (means @ pi.T).cumsum(0).T
    wrong, width = [], []
    values: list[tuple[int, int, int, Any, Any, Any, int]] = [
        (0, oc.OWN_LOW, oc.OWN_HIGH, ours, own, n - own, oc.OWN),
        *((k, oc.LOW, oc.HIGH, lam[k], other[k], n - other[k], oc.PHI) for k in range(2)),
        *((k, oc.D_LOW, oc.D_HIGH, lam[k], own - other[k], other[k] - own, oc.D) for k in range(2)),
    ]
    intervals = [pv.own_interval, pv.other_interval, pv.other_interval, pv.lift_interval, pv.lift_interval]
    errors = []
    for (k, low, high, of, below, above, column), interval in zip(values, intervals, strict=True):
        under, over = (SHORT, LONG) if column == oc.D else (LONG, SHORT)
        level = levels(of.tolist(), ALPHA)
        wrong.append(
            exceeded(sums[k, :, low : low + J], of[under], below, level[under])
            or exceeded(sums[k, :, high : high + J], of[over], above, level[over])
        )
        found = interval(sums[k, -1].tolist(), bounded=True, alpha=ALPHA, lam=of.tolist())
        once = 2 * 1.96 * terms[k, :, column].std() / math.sqrt(T)
        width.append((float(found.upper - found.lower), float(once)))
        errors.append(float(abs(sums[k, -1, column] - below[-1]) / T))
    return wrong, width, errors


def coverage(kind: str, role: str, T: int, many: int, seed: int) -> dict[str, Any]:
    """A cell: of some loops, how many had a bound that was ever wrong, and the widths."""
    means, P, F, A, R, order = loops(kind, role, T, many, seed)
    found = [one_loop(means[order, i], P[order, i], F[order, i], A[order, i], R[order, i]) for i in range(many)]
    return {"wrong": [w for w, _, _ in found], "width": [w for _, w, _ in found], "error": [e for _, _, e in found]}


def coverage_table(made: Mapping[str, Any]) -> str:
    """Share of loops with any violation, and width over that of a fixed-sample interval, of each world."""
    rows = [
        [w["world"], f"{w['loops']:,}", *(f"{x:.2%} · {y:.2f}" for x, y in zip(w["wrong"], w["width"], strict=True))]
        for w in made["worlds"]
    ]
    return table(["world", "loops", *(f"{what}: ever wrong · width" for what in WHAT)], rows)


def once_table(made: Mapping[str, Any]) -> str:
    """How often a fixed-sample interval is right at the end, and how much wider it would have to be to be right in 95 % of the loops."""
    rows = [
        [w["world"], *(f"{x:.1%} · {y:.2f}" for x, y in zip(w["once right"], w["once needs"], strict=True))]
        for w in made["worlds"]
    ]
    return table(["world", *(f"{what}: right · needs" for what in WHAT)], rows)


@study(
    tiny={"T": 400, "loops": 2, "batch": 2, "role": "design"},
    tables={"coverage": coverage_table, "once": once_table},
    also=frozenset({"inference"}),
)
def value(cells: Cells, *, T: int = 10_000, loops: int = 400, batch: int = 20, role: str = "judge") -> Report:
    """Whether always-valid bounds on values are ever wrong, and how wide they are."""
    given = [
        {"kind": kind, "role": role, "T": T, "many": batch, "seed": seed}
        for kind in WORLDS
        for seed in range(loops // batch)
    ]
    found = cells(coverage, given)
    worlds = []
    for kind in WORLDS:
        mine = [one for one, case in zip(found, given, strict=True) if case["kind"] == kind]
        wrong = np.array([w for one in mine for w in one["wrong"]])
        width = np.array([w for one in mine for w in one["width"]])
        error = np.array([e for one in mine for e in one["error"]])
        ours, once = width[:, :, 0], width[:, :, 1]
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio, missed = ours / once, np.where(error > 0.0, 2.0 * error / once, 0.0)
        worlds.append(
            {
                "world": kind, "loops": len(wrong), "wrong": wrong.mean(0).tolist(),
                "width": (ours.mean(0) / once.mean(0)).tolist(),
                "median ratio": np.median(ratio, axis=0).tolist(),
                "share of loops within 1.6": (ratio <= 1.6).mean(0).tolist(),
                "once right": (missed <= 1.0).mean(0).tolist(),
                "once needs": np.quantile(missed, 1.0 - ALPHA, axis=0).tolist(),
            }
        )  # fmt: skip
    limit = ALPHA + 2.0 * math.sqrt(ALPHA * (1.0 - ALPHA) / (len(WORLDS) * loops))
    every = sum(w["loops"] * np.array(w["wrong"]) for w in worlds) / sum(w["loops"] for w in worlds)
    return Report({"role": role, "rounds": T, "what": WHAT, "worlds": worlds, "wrong": every.tolist(), "limit": limit})
