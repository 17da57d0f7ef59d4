"""From a specification to objects of the library: arguments are checked, formulas evaluated, objects created.

Three forms of the same thing:

    Call       as written: `use = "lb_weight_ucb"`, `gamma = "lb_gamma"`, with the place in the file
    Resolved   plain JSON: {"use": "lb_weight_ucb", "gamma": 0.977…, …}; what is hashed, stored, sent to other machines
    object     `db.zoo.lb_weight_ucb(gamma=0.977…, …)`
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ...util.spelling import did_you_mean
from ...zoo.record import RECORDS
from .catalog import NESTED, Kind, comes_with_panels, find, number_kind, parameters, takes_more
from .formulas import Scope, is_finite, number
from .source import Source, SpecError, Where

Resolved = dict[str, Any]


@dataclass(frozen=True)
class Grid:
    """Several values for one parameter."""

    values: tuple[Any, ...]


@dataclass(frozen=True)
class Call:
    """A function of the library and its arguments, as a specification gives them."""

    kind: Kind
    use: str
    args: Mapping[str, Any]
    source: Source
    where: Where

    @property
    def function(self) -> Callable[..., Any]:
        """What is called."""
        try:
            return find(self.kind, self.use)
        except SpecError as problem:
            raise self.source.error(str(problem), *self.where, "use") from None

    def error(self, message: str, key: str = "") -> SpecError:
        """An error that points at this call, or at one of its arguments."""
        return self.source.error(message, *self.where, *([key] if key else []))

    def with_args(self, changes: Mapping[str, Any]) -> "Call":
        """The same call with other arguments."""
        return replace(self, args={**self.args, **changes})


def read_call(kind: Kind, table: Any, source: Source, where: Where, allow_code: bool) -> Call:
    """A call from a TOML table with `use`; code that is not the library's is imported only with `allow_code`."""
    if not isinstance(table, dict):
        raise source.error(f"'{where[-1]}' must be a table like {{ use = … }}, not {table!r}", *where)
    use = table.get("use")
    if not isinstance(use, str):
        raise source.error(f'the {kind} needs use = "…": the name of what it is', *where)
    if ":" in use and not allow_code and not comes_with_panels(use):
        raise source.error(
            f"use = {use!r} runs code that is not of this library; if you trust this file, say --allow-code",
            *where,
            "use",
        )
    args = {
        key: _argument(key, value, source, (*where, key), allow_code) for key, value in table.items() if key != "use"
    }
    call = Call(kind, use, args, source, where)
    known = parameters(call.function)
    for key in args:
        if key not in known and not takes_more(call.function):
            hint = did_you_mean(key, known) or f"; it has {', '.join(known)}"
            raise call.error(f"unknown parameter '{key}' of {call.use}{hint}", key)
    return call


def read_grid(key: str, value: Any, source: Source, where: Where) -> Any:
    """A plain value, or `{ grid = [...] }` of plain values; never a table, which would be a call."""
    items = _grid_items(key, value, source, where)
    if items is None:
        return _plain(key, value, source, where)
    return Grid(tuple(_plain(key, item, source, where) for item in items))


def _argument(key: str, value: Any, source: Source, where: Where, allow_code: bool) -> Any:
    """A plain value, a call, several of them, or a grid of any."""
    items = _grid_items(key, value, source, where)
    if items is None:
        return _plain_or_call(key, value, source, where, allow_code)
    return Grid(tuple(_plain_or_call(key, item, source, where, allow_code) for item in items))


def _grid_items(key: str, value: Any, source: Source, where: Where) -> list[Any] | None:
    if not (isinstance(value, dict) and set(value) == {"grid"}):
        return None
    if not isinstance(value["grid"], list) or not value["grid"]:
        raise source.error(f"the grid of '{key}' must be a list of values", *where)
    return value["grid"]


