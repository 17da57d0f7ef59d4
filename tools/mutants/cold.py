"""A process for one mutant of what runs at import: `python cold.py FILE SECONDS TEST …`, the changed source on standard input."""

import os
import pathlib
import resource
import sys

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1])]
file, seconds, tests = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))

import pytest  # noqa: E402

from mutants.swap import Changed  # noqa: E402

if file:
    sys.meta_path.insert(0, Changed(file, sys.stdin.read()))
os._exit(int(pytest.main(["-x", "-q", "-n0", "-p", "no:cacheprovider", "-m", "not slow", *tests])))
