"""Grids: one entry with several values becomes several entries, each with a name of its own."""

import itertools
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from .calls import Call, Grid
from .expressions import Scope, evaluate
from .source import SpecError
from .spec import Environment, Experiment, Strategy


def expand_strategies(experiment: Experiment) -> list[Strategy]:
    """Every strategy, for every point of its grid."""
    answer = []
    for entry in experiment.strategies:
        for call, values in _points(entry.call, lambda value: value):
            answer.append(replace(entry, call=call, name=_name(entry.name, values, entry.call)))
    return answer


def expand_environments(experiment: Experiment, scope: Scope) -> list[Environment]:
    """Every environment, for every point of its grid; grid values may be formulas of the experiment's constants."""

    def number(value: Any) -> Any:
        return evaluate(value, scope) if isinstance(value, str) else value

    answer = []
    for entry in experiment.environments:
        own = {"T": entry.rounds, **entry.constants}
        try:
            choices = [[(name, number(v)) for v in g.values] for name, g in own.items() if isinstance(g, Grid)]
            points = list(_points(entry.call, number))
            for chosen, (call, values) in itertools.product(itertools.product(*choices), points):
                picked = dict(chosen)
                constants = {name: picked.get(name, value) for name, value in entry.constants.items()}
                name = _name(entry.name, {**picked, **values}, entry.call)
                rounds = picked.get("T", entry.rounds)
                answer.append(replace(entry, call=call, rounds=rounds, constants=constants, name=name))
        except SpecError as problem:
            raise problem if ":" in str(problem).partition(" ")[0] else entry.call.error(str(problem)) from None
    return answer


def _points(call: Call, value_of: Callable[[Any], Any]) -> Iterator[tuple[Call, dict[str, Any]]]:
    """The call at every point of the grids in it, here or nested, with the values chosen."""
    choices: list[list[tuple[str, Any, dict[str, Any]]]] = []
    for key, value in call.args.items():
        if isinstance(value, Grid):
            choices.append([(key, v, {key: v}) for v in map(value_of, value.values)])
        elif isinstance(value, Call):
            choices.append([(key, inner, values) for inner, values in _points(value, value_of)])
    for point in itertools.product(*choices):
        yield (
            call.with_args({key: value for key, value, _ in point}),
            {name: value for _, _, values in point for name, value in values.items()},
        )


def _name(name: str, values: dict[str, Any], call: Call) -> str:
    if not values:
        return name
    readable = {key: f"{value:g}" if isinstance(value, float) else str(value) for key, value in values.items()}
    if "{" not in name:
        return f"{name} {' '.join(f'{key}={value}' for key, value in readable.items())}"
    try:
        return name.format(**readable)
    except (KeyError, IndexError, ValueError):
        raise call.error(
            f"the name '{name}' may hold {', '.join('{' + key + '}' for key in values)} only", "name"
        ) from None
