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

START = "from driftbandits_command import main; main()"
LONG = small.replaced("horizon = 60", "horizon = 500").replace("trials = 4", "trials = 500")


def started(tmp_path: pathlib.Path) -> Any:
    small.write(tmp_path, LONG)
    return subprocess.Popen(
        [sys.executable, "-c", START, "run", "small.toml", "--out", "out", "--jobs", "2", "--quiet"],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
    )


def interrupted(child: Any) -> str:
    child.send_signal(signal.SIGINT)
    _, said = child.communicate(timeout=60)
    assert child.returncode == 130, said
    return str(said)


@pytest.mark.parametrize("seconds", [0.3, 0.8])
def test_while_the_library_is_imported(tmp_path: pathlib.Path, seconds: float) -> None:
    child = started(tmp_path)
    time.sleep(seconds)
    said = interrupted(child)
    assert said.startswith("driftbandits: stopped; ")
    assert said.count("\n") == 1


def test_while_trials_run(tmp_path: pathlib.Path) -> None:
    child = started(tmp_path)
    deadline = time.monotonic() + 60
    while not list(tmp_path.rglob("*.parquet")) and time.monotonic() < deadline:
        time.sleep(0.05)
    said = interrupted(child)
    assert said == "driftbandits: stopped; what is finished is kept, and the same command resumes\n"
    assert list(tmp_path.rglob("*.parquet"))
    assert not list(tmp_path.rglob("*.part"))
