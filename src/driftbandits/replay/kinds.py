"""Checks of context features: each keeps its type through the log, and none is a copy of the reward."""

import numpy as np

from ..errors import InvalidValue
from ..tables.copies import Line
from .chunks import Chunk, Numbers

LEAST = 30  # rows before a column that tells the reward is called a copy


class Kinds:
    """Collects the types of context features, chunk by chunk."""

    def __init__(self) -> None:
        self._known: dict[str, bool] = {}  # is it text?
        self._lines: dict[str, Line] = {}  # each column beside the reward

    def add(self, chunk: Chunk) -> None:
        """Refuse a column that holds numbers and strings."""
        for name, column in chunk.context.items():
            numeric = isinstance(column, Numbers)
            there = np.ones(len(chunk), bool)
            if isinstance(column, Numbers):
                there = there if column.missing is None else ~column.missing
                line = self._lines.get(name, Line())
                whole = column.missing is None
                self._lines[name] = line.through(chunk.reward, column.values) if whole else Line(holds=False)
            else:
                there = column.codes >= 0
            if there.any():
                self._note(name, not numeric, chunk, int(np.argmax(there)))
        for t, row in enumerate(chunk.contexts or ()):
            for name, value in (row or {}).items():
                self._note(name, isinstance(value, str), chunk, t)

    def _note(self, name: str, text: bool, chunk: Chunk, t: int) -> None:
        if self._known.setdefault(name, text) == text:
            return
        now, before = ("a string", "numbers") if text else ("a number", "strings")
        raise InvalidValue(
            f"row {chunk.number[t]} of {chunk.source}: column {name!r} holds {now}, and {before} before; a feature keeps its kind"
        )

    def refuse_copies(self, rows: int) -> None:
        """Refuse a column that is the reward in every row, or in other units: no policy could have known it."""
        copies = [name for name, line in self._lines.items() if line.is_copy]
        if copies and rows >= LEAST:
            raise InvalidValue(
                f"context names the column {copies[0]!r}, which tells the reward in all {rows} rows: no policy could have known it"
            )
