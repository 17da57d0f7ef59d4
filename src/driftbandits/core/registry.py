"""Every part, and every file outside this package whose code may be compiled.

A saved strategy names its parts, and `find_part` looks them up: a name means the class that its module holds under that name *now*. The
distinction matters for parts of a script. Compiled code read from disk brings its own copy of a class of `__main__`, with the same name,
and a file must not be loaded into that copy.

For the cache, the registry stores the digest of each outside file at the time it was imported, because that is the code this process
runs; a later edit affects the next process.
"""

import functools
import hashlib
import pathlib
import sys
from collections.abc import Callable, Collection
from typing import Any

from ..errors import CannotRead
from .rooms import PACKAGE

# Outside files with a kernel, which may be inlined into any outside code, and their digests ("" if there is no file).
_helpers: dict[str, str] = {}
helper_modules: set[str] = set()  # the names of their modules
_methods: dict[type, dict[str, str]] = {}  # part → outside files with a method for it
_entries: dict[str, str] = {}  # outside files with an entry; entries are never inlined


def note_helper(function: Callable[..., Any]) -> None:
    """Register a function that may be inlined into any compiled code."""
    if _note(_helpers, function):
        helper_modules.add(str(function.__module__))


def note_method(kind: type, function: Callable[..., Any]) -> None:
    """Register a function that may be inlined into compiled code that receives such a part."""
    _note(_methods.setdefault(kind, {}), function)


def note_part(kind: type) -> None:
    """Register a part, which may have no methods yet."""
    _methods.setdefault(kind, {})


def note_entry(function: Callable[..., Any]) -> None:
    """Register a function that Python calls."""
    _note(_entries, function)


def known_parts() -> tuple[type, ...]:
    """Every part, and every other type that some open function has a method for."""
    return tuple(_methods)


def outside_files(kinds: Collection[type], entry: Callable[..., Any] | None) -> dict[str, str]:
    """The digests, by file name, of outside files whose code may be inlined into an entry given these parts."""
    files = {}
    if entry is not None and entry.__code__.co_filename in _entries:
        files["entry"] = _entries[entry.__code__.co_filename]
    for kind in kinds:
        files |= _methods.get(kind, {})
    # Only outside code can call a kernel of an outside file, so entries that use no outside code do not depend on it.
    return files | _helpers if files else files


def _note(files: dict[str, str], function: Callable[..., Any]) -> bool:
    """Record the file of a function that is defined outside this package; returns False for functions of this package."""
    name = function.__code__.co_filename
    if _is_inside(name):
        return False
    if name not in files:
        source = pathlib.Path(name)
        files[name] = hashlib.sha256(source.read_bytes()).hexdigest() if source.is_file() else ""
    return True


@functools.cache  # importing the package asks for the same few files a thousand times
def _is_inside(name: str) -> bool:
    """Whether this is the name of a file of this package."""
    return pathlib.Path(name).is_relative_to(PACKAGE)


# ------------------------------------------------------------------------------------------------------------------ names


def part_name(kind: type) -> str:
    """The name of a part in a saved file.

    Parts of this package are saved by their bare name, so that files stay readable when a module moves; a user's part is saved with its
    module.
    """
    return kind.__name__ if _is_ours(kind) else f"{kind.__module__}:{kind.__qualname__}"


def find_part(name: str) -> type:
    """The registered part of this name.

    Examples
    --------
    >>> from driftbandits import memory
    >>> find_part("Discounted") is memory.Discounted
    True
    """
    named = [kind for kind in _methods if part_name(kind) == name and hasattr(kind, "_fields")]
    found = [kind for kind in named if _in_its_module(kind)] or named
    if len(found) == 1:
        return found[0]
    module, _, bare = name.rpartition(":")
    if found:
        raise CannotRead(f"{len(found)} parts are called {name!r}: define it once, in a module that is imported")
    raise CannotRead(
        f"the part {bare!r} is not known: "
        + (
            f"import {module} first"
            if module
            else "the file is from another version, or this is not the name of a part"
        )
    )


def _is_ours(kind: type) -> bool:
    return kind.__module__.partition(".")[0] == PACKAGE.name


def _in_its_module(kind: type) -> bool:
    """Whether the module of a class holds this class under its name; False for a copy that came with compiled code from disk."""
    found: Any = sys.modules.get(kind.__module__)
    for step in kind.__qualname__.split("."):
        found = getattr(found, step, None)
    return found is kind
