"""The schema of a specification: its tables, their keys, and the type of each value.

    [experiment]            name, title, trials, horizon, seed, checkpoints, measure
    [constants]             names for formulas; also the default of every parameter of the same name
    [[environment]]         use = "linear", arms = { use = … }, path = { use = … }, …
    [[strategy]]            use = "lb_weight_ucb", gamma = "lb_gamma", …
    [[claim]]               left, relation, right: tested on the trials
    [[bound]]               a theorem's bound to draw into the report
    [[reading]]             another reading of what the source leaves open, for `--robust`
    [figure], [[axis]]      how it is drawn
    [tiny]                  the test-size twin: trials, horizon, constants

The description of a field ends the sentence "it must be …" of the error about it.
"""

from typing import Annotated, Any, Literal, get_args

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainValidator,
    ValidationError,
    field_validator,
    model_validator,
)
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from ...util.spelling import closest, did_you_mean
from .formulas import is_finite
from .source import Source, SpecError, Where

LONGEST_NAME = 100
LONGEST_TITLE = 300
SHOWN = 60  # characters of a refused value


def _names(value: Any) -> Any:
    """A list in a TOML file is a tuple here, and a name alone is a list of one."""
    return (value,) if isinstance(value, str) else tuple(value) if isinstance(value, list) else value


def _whole(least: int) -> Any:
    return Field(ge=least, le=2**62, description=f"a whole number ≥ {least}")


def _text(longest: int, default: Any = ...) -> Any:
    return Field(default, max_length=longest, description=f"a text of at most {longest} printable characters")


def is_number(value: Any) -> bool:
    """A whole or floating-point number that is neither true nor false, infinite or NaN."""
    return isinstance(value, int | float) and not isinstance(value, bool) and is_finite(value)


def _formula(value: Any) -> Any:
    """As it is: 1 and 1.0 are different defaults."""
    if isinstance(value, str) or is_number(value):
        return value
    raise ValueError


def _seeds(value: Any) -> tuple[int, ...]:
    seeds = tuple(value) if isinstance(value, list) else (value,)
    if seeds and all(type(s) is int and 0 <= s < 2**63 for s in seeds):
        return seeds
    raise ValueError


def _names_or_number(value: Any) -> Any:
    if is_number(value):
        return float(value)
    names = _names(value)
    if isinstance(names, tuple) and names and all(isinstance(name, str) for name in names):
        return names
    raise ValueError


Name = Annotated[str, Field(min_length=1, max_length=LONGEST_NAME)]
Names = Annotated[tuple[str, ...], BeforeValidator(_names)]
Formula = Annotated[float | int | str, PlainValidator(_formula)]
Constants = Annotated[dict[str, Formula], Field(description="a table of numbers and formulas")]
NAMES = "a name or a list of names"


