"""Every private interface of numba and LLVM that this package uses, why, and what happens in a version without it.

A new version of numba may change any of these without notice, so nothing outside this file touches them.

======================================  ==========================================  ===================================================
private interface                       purpose                                     without it
======================================  ==========================================  ===================================================
option `_nrt=False`                     no reference counts: rounds 4 × faster      compilation fails with numba's own error
options `no_cpython_wrapper`,           leaves without executables of their own     compilation fails, as above
`no_cfunc_wrapper`, `forceinline`
`JITCodeLibrary` (`finalize`, …),       each leaf is optimised once, in its entry   plain compilation: the same numbers, compiling takes
`CPUContext.get_executable`                                                         twice as long; one warning
`add_function_attribute("noinline")`    a solver is emitted once                    LLVM decides on inlining: compiling takes longer
`global_compiler_lock`                  one thread at a time swaps the above        plain compilation
`dispatcher._cache`,                    our own store of compiled code              nothing is stored, every process compiles; one warning
`CompileResult._reduce`, `._rebuild`,
`serialize.dumps`, `magic_tuple`
`Dispatcher.__class__`                  Python runs a leaf as the function it was   leaves cannot be called from Python
`BaseNamedTuple`, `.instance_class`     the Python class of a part                  import error
`library._final_module`                 stored code lists the symbols it calls,     each start loads everything numba needs to compile:
                                        and loads without numba's registries        0.5 s more
`context.make_array(kind)`              the address of a row, for `simd4`           compilation fails
`pythonapi._unboxers`,                  releases a random generator that was        each call that passes one leaks 64 bytes, and the
`nrt_meminfo_new_from_pyobject`         passed to compiled code                     generator is never freed
======================================  ==========================================  ===================================================

Everything else that is imported from numba is documented there. `TESTED` is the range of versions that `make test-numba` runs.
"""

import contextlib
import functools
import hashlib
import importlib
import pathlib
import pickle
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any, cast

import llvmlite.binding
import numba
import numpy as np
from numba import njit
from numba.core.types import BaseNamedTuple, BaseTuple, Opaque
from numba.extending import NativeValue, overload, register_model, typeof_impl, unbox
from numba.extending import models as data_models

from .code_cache import CodeFolder, warn_once
from .frozen_array import Frozen

TESTED = ("0.61.0", "0.68.1")

