"""Open functions that compile: parts, leaves, open functions and entries.

Every algorithm here is a tuple of small parts (`NamedTuple`s of numbers). One loop runs them all, because the loop calls
*open functions*, and an open function picks its *method* by the type of its first argument:

`generic`  declares an open function, with a default method if its stub has a body. From Python it dispatches on `type(x)`; inside
           compiled code, on numba's type of x. The same composition therefore runs compiled or, with NUMBA_DISABLE_JIT=1, interpreted.
`part`     turns a `NamedTuple` class into a part: numbers become floats and `check` runs once, at construction.
`kernel`   declares a compiled leaf, inlined where it is called from compiled code.
`solver`   declares a compiled leaf that is too large to inline.
`entry`    declares a function that Python may call: a loop over the above, compiled at its first call for the parts it is given.

Compiled code allocates nothing: the caller passes every array that is written. Reference counting is therefore switched off, which makes
a round four times faster; a kernel that tries to allocate does not compile.

Private interfaces of numba are confined to `numba_private`; `code_cache` stores compiled code on disk.
"""

import ast
import functools
import inspect
import math
import re
import textwrap
import types
from collections.abc import Callable, Iterator
from numbers import Real
from typing import Any, ParamSpec, Protocol, TypeVar, cast, overload

import numpy as np
from numba import float64
from numba.core.errors import NumbaError
from numba.extending import intrinsic

from ..errors import NoMethod, real
from ..util.notebook import boxes
from . import code_cache, numba_private, registry

__all__ = ["entry", "generic", "kernel", "part", "solver", "sqrt"]

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T", bound=type)
P = ParamSpec("P")
R = TypeVar("R", covariant=True)


class OpenFunction(Protocol[P, R]):
    """A function with one method per type of its first argument."""

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Apply the method for the first argument's type; arguments are positional."""

    def register(self, *kinds: type) -> Callable[[F], F]:
        """Decorate the method for these types."""

    def knows(self, kind: type) -> bool:
        """Whether a method is registered for exactly this type; the default method does not count."""


class EntryPoint(Protocol[P, R]):
    """A compiled function that Python may call."""

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Compile for these arguments if need be, and run; arguments are positional."""

    def direct(self, *args: P.args, **kwargs: P.kwargs) -> Callable[P, R]:
        """The machine code for arguments of exactly these types; calling it skips numba's type inspection."""

    def ready(self, *args: P.args, **kwargs: P.kwargs) -> bool:
        """Whether machine code for arguments of these types exists, in this process or in the cache."""

    @property
    def interpreted(self) -> Callable[P, R]:
        """The undecorated Python function."""


class EntryMaker(Protocol):
    """The type of `entry(...)` called with options: a decorator."""

    def __call__(self, function: Callable[P, R]) -> EntryPoint[P, R]:
        """Turn the function into an entry."""


# ---------------------------------------------------------------------------------------------------------------- parts


def part(cls: T) -> T:
    """Turn a `NamedTuple` class into a part that validates itself with `check(self)`.

    Integers become floats: numba would otherwise compile every strategy twice, for γ = 1 and for γ = 0.5.
    """
    make = cls.__new__

    @functools.wraps(make)
    def new(kind: type, *args: Any, **kwargs: Any) -> Any:
        # The tuple is built twice: first to bind positional, keyword and default values to names, then with the converted numbers.
        raw = make(kind, *args, **kwargs)
        fields = zip(raw._fields, raw, strict=True)
        values = [real(name, value) if isinstance(value, Real) else value for name, value in fields]
        config = make(kind, *values)
        check = getattr(config, "check", None)
        if check is not None:
            check()
        return config

    cls.__new__ = new  # type: ignore[assignment]
    # `_replace` builds through `_make`; it must not be a way around the check.
    cls._make = classmethod(lambda kind, values: kind(*values))  # type: ignore[attr-defined]
    cls._repr_html_ = boxes  # type: ignore[attr-defined]
    registry.note_part(cls)
    return cls


# ------------------------------------------------------------------------------------------------------- compiled leaves


def kernel(function: F) -> F:
    """Compile a small function, inlined into its callers."""
    registry.note_helper(function)
    return cast(F, numba_private.leaf(function, apart=False))


def solver(function: F) -> F:
    """Compile a function that is too large to inline: its machine code is emitted once, however many callers it has."""
    registry.note_helper(function)
    return cast(F, numba_private.leaf(function, apart=True))


def sqrt(x: float) -> float:
    """√x as one instruction, which LLVM can vectorise; numba's own `math.sqrt` is a call into the C library, which it cannot."""
    return math.sqrt(x)


