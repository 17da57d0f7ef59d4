"""An experiment: environments × strategies × trials, with its claims and figure, read from TOML (see `schema`)."""

import pathlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ...util.spelling import did_you_mean
from .calls import Call, read_call, read_grid
from .schema import Axis, BoundLine, Claim, EnvironmentTable, Reading, StrategyTable, Tiny, is_number, read
from .source import Source, SpecError, Where


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
    added: bool = False  # drawn apart: the source does not show it
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
    readings: tuple[Reading, ...] = ()
    source: Source = field(default=Source("", "", {}, {}), repr=False)
    unit: str = "round"
    tiny: Tiny = field(default=Tiny(), repr=False)
    smoke: bool = False  # test-size: it shows that everything works, and is too small to judge a claim
    places: Mapping[str, Where] = field(default_factory=dict, repr=False)  # of constants that were replaced

    def constant_error(self, name: str, message: str) -> SpecError:
        """An error that points at a constant: in the file, or on the command line."""
        where = self.places.get(name, ("constants", name))
        return self.source.error(message, *where) if where else SpecError(f"--set {name}: {message}", located=True)


def load(
    path: pathlib.Path,
    *,
    trials: int | None = None,
    horizon: int | None = None,
    seed: int | None = None,
    constants: Mapping[str, Any] | None = None,
    tiny: bool = False,
    allow_code: bool = False,
) -> Experiment:
    """Read and validate a specification; the arguments replace what it says, `tiny` makes it test-size.

    A file that names `module:function` runs that code, and is refused unless `allow_code` says that it is trusted.
    """
    experiment = parse(Source.read(path), allow_code=allow_code)
    small = experiment.tiny if tiny else Tiny()
    given = dict(constants or {})
    for name in (*small.constants, *given):
        if name not in experiment.constants:
            known = ", ".join(experiment.constants) or "none"
            hint = did_you_mean(name, experiment.constants) or f"; known: {known}"
            raise SpecError(f"{path}: unknown constant '{name}'{hint}")
    for name, value in given.items():
        if not (isinstance(value, str) or is_number(value)):
            raise SpecError(f"--set {name}={value}: it must be a finite number or a formula")
    return replace(
        experiment,
        trials=trials or small.trials or experiment.trials,
        horizon=horizon or small.horizon or experiment.horizon,
        seeds=experiment.seeds if seed is None else (seed,),
        smoke=tiny,
        constants={**experiment.constants, **small.constants, **given},
        places={name: ("tiny", "constants", name) for name in small.constants} | dict.fromkeys(given, ()),
    )


def parse(source: Source, *, allow_code: bool = False) -> Experiment:
    """Validate a TOML document."""
    file = read(source)
    head = file.experiment
    experiment = Experiment(
        name=head.name,
        title=head.title or head.name,
        text=head.text,
        trials=head.trials,
        horizon=head.horizon,
        seeds=head.seed,
        checkpoints=head.checkpoints,
        alone=head.measure == "time",
        figure=file.figure.kind,
        constants=file.constants,
        environments=tuple(_environment(t, source, i, allow_code) for i, t in enumerate(file.environment)),
        strategies=tuple(_strategy(t, source, i, allow_code) for i, t in enumerate(file.strategy)),
        claims=tuple(file.claim),
        bounds=tuple(file.bound),
        axes=tuple(file.axis),
        readings=tuple(file.reading),
        source=source,
        unit=head.unit,
        tiny=file.tiny,
    )
    entries: dict[str, Sequence[Environment | Strategy]] = {
        "environment": experiment.environments,
        "strategy": experiment.strategies,
    }
    for kind, named in entries.items():
        check_unique(kind, [(entry.name, entry.call.where) for entry in named], source)
    for i, strategy in enumerate(experiment.strategies):
        known = [e.name for e in experiment.environments]
        check_known("environment", strategy.only, known, source, ("strategy", i, "only"))
    check_unique("reading", [(r.name, ("reading", i)) for i, r in enumerate(experiment.readings)], source)
    return experiment


def _environment(t: EnvironmentTable, source: Source, i: int, allow_code: bool) -> Environment:
    where: Where = ("environment", i)
    return Environment(
        name=t.name,
        call=read_call("environment", t.model_extra, source, where, allow_code),
        rounds=read_grid("T", t.T, source, (*where, "T")),
        shown=t.shown,
        group=t.group,
        constants={
            name: read_grid(name, value, source, (*where, "constants", name)) for name, value in t.constants.items()
        },
    )


def _strategy(t: StrategyTable, source: Source, i: int, allow_code: bool) -> Strategy:
    return Strategy(
        name=t.name,
        call=read_call("strategy", t.model_extra, source, ("strategy", i), allow_code),
        colour=t.colour,
        line=t.line,
        shown=t.shown,
        added=t.added,
        only=t.only,
    )


def check_unique(kind: str, named: Iterable[tuple[str, Where]], source: Source) -> None:
    """Refuse an entry whose name an earlier one has: their results would be taken for one."""
    seen: dict[str, Where] = {}
    for name, where in named:
        if name in seen and seen[name] == where:
            raise source.error(
                f"two points of this grid are both named '{name}'; put the parameter that differs into the name, "
                "or make its values differ in their first six digits",
                *where,
                "name",
            )
        if name in seen:
            raise source.error(f"the name '{name}' is used by an earlier {kind}; names must differ", *where, "name")
        seen[name] = where


def check_known(kind: str, names: Iterable[str], known: list[str], source: Source, where: Where) -> None:
    """Refuse a name that nothing has."""
    for name in names:
        if name not in known:
            hint = did_you_mean(name, known) or f"; there is {', '.join(known)}"
            raise source.error(f"there is no {kind} named '{name}'{hint}", *where)
