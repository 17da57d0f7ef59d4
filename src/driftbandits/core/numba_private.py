"""All we borrow of numba and LLVM that they do not promise to keep, and what happens without it.

======================================  ==========================================  ===================================================
borrowed                                for                                         without it
======================================  ==========================================  ===================================================
option `_nrt=False`                     no reference counts: rounds 4 × faster      compilation fails: numba's own error says so
options `no_cpython_wrapper`,           leaves without executables of their own     compilation fails, as above
`no_cfunc_wrapper`, `forceinline`
`JITCodeLibrary` (`finalize`, …),       each leaf is optimised once, in its entry   plain compilation: the same numbers, compiling takes
`CPUContext.get_executable`                                                         twice as long; said once
`add_function_attribute("noinline")`    a solver is emitted once                    it is inlined if LLVM likes: compiling takes longer
`global_compiler_lock`                  one thread at a time swaps the above        plain compilation
`dispatcher._cache`,                    our own store of compiled code              nothing is kept: every process compiles; said once
`CompileResult._reduce`, `._rebuild`,
`serialize.dumps`, `magic_tuple`
`Dispatcher.__class__`                  Python runs a leaf as the function it was   leaves cannot be called from Python
`BaseNamedTuple`, `.instance_class`     the Python class of a part                  import error
`library._final_module`                 kept code says what it calls, and is        each start loads all that numba compiles with:
                                        loaded without numba's registries           0.5 s more
`context.make_array(kind)`              the address of a row, for `simd4`           compilation fails
`pythonapi._unboxers`,                  a random generator given to compiled code   each call with one keeps 64 bytes, and the generator,
`nrt_meminfo_new_from_pyobject`         is given back                               for ever
======================================  ==========================================  ===================================================

Everything else that is imported from numba is in its documentation. `TESTED` is the range that `make test-numba` runs.
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

from .code_cache import Store, warn_once
from .frozen_array import Frozen

TESTED = ("0.61.0", "0.68.1")

# Not fastmath=True: it assumes that NaN and infinity do not occur and so breaks isnan, isfinite and argmax on them.
OPTIONS: dict[str, Any] = {
    "_nrt": False,
    "nogil": True,
    "error_model": "numpy",
    "fastmath": {"contract", "reassoc", "nsz"},
}
# Of these flags `reassoc` makes LLVM fold x − x to 0, by which numba's isfinite tests: no kernel may call it. Comparisons are safe.
STRICT = OPTIONS | {"fastmath": False}
LEAF = OPTIONS | {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
INLINED = LEAF | {"forceinline": True}

CONFIG: Any = numba.config


class CompilerWarning(UserWarning):
    """The version of numba in use lacks something: compiling takes longer, results are the same."""


def interpreted() -> bool:
    """Is compilation switched off for the whole process, by NUMBA_DISABLE_JIT?"""
    return bool(CONFIG.DISABLE_JIT)


# ------------------------------------------------------------------------------------------------------------------ types


def class_of(kind: Any) -> Any:
    """The Python class of a numba type: of a named tuple, itself; of anything else, the numba type."""
    return getattr(kind, "instance_class", kind)


def is_named_tuple(kind: Any) -> bool:
    """Is this the numba type of a named tuple?"""
    return isinstance(kind, BaseNamedTuple)


def fields_of(kind: Any) -> Iterator[tuple[str, Any]]:
    """Names and numba types of the fields of a named tuple."""
    return zip(kind.fields, kind.types, strict=True)


def spelled(kind: Any) -> str:
    """A numba type in full: two named tuples of one name in two modules differ."""
    if is_named_tuple(kind):
        owner = class_of(kind)
        inside = ", ".join(f"{name}: {spelled(item)}" for name, item in fields_of(kind))
        return f"{owner.__module__}.{owner.__qualname__}({inside})"
    if isinstance(kind, BaseTuple):
        return f"({', '.join(map(spelled, cast(Any, kind).types))})"
    return str(kind)


class Unseen(Opaque):
    """The type of `Frozen` numbers: compiled code carries them along, as fields of parts, without looking into them."""


@register_model(Unseen)
class _UnseenModel(data_models.OpaqueModel):
    """A pointer to nothing."""


def _nothing(kind: Any, value: Any, context: Any) -> Any:
    return cast(Any, NativeValue)(context.context.get_dummy_value())


cast(Any, unbox)(Unseen)(_nothing)
UNSEEN = Unseen("Frozen")
typeof_impl.register(Frozen)(lambda *_: UNSEEN)


def _give_generators_back() -> None:
    """Without reference counts nobody gives back the record that numba makes when it unpacks a random generator: make none.

    Code compiled with reference counts, anybody else's, is unpacked as before.
    """
    try:
        importlib.import_module("numba.core.boxing")  # numba's own is registered there
        from numba.core.pythonapi import _unboxers
        from numba.core.types import NumPyRandomGeneratorType

        full = _unboxers.functions[NumPyRandomGeneratorType]
    except (ImportError, AttributeError, KeyError):
        return

    def unpack(kind: Any, value: Any, context: Any) -> Any:
        if context.context.enable_nrt:
            return full(kind, value, context)
        context.pyapi.nrt_meminfo_new_from_pyobject = lambda data, _: data  # the null pointer it was to hold
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
    """Decorate what compiled code calls in place of a Python function: inlined, chosen by the types of the arguments."""
    return cast(Callable[..., Any], overload(function, strict=False, jit_options=cast(Any, INLINED)))


def leaf(function: Callable[..., Any], *, apart: bool) -> Any:
    """Compile a function that compiled code calls, and that Python calls as the function it was."""
    if apart:
        _apart.add((function.__module__, function.__qualname__))
    # Numba would inherit forceinline from the caller if it were not given.
    compiled: Any = njit(**(LEAF | {"forceinline": not apart}))(function)
    if not interpreted():
        compiled.__class__ = _run_by_python(cast(Any, type(compiled)))
    return compiled


@functools.cache
def _run_by_python(dispatcher: type) -> type:
    """Leaves have no executable of their own."""
    return type("Leaf", (dispatcher,), {"__call__": lambda self, *args: self.py_func(*args)})


# ---------------------------------------------------------------------------------------------------------------- entries


def entry(function: Callable[..., Any], options: dict[str, Any], place: pathlib.Path | None) -> Any:
    """A dispatcher whose code is kept in a folder, or nowhere."""
    dispatcher: Any = njit(**options)(function)
    if interpreted():
        return dispatcher
    code = None
    if place is not None and function.__closure__ is None:  # what a closure holds is in no file
        if _can_keep(dispatcher):
            dispatcher._cache = code = CodeCache(function, options, Store(place))
        else:
            warn_once(f"numba {numba.__version__} does not let us keep compiled code: every start compiles again")
    dispatcher.compile = functools.partial(_compile, dispatcher.compile, code)
    return dispatcher


def machine_code(dispatcher: Any, args: tuple[Any, ...]) -> Callable[..., Any]:
    """The compiled function for arguments of exactly these types, without numba's look at them."""
    if interpreted():
        return cast(Callable[..., Any], dispatcher)
    return cast(Callable[..., Any], dispatcher.compile(signature_of(args)))


