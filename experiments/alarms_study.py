"""How often alarms are false while nothing changes, and how soon a change is noticed, beside ADWIN and Page–Hinkley.

**Standing worlds.** Ten, in each of which `Bandit` decides and learns: clicks of 1, 5 and 17 %, normal and t₃ noise, revenue (mostly 0,
then log-normal), counts; 2 to 20 items, up to 20 columns of context with slopes of their own for each item. Counted are all drift events.

**Changes.** Eight kinds, in logs of uniformly random choices, which change once, at row 5,000; the delay is that of the next alarm.
ADWIN (Bifet, Gavaldà 2007) and Page–Hinkley (Page 1954) read the rewards, all together or apart for each item, whichever is faster in the
median. Both are written here, compiled; their alarms were those of river 0.26.1, row by row, in 30 runs of 4,000 rows. River's Page–Hinkley
fades its sums, which makes it slow; it is tried without that too, with three δ.
Their thresholds are the most sensitive ones with at most as many false alarms, in a log of the same world that stands still, as ours
raise on average over such logs of all eight worlds, rounded up in their favour.

The detector was designed on role "design"; "judge" has other worlds (items, sizes, seeds) and was looked at once.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numba import njit

import driftbandits as db
from driftbandits.bandit.alarms import Alarms
from driftbandits.experiment.study import Cells, Report, study, table

CHANGE = 5000
ROLES = {"design": 0, "judge": 1}

# ------------------------------------------------------------------------------------------------------------------ rewards


def rewards(kind: str, mean: Any, rng: np.random.Generator) -> Any:
    """Rewards with these standardised means: clicks are rare or not, amounts and t₃ have heavy tails."""
    if kind.startswith("clicks"):
        p = float(kind.removeprefix("clicks ").removesuffix(" %")) / 100.0
        return (rng.random(mean.shape) < np.clip(p * (1.0 + 0.5 * mean), 0.0, 1.0)).astype(float)
    if kind == "normal":
        return 0.5 * mean + rng.normal(size=mean.shape)
    if kind == "t₃":
        return 0.5 * mean + rng.standard_t(3, size=mean.shape)
    if kind == "revenue":
        bought = rng.random(mean.shape) < np.clip(0.1 * (1.0 + 0.5 * mean), 0.0, 1.0)
        return bought * 20.0 * np.exp(rng.normal(size=mean.shape))
    if kind == "counts":
        return rng.poisson(np.exp(0.3 * mean)).astype(float)
    raise ValueError(kind)


REWARD = {"revenue": "amount", "counts": "count"}

# ----------------------------------------------------------------------------------------------------------- standing worlds

STANDING = {  # name: kind of reward, items, columns of context
    "design": {
        "clicks 1 %, 10 items": ("clicks 1 %", 10, 0),
        "clicks 5 %, 10 items, 5 columns": ("clicks 5 %", 10, 5),
        "normal, 4 items, 20 columns": ("normal", 4, 20),
        "revenue, 10 items": ("revenue", 10, 0),
    },
    "judge": {
        "clicks 1 %, 5 items": ("clicks 1 %", 5, 0),
        "clicks 1 %, 5 items, 3 columns": ("clicks 1 %", 5, 3),
        "clicks 5 %, 20 items": ("clicks 5 %", 20, 0),
        "clicks 5 %, 4 items, 8 columns": ("clicks 5 %", 4, 8),
        "clicks 17 %, 8 items, 4 columns": ("clicks 17 %", 8, 4),
        "normal, 3 items": ("normal", 3, 0),
        "normal, 6 items, 20 columns": ("normal", 6, 20),
        "t₃, 5 items, 5 columns": ("t₃", 5, 5),
        "revenue, 6 items, 3 columns": ("revenue", 6, 3),
        "counts, 8 items, 2 columns": ("counts", 8, 2),
    },
}


def standing(role: str, world: str, T: int, trial: int) -> list[list[Any]]:
    """A cell: the drift events of a bandit that decides in a world that stands still, as (decision, kind)."""
    kind, items, d = STANDING[role][world]
    rng = np.random.default_rng([ROLES[role], 1, trial, items, d])
    theta, level = rng.normal(size=(items, d)) / math.sqrt(max(d, 1)), 0.5 * rng.normal(size=items)
    X = rng.normal(size=(T, d))
    R = rewards(kind, level + X @ theta.T, rng)
    bandit = db.Bandit(reward=REWARD.get(kind, "click" if kind.startswith("clicks") else "value"), seed=trial)
    names = [f"item {a}" for a in range(items)]
    place = {name: a for a, name in enumerate(names)}
    for t in range(T):
        context = {f"c{j}": x for j, x in enumerate(X[t].tolist())} if d else None
        decision = bandit.decide(names, context, at=float(t))
        bandit.reward(decision.id, float(R[t, place[decision.item]]))
    return [[event.decision, event.kind] for event in bandit.drift_events()]


# ------------------------------------------------------------------------------------------------------------------- changes

# name: kind of reward, items, columns of context, what changes and by how much (standardised means)
CHANGES = {
    "design": {
        "level, clicks 17 %": ("clicks 17 %", 3, 0, "level", -0.6),
        "level, clicks 5 %": ("clicks 5 %", 3, 0, "level", 1.0),
        "level, normal": ("normal", 3, 2, "level", 1.0),
        "switch, clicks 17 %": ("clicks 17 %", 4, 0, "switch", 1.0),
        "switch, normal": ("normal", 4, 2, "switch", 1.0),
        "slope, normal": ("normal", 3, 5, "slope", 1.0),
        "drift, normal": ("normal", 3, 0, "drift", 1.5),
        "switch in context, clicks 17 %": ("clicks 17 %", 3, 10, "slopes", 1.0),
    },
    "judge": {
        "level, clicks 17 %": ("clicks 17 %", 5, 3, "level", 0.8),
        "level, clicks 5 %": ("clicks 5 %", 2, 0, "level", -1.2),
        "level, normal": ("normal", 5, 0, "level", -0.8),
        "switch, clicks 17 %": ("clicks 17 %", 6, 3, "switch", 1.4),
        "switch, t₃": ("t₃", 3, 0, "switch", 1.6),
        "slope, normal": ("normal", 5, 8, "slope", 1.5),
        "drift, normal": ("normal", 4, 3, "drift", -2.0),
        "switch in context, clicks 17 %": ("clicks 17 %", 4, 6, "slopes", 1.5),
    },
}


def log(role: str, world: str, T: int, trial: int, *, changes: bool = True) -> tuple[Any, Any, Any]:
    """Items, context and rewards of a log of random choices that changes at row 5,000, or not at all."""
    kind, items, d, what, size = CHANGES[role][world]
    rng = np.random.default_rng([ROLES[role], 2, trial, items, d])
    theta, level = 0.5 * rng.normal(size=(items, d)) / math.sqrt(max(d, 1)), 0.3 * rng.normal(size=items)
    X, a = rng.normal(size=(T, d)), rng.integers(0, items, T)
    later = np.arange(T) >= CHANGE if changes else np.zeros(T, np.bool_)
    mean = level[a] + (X * theta[a]).sum(axis=1)
    if what == "level":
        mean += size * later
    elif what == "drift":  # over 2,000 rows
        mean += size * np.clip((np.arange(T) - CHANGE) / 2000.0, 0.0, 1.0) * changes
    elif what == "switch":  # the best and the worst item change places; the mean of all stays
        ahead = np.where(a == 0, size, np.where(a == 1, -size, 0.0))
        mean += np.where(later, -ahead, ahead)
    elif what == "slope":  # the first column counts the other way, for all items
        mean += size * X[:, 0] * np.where(later, -1.0, 1.0)
    elif what == "slopes":  # which of two items is best depends on two columns, and changes
        ahead = size * (X[:, 0] + X[:, 1]) / math.sqrt(2.0) * np.where(a == 0, 1.0, np.where(a == 1, -1.0, 0.0))
        mean += np.where(later, -ahead, ahead)
    return a, X, rewards(kind, mean, rng)


def ours(a: Any, X: Any, r: Any) -> list[int]:
    """Rows at which `Bandit.fit` has drift events: the detector alone, without the learner beside it."""
    alarms, rows = Alarms(), np.zeros((len(r), 0))
    blocks = alarms.blocks([(item, True) for item in a.tolist()], rows, X, None)
    told = np.column_stack([r, np.ones(len(r)), np.arange(1, len(r) + 1), blocks]).astype(np.float64)
    return [found.decision for found in alarms.walk(rows, np.ascontiguousarray(X), told, alarms.begin())]


# ------------------------------------------------------------------------------------------------------------------ baselines

M = 5  # buckets of each size in ADWIN's histogram
LEVELS = 40


@njit(cache=True)  # type: ignore[untyped-decorator]
def adwin(x: Any, delta: float, clock: int = 32) -> Any:
    """ADWIN2: rows at which the window was cut; an exponential histogram, looked at every `clock` rows. As in river it then starts anew."""
    total, var, many = np.zeros((LEVELS, M + 2)), np.zeros((LEVELS, M + 2)), np.zeros(LEVELS, np.int64)
    n, s, v, top = 0.0, 0.0, 0.0, 0
    out = [0]
    for t in range(len(x)):
        if n > 0:
            v += n * (x[t] - s / n) ** 2 / (n + 1.0)
        n += 1.0
        s += x[t]
        many[0] += 1
        total[0, many[0] - 1], var[0, many[0] - 1] = x[t], 0.0
        for k in range(LEVELS - 1):  # the two oldest of M + 1 become one of twice the size
            if many[k] <= M:
                break
            size = 2.0**k
            gap = total[k, 0] / size - total[k, 1] / size
            many[k + 1] += 1
            total[k + 1, many[k + 1] - 1] = total[k, 0] + total[k, 1]
            var[k + 1, many[k + 1] - 1] = var[k, 0] + var[k, 1] + size * gap * gap / 2.0
            for i in range(2, many[k]):
                total[k, i - 2], var[k, i - 2] = total[k, i], var[k, i]
            many[k] -= 2
            top = max(top, k + 1)
        if (t + 1) % clock or n <= 10:
            continue
        cut = False
        n0, s0 = 0.0, 0.0
        for k in range(top, -1, -1):
            for i in range(many[k]):
                n0 += 2.0**k
                s0 += total[k, i]
                n1 = n - n0
                if cut or n0 < 5 or n1 < 5:
                    continue
                L = math.log(2.0 * math.log(n) / delta)
                m = 1.0 / (1.0 / (n0 - 4.0) + 1.0 / (n1 - 4.0))
                eps = math.sqrt(2.0 / m * (v / n) * L) + 2.0 / 3.0 / m * L
                cut = abs(s0 / n0 - (s - s0) / n1) > eps
        if cut:
            out.append(t)
            n, s, v, top = 0.0, 0.0, 0.0, 0
            many[:] = 0
    return out[1:]


@njit(cache=True)  # type: ignore[untyped-decorator]
def page_hinkley(x: Any, threshold: float, delta: float = 0.005, alpha: float = 0.9999) -> Any:
    """Page–Hinkley on both sides, as river has it: rows of alarms; it starts anew after each."""
    out = [0]
    n, mean, up, down, least, most = 0, 0.0, 0.0, 0.0, np.inf, -np.inf
    for t in range(len(x)):
        n += 1
        mean += (x[t] - mean) / n
        up = alpha * up + (x[t] - mean - delta)
        down = alpha * down + (x[t] - mean + delta)
        least, most = min(least, up), max(most, down)
        if n >= 30 and (up - least > threshold or most - down > threshold):
            out.append(t)
            n, mean, up, down, least, most = 0, 0.0, 0.0, 0.0, np.inf, -np.inf
    return out[1:]


UNFADED = (0.05, 0.1, 0.2)  # δ of Page–Hinkley, in standard deviations


def unfaded(delta: float) -> Any:
    """Page–Hinkley as published, without river's fading of sums (α = 1); δ should be about half of the change, which nobody knows."""
    return lambda x, threshold: page_hinkley(x, threshold, delta, 1.0)


