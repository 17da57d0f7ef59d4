"""Size limits of experiments that need no confirmation; sizes are computed from the numbers alone."""

import math
from typing import Any

from .calls import Call, Grid, Resolved
from .experiment import Environment, Experiment
from .source import SpecError

MOST_CELLS = 20_000
MOST_ROUNDS = 10**10  # of all cells together; an hour or more
MOST_NUMBERS = 10**8  # features of all arms, or the parameters of an MDP: 800 MB
SEEDS = ("seed", "trial")  # whole numbers that say nothing about a size
CONFIRM = "say --yes if you mean it"


def check_count(experiment: Experiment) -> int:
    """Number of cells, grids expanded; refuse too many."""
    environments = {e.name: _points(e.call, e) for e in experiment.environments}
    pairs = sum(
        points * _points(s.call)
        for s in experiment.strategies
        for name, points in environments.items()
        if not s.only or name in s.only
    )
    cells = pairs * experiment.trials * len(experiment.seeds)
    if cells > MOST_CELLS:
        raise SpecError(
            f"{experiment.source.file}: {pairs} pairs of environment and strategy × "
            f"{experiment.trials * len(experiment.seeds)} trials are {cells} cells, more than {MOST_CELLS}; {CONFIRM}"
        )
    return cells


def check_rounds(entry: Environment, rounds: int, cells: int) -> None:
    """Refuse an environment whose trials would take hours."""
    if rounds * cells > MOST_ROUNDS:
        raise entry.call.error(
            f"{cells} cells of {rounds:.6g} rounds are {rounds * cells:.6g}, more than {MOST_ROUNDS:.0e}; {CONFIRM}",
            "T",
        )


def check_numbers(entry: Environment, tree: Resolved) -> None:
    """Refuse a world that would fill the memory."""
    numbers = numbers_of(tree)
    if numbers > MOST_NUMBERS:
        sizes = " × ".join(f"{key} {value}" for key, value in _sizes(tree))
        raise entry.call.error(f"{sizes} are more than {MOST_NUMBERS:.0e} numbers; {CONFIRM}")


def numbers_of(tree: Resolved) -> int:
    """The most numbers that one part of a world may consist of: all its whole numbers, multiplied."""
    return max([math.prod(value for _, value in _sizes_here(tree)), *(numbers_of(inner) for inner in _inner(tree))])


def _sizes(tree: Resolved) -> list[tuple[str, int]]:
    """Those of the largest part."""
    parts = [_sizes_here(tree), *(_sizes(inner) for inner in _inner(tree))]
    return max(parts, key=lambda sizes: math.prod(value for _, value in sizes))


def _sizes_here(tree: Resolved) -> list[tuple[str, int]]:
    return [(k, v) for k, v in tree.items() if type(v) is int and v > 1 and k not in SEEDS]


def _inner(tree: Resolved) -> list[Resolved]:
    inside = [item for value in tree.values() for item in (value if isinstance(value, list) else [value])]
    return [item for item in inside if isinstance(item, dict)]


def _points(call: Call, entry: Environment | None = None) -> int:
    """Points of the grids of an entry."""
    values: list[Any] = [*call.args.values(), *([entry.rounds, *entry.constants.values()] if entry else [])]
    return math.prod(_alternatives(value) for value in values)


def _alternatives(value: Any) -> int:
    if isinstance(value, Grid):
        return sum(map(_alternatives, value.values))
    return _points(value) if isinstance(value, Call) else 1
