"""From what a specification says to objects of the library: checked, with formulas turned into numbers, made.

Three forms of the same thing:

    Call       as written: `use = "lb_weight_ucb"`, `gamma = "lb_gamma"`, with the place in the file
    Resolved   plain JSON: {"use": "lb_weight_ucb", "gamma": 0.977…, …}; what is hashed, stored, sent to other machines
    object     `db.zoo.lb_weight_ucb(gamma=0.977…, …)`
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..errors import DriftBanditsError
from .catalog import NESTED, Kind, find, number_kind, parameters, takes_more
from .expressions import Scope, evaluate
from .source import Source, SpecError, Where, did_you_mean
from .tuning import theory_formula

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


def read_call(kind: Kind, table: Any, source: Source, where: Where, reserved: frozenset[str] = frozenset()) -> Call:
    """A call from a TOML table with `use`; the keys in `reserved` are not arguments."""
    if not isinstance(table, dict):
        raise source.error(f"'{where[-1]}' must be a table like {{ use = … }}, not {table!r}", *where)
    if not isinstance(table.get("use"), str):
        raise source.error(f'the {kind} needs use = "…": the name of what it is', *where)
    args = {
        key: _argument(key, value, source, (*where, key))
        for key, value in table.items()
        if key != "use" and key not in reserved
    }
    call = Call(kind, table["use"], args, source, where)
    known = parameters(call.function)
    for key in args:
        if key not in known and not takes_more(call.function):
            hint = did_you_mean(key, known) or f"; it has {', '.join(known)}"
            raise call.error(f"unknown parameter '{key}' of {call.use}{hint}", key)
    return call


def read_grid(key: str, value: Any, source: Source, where: Where) -> Any:
    """`{ grid = [...] }` as a grid; anything else as it is."""
    if not (isinstance(value, dict) and set(value) == {"grid"}):
        return value
    if not isinstance(value["grid"], list) or not value["grid"]:
        raise source.error(f"the grid of '{key}' must be a list of values", *where)
    return Grid(tuple(value["grid"]))


def _argument(key: str, value: Any, source: Source, where: Where) -> Any:
    value = read_grid(key, value, source, where)
    if isinstance(value, Grid):
        return value
    if isinstance(value, dict) or (key in NESTED and isinstance(value, str | int | float)):
        return read_call(NESTED.get(key, "path"), value, source, where)
    if isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
        return tuple(read_call(NESTED.get(key, "path"), item, source, (*where, i)) for i, item in enumerate(value))
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
        answer[key] = own[key] = _number_or_as_is(call, key, given, inner)
        inner = scope.inner({k: v for k, v in own.items() if isinstance(v, int | float)})
    for key, parameter in known.items():
        if key in answer or parameter.default is not parameter.empty or parameter.kind is parameter.VAR_POSITIONAL:
            continue
        if key not in inner:
            raise call.error(f"{call.use} needs '{key}'; give it here, or as a constant of that name")
        answer[key] = inner[key]
    typed = {key: _typed(number_kind(function, key), value) for key, value in answer.items()}
    return {"use": call.use, **{key: typed[key] for key in sorted(typed)}}


def _number_or_as_is(call: Call, key: str, given: Any, scope: Scope) -> Any:
    if isinstance(given, Call):
        return resolve(given, scope)
    if isinstance(given, tuple):
        return [resolve(item, scope) for item in given]
    if isinstance(given, str) and number_kind(call.function, key):
        formula = theory_formula(call.use, key) if given == "theory" else given
        if formula is None:
            raise call.error(f"there is no theory for '{key}' of {call.use}; give a number or a formula", key)
        try:
            return evaluate(formula, scope)
        except SpecError as problem:
            raise call.error(str(problem), key) from None
    return given


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


def try_build(call: Call, tree: Resolved) -> Any:
    """Make the object; an error of the library points at the line that caused it."""
    try:
        return build(call.kind, tree)
    except SpecError:
        raise
    except DriftBanditsError as problem:
        culprit, key = _blame(call, str(problem).partition(" ")[0])
        raise culprit.error(f"{call.use}: {problem}", key) from None
    except (TypeError, ValueError) as problem:
        raise call.error(f"{call.use}: {problem}") from None


def _blame(call: Call, word: str) -> tuple[Call, str]:
    """The call, here or nested, that gives the argument an error message starts with."""
    if word in call.args:
        return call, word
    for value in call.args.values():
        for inner in value if isinstance(value, tuple) else [value]:
            if isinstance(inner, Call):
                found = _blame(inner, word)
                if found[1]:
                    return found
    return call, ""