GRIDS = {
    "ADWIN": (adwin, [10.0 ** (-k / 2.0) for k in range(2, 30)]),
    "Page–Hinkley": (page_hinkley, [2.0 ** (k / 4.0) for k in range(8, 48)]),
    **{f"unfaded δ = {delta:g}": (unfaded(delta), [2.0 ** (k / 4.0) for k in range(8, 44)]) for delta in UNFADED},
}


def baseline(name: str, a: Any, r: Any, setting: float, *, apart: bool) -> list[int]:
    """Rows of alarms of a detector on all rewards, or on those of each item; rewards are divided by their standard deviation."""
    detect = GRIDS[name][0]
    x = r / max(float(r[:CHANGE].std()), 1e-9)
    if not apart:
        return list(detect(x, setting))
    rows = [np.flatnonzero(a == item) for item in np.unique(a)]
    return sorted(int(mine[t]) for mine in rows for t in detect(x[mine], setting))


def false_alarms(role: str, world: str, rows: int) -> int:
    """A cell: our alarms in a log of this world that stands still."""
    return len(ours(*log(role, world, rows, 10_000, changes=False)))


def calibrated(role: str, world: str, name: str, apart: bool, rows: int, allowed: int) -> float:
    """A cell: the most sensitive setting with at most so many alarms in the log that stands still."""
    a, _, r = log(role, world, rows, 10_000, changes=False)
    for setting in GRIDS[name][1]:
        if len(baseline(name, a, r, setting, apart=apart)) <= allowed:
            return setting
    return GRIDS[name][1][-1]