def _plain_or_call(key: str, value: Any, source: Source, where: Where, allow_code: bool) -> Any:
    kind = NESTED.get(key, "path")
    if key == "features" and isinstance(value, dict) and "use" not in value:  # a kernel's: a table of values
        return {name: _plain(name, item, source, (*where, name)) for name, item in sorted(value.items())}
    if isinstance(value, dict) or (key in NESTED and isinstance(value, str | int | float)):
        return read_call(kind, value, source, where, allow_code)
    if isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
        return tuple(read_call(kind, item, source, (*where, i), allow_code) for i, item in enumerate(value))
    return _plain(key, value, source, where)


def _plain(key: str, value: Any, source: Source, where: Where) -> Any:
    """Refuse what is not a value: tables, dates, and numbers that are infinite."""
    for part in value if isinstance(value, list) else ():
        _plain(key, part, source, where)
    if isinstance(value, int | float) and not is_finite(value):
        raise source.error(f"{key} = {value!r:.40} is not allowed; it must be finite", *where)
    if value is not None and not isinstance(value, str | int | float | list):
        raise source.error(f"{key} = {value!s:.40} is not allowed here; it must be a number, a text or a list", *where)
    return value


def resolve(call: Call, scope: Scope) -> Resolved:
    """Evaluate every formula; fill in what the function needs and the scope knows; refuse what is missing."""
    function = call.function
    known = parameters(function)
    answer: Resolved = {}
    own: dict[str, Any] = {
        key: value for key, value in call.args.items() if isinstance(value, int | float) and not isinstance(value, bool)
    }
    inner = scope.inner(own)
    for key, given in call.args.items():
        # A nested call sees what this call sees, not this call's own numbers: the δ of DAL's detector is not its base's.
        answer[key] = own[key] = _number_or_as_is(call, key, given, inner, nested=scope)
        inner = scope.inner({k: v for k, v in own.items() if isinstance(v, int | float)})
    for key, parameter in known.items():
        optional = parameter.default is not parameter.empty and not scope.offered(key)
        if key in answer or optional or parameter.kind is parameter.VAR_POSITIONAL:
            continue
        if key not in inner:
            raise call.error(f"{call.use} needs '{key}'; give it here, or as a constant of that name")
        answer[key] = inner[key]
        if number_kind(function, key) and not (isinstance(answer[key], int | float) and is_finite(answer[key])):
            raise call.error(f"{call.use} needs a number '{key}'; the constant of that name is {answer[key]!r:.40}")
    typed = {key: _typed(number_kind(function, key), value) for key, value in answer.items()}
    return {"use": call.use, **{key: typed[key] for key in sorted(typed)}}


def _number_or_as_is(call: Call, key: str, given: Any, scope: Scope, nested: Scope) -> Any:
    if isinstance(given, Call):
        return resolve(given, nested)
    if isinstance(given, tuple):
        return [resolve(item, nested) for item in given]
    if isinstance(given, str) and number_kind(call.function, key):
        formula = _theory(call.use, key) if given == "theory" else given
        if formula is None:
            raise call.error(f"there is no theory for '{key}' of {call.use}; give a number or a formula", key)
        try:
            return number(formula, scope)
        except SpecError as problem:
            raise problem if problem.located else call.error(str(problem), key) from None
    return given


def _theory(strategy: str, parameter: str) -> str | None:
    """The formula behind "theory": what the strategy's record says tunes this parameter, or None."""
    return RECORDS[strategy].tuned_by.get(parameter) if strategy in RECORDS else None


def _typed(kind: type | None, value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    if kind is float:
        return float(value)
    return int(value) if float(value).is_integer() and (kind is int or isinstance(value, int)) else value


def build(kind: Kind, tree: Resolved) -> Any:
    """Make the object that a resolved call describes."""
    function = find(kind, tree["use"])
    named = {key: _build_argument(key, value) for key, value in tree.items() if key != "use"}
    variadic = [p.name for p in parameters(function).values() if p.kind is p.VAR_POSITIONAL]
    positional = [item for name in variadic for item in named.pop(name, [])]
    return function(*positional, **named)


def _build_argument(key: str, value: Any) -> Any:
    if isinstance(value, dict) and "use" in value:
        return build(NESTED.get(key, "path"), value)
    if isinstance(value, list):
        return [_build_argument(key, item) for item in value]
    return value
