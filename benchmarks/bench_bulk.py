"""What a row of a log costs: CPU time, the best of several readings, beside its target. `python benchmarks/bench_bulk.py [rows]`.

Everything is called once before it is measured, because the compiler takes a minute. Targets are microseconds of CPU per row on one
quiet core (issue 27); a busy machine takes two to three times as long, so that only ratios of one run can be compared then. A measured
time that misses its target is marked.

"row by row" is the path that is taken where columns cannot be (`rows.parse`, `Bandit.observe`, `Bandit.decide`), which was the only one
before; pandas reads the same columns.
Vowpal Wabbit, river and bayesianbandits learn the same log in the same run where they are installed (`bulk_peers`): `make bench-bulk` runs
this in the environment that has them.
"""

import pathlib
import sys
import tempfile
import time

import bulk_peers
import numpy as np
import pandas as pd

import driftbandits as db
from driftbandits.replay.decode import Decoder
from driftbandits.tables import arrow_csv, text_files

ITEMS, NUMBERS, BEST = 10, 10, 3
# µs per row: with ten numbers (11 columns), and with three categories beside them (42).
TARGETS = {"fit": (5.0, 20.0), "decide_batch": (5.0, 10.0), "reward_batch": (5.0, 20.0), "fit by sums": (1.0, 1.0)}
REPLAY = {"a function": 5.0, "a Bandit": 15.0, "self_tuning": 30.0}
READ = {"CSV": 3.0, "Parquet": 1.0}
DURABLE = 150.0


