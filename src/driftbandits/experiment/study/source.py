"""Digest of the code that decides a cell of a study.

It covers the cell's function and all that the function refers to, directly or not, in its own file and in neighbouring files; comments
and docstrings do not count. Editing a figure therefore leaves the finished cells valid, and editing a world does not. The library itself
is covered by `core.rooms.result_digest`, installed packages by the platform that is kept with a result.
"""

import ast
import functools
import hashlib
import importlib.util
import inspect
import pathlib
import sys
import sysconfig
from collections.abc import Callable, Iterator
from typing import Any

from ...core.rooms import PACKAGE


def code_digest(function: Callable[..., Any]) -> str:
    """Of a function and everything of the user's own that it refers to."""
    pieces: dict[tuple[pathlib.Path, str], str] = {}
    _collect(pathlib.Path(inspect.getfile(function)).resolve(), function.__name__, pieces)
    text = "\n".join(code for _, code in sorted((f"{path.name}:{name}", code) for (path, name), code in pieces.items()))
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _collect(path: pathlib.Path, name: str, pieces: dict[tuple[pathlib.Path, str], str]) -> None:
    """Add the code behind a name of a file; a name that is not defined there stands for the whole file."""
    if (path, name) in pieces:
        return
    defined, imported = _names(path, path.stat().st_mtime_ns)
    found = defined.get(name, [node for nodes in defined.values() for node in nodes] if name == "*" else [])
    pieces[path, name] = "\n".join(ast.unparse(node) for node in found)
    if not found and name in imported:
        _follow(*imported[name], pieces)
    for used in {node.id for top in found for node in ast.walk(top) if isinstance(node, ast.Name)} - {name}:
        if used in defined:
            _collect(path, used, pieces)
        elif used in imported:
            _follow(*imported[used], pieces)


def _follow(module: str, name: str, pieces: dict[tuple[pathlib.Path, str], str]) -> None:
    """Add what was imported, if it is neither of this library nor installed."""
    loaded = sys.modules.get(module)
    file = getattr(loaded, "__file__", None) if loaded else getattr(importlib.util.find_spec(module), "origin", None)
    if not file or not file.endswith(".py"):
        return
    path = pathlib.Path(file).resolve()
    installed = (PACKAGE, *(pathlib.Path(sysconfig.get_path(kind)).resolve() for kind in ("stdlib", "purelib")))
    if not any(path.is_relative_to(place) for place in installed):
        _collect(path, name, pieces)


@functools.lru_cache(maxsize=64)
def _names(path: pathlib.Path, changed: int) -> tuple[dict[str, list[ast.stmt]], dict[str, tuple[str, str]]]:
    """The top-level statements behind each name of a file, and where its imported names come from."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    imported: dict[str, tuple[str, str]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):  # of a module that is imported whole, everything counts
            imported |= {(alias.asname or alias.name).partition(".")[0]: (alias.name, "*") for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            imported |= {alias.asname or alias.name: (node.module, alias.name) for alias in node.names}
        _without_docstring(node)
    defined: dict[str, list[ast.stmt]] = {}
    for statement in tree.body:
        for name in set(_concerned(statement)):
            defined.setdefault(name, []).append(statement)
    return defined, imported


def _without_docstring(node: ast.AST) -> None:
    if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef) and ast.get_docstring(node) is not None:
        node.body[:1] = [] if len(node.body) > 1 else [ast.Pass()]


def _concerned(statement: ast.stmt) -> Iterator[str]:
    """The names that a top-level statement defines or may change: `A = …`, `A["x"] = …`, `A |= …`, `A.append(…)`, `for A in …`."""
    if isinstance(statement, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
        yield statement.name
        return
    for node in ast.walk(statement):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.Subscript | ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield _root(node)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and isinstance(statement, ast.Expr):
            yield _root(node.func)


def _root(node: ast.expr) -> str:
    while isinstance(node, ast.Subscript | ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""
