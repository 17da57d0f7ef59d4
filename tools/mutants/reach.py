"""Which tests reach which lines: the suite is run once, and each test is recorded under its name.

The record of a file of tests is kept in `build/mutants/` and made again when it or the package has changed. Tests that fail, wait for a
browser, or take longer than LONGEST seconds of CPU when watched are not asked about mutants.
"""

import hashlib
import json
import pathlib
import time
from collections.abc import Generator, Iterable, Sequence
from typing import Any, NamedTuple

import coverage
import pytest

from mutants.changes import PACKAGE, TOP, Mutant

LONGEST = 5.0  # CPU seconds of a test, while its lines are recorded
KEPT = TOP / "build" / "mutants"
#: Of pytest, here and where mutants are judged. A plugin that has been imported before pytest is not told so.
OPTIONS = (
    *("-q", "-n0", "-p", "no:cacheprovider", "-m", "not slow"),
    *("-W", "ignore::pytest.PytestAssertRewriteWarning"),
)
#: Tests that look at other processes, in which no mutant is made.
ELSEWHERE = (
    "core/test_background_compile",
    "core/test_code_cache",
    "core/test_kernel",
    "core/test_registry",
    "bandit/test_arguments",
)


class World(NamedTuple):
    """How tests are run for some files of the package."""

    name: str
    compiled: bool
    tests: tuple[str, ...]  # below tests/unit


#: What is no kernel is changed beside compiled ones, in which a bandit learns a hundred times as fast; what may be one, interpreted.
COMPILED = World("compiled", True, ("bandit", "replay"))
INTERPRETED = World(
    "interpreted", False, ("core", "mdp", "adaptive", "agent", "sums", "bandit/test_sparse.py", "test_stateful.py")
)
WORLDS = {world.name: world for world in (COMPILED, INTERPRETED)}


def world_of(file: str) -> World:
    """Where a mutant of this file is judged."""
    return COMPILED if file.startswith(("bandit/", "replay/")) and file != "bandit/sparse.py" else INTERPRETED


class Reach(NamedTuple):
    """The record of one file of tests: for each test its CPU seconds, and the lines that it ran through, by file."""

    seconds: dict[str, float]
    lines: dict[str, dict[str, list[int]]]


class Recorder:
    """A plugin of pytest: watches each test of one run, and keeps the record of a file when its last test is done."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.coverage = coverage.Coverage(data_file=None, source=[str(PACKAGE)], messages=False)
        self.seconds: dict[str, float] = {}
        self.failed: set[str] = set()

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Leave out what is not asked."""
        items[:] = [item for item in items if "browser" not in getattr(item, "fixturenames", ())]

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> Generator[None, Any, None]:
        """Time and context of a test."""
        if not self.seconds:
            self.coverage.start()
        self.coverage.switch_context(item.nodeid)
        began = time.process_time()
        yield
        self.seconds[item.nodeid] = round(time.process_time() - began, 3)
        if nextitem is None or nextitem.path != item.path:
            self._keep(item.path)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Whether it passed."""
        if report.failed or report.skipped:
            self.failed.add(report.nodeid)

    def _keep(self, path: pathlib.Path) -> None:
        """Write the record of a file, and begin the next one."""
        self.coverage.stop()
        seconds, lines = self.reach()
        kept = {"fingerprint": fingerprint(path), "seconds": seconds, "lines": lines}
        _place(self.world, path).write_text(json.dumps(kept), encoding="utf-8")
        self.coverage.erase()
        self.seconds = {}

    def reach(self) -> Reach:
        """What was seen of the tests that passed, and were not too long."""
        data = self.coverage.get_data()
        lines: dict[str, dict[str, list[int]]] = {}
        for path in data.measured_files():
            by_line = data.contexts_by_lineno(path)
            file = str(pathlib.Path(path).relative_to(PACKAGE))
            for line, tests in by_line.items():
                for test in tests:
                    lines.setdefault(test, {}).setdefault(file, []).append(line)
        good = {test: s for test, s in self.seconds.items() if test not in self.failed and s < LONGEST}
        return Reach(good, {test: lines[test] for test in good if test in lines})


def fingerprint(tests: pathlib.Path) -> str:
    """Of a file of tests and of the package."""
    content = hashlib.sha256(tests.read_bytes())
    for path in sorted(PACKAGE.rglob("*.py")):
        content.update(path.read_bytes())
    return content.hexdigest()


def record(world: World, files: Sequence[pathlib.Path]) -> None:
    """In a process of its own: run some files of tests and keep what each reached."""
    pytest.main([*OPTIONS, *map(str, files)], plugins=[Recorder(world)])


def files_of_tests(world: World) -> list[pathlib.Path]:
    """All files of tests that are asked."""
    unit = TOP / "tests" / "unit"
    rooms = (
        [unit / name] if name.endswith(".py") else sorted((unit / name).rglob("test_*.py")) for name in world.tests
    )
    return [path for room in rooms for path in room if not str(path.with_suffix("")).endswith(ELSEWHERE)]


def stale(world: World, tests: pathlib.Path) -> bool:
    """Whether the record is missing or of other code."""
    place = _place(world, tests)
    return not place.exists() or json.loads(place.read_text(encoding="utf-8"))["fingerprint"] != fingerprint(tests)


def known(world: World) -> list[Reach]:
    """All records."""
    places = [_place(world, tests) for tests in files_of_tests(world)]
    kept = (json.loads(place.read_text(encoding="utf-8")) for place in places if place.exists())
    return [Reach(row["seconds"], row["lines"]) for row in kept]


def _place(world: World, tests: pathlib.Path) -> pathlib.Path:
    folder = KEPT / world.name
    folder.mkdir(parents=True, exist_ok=True)
    return folder / (str(tests.relative_to(TOP)).replace("/", "-") + ".json")


class Asked(NamedTuple):
    """A test and its seconds."""

    test: str
    seconds: float


def who_reaches(mutant: Mutant, records: Iterable[Reach]) -> list[Asked]:
    """The tests that run a line of the mutant's statement (of its file, if it is run at import): nearest first, then quickest."""
    found = []
    for record_ in records:
        for test, files in record_.lines.items():
            lines = files.get(mutant.file)
            if lines is not None and (not mutant.in_function or any(line in mutant.lines for line in lines)):
                found.append(Asked(test, record_.seconds[test]))
    return sorted(found, key=lambda asked: (_distance(mutant.file, asked.test), asked.seconds))


def _distance(file: str, test: str) -> int:
    """0: the test of the same name; 1: of the same room; 2: of another room."""
    room, _, name = file.rpartition("/")
    path = test.partition("::")[0]
    if path.endswith(f"{room}/test_{name}"):
        return 0
    return 1 if f"/{room.partition('/')[0]}/" in path else 2