def made(rows):
    """A log with ten items, ten numbers and three categories, chosen uniformly."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(rows, NUMBERS)), columns=[f"x{j}" for j in range(NUMBERS)])
    for j, size in enumerate((3, 8, 20)):
        frame[f"c{j}"] = [f"k{v}" for v in rng.integers(size, size=rows)]
    frame["item"] = [f"i{v}" for v in rng.integers(ITEMS, size=rows)]
    frame["reward"] = rng.integers(2, size=rows)
    return frame.assign(p=1.0 / ITEMS, at=1.7e9 + np.arange(rows))


def cost(step, rows, best=BEST):
    """Microseconds of CPU per row."""
    times = []
    for _ in range(best):
        start = time.process_time()
        step()
        times.append(time.process_time() - start)
    return 1e6 * min(times) / rows


def tell(name, measured, target, more=""):
    """One line: what was measured, and what was asked for."""
    word = "met" if measured <= target else f"MISSED, {measured / target:.1f} ×"
    print(f"{name:<38}{measured:9.2f} µs   target {target:6.1f}   {word}{'; ' + more if more else ''}", flush=True)


def reading(source, context):
    return db.Log.read(source, item="item", reward="reward", propensity="p", time="at", context=context)


def row_by_row(step):
    """The same without columns."""

    def gives_up(*_):
        raise arrow_csv.GaveUp
        yield

    kept = Decoder._by_columns, text_files.csv_by_arrow
    Decoder._by_columns, text_files.csv_by_arrow = (lambda *_: None), gives_up
    try:
        return step()
    finally:
        Decoder._by_columns, text_files.csv_by_arrow = kept


def always(items, context, at):
    """A policy."""
    return "i1"


def main(rows):
    frame = made(rows)
    wide = [name for name in frame if name[0] in "xc"]
    with tempfile.TemporaryDirectory() as folder:
        paths = {"CSV": pathlib.Path(folder, "log.csv"), "Parquet": pathlib.Path(folder, "log.parquet")}
        frame.to_csv(paths["CSV"], index=False)
        frame.to_parquet(paths["Parquet"])
        readers = {"CSV": pd.read_csv, "Parquet": pd.read_parquet}
        for name, path in paths.items():
            ours = cost(lambda path=path: reading(path, wide), rows)
            before = cost(lambda path=path: row_by_row(lambda: reading(path, wide)), rows, 1)
            pandas = cost(lambda name=name, path=path: readers[name](path), rows)
            more = f"{before / ours:.0f} × faster than row by row, {ours / pandas:.1f} × pandas"
            tell(f"Log.read {name}", ours, READ[name], more)
    narrow = [f"x{j}" for j in range(NUMBERS)]
    policies = {
        "a function": (rows, lambda: {"always i1": always}),
        "a Bandit": (rows, lambda: {"bandit": db.Bandit(reward="click")}),
        "self_tuning": (rows, lambda: {"self_tuning": db.zoo.self_tuning(reward="click")}),
    }
    for name, (many, made_policy) in policies.items():
        log = reading(frame[:many], narrow)
        db.replay(made_policy(), log, estimators=("ips",))  # compiled, or read from the cache
        took = cost(lambda log=log, policy=made_policy: db.replay(policy(), log, estimators=("ips",)), many, 2)
        tell(f"replay of {name}", took, REPLAY[name], f"{many} rows")


def learning(frame, context, one_by_one):
    """`fit`, batches and sums over one set of columns; `one_by_one` rows are learned by `observe` for comparison."""
    rows, columns = len(frame), {"item": "item", "reward": "reward", "time": "at", "context": context}
    few = frame[:one_by_one].to_dict("records")

    def observe():
        bandit = db.Bandit(reward="click")
        for row in few:
            bandit.observe(row["item"], {name: row[name] for name in context}, reward=row["reward"], at=row["at"])

    def batches(frame):
        bandit, ids = db.Bandit(reward="click"), []
        asked = frame[context]
        start = time.process_time()
        ids = bandit.decide_batch(asked, offers=[f"i{k}" for k in range(ITEMS)])["id"]
        middle = time.process_time()
        bandit.reward_batch(pd.DataFrame({"id": ids, "reward": frame["reward"]}))
        return middle - start, time.process_time() - middle

    some = frame[:1500]  # so many rows wait for the compiler, or are walked by code from the cache
    db.Bandit(reward="click").fit(some, **columns)
    db.Bandit(reward="click").fit(some, exact=False, tail=1, **columns)
    batches(some)
    fit = cost(lambda: db.Bandit(reward="click").fit(frame, **columns), rows, 2)
    single = cost(observe, one_by_one, 1)
    sums = cost(lambda: db.Bandit(reward="click").fit(frame, exact=False, tail=1, **columns), rows, 2)
    decide, reward = (1e6 * t / rows for t in batches(frame))
    p = db.Bandit(reward="click").fit(frame[:200], **columns).info()["columns"]
    wide = int(p > 2 * NUMBERS)
    measured = {"fit": fit, "decide_batch": decide, "reward_batch": reward, "fit by sums": sums}
    for name, took in measured.items():
        more = f"{single / fit:.1f} × faster than observe" if name == "fit" else ""
        tell(f"{name}, {p} columns, {ITEMS} items", took, TARGETS[name][wide], more)


def peers(frame, context):
    """The same rows learned by others; `river` learns a part of them, because it takes so long."""
    with tempfile.TemporaryDirectory() as folder:
        for name in bulk_peers.PEERS:
            part = frame[: len(frame) // 10] if name == "river" else frame
            job = bulk_peers.job(name, part, context, pathlib.Path(folder))
            if job is None:
                print(f"{name} is not installed here: `make bench-bulk` measures it", flush=True)
            else:
                took = cost(job, len(part), 1 if name == "river" else 2)
                print(f"{f'{name}, {len(context)} features':<38}{took:9.2f} µs", flush=True)


def durable(rows):
    """A decision and its reward in a file, each its own transaction."""
    with tempfile.TemporaryDirectory() as folder, db.Bandit.open(pathlib.Path(folder, "b"), reward="click") as bandit:
        items, context = [f"i{k}" for k in range(ITEMS)], {f"x{j}": 0.1 * j for j in range(NUMBERS)}

        def loop():
            for t in range(rows):
                bandit.reward(bandit.decide(items, context).id, t % 2)

        tell("durable decide + reward", cost(loop, rows, 2), DURABLE)


if __name__ == "__main__":
    N = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    main(N)
    LOG, PLAIN = made(N), [f"x{j}" for j in range(NUMBERS)]
    learning(LOG, PLAIN, 1000)
    peers(LOG, PLAIN)
    WIDE = LOG[: max(1000, N // 4)]
    learning(WIDE, [*PLAIN, "c0", "c1", "c2"], 300)
    peers(WIDE, [*PLAIN, "c0", "c1", "c2"])
    durable(500)
