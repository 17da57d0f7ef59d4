"""A test of the tests: mistakes that must not go unnoticed."""

import pathlib
import subprocess
import sys

import pytest

TOP = pathlib.Path(__file__).resolve().parents[2]


@pytest.mark.slow
def test_none_of_the_fixed_mutants_survives() -> None:
    """Eleven changes of one line each, tried on the tests of their modules, interpreted: see tools/mutate.py."""
    done = subprocess.run(
        [sys.executable, "tools/mutate.py", "fixed"], cwd=TOP, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("noticed ") == 11
