"""The unit of work: one strategy in one environment for one trial, as plain data named by a digest of itself.

The digest covers all that decides the result: the resolved environment and strategy (numbers, not formulas), the seed,
the checkpoints, and the library's code. Two experiments that need the same cell share it; a changed specification needs
other cells. Nothing else is shared, so nothing can be mixed up.
"""

import functools
import hashlib
import importlib.util
import json
import pathlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import __version__, theory
from ..env import Bandit
from ..kernel import PACKAGE
from ..mdp import simulate_mdp
from ..simulate import Run, simulate
from .calls import Resolved, build, resolve, try_build
from .expressions import evaluate
from .grid import expand_environments, expand_strategies
from .scopes import base_scope, trial_scope, world_scope
from .source import SpecError, did_you_mean
from .spec import Environment, Experiment, Strategy

FORMAT = 1  # of a cell's specification
REPEATS = 2  # runs of a cell whose time matters; the fastest counts
NO_RESULTS = ("experiment", "cli.py", "citations.py", "integrations")  # code that decides no result


@dataclass(frozen=True)
class Cell:
    """What to run, and where its result belongs."""

    environment: str
    strategy: str
    trial: int
    spec: dict[str, Any]  # plain JSON
    key: str
    horizon: int
    alone: bool


@dataclass(frozen=True)
class Result:
    """What a cell leaves behind."""

    rounds: NDArray[np.int64]
    regret: NDArray[np.float64]
    seconds: float
    info: dict[str, Any] = field(default_factory=dict)
    trace: dict[str, list[float]] = field(default_factory=dict)


@dataclass(frozen=True)
class Plan:
    """All cells of an experiment, and the entries they come from with their grids expanded."""

    experiment: Experiment
    environments: tuple[Environment, ...]
    strategies: tuple[Strategy, ...]
    cells: tuple[Cell, ...]


def plan(experiment: Experiment) -> Plan:
    """Resolve and check everything; nothing is run or written."""
    outer = base_scope(experiment)
    environments = expand_environments(experiment, outer)
    strategies = expand_strategies(experiment)
    cells = [cell for e in environments for cell in _cells_of(experiment, e, strategies, outer)]
    answer = Plan(experiment, tuple(environments), tuple(strategies), tuple(cells))
    _check_references(answer)
    return answer


def _cells_of(experiment: Experiment, entry: Environment, strategies: list[Strategy], outer: Any) -> Iterator[Cell]:
    here = [s for s in strategies if not s.only or entry.name in s.only or _origin(experiment, entry) in s.only]
    trial = 0
    for seed in experiment.seeds:
        for index in range(experiment.trials):
            scope = trial_scope(outer, rounds_of(entry, outer, experiment), seed, index, entry.constants)
            tree = resolve(entry.call, scope)
            world = try_build(entry.call, tree)
            inner = world_scope(scope, tree, world)
            for strategy in here:
                config = resolve(strategy.call, inner)
                if trial == 0:
                    try_build(strategy.call, config)
                spec = {
                    "format": FORMAT,
                    "library": library(),
                    "environment": tree,
                    "strategy": config,
                    "seed": [seed, index],
                    "horizon": int(inner["T"]),
                    "checkpoints": experiment.checkpoints,
                    "repeats": REPEATS if experiment.alone else 1,
                } | _outside_code(tree, config)
                yield Cell(entry.name, strategy.name, trial, spec, digest(spec), int(inner["T"]), experiment.alone)
            trial += 1


def rounds_of(entry: Environment, outer: Any, experiment: Experiment) -> int:
    """The number of rounds of an environment."""
    given = experiment.horizon if entry.rounds is None else entry.rounds
    try:
        value = evaluate(given, outer) if isinstance(given, str) else given
    except SpecError as problem:
        raise entry.call.error(str(problem), "T") from None
    if isinstance(value, bool) or not isinstance(value, int | float) or value < 2:
        raise entry.call.error(f"T = {given!r} is not allowed; it must be a whole number ≥ 2", "T")
    return int(value)


