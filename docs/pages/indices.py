"""Where prose has an index or an exponent: θ_t, w_{t,s}, T^{2/3}, γ^age. Pure text; `indices_sphinx` writes them below and above the line.

A symbol is one letter (with accents), a bracket, a bar or `max` and its relatives. Names (`weight_ucrl`, `S_theta`) are left alone.
"""

import re
from typing import NamedTuple

# The symbol before the mark: one letter that does not end a word, with accents; a closing bracket or bar; a few operators.
LETTER = r"(?<![A-Za-z0-9_])[^\W\d_][\u0300-\u036f]*|(?<=[\w\u0300-\u036f])[^\Wa-z\d_][\u0300-\u036f]*"
SYMBOL = rf"(?:{LETTER}|[)\]}}‖*′]|\b(?:arg)?(?:max|min)|\binf)"
BRACES = r"\{(?:[^{}]|\{[^{}]*\})*\}"
MARK = re.compile(
    rf"(?P<symbol>{SYMBOL}|(?P<number>\d))(?P<marks>(?:_(?:{BRACES}|[^\W_](?![a-z0-9_])|\*)|\^(?:{BRACES}|\*|\d+|[^\W\d_]+))+)"
)
ONE = re.compile(rf"([_^])({BRACES}|\*|\d+|[^\W_]+)")


class Piece(NamedTuple):
    """Text on the line (""), below it ("_") or above it ("^")."""

    place: str
    text: str


def pieces(text: str) -> list[Piece]:
    """The text in pieces; one piece if it has no index.

    >>> [tuple(piece) for piece in pieces("P_T of θ_t")]
    [('', 'P'), ('_', 'T'), ('', ' of θ'), ('_', 't')]
    >>> len(pieces("weight_ucrl and S_theta"))
    1
    """
    found: list[Piece] = []
    done = 0
    for match in MARK.finditer(text):
        marks = match["marks"]
        if match["number"] and marks.startswith("_"):  # 10_000 is a number
            continue
        found.append(Piece("", text[done : match.start("marks")]))
        for place, index in ONE.findall(marks):
            found.append(Piece(place, index.removeprefix("{").removesuffix("}") if index.startswith("{") else index))
        done = match.end()
    rest = text[done:]
    return [*found, Piece("", rest)] if rest or not found else found
