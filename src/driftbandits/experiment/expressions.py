"""Numbers written as formulas: `"1/(2*T)"`, `"lb_gamma"`, `"glb_gamma(preset='experiment')"`.

A formula knows numbers, + − * / // % **, the functions below, every function of `driftbandits.theory`, and the names
in scope (T, d, P_T, the experiment's constants, …). An argument that a theorem needs and the formula does not give is
taken from the scope by its name.

>>> evaluate("1/(2*T)", Scope({"T": 6000.0}))
8.333333333333333e-05
>>> round(evaluate("lb_gamma", Scope({"T": 6000, "d": 2, "P_T": 6.283185})), 8)
0.97711772
"""

import ast
import functools
import inspect
import math
import operator
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from .. import theory
from ..errors import DriftBanditsError
from .source import SpecError, did_you_mean

FUNCTIONS: dict[str, Callable[..., Any]] = {
    "sqrt": math.sqrt,
    "log": math.log,
    "exp": math.exp,
    "floor": math.floor,
    "ceil": math.ceil,
    "min": min,
    "max": max,
    "round": round,
    "abs": abs,
    "int": int,
}
OPERATORS: dict[type, Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
}


class Scope(Mapping[str, Any]):
    """Names and their values; a value may be a function of the scope, called when it is first asked for."""

    def __init__(self, values: Mapping[str, Any], outer: "Scope | None" = None) -> None:
        self._values = dict(values)
        self._outer = outer

    def __getitem__(self, name: str) -> Any:
        return self.find(name, self)

    def find(self, name: str, seen_from: "Scope") -> Any:
        """The value of a name; lazy values see the innermost scope, so that they may depend on what it redefines."""
        if name not in self._values:
            if self._outer is None:
                raise KeyError(name)
            return self._outer.find(name, seen_from)
        value = self._values[name]
        return value(seen_from) if callable(value) else value

    def __iter__(self) -> Iterator[str]:
        yield from dict.fromkeys([*self._values, *(self._outer or ())])

    def __len__(self) -> int:
        return len(list(iter(self)))

    def __contains__(self, name: object) -> bool:
        return name in self._values or (self._outer is not None and name in self._outer)

    def inner(self, values: Mapping[str, Any]) -> "Scope":
        """A scope inside this one."""
        return Scope(values, self)


def evaluate(text: str, scope: Mapping[str, Any]) -> Any:
    """The value of a formula; `SpecError` (without a line) if it has none."""
    tree = _parse(text)
    try:
        value = _value(tree.body, scope, text)
    except SpecError:
        raise
    except DriftBanditsError as problem:
        raise SpecError(f"'{text}': {problem}") from None
    except (ArithmeticError, TypeError, ValueError) as problem:
        raise SpecError(f"'{text}' has no value: {problem}") from None
    return value.total if isinstance(value, theory.Bound) else value


@functools.cache
def _parse(text: str) -> ast.Expression:
    try:
        return ast.parse(text.strip(), mode="eval")
    except SyntaxError:
        raise SpecError(f"'{text}' is not a formula") from None


def _value(node: ast.AST, scope: Mapping[str, Any], text: str) -> Any:
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float | str):
        return node.value
    if isinstance(node, ast.Name):
        return _name(node.id, scope, text)
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        return OPERATORS[type(node.op)](_value(node.left, scope, text), _value(node.right, scope, text))
    if isinstance(node, ast.UnaryOp) and type(node.op) in OPERATORS:
        return OPERATORS[type(node.op)](_value(node.operand, scope, text))
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        return _value(node.value, scope, text)[node.slice.value]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not any(k.arg is None for k in node.keywords):
        positional = [_value(a, scope, text) for a in node.args]
        named = {str(k.arg): _value(k.value, scope, text) for k in node.keywords}
        return _call(node.func.id, positional, named, scope, text)
    raise SpecError(
        f"'{ast.unparse(node)}' is not allowed in a formula; formulas are numbers, names, + - * / ** and calls"
    )


def _name(name: str, scope: Mapping[str, Any], text: str) -> Any:
    if name in scope:
        return scope[name]
    if name in theory.__all__:
        return _call(name, [], {}, scope, text)
    known = [*scope, *theory.__all__, *FUNCTIONS]
    raise SpecError(f"unknown name '{name}' in '{text}'{did_you_mean(name, known)}")


def _call(name: str, positional: list[Any], named: dict[str, Any], scope: Mapping[str, Any], text: str) -> Any:
    if name in FUNCTIONS:
        return FUNCTIONS[name](*positional, **named)
    function = getattr(theory, name, None) if name in theory.__all__ else None
    if function is None:
        known = [*theory.__all__, *FUNCTIONS]
        raise SpecError(f"unknown function '{name}' in '{text}'{did_you_mean(name, known)}")
    return call_theory(function, positional, named, scope)


def call_theory(
    function: Callable[..., Any], positional: list[Any], named: dict[str, Any], scope: Mapping[str, Any]
) -> Any:
    """Call a function of `theory`; what it needs and is not given comes from the scope."""
    for parameter in _signature(function)[len(positional) :]:
        if parameter.default is not parameter.empty or parameter.name in named:
            continue
        if parameter.name not in scope:
            call = f"{function.__name__}({parameter.name}=…)"
            raise SpecError(f"{function.__name__} needs {parameter.name}, which is not known here; write {call}")
        named = named | {parameter.name: scope[parameter.name]}
    return function(*positional, **named)


@functools.cache
def _signature(function: Callable[..., Any]) -> list[inspect.Parameter]:
    return list(inspect.signature(function).parameters.values())
