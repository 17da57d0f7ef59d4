"""Judge mutants: a fork for each, in which the tests that reach it run, nearest and quickest first, until one fails.

The tests are collected once, in this process, which runs none of them: each fork begins where all modules have been imported. A test that
fails is asked again in a fork without the mutant: if it fails there too, it says nothing, and is not asked again.
"""

import contextlib
import gc
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import pytest

from mutants import reach
from mutants.changes import TOP, Mutant
from mutants.reach import Asked, Reach, World
from mutants.recording import silence
from mutants.swap import CannotSwap, Functions, functions, swap

MOST = 30.0  # CPU seconds, as recorded, of the tests that are asked about one mutant
MOST_COLD = 15.0  # the same for a mutant that needs a process of its own
PATIENCE, SLACK = 5.0, 5.0  # a test that takes so many times as long as it did, and so many seconds more, has no end
MEMORY = 8 << 30  # bytes
COLD = TOP / "tools" / "mutants" / "cold.py"


class Verdict(NamedTuple):
    """What became of a mutant."""

    noticed: bool
    how: str  # "failed", "endless", "crashed"; else "not noticed" or "not reached"
    test: str  # which noticed
    asked: int  # tests that were asked
    reach: int  # tests that reach it
    seconds: float  # of CPU


class Judge:
    """A plugin of pytest that runs no test in its own process, and judges mutants instead."""

    def __init__(self, mutants: Sequence[Mutant], told: Callable[[Mutant, Verdict], None], world: World) -> None:
        self.mutants, self.told = mutants, told
        self.world, self.records = world, list[Reach]()
        self.unsound: set[str] = set()
        self.sound: set[str] = set()
        self.items: dict[str, pytest.Item] = {}
        self.functions: Functions = {}

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Instead of running the tests."""
        self.items = {item.nodeid: item for item in session.items}
        self.functions, self.records = functions(), reach.known(self.world)
        gc.freeze()
        for mutant in self.mutants:
            self.told(mutant, self._verdict(mutant))
        return True

    def _verdict(self, mutant: Mutant) -> Verdict:
        """Ask the tests that reach it."""
        began = _spent()
        all_ = [asked for asked in reach.who_reaches(mutant, self.records) if asked.test in self.items]
        if not all_:
            return Verdict(False, "not reached", "", 0, 0, 0.0)
        how, test, many = self._ask(mutant, [asked for asked in all_ if asked.test not in self.unsound])
        return Verdict(how != "not noticed", how, test, many, len(all_), round(_spent() - began, 1))

    def _ask(self, mutant: Mutant, tests: list[Asked]) -> tuple[str, str, int]:
        if mutant.in_function:
            chosen = _within(tests, MOST)
            try:
                how, test = self._fork(mutant, chosen)
            except CannotSwap:
                how, test = _cold(mutant, _within(tests, MOST_COLD))
            if how == "failed" and not self._passes(test):
                self.unsound.add(test)
                return self._ask(mutant, [asked for asked in tests if asked.test != test])
            return how, test, len(chosen)
        chosen = _within(tests, MOST_COLD)
        return *_cold(mutant, chosen), len(chosen)

    def _passes(self, test: str) -> bool:
        """Without any mutant."""
        if test not in self.sound:
            how, _ = self._fork(None, [Asked(test, reach.LONGEST)])
            if how != "not noticed":
                return False
            self.sound.add(test)
        return True

    def _fork(self, mutant: Mutant | None, tests: Sequence[Asked]) -> tuple[str, str]:
        """How it ended, and at which test."""
        reading, writing = os.pipe()
        place = tempfile.mkdtemp(prefix="mutant-")
        child = os.fork()
        if child == 0:
            self._run(mutant, tests, writing, pathlib.Path(place))
        os.close(writing)
        with os.fdopen(reading, encoding="utf-8") as lines:
            said = lines.read().splitlines()
        _, status = os.waitpid(child, 0)
        _end_group(child)
        shutil.rmtree(place, ignore_errors=True)
        if said[-1:] == ["cannot"]:
            raise CannotSwap(mutant.file if mutant else "")
        if said[-1:] == ["end"]:
            return "not noticed", ""
        how = os.waitstatus_to_exitcode(status)
        test = said[-1] if said else ""
        return ("failed" if how == 1 else "endless" if -how in (signal.SIGPROF, signal.SIGALRM) else "crashed"), test

    def _run(self, mutant: Mutant | None, tests: Sequence[Asked], writing: int, place: pathlib.Path) -> None:
        """In the fork: says each test before it runs; ends with code 1 when one fails."""
        os.setpgid(0, 0)
        silence()
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        code = 1
        try:
            if mutant is not None:
                swap(mutant, self.functions)
            code = self._run_each(tests, writing, place)
        except CannotSwap:
            os.write(writing, b"cannot\n")
        finally:
            os._exit(code)

    def _run_each(self, tests: Sequence[Asked], writing: int, place: pathlib.Path) -> int:
        config = self.items[tests[0].test].config if tests else None
        if config is not None:
            config._tmp_path_factory._basetemp = place  # type: ignore[attr-defined]
            config.pluginmanager.register(Fails())
        for asked, following in zip(tests, [*tests[1:], None], strict=True):
            os.write(writing, f"{asked.test}\n".encode())
            most = PATIENCE * asked.seconds + SLACK
            signal.signal(signal.SIGPROF, signal.SIG_DFL)
            signal.setitimer(signal.ITIMER_PROF, most)
            signal.setitimer(signal.ITIMER_REAL, 60.0 + 10.0 * most)  # waits for what never comes
            item = self.items[asked.test]
            item.config.hook.pytest_runtest_protocol(
                item=item, nextitem=self.items[following.test] if following else None
            )
        os.write(writing, b"end\n")
        return 0


class Fails:
    """Ends the fork at the first test that fails."""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """A phase of a test has ended."""
        if report.failed:
            os._exit(1)


def _within(tests: Iterable[Asked], most: float) -> list[Asked]:
    """The first tests, together no longer than that; one at least."""
    chosen, total = [], 0.0
    for asked in tests:
        if chosen and total + asked.seconds > most:
            break
        chosen.append(asked)
        total += asked.seconds
    return chosen


def _cold(mutant: Mutant, tests: Sequence[Asked]) -> tuple[str, str]:
    """In a new process, which imports the changed module."""
    how = _cold_run(mutant, tests)
    if how not in ("failed", "endless", "not noticed") and _cold_run(None, tests) != "not noticed":
        raise SystemExit(f"these do not run without a mutant: {[asked.test for asked in tests]}")
    return how, f"one of {len(tests)}" if how != "not noticed" else ""


def _cold_run(mutant: Mutant | None, tests: Sequence[Asked]) -> str:
    source = ""
    if mutant is not None:
        import ast

        source = ast.unparse(mutant.tree)
    seconds = 30.0 + PATIENCE * sum(asked.seconds for asked in tests)
    command = [
        sys.executable,
        str(COLD),
        mutant.file if mutant else "",
        str(int(seconds)),
        *(asked.test for asked in tests),
    ]
    done = subprocess.run(
        command, input=source, text=True, cwd=TOP, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False
    )
    names = {0: "not noticed", 1: "failed", -signal.SIGXCPU: "endless", -signal.SIGKILL: "endless"}
    return names.get(done.returncode, "crashed")


def _end_group(child: int) -> None:
    """What the fork left running."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child, signal.SIGKILL)


def _spent() -> float:
    """CPU seconds of all children so far: what a mutant costs does not depend on what else the machine does."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def judge(world: World, mutants: Sequence[Mutant], told: Callable[[Mutant, Verdict], None]) -> None:
    """All of them, in turn."""
    tests = [str(path) for path in reach.files_of_tests(world)]
    pytest.main([*reach.OPTIONS, *tests], plugins=[Judge(mutants, told, world)])
