"""The names a specification may use: strategies, environments, arms, paths and links, or `module:function` of your own."""

import functools
import importlib
import inspect
import pathlib
import sys
import typing
from collections.abc import Callable
from types import UnionType
from typing import Any, Literal

from ... import datasets, env, mdp, zoo
from ...links import LINKS
from ...util.spelling import did_you_mean
from .source import SpecError

Kind = Literal["strategy", "environment", "arms", "path"]

ARMS = ("unit_arms", "max_norm_arms", "clipped_arms", "redrawn_arms", "corner_arms")
NESTED: dict[str, Kind] = {"base": "strategy", "arms": "arms", "path": "path", "paths": "path"}


@functools.cache
def names(kind: Kind) -> dict[str, Callable[..., Any]]:
    """Every name of a kind, with the function behind it."""
    if kind == "strategy":
        return {name: getattr(zoo, name) for name in zoo.__all__}
    if kind == "arms":
        return {name: getattr(env, name) for name in env.__all__ if name in ARMS}
    functions = {
        name: getattr(env, name) for name in env.__all__ if inspect.isfunction(getattr(env, name)) and name not in ARMS
    }
    worlds = {name: f for name, f in functions.items() if _returns(f, "World", "Table")}
    if kind == "path":
        return {name: f for name, f in functions.items() if name not in worlds}
    streams = {name: getattr(datasets, name) for name in datasets.__all__}
    worlds |= {name: _world_of(f) for name, f in streams.items() if _returns(f, "Dataset")}
    return worlds | {name: getattr(mdp, name) for name in mdp.__all__ if _returns(getattr(mdp, name), "MDP")}


def _world_of(loader: Callable[..., Any]) -> Callable[..., Any]:
    """The world of a data set; `features` says in which form its strategies see it."""

    @functools.wraps(loader)
    def world(*, features: str = "disjoint", **options: Any) -> Any:
        return loader(**options).world(features)

    own = inspect.signature(loader)
    features = inspect.Parameter("features", inspect.Parameter.KEYWORD_ONLY, default="disjoint", annotation=str)
    world.__signature__ = own.replace(parameters=[*own.parameters.values(), features], return_annotation=env.Table)  # type: ignore[attr-defined]
    return world


def is_table(function: Callable[..., Any]) -> bool:
    """Whether the function returns a world of a table, which may have more rounds than are played."""
    return _returns(function, "Table")


def links() -> dict[str, Any]:
    """Inverse links by name."""
    return dict(LINKS)


def find(kind: Kind, name: str) -> Callable[..., Any]:
    """The function behind a name; `SpecError` (without a line) if there is none."""
    if ":" in name:
        return _from_module(kind, name)
    known = names(kind)
    if name not in known:
        raise SpecError(f"unknown {kind} '{name}'{did_you_mean(name, known) or '; known: ' + ', '.join(sorted(known))}")
    return known[name]


def _from_module(kind: Kind, name: str) -> Callable[..., Any]:
    module, _, attribute = name.partition(":")
    try:
        found = getattr(_module(module), attribute)
    except ImportError as problem:
        raise SpecError(f"{kind} '{name}': {problem}") from None
    except AttributeError:
        raise SpecError(f"{kind} '{name}': {module} has no '{attribute}'") from None
    if not callable(found):
        raise SpecError(f"{kind} '{name}' is not a function")
    return found  # type: ignore[no-any-return]


def comes_with_panels(name: str) -> bool:
    """Whether `module:function` names a module beside our panels, which is as trusted as the library."""
    from .panels import folder

    return (folder() / f"{name.partition(':')[0]}.py").is_file()


def _module(name: str) -> Any:
    """A module of the user's, or one beside our panels, never another module of its name."""
    if not comes_with_panels(name):
        return importlib.import_module(name)
    from .panels import folder

    ours = str(folder())
    if ours not in sys.path:  # processes that are started later inherit it
        sys.path.append(ours)
    found = importlib.import_module(name)
    if pathlib.Path(found.__file__ or "").parent != folder():
        raise SpecError(f"{name} is the name of a module of our panels, and {found.__file__} has it too; rename yours")
    return found


@functools.cache
def parameters(function: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """The parameters a specification may set, by name."""
    return {p.name: p for p in inspect.signature(function).parameters.values() if p.kind is not p.VAR_KEYWORD}


def takes_more(function: Callable[..., Any]) -> bool:
    """Whether the function passes further keywords on."""
    return any(p.kind is p.VAR_KEYWORD for p in inspect.signature(function).parameters.values())


@functools.cache
def number_kind(function: Callable[..., Any], parameter: str) -> type | None:
    """`int` or `float` if the parameter is a number, so that a string given for it is a formula; else None."""
    try:
        hints = typing.get_type_hints(function)
    except (NameError, TypeError):
        hints = {}
    written = {
        name: p.annotation for name, p in parameters(function).items()
    }  # of a function that passes its options on
    options = _options(hints.get(parameter, written.get(parameter, Any)))
    if str in options or not options & {int, float}:
        return None
    return float if float in options else int


def _options(hint: Any) -> set[Any]:
    if typing.get_origin(hint) in (typing.Union, UnionType):
        return set().union(*(_options(part) for part in typing.get_args(hint)))
    if typing.get_origin(hint) is Literal:
        return {type(value) for value in typing.get_args(hint)}
    return {hint}


def _returns(function: Any, *classes: str) -> bool:
    if not inspect.isfunction(function):
        return False
    answer = inspect.signature(function).return_annotation
    return getattr(answer, "__name__", str(answer)).strip("'\"") in classes


def summary(function: Callable[..., Any]) -> str:
    """First line of the docstring."""
    return (inspect.getdoc(function) or "").partition("\n")[0]