def _origin(experiment: Experiment, entry: Environment) -> str:
    """The name, before its grid was expanded, of the entry this environment comes from."""
    return next((e.name for e in experiment.environments if e.call.where == entry.call.where), entry.name)


def _check_references(p: Plan) -> None:
    """Claims and bounds must speak of strategies that exist once the grids are expanded."""
    known = [s.name for s in p.strategies]
    for i, claim in enumerate(p.experiment.claims):
        for name in (*claim.left, *claim.right):
            plain = name.partition(" @ ")[0]
            if plain not in known:
                hint = did_you_mean(plain, known) or f"; there is {', '.join(known)}"
                raise p.experiment.source.error(f"there is no strategy named '{plain}'{hint}", "claim", i)
    for i, line in enumerate(p.experiment.bounds):
        if line.use not in theory.__all__:
            hint = did_you_mean(line.use, theory.__all__)
            raise p.experiment.source.error(f"unknown bound '{line.use}'{hint}", "bound", i, "use")


def digest(spec: dict[str, Any]) -> str:
    """The name of a cell.

    Examples
    --------
    >>> digest({"a": 1}) == digest({"a": 1}) != digest({"a": 2})
    True
    """
    text = json.dumps(spec, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


@functools.cache
def library() -> str:
    """Version and digest of the code that decides results."""
    code = hashlib.sha256()
    for source in sorted(PACKAGE.rglob("*.py")):
        if source.relative_to(PACKAGE).parts[0] not in NO_RESULTS:
            code.update(source.read_bytes())
    return f"{__version__}+{code.hexdigest()[:12]}"


def _outside_code(*trees: Resolved) -> dict[str, str]:
    """Digests of a user's own modules that a cell calls."""
    found: dict[str, str] = {}
    for tree in trees:
        for value in tree.values():
            if isinstance(value, dict):
                found |= _outside_code(value)
        module = tree.get("use", "").partition(":")[0] if ":" in tree.get("use", "") else ""
        origin = importlib.util.find_spec(module) if module else None
        if origin is not None and origin.origin:
            found[f"code of {module}"] = hashlib.sha256(pathlib.Path(origin.origin).read_bytes()).hexdigest()
    return found


def run(spec: dict[str, Any]) -> Result:
    """Run a cell; the same specification gives the same numbers on any thread, process or machine of one kind."""
    world = build("environment", spec["environment"])
    strategy = build("strategy", spec["strategy"])
    answer = one_run(strategy, world, spec)
    seconds = [answer.seconds, *(one_run(strategy, world, spec).seconds for _ in range(spec["repeats"] - 1))]
    return Result(answer.rounds, answer.regret, min(seconds), _plain(answer.info), _series(answer.trace))


def one_run(strategy: Any, world: Any, spec: dict[str, Any]) -> Run:
    """Simulate once, with the seed of the trial."""
    seed = np.random.SeedSequence(spec["seed"])
    if isinstance(world, Bandit):
        return simulate(strategy, world, seed=seed, checkpoints=spec["checkpoints"])
    run = simulate_mdp(strategy, world, episodes=spec["horizon"], seed=seed)
    marks = checkpoint_rounds(spec["checkpoints"], spec["horizon"])
    return Run(marks, run.regret[marks - 1], run.info, {}, run.seconds)


def checkpoint_rounds(count: int, horizon: int) -> NDArray[np.int64]:
    """Evenly spread rounds, the last of which is the horizon."""
    count = min(count, horizon)
    return np.unique(np.linspace(horizon / count, horizon, count).round().astype(np.int64))


def _plain(value: Any) -> Any:
    """Numbers, texts, lists and tables of them; everything else as text."""
    if isinstance(value, dict):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, np.generic):
        return _plain(value.item())
    return value if isinstance(value, str | int | float | bool | None) else str(value)


def _series(trace: dict[str, Any]) -> dict[str, list[float]]:
    """The one-number-a-round quantities of a trace."""
    return {name: np.asarray(v, float).tolist() for name, v in trace.items() if np.ndim(v) == 1 and len(v)}
