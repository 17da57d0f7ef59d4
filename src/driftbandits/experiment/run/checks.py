"""Checks before any cell runs: names that collide, and references to names that do not exist."""

from collections.abc import Iterable, Mapping

from ... import theory
from ...util.spelling import did_you_mean
from ..spec.experiment import Environment, Experiment, Strategy, check_known, check_unique
from ..spec.formulas import Scope
from ..spec.schema import Claim
from ..spec.source import Where
from .cells import Cell

FACTS = ("T", "d", "n", "P_T", "changes", "norm", "K", "H", "Delta")  # quantities an axis may show


def check_unique_names(experiment: Experiment, environments: list[Environment], strategies: list[Strategy]) -> None:
    """Refuse two points of a grid with the same name, because their results could not be told apart."""
    check_unique("environment", [(e.name, e.call.where) for e in environments], experiment.source)
    check_unique("strategy", [(s.name, s.call.where) for s in strategies], experiment.source)


def check_references(
    experiment: Experiment,
    environments: Mapping[str, Environment],
    strategies: list[Strategy],
    cells: Iterable[Cell],
    scopes: Mapping[str, Scope],
) -> None:
    """Claims, bounds and axes must name strategies and environments that exist and run together."""
    source, places, known = experiment.source, list(environments), [s.name for s in strategies]
    pairs = {(cell.strategy, cell.environment) for cell in cells}
    axes = {axis.group: [e.name for e in environments.values() if e.group == axis.group] for axis in experiment.axes}
    for i, axis in enumerate(experiment.axes):
        if len(axes[axis.group]) < 2:
            raise source.error(f"the axis '{axis.group}' needs two or more environments of that group", "axis", i)
        for place in axes[axis.group]:
            if axis.x not in FACTS or axis.x not in scopes[place]:
                facts = [fact for fact in FACTS if fact in scopes[place]]
                hint = did_you_mean(axis.x, facts) or f"; there is {', '.join(facts)}"
                raise source.error(f"unknown quantity x = '{axis.x}' in environment '{place}'{hint}", "axis", i, "x")
    for i, line in enumerate(experiment.bounds):
        check_known("strategy", [line.strategy], known, source, ("bound", i, "strategy"))
        bounds = [name for name in theory.__all__ if name.endswith("_bound")]
        if line.use not in bounds:
            hint = did_you_mean(line.use, bounds) or f"; there is {', '.join(bounds)}"
            raise source.error(f"unknown bound '{line.use}'{hint}", "bound", i, "use")
    for i, claim in enumerate(experiment.claims):
        where: Where = ("claim", i)
        for side, names in (("left", claim.left), ("right", claim.others)):
            check_known("strategy", [name.partition(" @ ")[0] for name in names], known, source, (*where, side))
            elsewhere = [place for name in names for _, sign, place in [name.partition(" @ ")] if sign]
            check_known("environment", elsewhere, places, source, (*where, side))
        check_known("environment", claim.environments, places, source, (*where, "environments"))
        if claim.quantity == "exponent":
            check_known("axis", [claim.axis], list(axes), source, (*where, "axis"))
        for strategy, place in _pairs_of_claim(claim, axes.get(claim.axis, [])):
            if (strategy, place) not in pairs:
                raise source.error(f"'{strategy}' does not run in '{place}', of which this claim speaks", *where)
        if not claim_places(claim, [e.name for e in environments.values() if e.shown], pairs):
            raise source.error("in no environment that is shown do all strategies of this claim run", *where)


def _pairs_of_claim(claim: Claim, group: list[str]) -> list[tuple[str, str]]:
    """Pairs of strategy and environment that a claim names."""
    places = group if claim.quantity == "exponent" else claim.environments
    named = [name.partition(" @ ") for name in (*claim.left, *claim.others)]
    return [(s, other) for s, sign, other in named if sign] + [
        (s, e) for s, sign, _ in named if not sign for e in places
    ]


def claim_places(claim: Claim, shown: list[str], pairs: set[tuple[str, str]]) -> list[str]:
    """Where a claim is tested: in the environments it names, else in all that are shown and hold its strategies."""
    if claim.environments or claim.quantity == "exponent":
        return [*(claim.environments or (claim.axis,))]
    here = [name for name in (*claim.left, *claim.others) if " @ " not in name]
    return [place for place in shown if all((strategy, place) in pairs for strategy in here)]
