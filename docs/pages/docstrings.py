"""Docstrings as they are written here, for Sphinx: an equation that is indented stays as it is, a Markdown table becomes a table.

The house style (CONTRIBUTING) puts equations into the docstring as indented lines, as they stand above the code. reStructuredText would
take these for quotations and join their lines.
"""

import functools
import inspect
import re
import textwrap
from typing import Any

from sphinx.application import Sphinx

from . import codelines

SECTION = re.compile(r"^-{3,}\s*$")
ROW = re.compile(r"^\s*\|.*\|\s*$")
PARAMETER = re.compile(r"^(\*{0,2}\w+(?:, \*{0,2}\w+)*) : (.+)$")
FIELD = re.compile(r"^    (\w+): ([^=#\n]+?)(?: = [^#\n]*)?(?:  # (.*))?$", re.MULTILINE)
MARK = re.compile(r"^\s*([-*•]|\d+[.)]|\.\.|:\w+:|>>>)\s?")


def as_rst(lines: list[str]) -> list[str]:
    """The same text with indented blocks marked as literal and Markdown tables as tables."""
    out: list[str] = []
    i, section = 0, False
    while i < len(lines):
        line = lines[i]
        section = section or (i + 1 < len(lines) and bool(SECTION.match(lines[i + 1])))
        if ROW.match(line) and i + 1 < len(lines) and re.match(r"^\s*\|[-|: ]+\|\s*$", lines[i + 1]):
            end = next((j for j in range(i, len(lines)) if not ROW.match(lines[j])), len(lines))
            out += [*table(lines[i:end]), ""]
            i = end
        elif not section and starts_block(lines, i):
            end = next(
                (j for j in range(i, len(lines)) if lines[j].strip() and not lines[j].startswith("    ")), len(lines)
            )
            block = lines[i:end]
            out += [".. code-block:: text", "", *block, ""]
            i = end
        else:
            out += described(bars(line)) if section else [bars(line)]
            i += 1
    return out


def described(line: str) -> list[str]:
    """`name : what it is` in a section of parameters: what it is becomes the description, since types stand in the signature."""
    match = PARAMETER.match(line)
    return [match[1], f"    {match[2]}"] if match else [line]


def starts_block(lines: list[str], i: int) -> bool:
    """An indented line after a blank one, or after a line of text that it does not continue."""
    before = lines[i - 1] if i else ""
    return lines[i].startswith("    ") and not MARK.match(lines[i]) and not before.strip()


def table(rows: list[str]) -> list[str]:
    """A Markdown table as a list of rows."""
    cells = [[cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", row.strip()[1:-1])] for row in rows]
    head, body = cells[0], cells[2:]
    out = [".. list-table::", "   :header-rows: 1", ""]
    for row in [head, *body]:
        out += [f"   {'* -' if k == 0 else '  -'} {cell}" for k, cell in enumerate(row)]
    return out


def bars(line: str) -> str:
    """|x| in running text is a norm, not a substitution of reStructuredText; the sign that replaces it has the same width."""
    return "".join(part if part.startswith("`") else part.replace("|", "∣") for part in re.split(r"(`[^`]*`)", line))


def fields(kind: type) -> list[str]:
    """The fields of a named tuple with the comments that stand behind them, as a section of numpydoc."""
    try:
        source = textwrap.dedent(inspect.getsource(kind))
    except (OSError, TypeError):
        return []
    rows = []
    for match in FIELD.finditer(source):
        comment = (match[3] or "").strip()
        if comment:
            rows += [f"{match[1]} : {match[2].strip()}", f"    {bars(comment)}"]
    return ["", "Attributes", "----------", *rows] if rows else []


@functools.cache
def theorems() -> dict[str, tuple[tuple[str, str], ...]]:
    """For each function whose lines a theorem's page shows, those pages and their titles."""
    found: dict[str, tuple[tuple[str, str], ...]] = {}
    for page in sorted((codelines.ROOT / "docs" / "theorems").glob("*.md")):
        text = page.read_text()
        here = page.stem, text.partition("\n")[0].lstrip("# ").replace("$", "").replace("\\", "")
        for target in dict.fromkeys(target for target, _ in codelines.spoken_of(text)):
            found[target] = (*found.get(target, ()), here)
    return found


def process(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Before numpydoc reads it."""
    lines[:] = as_rst(lines)
    spoken = theorems().get(f"{getattr(obj, '__module__', '')}:{getattr(obj, '__name__', '')}", ())
    if what == "function" and spoken:
        pages = ", ".join(f":doc:`{title} </theorems/{name}>`" for name, title in spoken)
        first = next((i for i, line in enumerate(lines[1:]) if SECTION.match(line)), len(lines))
        lines[first:first] = ["", f"The equation, its tests and its experiment: {pages}.", ""]
    if what == "class" and isinstance(obj, type) and issubclass(obj, tuple) and "Parameters" not in lines:
        lines += fields(obj)


def skip(app: Sphinx, what: str, name: str, obj: Any, skipped: bool, options: Any) -> bool | None:
    """Fields of named tuples are told in the text of their class; what tuples can do besides is nobody's question."""
    doc = getattr(obj, "__doc__", None) or ""
    return True if doc.startswith("Alias for field number") or name in ("check", "model_config") else None


def setup(app: Sphinx) -> dict[str, Any]:
    """Tell Sphinx."""
    app.connect("autodoc-process-docstring", process, priority=100)
    app.connect("autodoc-skip-member", skip)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
