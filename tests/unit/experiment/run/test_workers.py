"""Other processes: started at once, deaf to Ctrl-C, gone with the block, and never the caller's script again."""

import multiprocessing
import multiprocessing.context
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures.process import BrokenProcessPool

import pytest

from driftbandits.experiment.run.workers import _Worker, workers


def test_they_work_elsewhere_do_not_hear_interrupts_and_end_with_the_block() -> None:
    script = sys.modules["__main__"]
    with workers(2, prepare=os.getpid) as pool:
        assert sys.modules["__main__"] is script
        assert len(multiprocessing.active_children()) == 2
        assert pool.submit(os.getpid).result() != os.getpid()
        assert signal.SIGINT in pool.submit(signal.pthread_sigmask, signal.SIG_BLOCK, []).result()
        assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, [])
        for _ in range(3):
            pool.submit(time.sleep, 1000)
    assert multiprocessing.active_children() == []


def test_a_pool_ends_its_own_processes_only() -> None:
    first, second = workers(1, prepare=os.getpid), workers(1, prepare=os.getpid)
    first.__enter__()
    with second as pool:
        first.__exit__(None, None, None)
        assert pool.submit(os.getpid).result() != os.getpid()
    assert multiprocessing.active_children() == []


def test_threads_start_theirs_one_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """For the time of a start `__main__` is another module: two starts at once would put the wrong one back for ever."""
    script, inside, most = sys.modules["__main__"], [0], [0]

    def start(process: _Worker) -> None:
        inside[0] += 1
        most[0] = max(most[0], inside[0])
        assert sys.modules["__main__"] is not script
        time.sleep(0.1)
        inside[0] -= 1

    monkeypatch.setattr(multiprocessing.context.SpawnProcess, "start", start)
    threads = [threading.Thread(target=_Worker().start) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1]
    assert sys.modules["__main__"] is script


def test_one_that_dies_is_told() -> None:
    with workers(1, prepare=os.getpid) as pool, pytest.raises(BrokenProcessPool):
        pool.submit(os._exit, 3).result()


KILLED = """
import os, time
from driftbandits.experiment.run.workers import _Worker, workers
with workers(1, prepare=os.getpid) as pool:
    print(pool.submit(os.getpid).result(), flush=True)
    pool.submit(time.sleep, 1000)
    os._exit(9)
"""


def test_they_end_when_their_parent_is_killed() -> None:
    done = subprocess.run([sys.executable, "-c", KILLED], stdout=subprocess.PIPE, text=True, timeout=300)
    deadline = time.monotonic() + 300
    while time.monotonic() < deadline and _is_alive(int(done.stdout)):
        time.sleep(0.05)
    assert not _is_alive(int(done.stdout))


def _is_alive(pid: int) -> bool:
    """Is there such a process, and not only its entry in the table?"""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


SCRIPT = """
import os
from driftbandits.experiment.run.workers import _Worker, workers
print("script")
with workers(1, prepare=os.getpid) as pool:
    assert pool.submit(os.getpid).result() != os.getpid()
"""


def test_a_script_without_a_guard_runs_once(tmp_path: pathlib.Path) -> None:
    (tmp_path / "script.py").write_text(SCRIPT)
    done = subprocess.run([sys.executable, tmp_path / "script.py"], capture_output=True, text=True, timeout=300)
    assert (done.stdout, done.stderr, done.returncode) == ("script\n", "", 0)
