"""Change one thing in the code at a time and see whether a test notices: `python tools/mutate.py [CPU-MINUTES] [SEED] [ROOM …]`.

    + ↔ −   × ↔ /   < ↔ ≤   > ↔ ≥   min ↔ max   and ↔ or   a number + 1   `not` removed   a condition negated   a statement removed

Mutants are drawn at random, file by file in turn, from memory/, model/, radius/, rule/ and meta/ or the rooms that are named. Each runs in
a process of its own against the tests of its module, until one fails; interpreted, but in rooms without kernels. What survives is printed
with its line: a test is missing there, or the change changes nothing that can be seen. `python tools/mutate.py fixed` tries a fixed set,
of which none may survive.
`python tools/mutate.py sample COUNT SEED [ROOM …]` (`make mutants`) draws so many over all rooms, each mutant equally likely, and ends with
the share that was noticed.
"""

import ast
import importlib.abc
import importlib.machinery
import itertools
import json
import os
import pathlib
import random
import resource
import sys
from collections.abc import Iterator, Sequence
from types import ModuleType
from typing import Any, NamedTuple

os.environ["NUMBA_DISABLE_JIT"] = "1"

TOP = pathlib.Path(__file__).resolve().parents[1]
PACKAGE = TOP / "src" / "driftbandits"
UNIT = "tests/unit"
LINEAR, GENERALIZED = f"{UNIT}/zoo/test_linear.py", f"{UNIT}/zoo/test_generalized_linear.py"
EXAMPLES = 4  # of each property
SLOWEST = 300  # seconds of CPU; a mutant that takes longer is killed, and counts as noticed
ROOMS = ("memory", "model", "radius", "rule", "meta")
EVERYWHERE = (*ROOMS, "core", "agent", "adaptive", "bandit", "mdp", "replay")
#: Files without kernels: their tests run with compiled ones, which a change there does not touch. `bandit/sparse.py` has kernels.
NO_KERNELS, KERNELS = ("bandit/", "replay/"), ("bandit/sparse.py",)

#: Which tests are asked, quickest first; the first prefix that fits.
TESTS: dict[str, tuple[str, ...]] = {
    "memory/": (
        f"{UNIT}/memory/test_discounted.py",
        f"{UNIT}/memory/test_capacity.py",
        LINEAR,
        f"{UNIT}/memory/test_late.py",
        f"{UNIT}/memory/test_window.py",
    ),
    "model/linear": (LINEAR,),
    "model/bayes": (f"{UNIT}/model/test_bayes.py", f"{UNIT}/zoo/test_bayes.py"),
    "model/one_pass": (
        f"{UNIT}/zoo/test_one_pass.py",
        f"{UNIT}/model/test_one_pass.py",
        f"{UNIT}/model/test_one_pass_wary.py",
    ),
    "model/": (GENERALIZED, f"{UNIT}/model/test_projection.py"),
    "radius/self_normalised": (LINEAR, GENERALIZED),
    "radius/constant": (LINEAR, f"{UNIT}/radius/test_constant.py"),
    "radius/posterior": (f"{UNIT}/model/test_bayes.py", f"{UNIT}/zoo/test_bayes.py"),
    "radius/mix_loss": (f"{UNIT}/radius/test_mix_loss.py", f"{UNIT}/zoo/test_one_pass.py"),
    "radius/union": (f"{UNIT}/radius/test_union.py",),
    "radius/self_concordant": (GENERALIZED, f"{UNIT}/radius/test_self_concordant.py"),
    "radius/": (GENERALIZED, f"{UNIT}/radius"),
    "rule/bonus": (LINEAR, f"{UNIT}/simulate/test_runs.py"),
    "rule/width": (LINEAR, f"{UNIT}/simulate/test_runs.py"),
    "rule/thompson": (LINEAR,),
    "rule/": (f"{UNIT}/radius/test_piecewise.py",),
    "bandit/sparse": (f"{UNIT}/bandit/test_sparse.py",),
    "meta/master": (f"{UNIT}/meta/test_master.py",),
    "meta/schedule": (f"{UNIT}/meta/test_master.py",),
    "meta/bob": (f"{UNIT}/meta/test_bob.py",),
    "meta/exp3ix": (f"{UNIT}/meta/test_exp3ix.py", f"{UNIT}/meta/test_bob.py"),
    "meta/igw_mix": (f"{UNIT}/meta/test_igw_mix.py",),
    "meta/dal": (f"{UNIT}/meta/test_dal.py",),
    "meta/detectors": (f"{UNIT}/meta/detectors", f"{UNIT}/meta/test_dal.py"),
    "meta/self_tuning": (f"{UNIT}/meta/self_tuning",),
    "meta/": (f"{UNIT}/meta/test_adaptive.py", f"{UNIT}/meta/self_tuning"),
}

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

SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip
NAMES = {"min": "max", "max": "min"}


