"""The same cells on a real Dask cluster of processes: the same numbers, and a killed worker costs only time."""

import os
import pathlib
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

import distributed
import numpy as np
import pytest

import small_experiment as small
from driftbandits.experiment import SpecError, load, plan
from driftbandits.experiment.run.cells import Result
from driftbandits.experiment.run.cluster import ClusterFailed, check_address, on_cluster
from driftbandits.experiment.run.runner import run_cells
from driftbandits.experiment.run.store import ResultStore

pytestmark = [pytest.mark.compiled, pytest.mark.xdist_group("cluster")]


@pytest.fixture(scope="module")
def scheduler() -> Iterator[Any]:
    import dask

    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 5, "distributed.worker.daemon": False}),
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster,
    ):
        yield cluster


def test_the_same_numbers_bit_for_bit(tmp_path: pathlib.Path, scheduler: Any) -> None:
    cells = plan(load(small.write(tmp_path))).cells
    here = run_cells(cells, ResultStore(tmp_path / "here"), jobs=1)
    there = run_cells(cells, ResultStore(tmp_path / "there"), cluster=scheduler.scheduler_address)
    assert here.keys() == there.keys()
    for key, result in here.items():
        np.testing.assert_array_equal(there[key].regret, result.regret)
    again = ResultStore(tmp_path / "there")
    assert all(again.get(cell.key) is not None for cell in cells)


@pytest.mark.slow
def test_a_killed_worker_costs_only_its_cells_time(tmp_path: pathlib.Path, scheduler: Any) -> None:
    text = small.replaced("horizon = 60", "horizon = 400000").replace("trials = 4", "trials = 8")
    cells = plan(load(small.write(tmp_path, text))).cells
    client = distributed.Client(scheduler.scheduler_address)
    pids = list(client.run(os.getpid).values())
    results: dict[str, Result] = {}

    def kill() -> None:
        while len(results) < 2:
            time.sleep(0.005)
        os.kill(pids[0], signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    for cell, result in on_cluster(list(cells), scheduler.scheduler_address):
        results[cell.key] = result
    killer.join()
    client.close()
    assert set(results) == {c.key for c in cells}
    here = run_cells(cells[:2], ResultStore(tmp_path / "here"), jobs=1)
    for key, result in here.items():
        np.testing.assert_array_equal(results[key].regret, result.regret)


@pytest.mark.slow
def test_local_n_starts_and_ends_a_cluster(tmp_path: pathlib.Path) -> None:
    cells = plan(load(small.write(tmp_path), trials=1)).cells
    assert len(run_cells(cells, ResultStore(tmp_path / "out"), cluster="local:1")) == 2


def test_addresses() -> None:
    check_address("local:2")
    check_address("tcp://10.0.0.1:8786")
    for wrong in ("local", "local:0", "local:x", "http://x"):
        with pytest.raises(SpecError, match="it must be local:N"):
            check_address(wrong)


def test_nobody_answers(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cells = plan(load(small.write(tmp_path), trials=1)).cells
    monkeypatch.setattr("driftbandits.experiment.run.cluster.TIMEOUT", 1)
    with pytest.raises(SpecError, match="no scheduler answers there"):
        list(on_cluster(list(cells), "tcp://127.0.0.1:1"))


SCHEDULER = """
import asyncio, distributed
async def serve():
    async with distributed.Scheduler(port=0, dashboard=False) as scheduler:
        print(scheduler.address, flush=True)
        async with distributed.Worker(scheduler.address, nthreads=1):
            await scheduler.finished()
asyncio.run(serve())
"""


@pytest.mark.slow
def test_a_scheduler_that_dies_is_one_line_and_what_is_finished_is_kept(tmp_path: pathlib.Path) -> None:
    text = small.replaced("horizon = 60", "horizon = 400000").replace("trials = 4", "trials = 8")
    cells = plan(load(small.write(tmp_path, text))).cells
    store = ResultStore(tmp_path / "out")
    process = subprocess.Popen(
        [sys.executable, "-c", SCHEDULER], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert process.stdout is not None

    class Kill:
        def compiling(self, done: int, total: int) -> None:
            pass

        def running(self, done: int, total: int) -> None:
            if done == 2:
                process.kill()

    try:
        with pytest.raises(ClusterFailed, match=r"the scheduler is gone; .* resumes$") as caught:
            run_cells(cells, store, cluster=process.stdout.readline().strip(), progress=Kill())
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
    assert "\n" not in str(caught.value)
    assert 2 <= sum(store.get(cell.key) is not None for cell in cells) < len(cells)
