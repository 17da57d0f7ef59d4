"""Make a change in a process that has imported the package: each function whose code it changes gets the new code.

Functions are found by their code, wherever they are kept: decorated, in tables, as methods, in closures. What runs when a module is
imported (constants, defaults, decorators) cannot be changed so: `Changed` imports the module from changed source, in a new process.
"""

import ast
import gc
import importlib.abc
import importlib.machinery
import types
from collections.abc import Iterator
from typing import Any

from mutants.changes import PACKAGE, Mutant

Functions = dict[types.CodeType, list[types.FunctionType]]


class CannotSwap(Exception):
    """The new code does not fit the functions there are: other closures, or nothing found."""


def functions() -> Functions:
    """All functions of the package, by their code."""
    found: Functions = {}
    for thing in gc.get_objects():
        if type(thing) is types.FunctionType and thing.__code__.co_filename.startswith(str(PACKAGE)):
            found.setdefault(nameless(thing.__code__), []).append(thing)
    return found


def nameless(code: types.CodeType) -> types.CodeType:
    """A code without its name: `core.kernel` gives each implementation of an open function a twin with a name of its own."""
    return code.replace(co_name="_", co_qualname="_")


def swap(mutant: Mutant, known: Functions) -> None:
    """Replace the code of the functions that a mutant changes."""
    path = PACKAGE / mutant.file
    old = compile(path.read_text(encoding="utf-8"), str(path), "exec", dont_inherit=True)
    new = compile(mutant.tree, str(path), "exec", dont_inherit=True)
    changed = [(a, b) for a, b in _pairs(old, new) if a != b]
    swapped = 0
    for before, after in changed:
        for function in known.get(nameless(before), ()):
            name = function.__code__.co_name
            try:
                function.__code__ = after.replace(co_name=name, co_qualname=name)
            except ValueError as problem:  # another number of free variables
                raise CannotSwap(str(problem)) from None
            swapped += 1
    if not swapped:
        raise CannotSwap("no function has this code")


def _pairs(old: types.CodeType, new: types.CodeType) -> Iterator[tuple[types.CodeType, types.CodeType]]:
    """Each code with its changed self, in depth."""
    yield old, new
    inner = [[const for const in code.co_consts if isinstance(const, types.CodeType)] for code in (old, new)]
    if len(inner[0]) != len(inner[1]):
        raise CannotSwap("a function inside the statement was removed")
    for a, b in zip(*inner, strict=True):
        yield from _pairs(a, b)


class Changed(importlib.abc.MetaPathFinder, importlib.abc.SourceLoader):
    """Imports one module of the package from a changed tree."""

    def __init__(self, file: str, source: str) -> None:
        self.name = "driftbandits." + file.removesuffix(".py").replace("/", ".")
        self.path, self.source = str(PACKAGE / file), source

    @classmethod
    def of(cls, mutant: Mutant) -> "Changed":
        """That of a mutant."""
        return cls(mutant.file, ast.unparse(mutant.tree))

    def find_spec(self, name: str, path: Any, target: types.ModuleType | None = None) -> Any:  # noqa: ARG002
        """The module, if it is the one."""
        spec = importlib.machinery.ModuleSpec(name, self, origin=self.path)
        spec.has_location = True
        return spec if name == self.name else None

    def get_filename(self, name: str) -> str:  # noqa: ARG002
        """Where it is."""
        return self.path

    def get_data(self, path: str) -> bytes:  # noqa: ARG002
        """What it says."""
        return self.source.encode()