@intrinsic
def _sqrt_instruction(typing: Any, x: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.call(builder.module.declare_intrinsic("llvm.sqrt", [args[0].type]), args)

    return float64(float64), generate


@numba_private.compiled_form(sqrt)
def _(x: Any) -> Callable[..., float]:
    def compiled(x: float) -> float:
        root: float = instruction(x)
        return root

    instruction: Any = _sqrt_instruction
    return compiled


# ---------------------------------------------------------------------------------------------------------- open functions


def generic(stub: Callable[P, R]) -> OpenFunction[P, R]:
    """Turn a documented stub into an open function; give it methods with `@stub.register(Part)`.

    A stub whose body is more than a docstring (or `...`) is the default method, used for every type without a method of its own.

    Examples
    --------
    >>> @generic
    ... def length(part):
    ...     '''The number of items; 1 by default.'''
    ...     return 1.0
    >>> @length.register(tuple)
    ... def _(part):
    ...     return len(part)
    >>> length((1, 2, 3)), length("anything")
    (3, 1.0)
    """
    methods: dict[type, Callable[..., Any]] = {}
    default = stub if _has_body(stub) else None
    if default is not None:
        registry.note_helper(stub)

    def method(kind: type) -> Callable[..., Any]:
        found = methods.get(kind, default)
        if found is None:
            known = ", ".join(sorted(p.__name__ for p in methods)) or "none yet"
            raise NoMethod(f"{stub.__name__} has no method for {getattr(kind, '__name__', kind)}; it knows {known}")
        return found

    @functools.wraps(stub)
    def dispatch(*args: Any) -> Any:
        return method(type(args[0]))(*args)

    # While numba compiles a call of `dispatch`, it passes the types of the arguments and compiles the method that is returned here.
    def choose(*types: Any) -> Callable[..., Any]:
        return method(numba_private.class_of(types[0]))

    numba_private.compiled_form(dispatch)(choose)

    def register(*kinds: type) -> Callable[[F], F]:
        def add(function: F) -> F:
            for kind in kinds:
                methods[kind] = _renamed(function, f"{stub.__name__}[{kind.__name__}]")
                registry.note_method(kind, function)
            return function

        return add

    dispatch.register = register  # type: ignore[attr-defined]
    dispatch.knows = methods.__contains__  # type: ignore[attr-defined]
    return cast(OpenFunction[P, R], dispatch)


def _nothing() -> None:
    """Only a docstring: a sample of a stub without a body."""


# The byte code of a function that does nothing, with a docstring and without: the index of the constant None differs.
_RETURNS_NONE = {_nothing.__code__.co_code, (lambda: None).__code__.co_code}


def _has_body(stub: Callable[..., Any]) -> bool:
    """Whether a stub has a body, which makes it a default method.

    A default method that does nothing has the same byte code as an empty stub. It counts as a body if its source contains `pass` or
    `return`, so the source is parsed where the byte code cannot tell.
    """
    code = stub.__code__
    if code.co_code not in _RETURNS_NONE or code.co_consts[-1] is not None:
        return True
    try:
        function = ast.parse(textwrap.dedent(inspect.getsource(stub))).body[0]
    except (OSError, SyntaxError):  # the stub was typed at a prompt: there is no source file
        return False
    steps = cast(ast.FunctionDef, function).body
    return not all(isinstance(step, ast.Expr) and isinstance(step.value, ast.Constant) for step in steps)


def _renamed(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    """The same function under the name that tracebacks, profiles and numba's messages will show."""
    code = function.__code__.replace(co_name=name, co_qualname=name)
    twin = types.FunctionType(code, function.__globals__, name, function.__defaults__, function.__closure__)
    functools.update_wrapper(twin, function, assigned=("__module__", "__doc__", "__annotations__"))
    twin.__kwdefaults__ = function.__kwdefaults__
    return twin


# ----------------------------------------------------------------------------------------------------------- entry points


@overload
def entry(function: Callable[P, R]) -> EntryPoint[P, R]: ...


@overload
def entry(*, strict: bool = False, brief: bool = False) -> EntryMaker: ...


def entry(function: Callable[..., Any] | None = None, *, strict: bool = False, brief: bool = False) -> Any:
    """Compile a loop that calls open functions, at its first call, into the cache folder of the parts it is given.

    `call.direct(*args)` returns the machine code for arguments of exactly these types. Calling that skips numba's type
    inspection, which costs more than a whole round of a small bandit. The caller must keep the types fixed.

    `strict` switches off fast-math, so that NaN and infinity follow IEEE 754. Checks of user input need this.

    Compiled code releases the interpreter's lock (GIL) while it runs, so that threads compute in parallel. `brief` code keeps it: it
    runs for microseconds, and taking the lock back from another thread would take longer than that.
    """
    if function is None:
        return functools.partial(entry, strict=strict, brief=brief)
    registry.note_entry(function)
    compiled: dict[frozenset[type], Any] = {}

    def dispatcher(args: tuple[Any, ...]) -> Any:
        kinds = frozenset(_part_types(args))
        if kinds not in compiled:
            options = (numba_private.STRICT if strict else numba_private.OPTIONS) | {"nogil": not brief}
            compiled[kinds] = numba_private.entry(function, options, code_cache.folder(kinds, function))
        return compiled[kinds]

    @functools.wraps(function)
    def call(*args: Any) -> Any:
        return _readable(dispatcher(args), args)

    machine_code: dict[Any, Callable[..., Any]] = {}

    def direct(*args: Any) -> Callable[..., Any]:
        key = layout(args)
        if key not in machine_code:
            machine_code[key] = _readable(numba_private.machine_code, (dispatcher(args), args))
        return machine_code[key]

    def ready(*args: Any) -> bool:
        return layout(args) in machine_code or numba_private.is_kept(dispatcher(args), args)

    call.direct = direct  # type: ignore[attr-defined]
    call.ready = ready  # type: ignore[attr-defined]
    call.interpreted = function  # type: ignore[attr-defined]
    return call


def layout(value: Any) -> Any:
    """A key that determines numba's type of a value. Computing it is twenty times cheaper than `numba.typeof`."""
    if isinstance(value, tuple):
        return type(value), *map(layout, value)
    if isinstance(value, np.ndarray):
        return value.dtype, value.ndim, value.flags.num
    return type(value)


def _readable(function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """Call the function; if numba reports a missing method on a page of text, raise our one-line error instead."""
    try:
        return function(*args)
    except NumbaError as error:
        line = re.search(r"\w+ has no method for [^\n]+", str(error))
        if line is None:
            raise
        raise NoMethod(line[0]) from None


def _part_types(value: Any) -> Iterator[type]:
    """Classes of all named tuples inside the arguments."""
    if isinstance(value, tuple):
        if hasattr(value, "_fields"):
            yield type(value)
        for item in value:
            yield from _part_types(item)
