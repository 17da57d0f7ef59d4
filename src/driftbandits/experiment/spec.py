"""An experiment as data: environments × strategies × trials, with its claims and figure, read from TOML.

[experiment]            name, title, trials, horizon, seed, checkpoints, measure
[constants]             names for formulas; also the default of every parameter of the same name
[[environment]]         use = "linear", arms = { use = … }, path = { use = … }, …
[[strategy]]            use = "lb_weight_ucb", gamma = "lb_gamma", …
[[claim]]               left, relation, right: tested on the trials
[[bound]]               a theorem's bound to draw into the report
[figure], [[axis]]      how it is drawn
[tiny]                  the test-size twin: trials, horizon, constants
"""

import pathlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from .calls import Call, Grid, read_call, read_grid
from .questions import Axis, BoundLine, Claim, read_axis, read_bound, read_claim
from .source import Source, SpecError, did_you_mean
from .tables import Table

COLOURS = ("blue", "orange", "green", "red", "purple", "sky", "yellow", "black", "grey", "brown")
LINES = ("solid", "dashed", "dotted", "dashdot")
FIGURES = ("regret", "time", "scaling", "none")


@dataclass(frozen=True)
class Environment:
    """A world, drawn anew for every trial."""

    name: str
    call: Call
    rounds: Any  # T: a number, a formula, or None for the experiment's
    shown: bool = True
    group: str = ""
    constants: Mapping[str, Any] = field(default_factory=dict)  # its own, before the experiment's


@dataclass(frozen=True)
class Strategy:
    """An algorithm and how it is drawn."""

    name: str
    call: Call
    colour: str = ""
    line: str = "solid"
    shown: bool = True
    only: tuple[str, ...] = ()  # environments it runs in; () for all


@dataclass(frozen=True)
class Experiment:
    """A validated specification; grids are not yet expanded."""

    name: str
    title: str
    text: str
    trials: int
    horizon: int
    seeds: tuple[int, ...]
    checkpoints: int
    alone: bool  # run one cell at a time, so that times can be compared
    figure: str
    constants: Mapping[str, Any]
    environments: tuple[Environment, ...]
    strategies: tuple[Strategy, ...]
    claims: tuple[Claim, ...] = ()
    bounds: tuple[BoundLine, ...] = ()
    axes: tuple[Axis, ...] = ()
    source: Source = field(default=Source("", "", {}, {}), repr=False)
    unit: str = "round"


def load(
    path: pathlib.Path,
    *,
    trials: int | None = None,
    horizon: int | None = None,
    seed: int | None = None,
    constants: Mapping[str, Any] | None = None,
    tiny: bool = False,
) -> Experiment:
    """Read and validate a specification; the arguments replace what it says, `tiny` makes it test-size."""
    experiment = parse(Source.read(path))
    small = (
        Table(experiment.source.data, experiment.source, ()).table("tiny") if tiny else Table({}, experiment.source, ())
    )
    chosen = {**small.get("constants", "table", {}), **(constants or {})}
    for name in chosen:
        if name not in experiment.constants:
            known = ", ".join(experiment.constants) or "none"
            hint = did_you_mean(name, experiment.constants) or f"; known: {known}"
            raise SpecError(f"{path}: unknown constant '{name}'{hint}")
    return replace(
        experiment,
        trials=_first(trials, small.get("trials", "count", None), experiment.trials),
        horizon=_first(horizon, small.get("horizon", "count", None), experiment.horizon),
        seeds=experiment.seeds if seed is None else (seed,),
        constants={**experiment.constants, **chosen},
    )


def _first(*values: int | None) -> int:
    return next(v for v in values if v is not None)