# Not fastmath=True: it assumes that NaN and infinity do not occur and so breaks isnan, isfinite and argmax on them.
OPTIONS: dict[str, Any] = {
    "_nrt": False,
    "nogil": True,
    "error_model": "numpy",
    "fastmath": {"contract", "reassoc", "nsz"},
}
# `reassoc` lets LLVM fold x − x to 0. Numba implements isfinite(x) by that difference, so no kernel may call it; comparisons are safe.
STRICT = OPTIONS | {"fastmath": False}
LEAF = OPTIONS | {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
INLINED = LEAF | {"forceinline": True}

CONFIG: Any = numba.config


class CompilerWarning(UserWarning):
    """The installed version of numba lacks a private interface: compiling takes longer, results are the same."""


def interpreted() -> bool:
    """Whether NUMBA_DISABLE_JIT switches compilation off for the whole process."""
    return bool(CONFIG.DISABLE_JIT)


# ------------------------------------------------------------------------------------------------------------------ types


def class_of(kind: Any) -> Any:
    """The Python class of a numba type if it is that of a named tuple; any other numba type is returned as it is."""
    return getattr(kind, "instance_class", kind)


def is_named_tuple(kind: Any) -> bool:
    """Whether this is the numba type of a named tuple."""
    return isinstance(kind, BaseNamedTuple)


def fields_of(kind: Any) -> Iterator[tuple[str, Any]]:
    """Names and numba types of the fields of a named tuple."""
    return zip(kind.fields, kind.types, strict=True)


def spelled(kind: Any) -> str:
    """A numba type in full, as part of a cache key: named tuples of the same name in two modules must differ."""
    if is_named_tuple(kind):
        owner = class_of(kind)
        inside = ", ".join(f"{name}: {spelled(item)}" for name, item in fields_of(kind))
        return f"{owner.__module__}.{owner.__qualname__}({inside})"
    if isinstance(kind, BaseTuple):
        return f"({', '.join(map(spelled, cast(Any, kind).types))})"
    return str(kind)


class Unseen(Opaque):
    """The type of `Frozen` arrays: compiled code passes them along, as fields of parts, and cannot read them."""


@register_model(Unseen)
class _UnseenModel(data_models.OpaqueModel):
    """A null pointer."""


def _nothing(kind: Any, value: Any, context: Any) -> Any:
    return cast(Any, NativeValue)(context.context.get_dummy_value())


cast(Any, unbox)(Unseen)(_nothing)
UNSEEN = Unseen("Frozen")
typeof_impl.register(Frozen)(lambda *_: UNSEEN)


def _give_generators_back() -> None:
    """Stop numba from leaking a random generator at each call of our code.

    Numba allocates a record when it unpacks a random generator, and releases it by reference counting. Our code has none, so the record
    and the generator would never be freed; this replacement allocates no record. Code of others, compiled with reference counts, is
    unpacked as before.
    """
    try:
        importlib.import_module("numba.core.boxing")  # registers numba's own function
        from numba.core.pythonapi import _unboxers
        from numba.core.types import NumPyRandomGeneratorType

        full = _unboxers.functions[NumPyRandomGeneratorType]
    except (ImportError, AttributeError, KeyError):
        return

    def unpack(kind: Any, value: Any, context: Any) -> Any:
        if context.context.enable_nrt:
            return full(kind, value, context)
        context.pyapi.nrt_meminfo_new_from_pyobject = lambda data, _: (
            data
        )  # the null pointer that the record would hold
        try:
            return full(kind, value, context)
        finally:
            del context.pyapi.nrt_meminfo_new_from_pyobject

    _unboxers.functions[NumPyRandomGeneratorType] = unpack


_give_generators_back()


def row_address(context: Any, builder: Any, kind: Any, row: Any, j: Any) -> Any:
    """The address of row[j], inside an intrinsic."""
    return builder.gep(context.make_array(kind)(context, builder, row).data, [j])


# ----------------------------------------------------------------------------------------------------------------- leaves

_apart: set[tuple[str, str]] = set()  # leaves that the optimiser may not inline either


def compiled_form(function: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a function that, given the types of the arguments, returns what compiled code calls in place of `function`, inlined."""
    return cast(Callable[..., Any], overload(function, strict=False, jit_options=cast(Any, INLINED)))


def leaf(function: Callable[..., Any], *, apart: bool) -> Any:
    """Compile a function for calls from compiled code; called from Python, it runs as the original Python function."""
    if apart:
        _apart.add((function.__module__, function.__qualname__))
    # Numba would inherit forceinline from the caller if it were not given.
    compiled: Any = njit(**(LEAF | {"forceinline": not apart}))(function)
    if not interpreted():
        compiled.__class__ = _run_by_python(cast(Any, type(compiled)))
    return compiled


@functools.cache
def _run_by_python(dispatcher: type) -> type:
    """A dispatcher class whose instances run their Python function when Python calls them: leaves have no executable of their own."""
    return type("Leaf", (dispatcher,), {"__call__": lambda self, *args: self.py_func(*args)})


# ---------------------------------------------------------------------------------------------------------------- entries


def entry(function: Callable[..., Any], options: dict[str, Any], place: pathlib.Path | None) -> Any:
    """A dispatcher whose compiled code is stored in the folder `place`, or not at all if that is None."""
    dispatcher: Any = njit(**options)(function)
    if interpreted():
        return dispatcher
    code = None
    # The values in a closure are part of the compiled code but of no source file, so the digest of the sources would not cover them.
    if place is not None and function.__closure__ is None:
        if _can_keep(dispatcher):
            dispatcher._cache = code = CodeCache(function, options, CodeFolder(place))
        else:
            warn_once(
                f"numba {numba.__version__} does not support our store of compiled code: every start compiles again"
            )
    dispatcher.compile = functools.partial(_compile, dispatcher.compile, code)
    return dispatcher


def machine_code(dispatcher: Any, args: tuple[Any, ...]) -> Callable[..., Any]:
    """The compiled function for arguments of exactly these types; calling it skips numba's type inspection."""
    if interpreted():
        return cast(Callable[..., Any], dispatcher)
    return cast(Callable[..., Any], dispatcher.compile(signature_of(args)))


def is_kept(dispatcher: Any, args: tuple[Any, ...]) -> bool:
    """Whether the code for arguments of these types is on disk."""
    code = getattr(dispatcher, "_cache", None)
    return isinstance(code, CodeCache) and code.has(signature_of(args))


def signature_of(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Numba's types of the arguments."""
    return tuple(cast(Any, numba.typeof)(a) for a in args)


def _compile(compile_: Callable[..., Any], code: "CodeCache | None", signature: Any) -> Any:
    if code is None or code.has(signature):
        return _compile_once(compile_, signature)
    with code.store.compiling(code.name(signature)):
        return _compile_once(compile_, signature)


# ----------------------------------------------------------------------------------------------------- compiled code on disk


def _can_keep(dispatcher: Any) -> bool:
    try:
        from numba.core.compiler import CompileResult
        from numba.core.serialize import dumps
    except ImportError:
        return False
    return hasattr(dispatcher, "_cache") and hasattr(CompileResult, "_rebuild") and callable(dumps)


GENERIC = ("generic", "")  # code for this (CPU, features) runs on every machine of the same architecture


class CodeCache:
    """The cache of one dispatcher: the interface of `numba.core.caching._Cache`, implemented with our folder of code."""

    def __init__(self, function: Callable[..., Any], options: dict[str, Any], store: CodeFolder) -> None:
        self.function, self.store = function, store
        versions = (sys.implementation.cache_tag, numba.__version__, llvmlite.__version__, np.__version__)
        flags = [*sorted(options["fastmath"] or ()), *(() if options["nogil"] else ("keeps the GIL",))]
        code = function.__code__
        body = (code.co_code, code.co_names, [c for c in code.co_consts if not hasattr(c, "co_code")])
        self.made_of = [*versions, *flags, str(function.__module__), function.__qualname__, repr(body)]
        self.cache_path = str(store.place)

    def name(self, signature: Any, machine: tuple[str, str, str] | None = None) -> str:
        """The name of the code for these types on a machine; by default, on this one."""
        types = ", ".join(map(spelled, getattr(signature, "args", signature)))
        key = "\n".join([*self.made_of, *(machine or this_machine()), types])
        module = str(self.function.__module__).rsplit(".", 1)[-1]
        return f"{module}.{self.function.__name__}-{hashlib.sha256(key.encode()).hexdigest()[:24]}"

    def names(self, signature: Any) -> list[str]:
        """The names of code that runs here, in order of preference: compiled for this machine, then for its architecture."""
        here = this_machine()
        return list(dict.fromkeys(self.name(signature, m) for m in (here, (here[0], *GENERIC))))

    def has(self, signature: Any) -> bool:
        """Whether code for these types is stored."""
        return any(map(self.store.has, self.names(signature)))

    def load_overload(self, signature: Any, context: Any) -> Any:
        """The compiled function, or None."""
        from numba.core.compiler import CompileResult

        for name in self.names(signature):
            piece = self.store.read(name)
            if piece is not None:
                # Loading numba's registries takes half a second. It is needed only if the code calls a symbol that is not loaded yet.
                if not _resolved(self.store.about(name).get("needs")):
                    context.refresh()
                try:
                    return cast(Any, CompileResult)._rebuild(context, *pickle.loads(piece))
                except Exception:  # unpickling may raise anything: the file is intact but its content cannot be used
                    self.store.discard(name)
        return None

    def save_overload(self, signature: Any, result: Any) -> None:
        """Store a compiled function."""
        from numba.core.serialize import dumps

        if result.library.has_dynamic_globals or result.lifted:  # the code contains addresses of this process
            return
        about = {
            "function": f"{self.function.__module__}.{self.function.__qualname__}",
            "types": [spelled(kind) for kind in getattr(signature, "args", signature)],
            "machine": this_machine(),
            "numba": numba.__version__,
            "needs": _needs(result.library),
        }
        self.store.write(self.name(signature), cast(Any, dumps)(result._reduce()), about)

    def enable(self) -> None:
        """Do nothing: the cache is always enabled. Numba's interface requires the method."""

    def disable(self) -> None:
        """Do nothing: the cache cannot be disabled."""

    def flush(self) -> None:
        """Do nothing: writes are not buffered."""


def _needs(library: Any) -> list[str] | None:
    """Names of symbols that the code uses and does not define; None if this version of numba does not list them."""
    try:
        module = library._final_module
        named = [*module.functions, *module.global_variables]
        return sorted(v.name for v in named if v.is_declaration and not v.name.startswith("llvm."))
    except AttributeError:
        return None


def _resolved(names: Any) -> bool:
    """Whether LLVM knows all these symbols. Stored code then runs without what numba loads to compile (SciPy too), which takes 0.5 s."""
    return isinstance(names, list) and all(llvmlite.binding.address_of_symbol(str(name)) for name in names)


@functools.cache
def this_machine() -> tuple[str, str, str]:
    """The (system, CPU, CPU features) that code is compiled for; NUMBA_CPU_NAME and NUMBA_CPU_FEATURES override it."""
    from numba.core.registry import cpu_target

    triple, name, features = cast(Any, cpu_target).target_context.codegen().magic_tuple()
    return str(triple), str(name), str(features)


# --------------------------------------------------------------------------------------------------- each leaf compiled once


_plainly = False  # set once a private interface proved missing: from then on, compile as numba does by default


def _compile_once(compile_: Callable[..., Any], signature: Any) -> Any:
    """Compile an entry with every leaf optimised and emitted once: inside the entry.

    Numba optimises and emits every function it meets, and again every caller into which that function is inlined. A leaf is never called
    on its own, so during this compilation a library without a Python wrapper stays LLVM intermediate code. This halves the compile
    time, and the optimiser sees each loop for the first time in the place where it will run.
    """
    global _plainly
    if _plainly:
        return compile_(signature)
    lacking: list[str] = []
    try:
        with _intermediate_leaves(lacking):
            return compile_(signature)
    except Exception:
        if not lacking:
            raise
    _plainly = True
    warnings.warn(
        f"numba {numba.__version__} has changed ({lacking[0]}): compiling takes about twice as long, results are the same; "
        f"versions {TESTED[0]} to {TESTED[1]} are tested",
        CompilerWarning,
        stacklevel=2,
    )
    return compile_(signature)


@contextlib.contextmanager
def _noted(lacking: list[str]) -> Iterator[None]:
    """Record in `lacking` that a private name is gone. Numba wraps such an error and a mistake in a kernel alike; this tells them apart."""
    try:
        yield
    except (AttributeError, ImportError, TypeError) as problem:
        lacking.append(str(problem))
        raise


@contextlib.contextmanager
def _intermediate_leaves(lacking: list[str]) -> Iterator[None]:
    with _noted(lacking):
        library_class, context_class, lock = _private_classes()

    # A library with a Python wrapper (a name beginning with _ZN7cpython) is an entry; one that was read from disk lists no functions.
    def is_leaf(library: Any) -> bool:
        with _noted(lacking):
            names = [f.name for f in library._final_module.functions]
        return bool(names) and not any(name.startswith("_ZN7cpython") for name in names)

    def finalize(library: Any) -> None:
        if not is_leaf(library):
            full_finalize(library)
            return
        # The linking half of numba's `finalize`, without its optimisation and code generation.
        with _noted(lacking):
            for linked in dict.fromkeys(library._linking_libraries):
                if hasattr(
                    library, "_reload_init"
                ):  # since 0.63: functions to run when the library is loaded from disk
                    library._reload_init.update(linked._reload_init)
                library._final_module.link_in(linked._get_module_for_linking(), preserve=True)
            library._finalized = True

    def get_executable(context: Any, library: Any, fndesc: Any, env: Any) -> Any:
        if not is_leaf(library):
            return full_executable(context, library, fndesc, env)
        with _noted(lacking):
            if (fndesc.modname, fndesc.qualname) in _apart and _noinline_works():
                library._final_module.get_function(fndesc.llvm_func_name).add_function_attribute("noinline")
            library._ensure_finalized()
        # Numba expects a distinct builtin for each function. This one raises if Python ever calls the leaf with arguments.
        return [].clear

    with lock:
        # Read under the lock: otherwise the replacement of another thread could be mistaken for numba's own and restored for good.
        with _noted(lacking):
            full_finalize, full_executable = library_class.finalize, context_class.get_executable
        library_class.finalize, context_class.get_executable = finalize, get_executable
        try:
            yield
        finally:
            library_class.finalize, context_class.get_executable = full_finalize, full_executable


@functools.cache
def _noinline_works() -> bool:
    """Whether llvmlite sets the attribute correctly. Up to 0.47 (numba 0.65) LLVM rejects the result; solvers may then be inlined."""
    module = llvmlite.binding.parse_assembly("define void @f() {\n ret void\n}")
    module.get_function("f").add_function_attribute("noinline")
    try:
        module.verify()
    except RuntimeError:
        return False
    return True


def _private_classes() -> tuple[Any, Any, Any]:
    from numba.core.codegen import JITCodeLibrary
    from numba.core.compiler_lock import global_compiler_lock
    from numba.core.cpu import CPUContext

    return JITCodeLibrary, CPUContext, global_compiler_lock
