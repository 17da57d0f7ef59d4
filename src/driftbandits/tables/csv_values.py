"""Types of the columns of a CSV file, inferred from the first rows: whole numbers, numbers, truth values or text."""

import re
from collections.abc import Callable
from typing import Any

Kind = Callable[[str], Any]  # reads a text, or raises ValueError
# How other programs write that a value is missing. Only among numbers: in a column of text, NA is Namibia.
MARKS = frozenset(["NA", "N/A", "#N/A", "<NA>", "null", "NULL", "None", "\\N"])


def known(text: str) -> bool:
    """Whether a text says of what kind its column is."""
    return text != "" and text not in MARKS


def kinds_of(head: list[str], values: dict[str, list[str]]) -> dict[str, Kind]:
    """How each column's text is read: as whole numbers, numbers or truth values where all values that are known are such."""
    return {
        name: next((kind for kind in (whole, decimal, truth) if values[name] and _reads(kind, values[name])), str)
        for name in head
    }


def _reads(kind: Kind, values: list[str]) -> bool:
    try:
        for value in values:
            kind(value)
    except ValueError:
        return False
    return True


def whole(text: str) -> int:
    """A whole number as it is usually written: "007" is a name."""
    if str(int(text)) != text.strip():
        raise ValueError
    return int(text)


def decimal(text: str) -> float:
    """A number; digits after a leading zero are a name."""
    if "_" in text or re.fullmatch(r"\s*[+-]?0\d+\s*", text):
        raise ValueError
    return float(text)


def truth(text: str) -> bool:
    """True or false."""
    known = {"true": True, "false": False}
    if text.lower() not in known:
        raise ValueError
    return known[text.lower()]


def value_of(text: str, kind: Kind) -> Any:
    """A number if the text is one; otherwise the text, which is refused where a number is needed."""
    if text == "" or (kind is not str and text in MARKS):
        return None
    for reads in (kind, decimal) if kind is whole else (kind,):
        try:
            return reads(text)
        except ValueError:
            continue
    return text
