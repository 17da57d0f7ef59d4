"""Reading TOML tables key by key: the right type, or one line that says what is wrong."""

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from .source import Source, SpecError, Where, did_you_mean

Type = Literal["text", "number", "count", "flag", "texts", "table", "tables", "any"]

DESCRIPTIONS: dict[Type, str] = {
    "text": "a text",
    "number": "a number",
    "count": "a whole number ≥ 0",
    "flag": "true or false",
    "texts": "a text or a list of texts",
    "table": "a table",
    "tables": "a list of tables, each under its own [[…]]",
    "any": "anything",
}


class Table(NamedTuple):
    """A table of a TOML file and where it stands."""

    data: Mapping[str, Any]
    source: Source
    where: Where

    def only(self, *known: str) -> None:
        """Refuse keys that mean nothing."""
        for key in self.data:
            if key not in known:
                hint = did_you_mean(key, known) or f"; known: {', '.join(known)}"
                raise self.error(f"unknown key '{key}'{hint}", key)

    def get(self, key: str, kind: Type, default: Any = ...) -> Any:
        """A value of a kind; an error if it is of another, or missing without a default."""
        if key not in self.data:
            if default is ...:
                raise self.error(f"'{key}' is missing; it must be {DESCRIPTIONS[kind]}")
            return default
        value = self.data[key]
        if not _fits(kind, value):
            raise self.error(f"{key} = {value!r} is not allowed; it must be {DESCRIPTIONS[kind]}", key)
        return (value,) if kind == "texts" and isinstance(value, str) else tuple(value) if kind == "texts" else value

    def choice(self, key: str, allowed: tuple[str, ...], default: Any = ...) -> Any:
        """One of a few words."""
        word = self.get(key, "text", default)
        if word is not default and word not in allowed:
            hint = did_you_mean(word, allowed) or f"; it must be one of {', '.join(allowed)}"
            raise self.error(f"{key} = {word!r} is not allowed{hint}", key)
        return word

    def tables(self, key: str) -> list["Table"]:
        """The tables of an array."""
        items = self.get(key, "tables", [])
        return [Table(item, self.source, (*self.where, key, i)) for i, item in enumerate(items)]

    def table(self, key: str) -> "Table":
        """A table inside this one; empty if it is not there."""
        return Table(self.get(key, "table", {}), self.source, (*self.where, key))

    def error(self, message: str, key: str = "") -> SpecError:
        """An error that points at this table, or at one of its keys."""
        return self.source.error(message, *self.where, *([key] if key else []))


def _fits(kind: Type, value: Any) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return {
        "text": isinstance(value, str),
        "number": is_number,
        "count": isinstance(value, int) and is_number and value >= 0,
        "flag": isinstance(value, bool),
        "texts": isinstance(value, str)
        or (isinstance(value, list) and bool(value) and all(isinstance(v, str) for v in value)),
        "table": isinstance(value, dict),
        "tables": isinstance(value, list) and all(isinstance(v, dict) for v in value),
        "any": True,
    }[kind]
