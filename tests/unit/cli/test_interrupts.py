"""Ctrl-C at any time: one line, exit code 130, no unfinished file."""

import os
import pathlib
import signal
import subprocess
import sys
import time
from typing import Any

import pytest

import small_experiment as small

START = "from driftbandits_command import main; print('up', flush=True); main()"
PATIENCE = 300.0
LONG = small.replaced("horizon = 60", "horizon = 500").replace("trials = 4", "trials = 500")


def started(tmp_path: pathlib.Path) -> Any:
    small.write(tmp_path, LONG)
    child = subprocess.Popen(
        [sys.executable, "-c", START, "run", "small.toml", "--out", "out", "--jobs", "2", "--quiet"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "up\n"  # on a busy machine Python itself may take a second to start
    return child


def interrupted(child: Any) -> str:
    child.send_signal(signal.SIGINT)
    _, said = child.communicate(timeout=PATIENCE)
    assert child.returncode == 130, said
    return str(said)


@pytest.mark.parametrize("seconds", [0.1, 0.6])
def test_while_the_library_is_imported(tmp_path: pathlib.Path, seconds: float) -> None:
    child = started(tmp_path)
    time.sleep(seconds)
    said = interrupted(child)
    assert said.startswith("driftbandits: stopped; ")
    assert said.count("\n") == 1


def test_while_trials_run(tmp_path: pathlib.Path) -> None:
    child = started(tmp_path)
    deadline = time.monotonic() + PATIENCE
    while not list(tmp_path.rglob("*.parquet")) and time.monotonic() < deadline:
        time.sleep(0.05)
    said = interrupted(child)
    assert said == "driftbandits: stopped; finished trials are kept, and the same command resumes\n"
    assert list(tmp_path.rglob("*.parquet"))
    assert not list(tmp_path.rglob("*.part"))
