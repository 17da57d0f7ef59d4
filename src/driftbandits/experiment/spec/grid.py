"""Grids: one entry with several values becomes several entries, each with a name of its own."""

import itertools
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from .calls import Call, Grid
from .catalog import number_kind
from .experiment import Environment, Experiment, Strategy
from .formulas import Scope
from .formulas import number as formula
from .source import SpecError

PLACE = re.compile(r"\{([^{}]*)\}")  # of a value in a name


def expand_strategies(experiment: Experiment) -> list[Strategy]:
    """Every strategy, for every point of its grid."""
    answer = []
    for entry in experiment.strategies:
        for call, values in _points(entry.call, _as_written):
            answer.append(replace(entry, call=call, name=_name(entry.name, values, entry.call)))
    return answer


def _as_written(call: Call, key: str, value: Any) -> Any:
    return value  # formulas of a strategy know its world, which is made later


def expand_environments(experiment: Experiment, scope: Scope) -> list[Environment]:
    """Every environment, for every point of its grid; grid values may be formulas of the experiment's constants."""

    def number(value: Any) -> Any:
        return formula(value, scope) if isinstance(value, str) else value

    def argument(call: Call, key: str, value: Any) -> Any:
        return number(value) if number_kind(call.function, key) else value

    answer = []
    for entry in experiment.environments:
        own = {"T": entry.rounds, **entry.constants}
        try:
            choices = [[(name, number(v)) for v in g.values] for name, g in own.items() if isinstance(g, Grid)]
            points = list(_points(entry.call, argument))
            for chosen, (call, values) in itertools.product(itertools.product(*choices), points):
                picked = dict(chosen)
                constants = {name: picked.get(name, value) for name, value in entry.constants.items()}
                name = _name(entry.name, {**picked, **values}, entry.call)
                rounds = picked.get("T", entry.rounds)
                answer.append(replace(entry, call=call, rounds=rounds, constants=constants, name=name))
        except SpecError as problem:
            raise problem if problem.located else entry.call.error(str(problem)) from None
    return answer


def _points(call: Call, value_of: Callable[[Call, str, Any], Any]) -> Iterator[tuple[Call, dict[str, Any]]]:
    """The call at every point of the grids in it, here or nested, with the values chosen."""
    choices: list[list[tuple[str, Any, dict[str, Any]]]] = []
    for key, value in call.args.items():
        if isinstance(value, Grid):
            choices.append([point for v in value.values for point in _alternatives(call, key, v, value_of)])
        elif isinstance(value, Call):
            choices.append([(key, inner, values) for inner, values in _points(value, value_of)])
    for point in itertools.product(*choices):
        yield (
            call.with_args({key: value for key, value, _ in point}),
            {name: value for _, _, values in point for name, value in values.items()},
        )


def _alternatives(
    call: Call, key: str, value: Any, value_of: Callable[[Call, str, Any], Any]
) -> list[tuple[str, Any, dict[str, Any]]]:
    """What one value of a grid stands for: itself, or a call at every point of its own grids, named by what it uses."""
    if isinstance(value, Call):
        return [(key, inner, {key: inner.use, **values}) for inner, values in _points(value, value_of)]
    if isinstance(value, tuple):
        return [(key, value, {key: " + ".join(inner.use for inner in value)})]
    made = value_of(call, key, value)
    return [(key, made, {key: made})]


def _name(name: str, values: dict[str, Any], call: Call) -> str:
    if not values:
        return name
    readable = {key: f"{value:g}" if isinstance(value, float) else str(value) for key, value in values.items()}
    if "{" not in name:
        return f"{name} {' '.join(f'{key}={value}' for key, value in readable.items())}"
    unknown = [key for key in PLACE.findall(name) if key not in readable]
    if unknown:
        allowed = ", ".join("{" + key + "}" for key in values)
        raise call.error(
            f"'{{{unknown[0]}}}' in the name '{name}' is not a parameter of the grid; it may hold {allowed}", "name"
        )
    return PLACE.sub(lambda found: readable[found[1]], name)