class Mutant(NamedTuple):
    """One change."""

    file: str  # below PACKAGE
    line: int
    change: str
    source: str


def changes(tree: ast.Module) -> Iterator[tuple[ast.AST, str, Any, Any, str]]:
    """Every change there is: the node, its field, the old value and the new one, and how to say it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.BinOp | ast.BoolOp | ast.AugAssign) and type(node.op) in SWAPS:
            new = SWAPS[type(node.op)]()
            yield node, "op", node.op, new, f"{type(node.op).__name__} → {type(new).__name__}"
        if isinstance(node, ast.Compare) and type(node.ops[0]) in SWAPS:
            new = SWAPS[type(node.ops[0])]()
            yield node, "ops", node.ops, [new, *node.ops[1:]], f"{type(node.ops[0]).__name__} → {type(new).__name__}"
        if isinstance(node, ast.Name) and node.id in NAMES:
            yield node, "id", node.id, NAMES[node.id], f"{node.id} → {NAMES[node.id]}"
        if isinstance(node, ast.Constant) and type(node.value) in (int, float):
            yield node, "value", node.value, node.value + 1, f"{node.value} → {node.value + 1}"
        if isinstance(node, ast.If | ast.IfExp):
            yield node, "test", node.test, ast.UnaryOp(ast.Not(), node.test), "condition negated"
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            yield node, "value", node.value, ast.Constant(None), f"removed: {ast.unparse(node)[:60]}"
        if isinstance(node, ast.AugAssign):
            yield node, "value", node.value, ast.Constant(0 if isinstance(node.op, ast.Add | ast.Sub) else 1), "removed"


class Site(NamedTuple):
    """A place of a change: its number among all of a file. The changed source is written only for those that are drawn."""

    path: pathlib.Path
    number: int

    def mutant(self) -> Mutant:
        """The change made."""
        tree = ast.parse(self.path.read_text(encoding="utf-8"))
        node, field, _, new, change = next(itertools.islice(changes(tree), self.number, None))
        setattr(node, field, new)
        source = ast.unparse(ast.fix_missing_locations(tree))
        return Mutant(str(self.path.relative_to(PACKAGE)), getattr(node, "lineno", 0), change, source)


def sites_of(path: pathlib.Path) -> list[Site]:
    """All changes of a file."""
    many = sum(1 for _ in changes(ast.parse(path.read_text(encoding="utf-8"))))
    return [Site(path, number) for number in range(many)]


class Changed(importlib.abc.MetaPathFinder, importlib.abc.SourceLoader):
    """Imports one module of the package from other source."""

    def __init__(self, name: str, path: str, source: str) -> None:
        self.name, self.path, self.source = name, path, source

    def find_spec(self, name: str, path: Any, target: ModuleType | None = None) -> Any:  # noqa: ARG002
        """The module, if it is the one."""
        package = self.path.endswith("__init__.py")
        spec = importlib.machinery.ModuleSpec(name, self, origin=self.path, is_package=package)
        spec.has_location = True
        return spec if name == self.name else None

    def get_filename(self, name: str) -> str:  # noqa: ARG002
        """Where it is."""
        return self.path

    def get_data(self, path: str) -> bytes:  # noqa: ARG002
        """What it says."""
        return self.source.encode()


def tests_of(file: str) -> tuple[str, ...]:
    """The tests that are asked about a file."""
    own = next((tests for prefix, tests in TESTS.items() if file.startswith(prefix)), None)
    if own is None:  # the test of the same name, and those of its room
        room, name = file.rpartition("/")[::2]
        near = (f"{UNIT}/{room}/test_{name}", f"{UNIT}/{room}")
        return tuple(path for path in near if (TOP / path).exists())
    return (*own, "tests/contract/test_numbers.py")


def without_kernels(file: str) -> bool:
    """Whether a change of this file leaves all machine code as it is."""
    return file.startswith(NO_KERNELS) and file not in KERNELS


def noticed(mutant: Mutant | None, tests: Sequence[str], *, compiled: bool = False) -> tuple[bool, float]:
    """Does a test fail, or does nothing end? Of None: do the tests fail on the code as it is? And the CPU seconds it took."""
    began = spent()
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_CPU, (SLOWEST, SLOWEST))
        _run(mutant, tests, compiled)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status) != 0, spent() - began


def spent() -> float:
    """CPU seconds of all children so far: what a mutant costs does not depend on what else the machine does."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _run(mutant: Mutant | None, tests: Sequence[str], compiled: bool) -> None:
    """In the child: the tests, silently, until one fails."""
    import pytest

    if mutant is not None:
        name = "driftbandits." + mutant.file.removesuffix(".py").replace("/", ".")
        sys.meta_path.insert(0, Changed(name, str(PACKAGE / mutant.file), mutant.source))
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)
    os.dup2(silent, 2)
    os.environ["EXAMPLES"] = str(
        EXAMPLES
    )  # read by tests/conftest.py: a few notice nearly as much as many, in a tenth of the time
    asked = "not slow and not compiled"
    if compiled:
        del os.environ["NUMBA_DISABLE_JIT"]  # numba has not been imported yet
        asked = "not slow"
    code = pytest.main(["-x", "-q", "-n0", "-p", "no:cacheprovider", "-m", asked, *tests])
    os._exit(int(code))


