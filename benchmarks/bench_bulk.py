"""What a row of a log costs: CPU time, the best of several readings, as ratios. `python benchmarks/bench_bulk.py [rows]`.

"row by row" is the path that is taken where columns cannot be (`rows.parse`), which was the only one before; pandas reads the same columns.
Vowpal Wabbit, river and bayesianbandits learn from a log, so they are to be compared with `Bandit.fit`, which is not measured here.
"""

import pathlib
import sys
import tempfile
import time

import numpy as np
import pandas as pd

import driftbandits as db
from driftbandits.replay import arrow_csv, text_files
from driftbandits.replay.decode import Decoder

ITEMS, NUMBERS, BEST = 10, 10, 3


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
            print(
                f"Log.read {name}: {ours:.2f} µs per row, {before / ours:.0f} × faster than row by row, {ours / pandas:.1f} × pandas"
            )
            log = reading(path, wide)
            policy = {"always i1": always}
            replay = cost(lambda log=log, policy=policy: db.replay(policy, log, estimators=("ips",)), rows, 1)
            print(f"replay of a function, {name}: {replay:.2f} µs per row, {replay / ours:.1f} × reading it")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000)
