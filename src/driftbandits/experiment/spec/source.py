r"""A TOML file with the line numbers of its keys, so that an error can point at a line.

>>> source = Source.from_text('[a]\nx = 1\n[[b]]\ny = 2\n[[b]]\ny = "?"\n', "demo.toml")
>>> source.line("b", 1, "y")
6
>>> raise source.error("y must be a number", "b", 1, "y")
Traceback (most recent call last):
...
driftbandits.experiment.spec.source.SpecError: demo.toml:6: y must be a number
"""

import pathlib
import re
import tomllib
from dataclasses import dataclass
from typing import Any

from ...errors import DriftBanditsError

Where = tuple[str | int, ...]

HEADER = re.compile(r"\s*(\[\[?)\s*([^\]]+?)\s*\]\]?\s*(#.*)?$")
KEY = re.compile(r"\s*((?:[\w-]+|\"[^\"]*\"|'[^']*')(?:\s*\.\s*(?:[\w-]+|\"[^\"]*\"|'[^']*'))*)\s*=")


LARGEST_FILE = 1 << 20  # characters


class SpecError(DriftBanditsError, ValueError):
    """A specification that cannot be run; one line that says where, what and what is allowed."""

    def __init__(self, message: str, *, located: bool = False) -> None:
        super().__init__("".join(c if c.isprintable() else repr(c)[1:-1] for c in message))  # a line stays a line
        self.located = located  # does the message say where?


@dataclass(frozen=True)
class Source:
    """The content of a TOML file and the line of every key."""

    file: str
    text: str
    data: dict[str, Any]
    lines: dict[Where, int]

    @staticmethod
    def read(path: pathlib.Path) -> "Source":
        """Read a file."""
        try:
            with path.open(encoding="utf-8-sig") as file:
                text = file.read(LARGEST_FILE + 1)
        except (OSError, UnicodeDecodeError) as problem:
            reason = problem.strerror if isinstance(problem, OSError) else "it is not UTF-8 text"
            raise SpecError(f"{path}: cannot be read: {reason}") from None
        if len(text) > LARGEST_FILE:
            raise SpecError(f"{path}: a specification may have {LARGEST_FILE} characters; this file has more")
        return Source.from_text(text, str(path))

    @staticmethod
    def from_text(text: str, file: str) -> "Source":
        """Parse; a syntax error is told with its line."""
        try:
            data = tomllib.loads(text)
        except tomllib.TOMLDecodeError as problem:
            found = re.search(r"^(.*) \(at (?:line (\d+), column \d+|end of document)\)$", str(problem))
            message, line = (found[1], found[2] or str(text.count("\n") + 1)) if found else (str(problem), "1")
            raise SpecError(f"{file}:{line}: not valid TOML: {message[0].lower()}{message[1:]}", located=True) from None
        except (RecursionError, ValueError) as problem:  # nested too deeply; a number of thousands of digits
            raise SpecError(f"{file}: not valid TOML for us: {problem}", located=True) from None
        return Source(file, text, data, _lines(text))

    def line(self, *where: str | int) -> int:
        """The line of a key, or of the nearest table that holds it."""
        for end in range(len(where), 0, -1):
            if where[:end] in self.lines:
                return self.lines[where[:end]]
        return 1

    def error(self, message: str, *where: str | int) -> SpecError:
        """An error that points at a key."""
        return SpecError(f"{self.file}:{self.line(*where)}: {message}", located=True)


def _lines(text: str) -> dict[Where, int]:
    """Line of every table header and of every key that starts a line."""
    lines: dict[Where, int] = {}
    counts: dict[Where, int] = {}
    table: Where = ()
    for number, content in enumerate(text.splitlines(), start=1):
        header, key = HEADER.match(content), KEY.match(content)
        if header:
            table = _enter(_words(header[2]), header[1] == "[[", counts)
            lines.setdefault(table, number)
        elif key:
            path = table
            for word in _words(key[1]):
                path = (*path, word)
                lines.setdefault(path, number)
    return lines


def _enter(words: list[str], is_array: bool, counts: dict[Where, int]) -> Where:
    """The place a header opens; the elements of an array of tables are numbered."""
    path: Where = ()
    for depth, word in enumerate(words):
        path = (*path, word)
        if is_array and depth == len(words) - 1:
            counts[path] = counts.get(path, -1) + 1
        if path in counts:
            path = (*path, counts[path])
    return path


def _words(dotted: str) -> list[str]:
    return [word.strip().strip("\"'") for word in re.findall(r"\"[^\"]*\"|'[^']*'|[^.]+", dotted)]
