"""Mistakes that must be noticed, each by the tests of its module (`tests/unit/test_mutants.py`)."""

import os
import resource
import sys
from collections.abc import Sequence

from mutants.changes import PACKAGE
from mutants.recording import silence
from mutants.swap import Changed

UNIT = "tests/unit"
LINEAR, GENERALIZED = f"{UNIT}/zoo/test_linear.py", f"{UNIT}/zoo/test_generalized_linear.py"
SLOWEST = 300  # seconds of CPU; a mutant that takes longer is killed, and counts as noticed

#: Mistakes that must be noticed: file, what it says, what it would say, and the tests that must notice.
FIXED: tuple[tuple[str, str, str, tuple[str, ...]], ...] = (
    ("memory/discounted.py", "weight * memory.gamma**age", "weight", (f"{UNIT}/memory/test_late.py",)),
    ("memory/window.py", "if age >= W or", "if age > W or", (f"{UNIT}/memory/test_late.py",)),
    ("memory/restart.py", "if age < history", "if age <= history", (f"{UNIT}/memory/test_late.py",)),
    ("model/linear.py", "cholesky(sums.A2, model.lam", "cholesky(sums.A2, 0.5 * model.lam", (LINEAR,)),
    ("model/generalized.py", "model.lam * model.c_mu, sums.b", "model.lam, sums.b", (GENERALIZED,)),
    ("radius/self_normalised.py", "sqrt(2.0 * failure + volume)", "sqrt(failure + volume)", (LINEAR,)),
    ("radius/self_normalised.py", "rounds = n[1] if radius.squared else n[0]", "rounds = n[0]", (LINEAR,)),
    ("rule/bonus.py", "(abs(z) if rule.optimistic else z)", "z", (LINEAR,)),
    ("rule/width.py", "p * square / (g * square +", "p * square / (square +", (f"{UNIT}/simulate/test_runs.py",)),
    ("meta/exp3ix.py", "np.exp(-eta * (", "np.exp(eta * (", (f"{UNIT}/meta/test_exp3ix.py",)),
    ("meta/exp3ix.py", "0.5 * learning_rate", "learning_rate", (f"{UNIT}/meta/test_exp3ix.py",)),
)


def try_all() -> int:
    """Try each; how many survive. The tests must pass on the code as it is, or a failure would say nothing."""
    failing = [tests for tests in {row[3] for row in FIXED} if _noticed(None, tests)]
    if failing:
        print(f"these fail on the code as it is: {failing}")
        return len(FIXED)
    survived = 0
    for file, old, new, tests in FIXED:
        source = (PACKAGE / file).read_text(encoding="utf-8")
        if source.count(old) != 1:
            raise SystemExit(f"{file} says {old!r} {source.count(old)} times; the fixed set is out of date")
        seen = _noticed(Changed(file, source.replace(old, new)), tests)
        print(f"{'noticed ' if seen else 'SURVIVED'} {file}: {old} → {new or 'nothing'}", flush=True)
        survived += not seen
    return survived


def _noticed(changed: Changed | None, tests: Sequence[str]) -> bool:
    """Does a test fail, or does nothing end? Of None: do the tests fail on the code as it is?"""
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_CPU, (SLOWEST, SLOWEST))
        _run(changed, tests)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != 0


def _run(changed: Changed | None, tests: Sequence[str]) -> None:
    """In the child: the tests, silently, until one fails."""
    import pytest

    if changed is not None:
        sys.meta_path.insert(0, changed)
    silence()
    code = pytest.main(["-x", "-q", "-n0", "-p", "no:cacheprovider", "-m", "not slow and not compiled", *tests])
    os._exit(int(code))