def is_kept(dispatcher: Any, args: tuple[Any, ...]) -> bool:
    """Is the code for such arguments on disk?"""
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


GENERIC = ("generic", "")  # code for these (CPU, features) runs on every machine of its kind


class CodeCache:
    """What a dispatcher asks for its code: the interface of `numba.core.caching._Cache`, over our store."""

    def __init__(self, function: Callable[..., Any], options: dict[str, Any], store: Store) -> None:
        self.function, self.store = function, store
        versions = (sys.implementation.cache_tag, numba.__version__, llvmlite.__version__, np.__version__)
        flags = [*sorted(options["fastmath"] or ()), *(() if options["nogil"] else ("keeps the GIL",))]
        code = function.__code__
        body = (code.co_code, code.co_names, [c for c in code.co_consts if not hasattr(c, "co_code")])
        self.made_of = [*versions, *flags, str(function.__module__), function.__qualname__, repr(body)]
        self.cache_path = str(store.place)

    def name(self, signature: Any, machine: tuple[str, str, str] | None = None) -> str:
        """Of the piece of code for these types on such a machine: this one, unless given."""
        types = ", ".join(map(spelled, getattr(signature, "args", signature)))
        key = "\n".join([*self.made_of, *(machine or this_machine()), types])
        module = str(self.function.__module__).rsplit(".", 1)[-1]
        return f"{module}.{self.function.__name__}-{hashlib.sha256(key.encode()).hexdigest()[:24]}"

    def names(self, signature: Any) -> list[str]:
        """Of the pieces that run here: compiled for this machine or, second, for every machine of its kind."""
        here = this_machine()
        return list(dict.fromkeys(self.name(signature, m) for m in (here, (here[0], *GENERIC))))

    def has(self, signature: Any) -> bool:
        """Is there code for these types?"""
        return any(map(self.store.has, self.names(signature)))

    def load_overload(self, signature: Any, context: Any) -> Any:
        """The compiled function, or None."""
        from numba.core.compiler import CompileResult

        for name in self.names(signature):
            piece = self.store.read(name)
            if piece is not None:
                if not _resolved(self.store.about(name).get("needs")):
                    context.refresh()
                try:
                    return cast(Any, CompileResult)._rebuild(context, *pickle.loads(piece))
                except Exception:  # whatever unpickling may raise: it is whole but cannot be used
                    self.store.discard(name)
        return None

    def save_overload(self, signature: Any, result: Any) -> None:
        """Keep a compiled function."""
        from numba.core.serialize import dumps

        if result.library.has_dynamic_globals or result.lifted:  # it holds addresses of this process
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
        """Always."""

    def disable(self) -> None:
        """Never."""

    def flush(self) -> None:
        """Nothing is held back."""


