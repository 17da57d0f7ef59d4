"""Open functions that compile, and a compile cache that is never stale. The only module, with `four`, that knows numba.

Every algorithm here is a tuple of small parts (`NamedTuple`s of numbers). One loop runs them all, because the loop calls
*open functions*, and an open function picks its rule by the type of its first argument:

`generic`  declares an open function. From Python it dispatches on `type(x)`; inside compiled code, on numba's type of x. The same
           composition therefore runs compiled or, with NUMBA_DISABLE_JIT=1, interpreted.
`part`     turns a `NamedTuple` class into a part: numbers become floats and `check` runs once, at construction.
`kernel`   a compiled leaf, inlined where it is called from compiled code.
`solver`   a compiled leaf too large to inline.
`entry`    what Python may call: a compiled loop over the above, compiled at its first call for the parts it is given.

Compiled code allocates nothing: every array it writes is handed to it. Reference counting is therefore switched off, which makes a round
four times faster; a kernel that tries to allocate does not compile.

Two open-ended helpers treat a whole state (a tree of `NamedTuple`s of arrays) at once: `copy_state` and `view_state`.

The cache
---------
Numba stamps only the file of the cached function, so an edit in any inlined file would leave old machine code in use. We name the cache
folder by a digest of everything that can be inlined: the sources of this package, every outside file that defines a `kernel`, and every
file that registers a rule for one of the parts in the call. Editing a user's own rule recompiles only the strategies made with it.
"""

import functools
import hashlib
import math
import os
import pathlib
import re
import shutil
import time
from collections.abc import Callable, Iterator
from numbers import Real
from typing import Any, ParamSpec, Protocol, TypeVar, cast

import numba
import numpy as np
from numba import float64, njit
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler_lock import global_compiler_lock
from numba.core.cpu import CPUContext
from numba.core.errors import NumbaError
from numba.core.types import BaseNamedTuple
from numba.extending import intrinsic, overload

from .errors import NoRule, real

__all__ = [
    "cache_folder",
    "copy_state",
    "entry",
    "generic",
    "kernel",
    "part",
    "scratch",
    "solver",
    "sqrt",
    "view_state",
]

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T", bound=type)
P = ParamSpec("P")
R = TypeVar("R", covariant=True)


class OpenFunction(Protocol[P, R]):
    """A function with one rule per type of its first argument."""

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Apply the rule for the first argument's type; arguments are positional."""

    def register(self, *kinds: type) -> Callable[[F], F]:
        """Decorate the rule for these types."""

    def knows(self, kind: type) -> bool:
        """Is there a rule for this type?"""


class EntryPoint(Protocol[P, R]):
    """A compiled function that Python may call."""

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Compile for these arguments if need be, and run; arguments are positional."""

    def direct(self, *args: P.args, **kwargs: P.kwargs) -> Callable[P, R]:
        """The machine code for arguments of exactly these types, without numba's look at them."""


