"""From an equation to the line of code that computes it, and back; from a statement to the test that checks it.

A page says, in Markdown, which line computes what:

    ```{code-line} driftbandits.theory.linear:lb_lambda
    return float(dimension("d", d))
    ```

The text must stand in that function in exactly one line, or the build fails; the page then shows the line with its number and a link to the
source, and the source page shows a link back. `{test-code} tests/unit/theory/test_linear.py::test_name` shows a test, folded.
"""

import ast
import importlib.util
import pathlib
import re
from typing import Any, NamedTuple

ROOT = pathlib.Path(__file__).parents[2]
BLOCK = re.compile(r"^`{3,}\{code-line\} (\S+)\n(.*?)\n`{3,}$", re.MULTILINE | re.DOTALL)
TEST = re.compile(r"^`{3,}\{test-code\} (\S+)$", re.MULTILINE)


class Place(NamedTuple):
    """A line of source."""

    module: str
    file: pathlib.Path
    line: int
    text: str


class NotFound(Exception):
    """What a page speaks of is not in the code."""


def node_of(file: pathlib.Path, name: str) -> ast.AST:
    """The definition of a function, a class, `Class.name`, or the method `open_function[Part]` of an open function."""
    found: ast.AST = ast.parse(file.read_text())
    method = re.fullmatch(r"(\w+)\[(\w+)\]", name)
    if method:
        for node in ast.iter_child_nodes(found):
            for mark in getattr(node, "decorator_list", ()):
                text = ast.unparse(mark)
                if text.startswith(f"{method[1]}.register(") and re.search(rf"\b{method[2]}\b", text):
                    return node
        raise NotFound(f"{file.name} has no method {name}")
    for part in name.split("."):
        inside = [n for n in ast.iter_child_nodes(found) if getattr(n, "name", None) == part]
        if not inside:
            raise NotFound(f"{file.name} has no {name}")
        found = inside[0]
    return found


def source_file(module: str) -> pathlib.Path:
    """The file of a module of ours."""
    spec = importlib.util.find_spec(module)
    if spec is None or spec.origin is None:
        raise NotFound(f"there is no module {module}")
    return pathlib.Path(spec.origin)


def find(target: str, text: str) -> list[Place]:
    """The lines `text` of `module:function`, one place for each line of it."""
    module, _, name = target.partition(":")
    file = source_file(module)
    lines = file.read_text().splitlines()
    node = node_of(file, name) if name else None
    first, last = (node.lineno, node.end_lineno) if node else (1, len(lines))  # type: ignore[attr-defined]
    body = lines[first - 1 : last]
    places = []
    for wanted in text.strip().splitlines():
        hits = [i for i, line in enumerate(body) if wanted.strip() in line and not is_docstring(node, first + i)]
        if len(hits) != 1:
            raise NotFound(f"{target}: {wanted.strip()!r} stands in {len(hits)} lines; it must stand in one")
        places.append(Place(module, file, first + hits[0], body[hits[0]].strip()))
    return places


def is_docstring(node: ast.AST | None, line: int) -> bool:
    """A line of the docstring is no code."""
    body = getattr(node, "body", [])
    if not (body and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant)):
        return False
    return bool(body[0].lineno <= line <= (body[0].end_lineno or 0))


def test_source(target: str) -> tuple[str, int]:
    """The text of `file::test`, with its decorators, and its line."""
    path, _, name = target.partition("::")
    file = ROOT / path
    if not file.exists():
        raise NotFound(f"there is no {path}")
    node = node_of(file, name)
    first = min([node.lineno, *(d.lineno for d in node.decorator_list)])  # type: ignore[attr-defined]
    return "\n".join(file.read_text().splitlines()[first - 1 : node.end_lineno]), first  # type: ignore[attr-defined]


def spoken_of(page: str) -> list[tuple[str, str]]:
    """The functions that a page links to, each with its text."""
    return [(match[1], match[2]) for match in BLOCK.finditer(page)]


# --------------------------------------------------------------------------------------------------------------- in Sphinx


def setup(app: Any) -> dict[str, Any]:
    """Tell Sphinx."""
    from . import codelines_sphinx

    codelines_sphinx.connect(app)
    return {"version": "1", "parallel_read_safe": False, "parallel_write_safe": True}