class TomlTable(BaseModel):
    """Unknown keys and values of another type are errors."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    @field_validator("*")
    @classmethod
    def _printable(cls, value: Any) -> Any:
        """Texts that are drawn or printed must not contain control characters; longer texts may have several lines."""
        if isinstance(value, str) and not value.replace("\n", " ").isprintable():
            raise ValueError
        return value


class Head(TomlTable):
    """[experiment]."""

    name: str = Field(
        pattern=r"^[^\W_][\w.-]*$",
        max_length=LONGEST_NAME,
        description="letters, digits, '-', '_' and '.', a letter or digit first, "
        f"at most {LONGEST_NAME}: it names files",
    )
    horizon: int = _whole(2)
    title: str = _text(LONGEST_TITLE, "")
    text: str = _text(10_000, "")
    trials: Annotated[int, _whole(1)] = 20
    seed: Annotated[
        tuple[int, ...],
        PlainValidator(_seeds),
        Field(description="a whole number ≥ 0, or a list of them"),
    ] = (0,)
    checkpoints: Annotated[int, _whole(1)] = 300
    measure: Literal["regret", "time"] = "regret"  # time: one cell after the other
    unit: str = _text(LONGEST_NAME, "round")


class EnvironmentTable(TomlTable):
    """[[environment]]; its other keys are parameters of what it uses."""

    model_config = ConfigDict(extra="allow")

    name: Name = _text(LONGEST_NAME)
    T: Any = None
    shown: bool = Field(True, description="true or false")
    group: str = _text(LONGEST_NAME, "")
    constants: Annotated[dict[str, Any], Field(description="a table of numbers, formulas and grids")] = {}


class StrategyTable(TomlTable):
    """[[strategy]]; its other keys are parameters of what it uses."""

    model_config = ConfigDict(extra="allow")

    name: Name = _text(LONGEST_NAME)
    colour: Literal["", "blue", "orange", "green", "red", "purple", "sky", "yellow", "black", "grey", "brown"] = ""
    line: Literal["solid", "dashed", "dotted", "dashdot"] = "solid"
    shown: bool = Field(True, description="true or false")
    added: bool = Field(False, description="true or false")  # drawn apart: the source does not show it
    only: Names = Field((), min_length=1, description=NAMES)


class Claim(TomlTable):
    """[[claim]]: a sentence and the comparison that tests it."""

    text: str = _text(1000)
    left: Names = Field(min_length=1, description=NAMES)
    right: Annotated[
        tuple[str, ...] | float, PlainValidator(_names_or_number), Field(description=f"{NAMES}, or a number")
    ]
    relation: Literal["<", "about"] = "<"
    factor: float = Field(1.0, allow_inf_nan=False, description="a number")
    tolerance: float = Field(0.0, ge=0.0, allow_inf_nan=False, description="a number ≥ 0")
    quantity: Literal["regret", "time", "exponent"] = "regret"
    axis: str = _text(LONGEST_NAME, "")
    environments: Names = Field((), min_length=1, description=NAMES)
    source: str = _text(1000, "")  # who says so

    @property
    def others(self) -> tuple[str, ...]:
        """The strategies on the right; () if there is a number."""
        return self.right if isinstance(self.right, tuple) else ()

    @property
    def value(self) -> float | None:
        """The number on the right, if there is one."""
        return self.right if isinstance(self.right, float) else None

    @model_validator(mode="after")
    def _complete(self) -> "Claim":
        if self.relation == "about" and self.tolerance <= 0.0:
            raise ValueError(
                "relation = 'about' needs tolerance = …: the largest relative difference that is still about the same"
            )
        if self.quantity == "exponent" and (not self.axis or self.value is None):
            raise ValueError("quantity = 'exponent' needs axis = …, the group of an [[axis]], and right = a number")
        return self


class BoundLine(TomlTable):
    """[[bound]]: a theorem's bound, drawn next to a strategy."""

    strategy: str = _text(1000)
    use: str = _text(LONGEST_NAME)


class Reading(TomlTable):
    """[[reading]]: another reading of what the source leaves open; every claim is tested again under it."""

    name: Name = _text(LONGEST_NAME)
    text: str = _text(1000, "")
    constants: Constants = {}
    arms: str = _text(LONGEST_NAME, "")  # what makes the arms of every environment instead


class Axis(TomlTable):
    """[[axis]]: final regret against one quantity, on log axes."""

    group: str = _text(LONGEST_NAME)
    x: str = _text(LONGEST_NAME)
    label: str = _text(LONGEST_TITLE, "")
    theorem: float | None = Field(None, allow_inf_nan=False, description="a number")

    @property
    def title(self) -> str:
        """What stands below the axis."""
        return self.label or self.x


class Figure(TomlTable):
    """[figure]."""

    kind: Literal["regret", "time", "scaling", "none"] = "regret"


class Tiny(TomlTable):
    """[tiny]: what the test-size twin says instead."""

    trials: Annotated[int | None, _whole(1)] = None
    horizon: Annotated[int | None, _whole(2)] = None
    constants: Constants = {}


class File(TomlTable):
    """A whole specification."""

    experiment: Head = Field(description="a table [experiment] with name and horizon")
    constants: Constants = {}
    environment: list[EnvironmentTable] = Field(min_length=1, description="one or more [[environment]]")
    strategy: list[StrategyTable] = Field(min_length=1, description="one or more [[strategy]]")
    claim: list[Claim] = Field([], description="a list of tables, each under its own [[claim]]")
    bound: list[BoundLine] = Field([], description="a list of tables, each under its own [[bound]]")
    axis: list[Axis] = Field([], description="a list of tables, each under its own [[axis]]")
    reading: list[Reading] = Field([], description="a list of tables, each under its own [[reading]]")
    figure: Figure = Field(Figure(), description="a table")
    tiny: Tiny = Field(Tiny(), description="a table")