# Not fastmath=True: it assumes that NaN and infinity do not occur and so breaks isnan, isfinite and argmax on them.
OPTIONS: dict[str, Any] = {
    "_nrt": False,
    "nogil": True,
    "error_model": "numpy",
    "fastmath": {"contract", "reassoc", "nsz"},
}
LEAF = OPTIONS | {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
INLINED = LEAF | {"forceinline": True}

CONFIG: Any = numba.config
PACKAGE = pathlib.Path(__file__).parent
STALE_AFTER_DAYS = 30.0
# No compiled code can import these; the import contracts see to it.
NEVER_COMPILED = {"theory", "experiment", "integrations", "citations.py", "cli.py"}

_solvers: set[tuple[str, str]] = set()  # leaves that the optimiser may not inline either
_helper_files: set[str] = set()  # outside files with a kernel: may be inlined anywhere
_rule_files: dict[type, set[str]] = {}  # part -> files with a rule for it


# ---------------------------------------------------------------------------------------------------------------- parts


def part(cls: T) -> T:
    """Make a `NamedTuple` class a part: integers become floats (one compilation, not two) and `check(self)` validates."""
    make = cls.__new__

    @functools.wraps(make)
    def new(kind: type, *args: Any, **kwargs: Any) -> Any:
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
    return cls


# ------------------------------------------------------------------------------------------------------- compiled leaves


def kernel(function: F) -> F:
    """Compile a small function, inlined into its callers."""
    return _leaf(function, INLINED)


def solver(function: F) -> F:
    """Compile a function that is too large to be inlined: it is emitted once, however often it is called."""
    _solvers.add((function.__module__, function.__qualname__))
    return _leaf(function, LEAF | {"forceinline": False})  # said aloud, for numba would inherit it from the caller


def _leaf(function: F, options: dict[str, Any]) -> F:
    _note_helper(function)
    compiled = njit(**options)(function)
    if not CONFIG.DISABLE_JIT:
        compiled.__class__ = _interpreted(cast(Any, type(compiled)))
    return cast(F, compiled)


@functools.cache
def _interpreted(dispatcher: type) -> type:
    """A dispatcher that compiled code calls compiled and Python calls as the function it was: leaves have no executable of their own."""
    return type("Leaf", (dispatcher,), {"__call__": lambda self, *args: self.py_func(*args)})


def _note_helper(function: Callable[..., Any]) -> None:
    source = function.__code__.co_filename
    if not pathlib.Path(source).is_relative_to(PACKAGE):
        _helper_files.add(source)


def sqrt(x: float) -> float:
    """√x as one instruction that vectorises; numba's own is a call into the C library, which does not."""
    return math.sqrt(x)


@intrinsic
def _sqrt_instruction(typing: Any, x: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.call(builder.module.declare_intrinsic("llvm.sqrt", [args[0].type]), args)

    return float64(float64), generate


@overload(sqrt, strict=False, jit_options=cast(Any, INLINED))
def _(x: Any) -> Callable[..., float]:
    def compiled(x: float) -> float:
        root: float = instruction(x)
        return root

    instruction: Any = _sqrt_instruction
    return compiled


# ---------------------------------------------------------------------------------------------------------- open functions


def generic(stub: Callable[P, R]) -> OpenFunction[P, R]:
    """Turn a documented stub into an open function; give it rules with `@stub.register(Part)`."""
    rules: dict[type, Callable[..., Any]] = {}

    def rule(kind: type) -> Callable[..., Any]:
        try:
            return rules[kind]
        except KeyError:
            known = ", ".join(sorted(p.__name__ for p in rules)) or "none yet"
            raise NoRule(
                f"{stub.__name__} has no rule for {getattr(kind, '__name__', kind)}; it knows {known}"
            ) from None

    @functools.wraps(stub)
    def dispatch(*args: Any) -> Any:
        return rule(type(args[0]))(*args)

    def choose(*types: Any) -> Callable[..., Any]:
        return rule(getattr(types[0], "instance_class", types[0]))

    overload(dispatch, strict=False, jit_options=cast(Any, INLINED))(choose)

    def register(*kinds: type) -> Callable[[F], F]:
        def add(function: F) -> F:
            for kind in kinds:
                rules[kind] = function
                _rule_files.setdefault(kind, set()).add(function.__code__.co_filename)
            return function

        return add

    dispatch.register = register  # type: ignore[attr-defined]
    dispatch.knows = rules.__contains__  # type: ignore[attr-defined]
    return cast(OpenFunction[P, R], dispatch)


# ----------------------------------------------------------------------------------------------------------- entry points


def entry(function: Callable[P, R]) -> EntryPoint[P, R]:
    """Compile a loop that calls open functions, at its first call, into the cache folder of the parts it is given.

    `call.direct(*args)` returns the machine code for arguments of exactly these types: calling that skips numba's type
    inspection, which costs more than a whole round of a small bandit. The caller must keep the types fixed.
    """
    _note_helper(function)
    compiled: dict[frozenset[type], Any] = {}

    def dispatcher(args: tuple[Any, ...]) -> Any:
        kinds = frozenset(_part_types(args))
        if kinds not in compiled:
            compiled[kinds] = _compile(function, cache_folder(kinds))
        return compiled[kinds]

    @functools.wraps(function)
    def call(*args: Any) -> Any:
        return _readable(dispatcher(args), args)

    machine_code: dict[Any, Callable[..., Any]] = {}

    def direct(*args: Any) -> Callable[..., Any]:
        layout = _layout(args)
        if layout not in machine_code:
            machine_code[layout] = _machine_code(dispatcher(args), args)
        return machine_code[layout]

    call.direct = direct  # type: ignore[attr-defined]
    return cast(EntryPoint[P, R], call)


def _machine_code(found: Any, args: tuple[Any, ...]) -> Callable[..., Any]:
    if CONFIG.DISABLE_JIT:
        return cast(Callable[..., Any], found)
    signature = tuple(found.typeof_pyval(a) for a in args)
    _readable(found.compile, (signature,))
    return cast(Callable[..., Any], found.overloads[signature].entry_point)


def _layout(value: Any) -> Any:
    """What numba's type of a value depends on, twenty times cheaper to find than that type."""
    if isinstance(value, tuple):
        return type(value), *map(_layout, value)
    if isinstance(value, np.ndarray):
        return value.dtype, value.ndim, value.flags.num
    return type(value)


def _readable(function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """Call, and turn numba's page about a missing rule into our one line."""
    try:
        return function(*args)
    except NumbaError as error:
        line = re.search(r"\w+ has no rule for [^\n]+", str(error))
        if line is None:
            raise
        raise NoRule(line[0]) from None


def _part_types(value: Any) -> Iterator[type]:
    """Classes of all named tuples inside the arguments."""
    if isinstance(value, tuple):
        if hasattr(value, "_fields"):
            yield type(value)
        for item in value:
            yield from _part_types(item)


def _compile(function: Callable[..., Any], folder: pathlib.Path) -> Any:
    before, CONFIG.CACHE_DIR = CONFIG.CACHE_DIR, str(folder)
    try:
        dispatcher = njit(cache=True, **OPTIONS)(function)
    finally:
        CONFIG.CACHE_DIR = before
    if not CONFIG.DISABLE_JIT:
        dispatcher.compile = functools.partial(_compile_once, dispatcher.compile)
    return dispatcher


def _compile_once(compile_: Callable[..., Any], *args: Any) -> Any:
    """Compile an entry with every leaf optimised and emitted once: inside the entry.

    Numba makes an optimised executable of every function it meets, and again of every caller into which that is inlined. A leaf is never
    called by itself, so for the time of one compilation a library without a Python wrapper stays intermediate code. This halves the
    compile time, and the optimiser sees each loop first where it will run.
    """

    def is_leaf(library: Any) -> bool:  # a library read from the cache shows no functions at all
        names = [f.name for f in library._final_module.functions]
        return bool(names) and not any(name.startswith("_ZN7cpython") for name in names)

    def finalize(library: Any) -> None:
        if not is_leaf(library):
            full_finalize(library)
            return
        for linked in dict.fromkeys(library._linking_libraries):
            library._reload_init.update(linked._reload_init)
            library._final_module.link_in(linked._get_module_for_linking(), preserve=True)
        library._finalized = True

    def get_executable(context: Any, library: Any, fndesc: Any, env: Any) -> Any:
        if not is_leaf(library):
            return full_executable(context, library, fndesc, env)
        if (fndesc.modname, fndesc.qualname) in _solvers:
            library._final_module.get_function(fndesc.llvm_func_name).add_function_attribute("noinline")
        library._ensure_finalized()
        return [].clear  # numba wants a builtin of its own for each function; this one refuses arguments, should Python call a leaf

    library_class: Any = JITCodeLibrary
    context_class: Any = CPUContext
    with global_compiler_lock:
        full_finalize, full_executable = library_class.finalize, context_class.get_executable
        library_class.finalize, context_class.get_executable = finalize, get_executable
        try:
            return compile_(*args)
        finally:
            library_class.finalize, context_class.get_executable = full_finalize, full_executable


# ------------------------------------------------------------------------------------------------------------- the cache


def cache_root() -> pathlib.Path:
    """Where compiled code is kept: $DRIFTBANDITS_CACHE, or driftbandits/ in the user's cache folder."""
    chosen = os.environ.get("DRIFTBANDITS_CACHE")
    if chosen:
        return pathlib.Path(chosen)
    return pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "driftbandits"


def cache_folder(kinds: frozenset[type] = frozenset()) -> pathlib.Path:
    """The cache folder of a composition of these parts, named by a digest of all code that may be inlined into it."""
    outside = _helper_files.union(*(_rule_files.get(kind, set()) for kind in kinds))
    fingerprint = hashlib.sha256(_package_digest().encode())
    for name in sorted(outside):
        source = pathlib.Path(name)
        if not source.is_relative_to(PACKAGE) and source.is_file():  # a rule typed at a prompt has no file, nor a cache
            fingerprint.update(source.read_bytes())
    folder = cache_root() / fingerprint.hexdigest()[:16]
    if not folder.exists():
        _drop_old_folders(folder.parent)
    return folder


@functools.cache
def _package_digest() -> str:
    sources = sorted(p for p in PACKAGE.rglob("*.py") if p.relative_to(PACKAGE).parts[0] not in NEVER_COMPILED)
    return hashlib.sha256(b"".join(p.read_bytes() for p in sources)).hexdigest()


def _drop_old_folders(root: pathlib.Path) -> None:
    """Forget what no process has compiled into for a month; a folder in use at worst compiles anew."""
    limit = time.time() - STALE_AFTER_DAYS * 86400.0
    for folder in root.glob("[0-9a-f]" * 16):
        if folder.stat().st_mtime < limit:
            shutil.rmtree(folder, ignore_errors=True)


# -------------------------------------------------------------------------------------------------- whole states at once


def _is_state(kind: Any) -> bool:
    return isinstance(kind, BaseNamedTuple)


def _fields(kind: Any) -> Iterator[tuple[str, Any]]:
    """Names and numba types of the arrays and states in a state."""
    if not _is_state(kind):
        raise NoRule(f"whole states are named tuples of arrays, and {kind} is not")
    return zip(kind.fields, kind.types, strict=True)


_scratch: set[type] = set()


def scratch(cls: T) -> T:
    """Mark a `NamedTuple` of arrays as no part of a state: they never change, or are made anew before they are read."""
    _scratch.add(cls)
    return cls


def copy_state(to: Any, source: Any) -> None:
    """Copy every array of `source` into the same array of `to`, a state of equal shapes; scratch is left as it is."""
    for a, b in zip(to, source, strict=True):
        if type(a) in _scratch:
            continue
        if isinstance(a, tuple):
            copy_state(a, b)
        else:
            a[...] = b


@overload(copy_state, strict=False, jit_options=cast(Any, INLINED))
def _(to: Any, source: Any) -> Callable[..., None]:
    lines = [
        f"    {'copy_state' if _is_state(kind) else 'copy'}(to.{name}, source.{name})\n"
        for name, kind in _fields(to)
        if getattr(kind, "instance_class", None) not in _scratch
    ]
    code: dict[str, Any] = {"copy_state": copy_state, "copy": _copy_array}
    exec(f"def implementation(to, source):\n{''.join(lines) or '    pass'}", code)
    return cast(Callable[..., None], code["implementation"])


@kernel
def _copy_array(to: Any, source: Any) -> None:
    a, b = to.reshape(to.size), source.reshape(to.size)
    for j in range(to.size):  # numba's array assignment would need reference counting
        a[j] = b[j]


def view_state(store: Any, i: int) -> Any:
    """Place i of a store as a state: the same arrays without their leading axis, not a copy."""
    return type(store)(*(view_state(a, i) if isinstance(a, tuple) else a[i] for a in store))


@overload(view_state, strict=False, jit_options=cast(Any, INLINED))
def _(store: Any, i: Any) -> Callable[..., Any]:
    parts = [f"view_state(store.{n}, i)" if _is_state(kind) else f"store.{n}[i]" for n, kind in _fields(store)]
    code: dict[str, Any] = {"view_state": view_state, "make": store.instance_class}
    exec(f"def implementation(store, i):\n    return make({', '.join(parts)})", code)
    return cast(Callable[..., Any], code["implementation"])
