"""Checks of context features: each keeps its type through the log, and none is a copy of the reward."""

from typing import Any

import numpy as np

from ..errors import InvalidValue
from .chunks import Chunk, Numbers

LEAST = 30  # rows before a column that equals the reward is called a copy


class Kinds:
    """Collects the types of context features, chunk by chunk."""

    def __init__(self) -> None:
        self._known: dict[str, bool] = {}  # is it text?
        self._copies: dict[str, bool] = {}  # has it been the reward in every row?
        self._first: float | None = None
        self._varied = False

    def add(self, chunk: Chunk) -> None:
        """Refuse a column that holds numbers and strings."""
        self._first = float(chunk.reward[0]) if self._first is None else self._first
        self._varied = self._varied or bool((chunk.reward != self._first).any())
        for name, column in chunk.context.items():
            numeric = isinstance(column, Numbers)
            there = np.ones(len(chunk), bool)
            if isinstance(column, Numbers):
                there = there if column.missing is None else ~column.missing
                same = bool((column.values == chunk.reward).all()) and column.missing is None
                self._copies[name] = self._copies.get(name, True) and same
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
        """Refuse a column that is the reward in every row: no policy could have known it."""
        copies: list[Any] = [name for name, same in self._copies.items() if same]
        if copies and self._varied and rows >= LEAST:
            raise InvalidValue(
                f"context names the column {copies[0]!r}, which equals the reward in all {rows} rows: no policy could have known it"
            )
