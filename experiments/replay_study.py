"""Can the estimates of `db.replay` be trusted? The tables of docs/replay.md.

Logs of a world whose truth is known (tests/logs.py): three items, one feature, a logger that prefers one item. For each of many logs the
error of every estimate and of both ends of its interval; and a log larger than the memory that its reader may use.
"""

import csv
import inspect
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

import driftbandits as db
from driftbandits.experiment.study import Cells, Report, study, table

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "tests"))
import logs

ROOT = pathlib.Path(__file__).resolve().parents[1]
Errors = dict[
    str, dict[str, tuple[float, float, float]]
]  # policy → estimator → errors of the value, and of the interval's ends


def errors(found: Any, truth: dict[str, float], estimators: tuple[str, ...]) -> Errors:
    """What each estimate of a replay is off by."""
    told: Errors = {}
    for name, true in truth.items():
        each = {e: found.estimate(name, e) for e in estimators}
        told[name] = {e: (x.value - true, x.low - true, x.high - true) for e, x in each.items()}
    return told


def fixed(seed: int) -> Errors:
    """Policies that never change, one of them with chance; 1000 rows."""
    asked = {"threshold": logs.threshold, "soft": logs.soft}
    truth = {name: logs.value(policy) for name, policy in asked.items()}
    return errors(db.replay(asked, logs.log(1000, seed), seed=seed), truth, ("replay", "ips", "snips", "dr"))


def learner(seed: int, history: str, estimators: tuple[str, ...]) -> Errors:
    """A policy that learns, in a world that drifts; the truth is what the very policies of its walk would have earned. 1000 rows."""
    logs.Learner.noted.clear()
    log, policy = logs.log(1000, seed, drift=True), logs.Learner(drift=True, rows=1000)
    found = db.replay({"learner": policy}, log, estimators=estimators, history=history, seed=seed)
    assert len(logs.Learner.noted) == 1000
    return errors(found, {"learner": float(np.mean(logs.Learner.noted))}, estimators)


def from_the_log(seed: int) -> Errors:
    """It learns from every row."""
    return learner(seed, "log", ("ips", "snips", "dr"))


def from_its_own(seed: int) -> Errors:
    """It learns from rows where it agrees."""
    return learner(seed, "own", ("replay", "ips", "snips"))


class Noted:
    """A bandit that notes what it would have earned."""

    def __init__(self, rows: int) -> None:
        self.bandit, self.noted, self.rows = db.Bandit(reward="click"), list[float](), rows

    def __deepcopy__(self, memo: Any) -> "Noted":
        return self  # one log, one walk: no copy is needed

    def decide(self, items: Any, context: Any, at: Any) -> Any:
        """Decide as the bandit does."""
        d = self.bandit.decide(items, context, at=at)
        t = len(self.noted) / self.rows
        self.noted.append(sum(p * logs.mean(item, context["x"], t, True) for item, p in d.propensities.items()))
        return d

    def reward(self, item: Any, reward: float, context: Any, at: Any) -> None:
        """Learn what the log chose."""
        self.bandit.observe(item, context, reward=reward, at=at)


def bandit(seed: int) -> Errors:
    """The default learner; 600 rows."""
    policy = Noted(600)
    found = db.replay({"bandit": policy}, logs.log(600, seed, drift=True), estimators=("snips", "dr"), seed=seed)
    return errors(found, {"bandit": float(np.mean(policy.noted))}, ("snips", "dr"))


KINDS: dict[str, Callable[[int], Errors]] = {
    "fixed": fixed,
    "log": from_the_log,
    "bandit": bandit,
    "own": from_its_own,
}
LABELS = {  # on the page; a policy's chance in a replay is seeded by its name there
    ("fixed", "threshold"): "fixed, no chance",
    ("fixed", "soft"): "fixed, with chance",
    ("log", "learner"): "learns from the log, with drift",
    ("bandit", "bandit"): "a `Bandit` that learns from the log, with drift, 600 rows",
    ("own", "learner"): "learns from its own history, with drift",
}


def summary(kind: str, found: list[Errors]) -> Iterator[dict[str, Any]]:
    """Bias in standard errors of its mean, and how often the interval held the truth, for each policy and estimator."""
    for name, estimators in found[0].items():
        for estimator in estimators:
            off, low, high = np.array([one[name][estimator] for one in found]).T
            error = off.std(ddof=1) / np.sqrt(len(off))
            yield {
                "policy": LABELS[kind, name],
                "estimator": estimator,
                "bias": float(off.mean()),
                "in_standard_errors": float(off.mean() / error),
                "coverage": float(np.mean((low <= 0.0) & (high >= 0.0))),
                "logs": len(off),
            }


def errors_of(kind: str, seed: int) -> Errors:
    """A cell: one log."""
    return KINDS[kind](seed)