def delays(role: str, world: str, T: int, trial: int, settings: Mapping[str, float]) -> dict[str, Any]:
    """A cell: of each detector, rows from the change to its first alarm (None: not noticed), alarms before it and after it."""
    a, X, r = log(role, world, T, trial)
    found = {"ours": ours(a, X, r)}
    for key, setting in settings.items():
        name, _, how = key.partition(", ")
        found[key] = baseline(name, a, r, setting, apart=how == "apart")
    return {
        key: {
            "delay": next((t - CHANGE for t in rows if t > CHANGE), None),
            "before": sum(t <= CHANGE for t in rows),
            "after": sum(t > CHANGE for t in rows),
        }
        for key, rows in found.items()
    }


def median(found: Sequence[float | None]) -> float | None:
    """The median delay; None if fewer than half were noticed."""
    middle = float(np.median([math.inf if x is None else x for x in found]))
    return middle if math.isfinite(middle) else None


# -------------------------------------------------------------------------------------------------------------------- tables


def standing_table(made: Mapping[str, Any]) -> str:
    """False alarms of each standing world."""
    rows = [[w["world"], f"{w['decisions']:,}", str(w["alarms"])] for w in made["standing"]]
    many, all_ = sum(w["alarms"] for w in made["standing"]), sum(w["decisions"] for w in made["standing"])
    rows.append(["all", f"{all_:,}", f"{many} ({1e5 * many / max(all_, 1):.2f} per 10⁵)"])
    return table(["world that stands still", "decisions", "false alarms"], rows)