def fixed() -> int:
    """Try the fixed set; how many survive. The tests must pass on the code as it is, or a failure would say nothing."""
    prepare()
    failing = [tests for tests in {row[3] for row in FIXED} if noticed(None, tests)[0]]
    if failing:
        print(f"these fail on the code as it is: {failing}")
        return len(FIXED)
    survived = 0
    for file, old, new, tests in FIXED:
        source = (PACKAGE / file).read_text(encoding="utf-8")
        if source.count(old) != 1:
            raise SystemExit(f"{file} says {old!r} {source.count(old)} times; the fixed set is out of date")
        seen, _ = noticed(Mutant(file, 0, new, source.replace(old, new)), tests)
        print(f"{'noticed ' if seen else 'SURVIVED'} {file}: {old} → {new or 'nothing'}", flush=True)
        survived += not seen
    return survived


def prepare() -> None:
    """What is slow to import, once for every child; not hypothesis, which pytest must import itself."""
    import numpy as np  # noqa: F401
    import pytest  # noqa: F401
    import scipy.optimize
    import scipy.stats  # noqa: F401

    os.chdir(TOP)
    sys.path[:0] = [str(TOP / "src"), str(TOP / "tests")]


def main(minutes: float = 30.0, seed: int = 0, rooms: Sequence[str] = ROOMS) -> int:
    """Draw and try mutants until the time is over; survivors as JSON on standard output."""
    prepare()
    rng = random.Random(seed)
    files = [p for room in rooms for p in sorted((PACKAGE / room).rglob("*.py"))]
    waiting = {p: sites_of(p) for p in files if p.name != "__init__.py"}
    for sites in waiting.values():
        rng.shuffle(sites)
    passing: set[tuple[str, ...]] = set()  # a failure says nothing about a mutant if its tests fail anyway
    tried, survivors = 0, []
    while any(waiting.values()) and spent() < 60.0 * minutes:
        for queue in waiting.values():
            if not queue or spent() >= 60.0 * minutes:
                continue
            mutant = queue.pop().mutant()
            tests, compiled = tests_of(mutant.file), without_kernels(mutant.file)
            if tests not in passing:
                if noticed(None, tests, compiled=compiled)[0]:
                    raise SystemExit(f"these fail on the code as it is: {tests}")
                passing.add(tests)
            seen, seconds = noticed(mutant, tests, compiled=compiled)
            tried += 1
            print(
                f"{'noticed ' if seen else 'SURVIVED'} {seconds:5.1f} s  {mutant.file}:{mutant.line}  {mutant.change}",
                flush=True,
            )
            survivors += [] if seen else [mutant._replace(source="")._asdict()]
    print(json.dumps({"tried": tried, "survived": len(survivors), "survivors": survivors}, indent=1))
    return 0


def sample(count: int, seed: int, rooms: Sequence[str]) -> int:
    """Try mutants drawn from all files of the rooms; survivors as JSON on standard output."""
    prepare()
    rng = random.Random(seed)
    files = [p for room in rooms for p in sorted((PACKAGE / room).rglob("*.py")) if p.name != "__init__.py"]
    drawn = rng.sample([site for p in files for site in sites_of(p)], count)
    passing: set[tuple[str, ...]] = set()
    survivors = []
    for number, site in enumerate(drawn, 1):
        mutant = site.mutant()
        tests, compiled = tests_of(mutant.file), without_kernels(mutant.file)
        if tests not in passing:
            if noticed(None, tests, compiled=compiled)[0]:
                raise SystemExit(f"these fail on the code as it is: {tests}")
            passing.add(tests)
        seen, seconds = noticed(mutant, tests, compiled=compiled)
        survivors += [] if seen else [mutant._replace(source="")._asdict()]
        mark = "noticed " if seen else "SURVIVED"
        print(f"{number:4d} {mark} {seconds:5.1f} s  {mutant.file}:{mutant.line}  {mutant.change}", flush=True)
    share = 1.0 - len(survivors) / count
    print(json.dumps({"seed": seed, "tried": count, "noticed": share, "survivors": survivors}, indent=1))
    return 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["sample"]:
        sys.exit(sample(int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:] or EVERYWHERE))
    if sys.argv[1:] == ["fixed"]:
        sys.exit(fixed())
    given = sys.argv[1:] + ["30", "0"][len(sys.argv) - 1 :]
    sys.exit(main(float(given[0]), int(given[1]), given[2:] or ROOMS))