def parse(source: Source) -> Experiment:
    """Validate a TOML document."""
    top = Table(source.data, source, ())
    top.only("experiment", "constants", "environment", "strategy", "claim", "bound", "axis", "figure", "tiny")
    head = top.table("experiment")
    head.only("name", "title", "text", "trials", "horizon", "seed", "checkpoints", "measure", "unit")
    seeds = head.get("seed", "any", 0)
    seeds = tuple(seeds) if isinstance(seeds, list) else (seeds,)
    if not seeds or not all(isinstance(s, int) and not isinstance(s, bool) and s >= 0 for s in seeds):
        raise head.error(
            f"seed = {head.data['seed']!r} is not allowed; it must be a whole number ≥ 0, or a list of them", "seed"
        )
    for key, least in (("trials", 1), ("horizon", 2), ("checkpoints", 1)):
        if head.get(key, "count", least) < least:
            raise head.error(f"{key} = {head.data[key]!r} is not allowed; it must be at least {least}", key)
    name = head.get("name", "text")
    if not name or not all(c.isalnum() or c in "-_." for c in name):
        raise head.error(
            f"name = {name!r} is not allowed; it names files: letters, digits, '-', '_' and '.' only", "name"
        )
    constants = top.table("constants")
    for key in constants.data:
        constants.get(key, "text" if isinstance(constants.data[key], str) else "number")
    tiny = top.table("tiny")
    tiny.only("trials", "horizon", "constants")
    figure = top.table("figure")
    figure.only("kind")
    experiment = Experiment(
        name=name,
        title=head.get("title", "text", name),
        text=head.get("text", "text", ""),
        trials=head.get("trials", "count", 20),
        horizon=head.get("horizon", "count"),
        seeds=seeds,
        checkpoints=head.get("checkpoints", "count", 300),
        alone=head.choice("measure", ("regret", "time"), "regret") == "time",
        figure=figure.choice("kind", FIGURES, "regret"),
        constants=dict(constants.data),
        environments=tuple(_environment(t) for t in top.tables("environment")),
        strategies=tuple(_strategy(t) for t in top.tables("strategy")),
        claims=tuple(read_claim(t) for t in top.tables("claim")),
        bounds=tuple(read_bound(t) for t in top.tables("bound")),
        axes=tuple(read_axis(t) for t in top.tables("axis")),
        source=source,
        unit=head.get("unit", "text", "round"),
    )
    _check_names(experiment, top)
    return experiment


def _environment(t: Table) -> Environment:
    call = read_call("environment", t.data, t.source, t.where, frozenset(("name", "shown", "group", "T", "constants")))
    constants = {
        name: read_grid(name, value, t.source, (*t.where, "constants"))
        for name, value in t.table("constants").data.items()
    }
    return Environment(
        name=t.get("name", "text"),
        call=call,
        rounds=read_grid("T", t.get("T", "any", None), t.source, (*t.where, "T")),
        shown=t.get("shown", "flag", True),
        group=t.get("group", "text", ""),
        constants=constants,
    )


def _strategy(t: Table) -> Strategy:
    call = read_call("strategy", t.data, t.source, t.where, frozenset(("name", "colour", "line", "shown", "only")))
    return Strategy(
        name=t.get("name", "text"),
        call=call,
        colour=t.choice("colour", COLOURS, ""),
        line=t.choice("line", LINES, "solid"),
        shown=t.get("shown", "flag", True),
        only=t.get("only", "texts", ()),
    )


def _check_names(e: Experiment, top: Table) -> None:
    """Names are unique, and what refers to a name finds it."""
    entries: dict[str, Sequence[Environment | Strategy]] = {"environment": e.environments, "strategy": e.strategies}
    for kind, named in entries.items():
        if not named:
            raise SpecError(f"{e.source.file}:1: there is no [[{kind}]]; an experiment needs at least one")
        seen: set[str] = set()
        for i, item in enumerate(named):
            if item.name in seen:
                raise e.source.error(
                    f"the name '{item.name}' is used by an earlier {kind}; names must differ", kind, i, "name"
                )
            seen.add(item.name)
    environments = [x.name for x in e.environments]
    for i, s in enumerate(e.strategies):
        _known(e, s.only, environments, "environment", ("strategy", i, "only"))
    if any("{" in s.name or _has_grid(s.call) for named in entries.values() for s in named):
        return  # names are made when the grid is expanded; references are checked then
    strategies = [s.name for s in e.strategies]
    for i, c in enumerate(e.claims):
        _known(e, c.left, strategies, "strategy", ("claim", i, "left"))
        _known(e, c.right, strategies, "strategy", ("claim", i, "right"))
        _known(e, c.environments, environments, "environment", ("claim", i, "environments"))
    for i, b in enumerate(e.bounds):
        _known(e, (b.strategy,), strategies, "strategy", ("bound", i, "strategy"))


def _known(e: Experiment, names: tuple[str, ...], known: list[str], kind: str, where: tuple[str | int, ...]) -> None:
    for name in names:
        plain = name.partition(" @ ")[0]
        if plain not in known:
            raise e.source.error(
                f"there is no {kind} named '{plain}'{did_you_mean(plain, known) or '; there is ' + ', '.join(known)}",
                *where,
            )


def _has_grid(call: Call) -> bool:
    return any(isinstance(v, Grid) or (isinstance(v, Call) and _has_grid(v)) for v in call.args.values())