def delays_table(made: Mapping[str, Any]) -> str:
    """Median delays."""

    def spoken(x: float | None) -> str:
        return "not noticed" if x is None else f"{x:,.0f}"

    rows = [
        [w["world"], *(spoken(w[name]) for name in ("ours", *GRIDS)), f"{w['noticed']:.0%}", f"{w['after']:.2f}"]
        for w in made["changes"]
    ]
    return table(["change", "ours", *GRIDS, "noticed by ours", "alarms per change"], rows)


@study(
    tiny={"T": 40, "trials": 1, "changed": 5040, "logs": 1, "rows": 300, "role": "design", "most": 1},
    tables={"standing": standing_table, "delays": delays_table},
    also=frozenset({"bandit", "alarms"}),
)
def alarms(
    cells: Cells,
    *,
    T: int = 20_000,
    trials: int = 3,
    changed: int = 15_000,
    logs: int = 24,
    rows: int = 400_000,
    role: str = "judge",
    most: int = 10,
) -> Report:
    """How often alarms are false, and how soon a change is noticed, beside ADWIN and Page–Hinkley."""
    worlds = [*CHANGES[role]][:most]
    wrong = cells(false_alarms, [{"role": role, "world": w, "rows": rows} for w in worlds])
    keys = [(name, apart) for name in GRIDS for apart in (False, True)]
    same = {"role": role, "rows": rows, "allowed": math.ceil(sum(wrong) / len(worlds))}
    set_ = cells(calibrated, [{**same, "world": w, "name": n, "apart": apart} for w in worlds for n, apart in keys])
    settings = [
        {f"{n}, {'apart' if apart else 'together'}": set_[k * len(keys) + j] for j, (n, apart) in enumerate(keys)}
        for k in range(len(worlds))
    ]
    given = [
        {"role": role, "world": w, "T": changed, "trial": i, "settings": settings[k]}
        for k, w in enumerate(worlds)
        for i in range(logs)
    ]
    late = cells(delays, given)
    changes = []
    for k, w in enumerate(worlds):
        mine = late[k * logs : (k + 1) * logs]
        medians = {key: median([one[key]["delay"] for one in mine]) for key in mine[0]}
        best = {
            name: min(
                (medians[key] for key in medians if key.startswith(name) and medians[key] is not None), default=None
            )
            for name in GRIDS
        }
        changes.append(
            {
                "world": w, "ours": medians["ours"], **best, "medians": medians, "settings": settings[k],
                "noticed": float(np.mean([one["ours"]["delay"] is not None for one in mine])),
                "before": sum(one["ours"]["before"] for one in mine),
                "after": float(np.mean([one["ours"]["after"] for one in mine])),
            }
        )  # fmt: skip
    still = [*STANDING[role]][:most] if trials else []
    found = cells(standing, [{"role": role, "world": w, "T": T, "trial": i} for w in still for i in range(trials)])
    events = [found[k * trials : (k + 1) * trials] for k in range(len(still))]
    told = [
        {"world": w, "decisions": T * trials, "alarms": sum(map(len, of)), "events": of}
        for w, of in zip(still, events, strict=True)
    ]
    false = {"rows": rows * len(worlds), "alarms": sum(wrong)}
    return Report({"role": role, "standing": told, "changes": changes, "logs": logs, "false_in_logs": false})
