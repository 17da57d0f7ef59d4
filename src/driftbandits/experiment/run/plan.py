"""From an experiment to its cells: everything is resolved, created once and checked; nothing is run or written."""

import functools
import hashlib
import importlib.util
import pathlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from ...io.cell_store import digest
from ..spec.calls import Resolved, resolve
from ..spec.error_location import errors_with_lines
from ..spec.experiment import Environment, Experiment, Strategy
from ..spec.formulas import Scope, number
from ..spec.grid import expand_environments, expand_strategies
from ..spec.limits import check_count, check_numbers, check_rounds
from ..spec.scopes import base_scope, trial_scope, world_scope
from ..spec.source import SpecError
from .cells import Cell, library
from .checks import check_references, check_unique_names
from .objects import check_fit, composition, files_of, strategy_of, world_of

FORMAT = 2  # of a cell's specification
REPEATS = 2  # runs of a cell whose time matters; the fastest counts


@dataclass(frozen=True)
class Plan:
    """All cells of an experiment, and the entries they come from with their grids expanded."""

    experiment: Experiment
    environments: tuple[Environment, ...]
    strategies: tuple[Strategy, ...]
    cells: tuple[Cell, ...]
    scopes: Mapping[str, Scope]  # the names known in each environment, in its first trial


def plan(experiment: Experiment, *, yes: bool = False) -> Plan:
    """Resolve and check everything; nothing is run or written. Large experiments need a `yes`."""
    with np.errstate(all="ignore"):  # what comes of it is checked, and told with its line
        return _plan(experiment, yes)


def _plan(experiment: Experiment, yes: bool) -> Plan:
    if not yes:
        check_count(experiment)
    outer = base_scope(experiment)
    environments = expand_environments(experiment, outer)
    strategies = expand_strategies(experiment)
    check_unique_names(experiment, environments, strategies)
    scopes: dict[str, Scope] = {}
    cells = [c for e in environments for c in _cells_of(experiment, e, strategies, outer, scopes, yes)]
    answer = Plan(experiment, tuple(environments), tuple(strategies), tuple(cells), scopes)
    check_references(experiment, {e.name: e for e in environments}, strategies, cells, scopes)
    return answer


def _cells_of(
    experiment: Experiment,
    entry: Environment,
    strategies: list[Strategy],
    outer: Scope,
    scopes: dict[str, Scope],
    yes: bool,
) -> Iterator[Cell]:
    here = [s for s in strategies if not s.only or entry.name in s.only or _origin(experiment, entry) in s.only]
    rounds = _rounds_of(entry, outer, experiment)
    trials = [(seed, index) for seed in experiment.seeds for index in range(experiment.trials)]
    if not yes:
        check_rounds(entry, rounds, len(here) * len(trials))
    for trial, (seed, index) in enumerate(trials):
        scope = trial_scope(outer, rounds, seed, index, entry)
        tree = resolve(entry.call, scope)
        if not yes:
            check_numbers(entry, tree)
        with errors_with_lines(experiment, entry.call, entry):
            world = world_of(tree)
        inner = world_scope(scope, tree, world, (*experiment.constants, *entry.constants))
        scopes.setdefault(entry.name, inner)
        for strategy in here:
            config = resolve(strategy.call, inner)
            with errors_with_lines(experiment, strategy.call, entry):
                made = strategy_of(config)
                check_fit(made, world, first=trial == 0)
            spec = (
                {
                    "format": FORMAT,
                    "library": library(),
                    "environment": tree,
                    "strategy": config,
                    "seed": [seed, index],
                    "horizon": int(inner["T"]),
                    "checkpoints": experiment.checkpoints,
                    "repeats": REPEATS if experiment.alone else 1,
                }
                | _outside_code(tree, config)
                | _outside_data(tree)
            )
            yield Cell(
                environment=entry.name,
                strategy=strategy.name,
                trial=trial,
                spec=spec,
                key=digest(spec),
                horizon=int(inner["T"]),
                alone=experiment.alone,
                composition=composition(made, world),
            )


def _rounds_of(entry: Environment, outer: Scope, experiment: Experiment) -> int:
    given = experiment.horizon if entry.rounds is None else entry.rounds
    try:
        value = number(given, outer) if isinstance(given, str) else given
    except SpecError as problem:
        raise problem if problem.located else entry.call.error(str(problem), "T") from None
    if isinstance(value, bool) or not isinstance(value, int | float) or value < 2:
        raise entry.call.error(f"T = {given!r} is not allowed; it must be a whole number ≥ 2", "T")
    return int(value)


def _origin(experiment: Experiment, entry: Environment) -> str:
    """The name, before its grid was expanded, of the entry this environment comes from."""
    return next((e.name for e in experiment.environments if e.call.where == entry.call.where), entry.name)


def _outside_data(tree: Resolved) -> dict[str, str]:
    """Digests of the files that a world is made of: other data need other cells."""
    return {f"data of {path}": _digest_of(path, path.stat().st_mtime_ns) for path in files_of(tree)}


@functools.lru_cache(maxsize=32)
def _digest_of(path: pathlib.Path, changed: int) -> str:
    """Of a file's content, read once per change."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _outside_code(*trees: Resolved) -> dict[str, str]:
    """Digests of a user's own modules that a cell calls."""
    found: dict[str, str] = {}
    for tree in trees:
        for value in tree.values():
            if isinstance(value, dict):
                found |= _outside_code(value)
        module = tree.get("use", "").partition(":")[0] if ":" in tree.get("use", "") else ""
        origin = importlib.util.find_spec(module) if module else None
        if origin is not None and origin.origin and pathlib.Path(origin.origin).is_file():
            found[f"code of {module}"] = hashlib.sha256(pathlib.Path(origin.origin).read_bytes()).hexdigest()
    return found
