"""Columns of the context that are the reward, or the item, under another name: nobody could have known them before the choice."""

import math

import numpy as np

from ...errors import InvalidValue
from ...tables.kinds import Categories, Column, Numbers
from .blocks import Block

COPIES_FROM = 30  # rows before a column is called a copy


class Copies:
    """Compares the columns of the context with the rewards and the items, block by block."""

    def __init__(self) -> None:
        self.rows = 0
        self.same: dict[str, dict[str, bool]] = {"reward": {}, "item": {}}  # column by column, in all rows so far
        self.first: tuple[float, object] = math.nan, None  # reward and item of the first row
        self.varied = {"reward": False, "item": False}

    def add(self, block: Block) -> None:
        """Compare the columns of a block."""
        if self.rows == 0:
            self.first = float(block.reward[0]), block.names[block.item[0]]
        used = {block.names[k] for k in np.unique(block.item).tolist()}
        self.varied["reward"] |= bool((block.reward != self.first[0]).any())
        self.varied["item"] |= used != {self.first[1]}
        for name, column in block.context.items():
            found = {"reward": _is_reward(column, block), "item": _is_item(column, block)}
            for role, same in found.items():
                self.same[role][name] = self.same[role].get(name, True) and same
        self.rows += len(block)

    def joined(self, other: "Copies") -> "Copies":
        """Of two parts in a row."""
        both = Copies()
        both.rows, both.first = self.rows + other.rows, self.first
        for k, role in enumerate(both.same):
            mine, its = self.same[role], other.same[role]
            both.same[role] = {name: same and its.get(name, False) for name, same in mine.items()}
            both.varied[role] = self.varied[role] or other.varied[role] or self.first[k] != other.first[k]
        return both

    def refuse(self) -> None:
        """Raise if there is one."""
        for role, columns in self.same.items():
            copies = [name for name, same in columns.items() if same]
            if copies and self.varied[role] and self.rows >= COPIES_FROM:
                raise InvalidValue(
                    f"column {copies[0]!r} equals the {role} in all {self.rows} rows: nobody could have known it when the choice was made; "
                    "leave it out with context=[…] (no row was learned)"
                )


def _is_reward(column: Column, block: Block) -> bool:
    return isinstance(column, Numbers) and column.missing is None and bool((column.values == block.reward).all())


def _is_item(column: Column, block: Block) -> bool:
    if isinstance(column, Categories):
        codes = {value: code for code, value in enumerate(column.values)}
        expected = np.array([codes.get(str(name), -2) for name in block.names])
        return bool((expected[block.item] == column.codes).all())
    if isinstance(column, Numbers) and column.missing is None:
        numbers = np.array([float(name) if isinstance(name, int) else math.nan for name in block.names])
        return bool((numbers[block.item] == column.values).all())
    return False
