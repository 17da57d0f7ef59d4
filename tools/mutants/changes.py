"""What is changed, and where: the list stands in `tools/mutate.py`."""

import ast
import itertools
import pathlib
import random
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

TOP = pathlib.Path(__file__).resolve().parents[2]
PACKAGE = TOP / "src" / "driftbandits"

SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip
NAMES = {"min": "max", "max": "min"}
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


class Mutant(NamedTuple):
    """One change."""

    number: int  # among all changes of the file
    file: str  # below PACKAGE
    line: int
    change: str  # what it does, for people
    statement: str  # the first line of the statement around it: with `file` and `change`, how `judged.toml` names it
    lines: range  # of that statement, without the statements inside it: who runs one of them reaches the mutant
    in_function: bool  # or when the module is imported, which asks for a process of its own
    tree: ast.Module

    def row(self) -> dict[str, Any]:
        """For JSON."""
        return {"file": self.file, "line": self.line, "change": self.change, "statement": self.statement}


class Change(NamedTuple):
    """A field of a node that becomes something else, and how to say it."""

    node: ast.AST
    field: str
    new: Any
    words: str


def changes(tree: ast.Module) -> Iterator[Change]:
    """Every change there is."""
    for node in ast.walk(tree):
        if isinstance(node, ast.BinOp | ast.BoolOp | ast.AugAssign) and type(node.op) in SWAPS:
            new = SWAPS[type(node.op)]()
            yield Change(node, "op", new, f"{type(node.op).__name__} → {type(new).__name__}")
        if isinstance(node, ast.Compare) and type(node.ops[0]) in SWAPS:
            new = SWAPS[type(node.ops[0])]()
            yield Change(node, "ops", [new, *node.ops[1:]], f"{type(node.ops[0]).__name__} → {type(new).__name__}")
        if isinstance(node, ast.Name) and node.id in NAMES:
            yield Change(node, "id", NAMES[node.id], f"{node.id} → {NAMES[node.id]}")
        if isinstance(node, ast.Constant) and type(node.value) in (int, float):
            yield Change(node, "value", node.value + 1, f"{node.value} → {node.value + 1}")
        if isinstance(node, ast.If | ast.IfExp):
            yield Change(node, "test", ast.UnaryOp(ast.Not(), node.test), "condition negated")
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            yield Change(node, "value", ast.Constant(None), f"removed: {ast.unparse(node)[:60]}")
        if isinstance(node, ast.AugAssign):
            nothing = ast.Constant(0 if isinstance(node.op, ast.Add | ast.Sub) else 1)
            yield Change(node, "value", nothing, f"removed: {ast.unparse(node)[:60]}")


class Site(NamedTuple):
    """A place of a change: its number among all of a file. The change is made only for those that are drawn."""

    path: pathlib.Path
    number: int

    def mutant(self) -> Mutant:
        """The change made; line numbers stay those of the source."""
        source = self.path.read_text(encoding="utf-8")
        tree = ast.parse(source)
        node, field, new, words = next(itertools.islice(changes(tree), self.number, None))
        statement, in_function = _around(tree, node)
        line = getattr(node, "lineno", statement.lineno)
        lines = _lines(statement)
        setattr(node, field, new)
        first = source.splitlines()[statement.lineno - 1].strip()
        file = str(self.path.relative_to(PACKAGE))
        return Mutant(self.number, file, line, words, first, lines, in_function, ast.fix_missing_locations(tree))


def sites(rooms: Sequence[str]) -> list[Site]:
    """All changes of all files of some rooms, or of single files."""
    paths = [
        path
        for room in rooms
        for path in ([PACKAGE / room] if room.endswith(".py") else sorted((PACKAGE / room).rglob("*.py")))
    ]
    files = [path for path in paths if path.name != "__init__.py"]
    many = {path: sum(1 for _ in changes(ast.parse(path.read_text(encoding="utf-8")))) for path in files}
    return [Site(path, number) for path in files for number in range(many[path])]


def drawn(count: int, seed: int, rooms: Sequence[str]) -> list[Mutant]:
    """So many mutants, each equally likely; the same for the same seed and source."""
    return [site.mutant() for site in random.Random(seed).sample(sites(rooms), count)]


def _around(tree: ast.Module, wanted: ast.AST) -> tuple[ast.stmt, bool]:
    """The innermost statement around a node, and whether it runs in a function (else when the module is imported)."""

    def search(node: ast.AST, statement: ast.stmt | None, inside: bool) -> tuple[ast.stmt, bool] | None:
        if node is wanted:
            return (node if isinstance(node, ast.stmt) else statement), inside  # type: ignore[return-value]
        here = node if isinstance(node, ast.stmt) else statement
        for name, value in ast.iter_fields(node):
            within = inside or (isinstance(node, FUNCTIONS) and name == "body")
            for child in value if isinstance(value, list) else [value]:
                found = search(child, here, within) if isinstance(child, ast.AST) else None
                if found is not None:
                    return found
        return None

    found = search(tree, None, False)
    assert found is not None
    return found


def _lines(statement: ast.stmt) -> range:
    """The lines of a statement; of `if`, `for`, `while`, `with` and `def` those before their body."""
    body = getattr(statement, "body", None)
    last = body[0].lineno - 1 if isinstance(body, list) and body else statement.end_lineno or statement.lineno
    return range(statement.lineno, max(statement.lineno, last) + 1)
