"""Cells: stored at once, resumed, never mixed, the same on any number of threads."""

import pathlib
import signal
import subprocess
import sys
import time
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

import small_experiment as small
from driftbandits.experiment import Published, SpecError, load, plan, publish
from driftbandits.experiment.run.runner import run_cells
from driftbandits.experiment.run.store import ResultStore


class Count:
    def __init__(self) -> None:
        self.steps: list[tuple[int, int]] = []

    def compiling(self, done: int, total: int) -> None:
        pass

    def running(self, done: int, total: int) -> None:
        self.steps.append((done, total))


def results(path: pathlib.Path) -> Any:
    return pq.read_table(path / "results.parquet").to_pydict()


def go(tmp_path: pathlib.Path, name: str = "out", text: str = small.TEXT, **options: Any) -> Published:
    return publish("small", [load(small.write(tmp_path, text))], tmp_path / name, with_report=False, **options)


def test_the_same_numbers_on_any_number_of_threads(tmp_path: pathlib.Path) -> None:
    go(tmp_path, "one", jobs=1)
    go(tmp_path, "three", jobs=3)
    assert results(tmp_path / "one") == results(tmp_path / "three")


def test_trials_are_those_of_the_library(tmp_path: pathlib.Path) -> None:
    import driftbandits as db

    done = go(tmp_path)
    curve = next(c for c in done.panels[0].curves if c.strategy == "OFUL")
    problem = lambda i: db.env.linear(db.env.unit_arms(8, dim=2, seed=i), db.env.rotating(60))  # noqa: E731
    runs = db.trials(db.zoo.oful(lam=2, S=1, L=1, R=1, delta=1 / 120), problem, trials=4, seed=0, checkpoints=12)
    np.testing.assert_array_equal(curve.regret, [r.regret for r in runs])


def test_what_is_there_is_not_computed_again(tmp_path: pathlib.Path) -> None:
    first, second = go(tmp_path), go(tmp_path)
    assert (first.computed, second.computed) == (8, 0)
    more = publish("small", [load(tmp_path / "small.toml", trials=6)], tmp_path / "out", with_report=False)
    assert (more.computed, more.total) == (4, 12)


def test_a_changed_spec_is_a_new_result_and_the_old_one_stays(tmp_path: pathlib.Path) -> None:
    first = go(tmp_path)
    before = results(tmp_path / "out")
    changed = go(tmp_path, text=small.replaced('gamma = "lb_gamma"', "gamma = 0.5"))
    assert changed.computed == 4  # only the strategy that changed
    assert results(tmp_path / "out") != before
    assert go(tmp_path).computed == 0
    assert results(tmp_path / "out") == before
    assert first.total == changed.total


def test_a_cell_is_stored_before_it_is_reported(tmp_path: pathlib.Path) -> None:
    cells = plan(load(small.write(tmp_path))).cells
    store = ResultStore(tmp_path / "out")
    seen = []

    class Look(Count):
        def running(self, done: int, total: int) -> None:
            seen.append((done, len(list((tmp_path / "out").rglob("*.parquet")))))

    run_cells(cells, store, jobs=2, progress=Look())
    assert [done for done, _ in seen] == list(range(9))
    assert all(stored >= done for done, stored in seen)
    assert not list((tmp_path / "out").rglob("*.part"))


def test_a_damaged_file_counts_as_absent(tmp_path: pathlib.Path) -> None:
    cells = plan(load(small.write(tmp_path))).cells
    store = ResultStore(tmp_path / "out")
    expected = run_cells(cells, store, jobs=1)
    first, second, third = (store.file(c.key) for c in cells[:3])
    first.write_bytes(first.read_bytes()[:100])
    second.write_bytes(b"")
    third.write_bytes(store.file(cells[3].key).read_bytes())  # another cell's result
    count = Count()
    again = run_cells(cells, store, jobs=1, progress=count)
    assert count.steps == [(5, 8), (6, 8), (7, 8), (8, 8)]
    for key, result in expected.items():
        np.testing.assert_array_equal(again[key].regret, result.regret)


def test_a_bad_spec_writes_nothing(tmp_path: pathlib.Path) -> None:
    with pytest.raises(SpecError):
        go(tmp_path, text=small.replaced('gamma = "lb_gamma"', "gamma = 2"))
    assert not (tmp_path / "out").exists()


def test_sigkill_loses_only_the_cells_in_flight(tmp_path: pathlib.Path) -> None:
    text = small.replaced("trials = 4", "trials = 8")
    path = small.write(tmp_path, text)
    command = [
        sys.executable,
        "-m",
        "driftbandits.cli",
        "run",
        str(path),
        "--out",
        str(tmp_path / "out"),
        "--jobs",
        "1",  # 16 cells take seconds without the compiler: a parent that had to wait for its turn still comes in time
        "--quiet",
    ]
    child = subprocess.Popen(command)
    deadline = time.monotonic() + 300
    while len(list((tmp_path / "out").rglob("*.parquet"))) < 3 and time.monotonic() < deadline:
        time.sleep(0.002)
    child.send_signal(signal.SIGKILL)
    child.wait()
    kept = len(list((tmp_path / "out" / "cells").rglob("*.parquet")))
    assert 3 <= kept < 16
    assert not (tmp_path / "out" / "summary.json").exists()
    resumed = publish("small", [load(path)], tmp_path / "out", jobs=2, with_report=False)
    assert resumed.computed == 16 - kept
    fresh = publish("small", [load(path)], tmp_path / "fresh", jobs=1, with_report=False)
    assert fresh.computed == 16
    assert results(tmp_path / "out") == results(tmp_path / "fresh")


def test_time_is_measured_alone_and_is_another_result(tmp_path: pathlib.Path) -> None:
    text = small.replaced("checkpoints = 12", 'checkpoints = 12\nmeasure = "time"') + '\n[figure]\nkind = "time"\n'
    timed = plan(load(small.write(tmp_path, text)))
    plain = plan(load(small.write(tmp_path)))
    assert all(c.alone for c in timed.cells)
    assert {c.key for c in timed.cells}.isdisjoint({c.key for c in plain.cells})
    done = publish("small", [timed.experiment], tmp_path / "out", with_report=False)
    assert all(s > 0 for c in done.panels[0].curves for s in c.seconds)
    assert {f.name for f in done.figures} == {"small.pdf", "small.png"}