class Collection(TomlTable):
    """[collection] of paper.toml: panels that belong together, and how they stand in one figure."""

    name: str = _text(LONGEST_NAME)
    title: str = _text(LONGEST_TITLE)
    layout: list[list[str]] = Field(description="rows of names of panels")

    @property
    def panels(self) -> list[str]:
        """Column by column, as the paper tells them."""
        columns = max(map(len, self.layout))
        return [row[c] for c in range(columns) for row in self.layout if c < len(row)]


TABLES: dict[Where, type[TomlTable]] = {
    (): File,
    ("experiment",): Head,
    ("environment",): EnvironmentTable,
    ("strategy",): StrategyTable,
    ("claim",): Claim,
    ("bound",): BoundLine,
    ("axis",): Axis,
    ("reading",): Reading,
    ("figure",): Figure,
    ("tiny",): Tiny,
    ("collection",): Collection,
}


def read(source: Source) -> File:
    """The whole file, or its first error."""
    try:
        return File.model_validate(source.data)
    except ValidationError as problem:
        raise _first_error(problem, source, ()) from None


def read_collection(source: Source) -> Collection:
    """The table [collection] of a file."""
    try:
        return Collection.model_validate(source.data.get("collection", {}))
    except ValidationError as problem:
        raise _first_error(problem, source, ("collection",)) from None


def _first_error(problem: ValidationError, source: Source, root: Where) -> SpecError:
    found = problem.errors(include_url=False)
    # A misspelt key is also a missing one. The misspelling is the error to report: it has a line of its own, and a suggestion.
    misspelt = {_suggested((*root, *details["loc"])) for details in found if details["type"] == "extra_forbidden"}
    told = [
        _message_and_place(details, source, where)
        for details in found
        if (where := (*root, *details["loc"])) not in misspelt or details["type"] != "missing"
    ]
    message, place = min(told, key=lambda pair: source.line(*pair[1]))
    return source.error(message, *place)


def _suggested(where: Where) -> Where | None:
    """The place of the key that an unknown key was probably meant to be."""
    table, key = _table_and_key(where)
    close = closest(key, TABLES[_without_numbers(table)].model_fields)
    return (*table, close) if close else None


def _message_and_place(details: ErrorDetails, source: Source, where: Where) -> tuple[str, Where]:
    """A sentence, and the place it is about."""
    said = str(details.get("ctx", {}).get("error", ""))
    if said:  # by a validator of ours
        return said, where
    table, key = _table_and_key(where)
    place: Where = (*table, key)
    fields = TABLES[_without_numbers(table)].model_fields
    if key not in fields:
        return f"unknown key '{key}'{did_you_mean(key, fields) or '; known: ' + ', '.join(fields)}", place
    field = fields[key]
    allowed = f"it must be {field.description or 'one of ' + ', '.join(_choices(field))}"
    given = _look_up(source.data, place)
    if given is None:
        return f"'{key}' is missing; {allowed}", table
    if isinstance(given, dict) and len(where) > len(place):  # one of the constants
        key, given = str(where[len(place)]), given.get(where[len(place)])
        place, allowed = (*place, key), "it must be a number or a formula"
    hint = did_you_mean(given, _choices(field)) if isinstance(given, str) else ""
    return f"{key} = {_short(given)} is not allowed{hint or '; ' + allowed}", place


def _table_and_key(where: Where) -> tuple[Where, str]:
    """The innermost table on the way, and the key in it."""
    steps = [i for i, step in enumerate(where) if isinstance(step, str) and _without_numbers(where[:i]) in TABLES]
    return where[: steps[-1]], str(where[steps[-1]])


def _without_numbers(where: Where) -> Where:
    return tuple(step for step in where if isinstance(step, str))


def _look_up(data: Any, where: Where) -> Any:
    for step in where:
        try:
            data = data[step]
        except (KeyError, IndexError, TypeError):
            return None
    return data


def _choices(field: FieldInfo) -> list[str]:
    return [word for word in get_args(field.annotation) if isinstance(word, str) and word]


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"
