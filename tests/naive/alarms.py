"""The change detector from its equations: every quantity from the whole history, in plain NumPy."""

import math
from typing import Any, NamedTuple

import numpy as np

from driftbandits.alarms.bettors import KAPPA, KNOWS, LARGEST, LEVERAGE, OWN_KNOWS
from driftbandits.alarms.state import FIRST, MEMORIES, RIDGE, SHARES, WAVES


class Round(NamedTuple):
    """What is known of a past round: columns, block, residual and forecast; w if it was bet on."""

    z: Any
    block: int
    u: float | None  # None: of large leverage
    f: float
    w: float | None
    own: bool  # whether bets on the item were open


def standardised(X: Any) -> Any:
    """Columns of all rounds: each is 0 until it has had 20 values that vary, by whose mean and deviation it is scaled."""
    Z = np.zeros((len(X), X.shape[1] + 1))
    Z[:, 0] = 1.0
    for j in range(X.shape[1]):
        there = np.flatnonzero(~np.isnan(X[:, j]))
        for end in range(FIRST, len(there) + 1):
            first = X[there[:end], j]
            if np.ptp(first) > 0.0:
                later = there[end:]
                Z[later, j + 1] = np.clip((X[later, j] - first.mean()) / first.std(), -LARGEST, LARGEST)
                break
    return Z


def total(X: Any, r: Any, blocks: Any, waves: Any) -> Any:
    """Σ π SR after every reward; X (T, d) raw columns, NaN where they are missing."""
    Z, y = standardised(X), r - r[0]
    D, past, out = Z.shape[1], [], []
    opened: set[Any] = set()  # "all" and the blocks on which bets have begun: for good
    table: dict[Any, tuple[float, float]] = {}  # SR of each bettor, and its share
    for t, (z, a) in enumerate(zip(Z, blocks, strict=True)):
        mine = [s for s in range(t) if blocks[s] == a]
        A = RIDGE * np.eye(D) + Z[mine].T @ Z[mine]
        h = float(z @ np.linalg.solve(A, z))
        f = float(z @ np.linalg.solve(A, Z[mine].T @ y[mine]))
        u = (y[t] - f) / math.sqrt(1.0 + h) if h < LEVERAGE else None
        w, own = None, False
        known = np.array([p.u for p in past if p.u is not None])
        if u is not None and (known**2).sum() ** 2 >= KNOWS * (known**4).sum() > 0.0:
            opened.add("all")
        if u is not None and "all" in opened:
            v, iota, knows = scale(past, known, f, a)
            if knows:
                opened.add(a)
            own = a in opened
            w = u / math.sqrt(v)
            for key, stake, share in stakes(past, z, a, own, waves):
                lam = min(max(stake, -1.0), 1.0)
                e = (1.0 + lam * w + 0.5 * (lam * w) ** 2) * math.exp(-0.5 * iota * lam * lam)
                table[key] = e * (table.get(key, (0.0, share))[0] + 1.0), share
        past.append(Round(z, a, u, f, w, own))
        out.append(sum(share * sr for sr, share in table.values()))
    return np.array(out)


def scale(past: list[Round], known: Any, f: float, a: int) -> tuple[float, float, bool]:
    """v, ι, and whether enough is known of the item."""
    fs = np.array([p.f for p in past if p.u is not None])
    n, mean = len(known), float((known**2).mean())
    slope = ((known**2 * (fs - fs.mean())).sum()) / ((n + KAPPA) * fs.var()) if fs.var() > 0.0 else 0.0
    item = np.array([p.u for p in past if p.u is not None and p.block == a])
    own = ((item**2).sum() + KAPPA * mean) / (len(item) + KAPPA)
    v = max(min(max(mean + slope * (f - fs.mean()), 0.25 * mean), 4.0 * mean), min(own, 4.0 * mean))
    iota = 1.0 + math.sqrt((known**4).sum()) / (known**2).sum()
    return v, iota, (item**2).sum() ** 2 >= OWN_KNOWS * (item**4).sum() > 0.0


def stakes(past: list[Round], z: Any, a: int, own: bool, waves: Any) -> Any:
    """Every open bet: (bettor, stake, share)."""
    D, M = len(z), len(MEMORIES)
    bets = [p for p in past if p.w is not None]
    sides = [("all", bets, SHARES[:3])] + (
        [(a, [p for p in bets if p.block == a and p.own], SHARES[3:6])] if own else []
    )
    for who, rounds, (first, column, several) in sides:
        for m in MEMORIES:
            together = 0.0
            for j in range(D):
                if j > 0 and z[j] == 0.0:
                    continue  # this round is none of the bettor's
                seen = [p for p in rounds if j == 0 or p.z[j] != 0.0]
                fade = (1.0 - 1.0 / m) ** np.arange(len(seen) - 1, -1, -1)
                gw = sum(g * p.z[j] * p.w for g, p in zip(fade, seen, strict=True))
                beta = gw / (sum(g * p.z[j] ** 2 for g, p in zip(fade, seen, strict=True)) + KAPPA)
                if gw * beta > 2.0:
                    together += beta * (1.0 - 2.0 / (gw * beta)) * z[j]
                yield (who, m, j), beta * z[j], first / M if j == 0 else column / M / (D - 1)
            if D > 1:
                yield (who, m, "several"), together, several / M
    if D > 1:
        for i, (p, q, b, c, phase) in enumerate(waves):

            def g(x: Any) -> float:
                return math.cos(phase + b * x[int(p)] + c * x[int(q)])

            gw = sum(g(s.z) * s.w for s in bets)
            yield ("wave", i), g(z) * gw / (sum(g(s.z) ** 2 for s in bets) + 0.5 * KAPPA), SHARES[6] / WAVES
