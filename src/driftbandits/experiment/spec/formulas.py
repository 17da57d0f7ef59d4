"""Numbers written as formulas: `"1/(2*T)"`, `"lb_gamma"`, `"glb_gamma(preset='experiment')"`.

A formula knows numbers, + − * / // % **, the functions below, every function of `driftbandits.theory`, and the names
in scope (T, d, P_T, the experiment's constants, …). An argument that a theorem needs and the formula does not give is
taken from the scope by its name.

>>> evaluate("1/(2*T)", Scope({"T": 6000.0}))
8.333333333333333e-05
>>> round(evaluate("lb_gamma", Scope({"T": 6000, "d": 2, "P_T": 6.283185})), 8)
0.97711772

Formulas come from files of others, so their cost is bounded: in length, in depth, in steps (those of the constants they
name included), and in the size of every whole number on the way.

>>> evaluate("9**9**9", Scope({}))
Traceback (most recent call last):
...
driftbandits.experiment.spec.source.SpecError: '9**9**9' has no value: a number on the way is larger than 1.8e308
"""

import ast
import functools
import inspect
import math
import operator
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from ... import theory
from ...errors import DriftBanditsError
from ...util.spelling import did_you_mean
from .source import SpecError

LONGEST = 500  # characters of a formula
DEEPEST = 50  # operators and calls inside each other
MOST_STEPS = 2000  # numbers, names, operators and calls, with those of the constants named
LARGEST_BITS = 1024  # of whole numbers; floats end there, too
TOO_LARGE = "a number on the way is larger than 1.8e308"


def _power(base: Any, exponent: Any) -> Any:
    if isinstance(base, int) and isinstance(exponent, int) and exponent * base.bit_length() > 2 * LARGEST_BITS:
        raise OverflowError(TOO_LARGE)
    return base**exponent


def _round(value: float, digits: int = 0) -> float:
    return round(value, max(-400, min(400, digits))) if digits else round(value)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "sqrt": math.sqrt,
    "log": math.log,
    "exp": math.exp,
    "floor": math.floor,
    "ceil": math.ceil,
    "min": min,
    "max": max,
    "round": _round,
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
    ast.Pow: _power,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
}


class Scope(Mapping[str, Any]):
    """Names and their values; a value may be a function of the scope, called when it is first asked for.

    What a function needs is taken from here by its name; of what it can do without, only the names in `offers`.
    """

    def __init__(
        self, values: Mapping[str, Any], outer: "Scope | None" = None, *, offers: Collection[str] = ()
    ) -> None:
        self._values = dict(values)
        self._outer = outer
        self._offers = offers

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

    def offered(self, name: str) -> bool:
        """Whether a name is passed to every parameter of that name, required or not."""
        return name in self._offers or (self._outer is not None and self._outer.offered(name))

    def inner(self, values: Mapping[str, Any], *, offers: Collection[str] = ()) -> "Scope":
        """A scope inside this one."""
        return Scope(values, self, offers=offers)


_steps: ContextVar[Iterator[int] | None] = ContextVar("steps left to the formula under evaluation", default=None)


@contextmanager
def _budget() -> Iterator[None]:
    """The step limit of a formula, shared with the constants that it names."""
    if _steps.get() is not None:
        yield
        return
    token = _steps.set(iter(range(MOST_STEPS)))
    try:
        yield
    finally:
        _steps.reset(token)


def evaluate(text: str, scope: Mapping[str, Any]) -> Any:
    """The value of a formula; `SpecError` (without a line) if it has none."""
    tree = _parse(text)
    try:
        with _budget():
            value = _value(tree.body, scope, text)
    except SpecError:
        raise
    except DriftBanditsError as problem:
        raise SpecError(f"'{text}': {problem}") from None
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as problem:
        raise SpecError(f"'{text}' has no value: {problem}") from None
    return value.total if isinstance(value, theory.Bound) else value


def number(text: str, scope: Mapping[str, Any]) -> int | float:
    """The value of a formula that stands for a number."""
    value = evaluate(text, scope)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise SpecError(f"'{text}' is {type(value).__name__} {value!r:.40}, not a number")
    if not is_finite(value):
        raise SpecError(f"'{text}' has no value: {f'it is {value}' if isinstance(value, float) else TOO_LARGE}")
    return value


def is_finite(value: float) -> bool:
    """Whether it is a number that a float can hold.

    Examples
    --------
    >>> is_finite(10**300), is_finite(10**400), is_finite(float("nan"))
    (True, False, False)
    """
    return math.isfinite(value) if isinstance(value, float) else value.bit_length() <= LARGEST_BITS


@functools.lru_cache(maxsize=4096)
def _parse(text: str) -> ast.Expression:
    if len(text) > LONGEST:
        raise SpecError(f"'{text[:20]}…' is not a formula: it has {len(text)} characters, of at most {LONGEST}")
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        raise SpecError(f"'{text}' is not a formula") from None
    if _deeper(tree, DEEPEST + 1):
        raise SpecError(f"'{text[:20]}…' is not a formula for us: it is nested more than {DEEPEST} deep")
    return tree


def _deeper(node: ast.AST, levels: int) -> bool:
    return levels == 0 or any(_deeper(child, levels - 1) for child in ast.iter_child_nodes(node))


def _value(node: ast.AST, scope: Mapping[str, Any], text: str) -> Any:
    left = _steps.get()
    if left is None or next(left, None) is None:
        raise SpecError(f"'{text}' takes more than {MOST_STEPS} steps, with the constants it names")
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float | str):
        return node.value
    if isinstance(node, ast.Name):
        return _name(node.id, scope, text)
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        return _operate(node.op, _value(node.left, scope, text), _value(node.right, scope, text))
    if isinstance(node, ast.UnaryOp) and type(node.op) in OPERATORS:
        return _operate(node.op, _value(node.operand, scope, text))
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        return _value(node.value, scope, text)[node.slice.value]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not any(k.arg is None for k in node.keywords):
        positional = [_value(a, scope, text) for a in node.args]
        named = {str(k.arg): _value(k.value, scope, text) for k in node.keywords}
        return _call(node.func.id, positional, named, scope, text)
    raise SpecError(
        f"'{ast.unparse(node)}' is not allowed in a formula; formulas are numbers, names, + - * / ** and calls"
    )


def _operate(sign: ast.AST, *values: Any) -> Any:
    """Arithmetic on real numbers, none of them too large to go on with."""
    for value in values:
        if not isinstance(value, int | float):
            raise TypeError(f"{value!r:.40} is not a number")
    answer = OPERATORS[type(sign)](*values)
    if isinstance(answer, complex):
        raise ArithmeticError("it is not a real number")
    if isinstance(answer, int) and not is_finite(answer):
        raise OverflowError(TOO_LARGE)
    return answer


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