def _needs(library: Any) -> list[str] | None:
    """Names that the code calls and does not define; None if the library does not show them."""
    try:
        module = library._final_module
        named = [*module.functions, *module.global_variables]
        return sorted(v.name for v in named if v.is_declaration and not v.name.startswith("llvm."))
    except AttributeError:
        return None


def _resolved(names: Any) -> bool:
    """Are these names known to LLVM? Then kept code runs without all that numba loads to compile (SciPy too): 0.5 s of a start."""
    return isinstance(names, list) and all(llvmlite.binding.address_of_symbol(str(name)) for name in names)


@functools.cache
def this_machine() -> tuple[str, str, str]:
    """(system, CPU, its features) that code is compiled for; NUMBA_CPU_NAME and NUMBA_CPU_FEATURES change it."""
    from numba.core.registry import cpu_target

    triple, name, features = cast(Any, cpu_target).target_context.codegen().magic_tuple()
    return str(triple), str(name), str(features)


# --------------------------------------------------------------------------------------------------- each leaf compiled once


_plainly = False  # this version of numba lacks something


def _compile_once(compile_: Callable[..., Any], signature: Any) -> Any:
    """Compile an entry with every leaf optimised and emitted once: inside the entry.

    Numba makes an optimised executable of every function it meets, and again of every caller into which that is inlined. A leaf is never
    called by itself, so for the time of one compilation a library without a Python wrapper stays intermediate code. This halves the
    compile time, and the optimiser sees each loop first where it will run.
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
    """Tell a private name that is gone from a mistake in a kernel: numba turns both into errors of its own."""
    try:
        yield
    except (AttributeError, ImportError, TypeError) as problem:
        lacking.append(str(problem))
        raise


@contextlib.contextmanager
def _intermediate_leaves(lacking: list[str]) -> Iterator[None]:
    with _noted(lacking):
        library_class, context_class, lock = _private_classes()

    def is_leaf(library: Any) -> bool:  # a library read from the store shows no functions at all
        with _noted(lacking):
            names = [f.name for f in library._final_module.functions]
        return bool(names) and not any(name.startswith("_ZN7cpython") for name in names)

    def finalize(library: Any) -> None:
        if not is_leaf(library):
            full_finalize(library)
            return
        with _noted(lacking):
            for linked in dict.fromkeys(library._linking_libraries):
                if hasattr(library, "_reload_init"):  # since 0.63: what a library wants done when it is loaded
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
        return [].clear  # numba wants a builtin of its own for each function; this one refuses arguments, should Python call a leaf

    with lock:
        # Read under the lock: another thread's `finalize`, taken for numba's own, would be put back for ever.
        with _noted(lacking):
            full_finalize, full_executable = library_class.finalize, context_class.get_executable
        library_class.finalize, context_class.get_executable = finalize, get_executable
        try:
            yield
        finally:
            library_class.finalize, context_class.get_executable = full_finalize, full_executable


@functools.cache
def _noinline_works() -> bool:
    """Up to llvmlite 0.47, of numba 0.65, the attribute goes where LLVM refuses it: solvers are then inlined if LLVM likes."""
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