def large_log(rows: int, allowed: int) -> dict[str, Any]:
    """A cell: a CSV file of 1400 bytes a row, read and replayed by a process that may use so many MB for data."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "log.csv"
        rng = np.random.default_rng(0)
        with path.open("w", newline="") as file:
            lines = csv.writer(file)
            lines.writerow(["at", "item", "r", "p", "x", "note"])
            for t in range(rows):
                k = int(rng.integers(3))
                lines.writerow(
                    [t, logs.ITEMS[k], int(rng.random() < 0.2 + 0.1 * k), 1 / 3, f"{rng.normal():.6f}", "." * 1400]
                )
        size = path.stat().st_size / 2**20
        # The child imports what it needs to replay and nothing of this file: its memory is what is measured.
        code = inspect.getsource(always_c) + inspect.getsource(read_with_a_limit)
        code = f"import json, resource, time\nimport driftbandits as db\n{code}\nread_with_a_limit({str(path)!r}, {allowed})"
        # Arrow's own allocator reserves a gigabyte of addresses, which it does not use but the limit counts.
        quiet = os.environ | {"ARROW_DEFAULT_MEMORY_POOL": "system", "OMP_NUM_THREADS": "1"}
        child = subprocess.run(
            [sys.executable, "-c", f"from typing import Any\n{code}"],
            check=True,
            capture_output=True,
            text=True,
            env=quiet,
        )
    return {"rows": rows, "file_MB": round(size), "allowed_MB": allowed, **json.loads(child.stdout)}


def always_c(items: Any) -> str:
    """A fixed policy."""
    return max(items)


def read_with_a_limit(path: str, megabytes: int) -> None:
    """The child of `large_log`: numbers as JSON."""
    resource.setrlimit(resource.RLIMIT_DATA, (megabytes * 2**20, megabytes * 2**20))
    began = time.process_time()
    log = db.Log.read(path, item="item", reward="r", propensity="p", time="at", context=["x"])
    read = time.process_time()
    found = db.replay({"c": always_c}, log, estimators=("ips", "snips")).estimate("c", "snips")
    told = {
        "resident_MB": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
        "micros_per_row_read": round(1e6 * (read - began) / len(log), 1),
        "micros_per_row_replayed": round(1e6 * (time.process_time() - read) / len(log), 1),
        "value": found.value,
        "low": found.low,
        "high": found.high,
    }
    print(json.dumps(told))


def beside_obp(folder: str) -> dict[str, Any]:
    """A cell: our estimates and those of the Open Bandit Pipeline."""
    sys.path.append(str(ROOT / "tools"))
    import compare_ope

    found: dict[str, Any] = compare_ope.compare(folder)
    return found


# ------------------------------------------------------------------------------------------------------------------ tables


def estimates_table(made: Mapping[str, Any]) -> str:
    """Bias and coverage of off-policy estimates; a policy's name stands once."""
    rows, last = [], ""
    for found in made["estimates"]:
        bias = f"{found['in_standard_errors']:+.1f}".replace("-", "−")
        rows.append(
            [
                "" if found["policy"] == last else found["policy"],
                found["estimator"],
                bias,
                f"{100 * found['coverage']:.1f} %",
            ]
        )
        last = found["policy"]
    return table(["policy", "estimator", "bias", "coverage of the 95 % interval"], rows)


def large_log_table(made: Mapping[str, Any]) -> str:
    """A log that does not fit into the memory it may use."""
    x = made["large_log"]
    head = ["rows", "file", "may use", "resident at its peak", "to read and check", "to replay a fixed policy"]
    row = [f"{x['rows']}", *(f"{x[k]} MB" for k in ("file_MB", "allowed_MB", "resident_MB"))]
    per = [f"{x[k]} µs per row" for k in ("micros_per_row_read", "micros_per_row_replayed")]
    return table(head, [[*row, *per]])


def other_ope_table(made: Mapping[str, Any]) -> str:
    """Our estimates beside those of the Open Bandit Pipeline."""
    rows = []
    for name, found in made["estimates"].items():
        told = [f"{x[0]:.6f}" + (f" [{x[1]:.4f}, {x[2]:.4f}]" if x[1:] else "") for x in (found["ours"], found["obp"])]
        rows.append([name, *told, f"{abs(found['ours'][0] - found['obp'][0]):.0e}"])
    return table(["", "ours", "obp", "difference"], rows)


ROOMS = frozenset({"agent", "bandit", "io", "replay", "util"})  # that decide an estimate, beside those of simulations


@study(
    tiny={"logs": 2, "rows": 300, "allowed": 4096, "kinds": ("fixed",)},
    also=ROOMS,
    tables={"estimates": estimates_table, "large_log": large_log_table},
)
def replay(
    cells: Cells, *, logs: int = 200, rows: int = 400_000, allowed: int = 512, kinds: Sequence[str] = tuple(KINDS)
) -> Report:
    """Whether the estimates of `db.replay` can be trusted: bias and coverage."""
    found: dict[str, Any] = {"estimates": []}
    for kind in kinds:
        made = cells(errors_of, [{"kind": kind, "seed": seed} for seed in range(logs)])
        found["estimates"] += summary(kind, made)
    found["large_log"] = cells(large_log, [{"rows": rows, "allowed": allowed}], alone=True)[0]
    return Report(found)


@study(tiny={}, also=ROOMS, tables={"other_ope": other_ope_table})
def replay_obp(cells: Cells, *, folder: str = "") -> Report:
    """Estimates of `db.replay` beside those of the Open Bandit Pipeline: `--set folder=` names where its package obp is."""
    if not folder:
        raise db.errors.InvalidValue("study replay_obp needs the package obp: --set folder=FOLDER says where it is")
    return Report(cells(beside_obp, [{"folder": folder}])[0])
