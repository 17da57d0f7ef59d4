"""Columns of the context that are the reward, or the item, under another name: nobody could have known them before the choice.

The reward in other units is the reward too: a column that is a + b · reward in all rows, b ≠ 0.
"""

import math

import numpy as np

from ...errors import InvalidValue
from ...tables.copies import Line
from ...tables.kinds import Categories, Column, Numbers
from .blocks import Block

COPIES_FROM = 30  # rows before a column is called a copy


class Copies:
    """Compares the columns of the context with the rewards and the items, block by block."""

    def __init__(self) -> None:
        self.rows = 0
        self.lines: dict[str, Line] = {}  # column by column, in all rows so far
        self.items: dict[str, bool] = {}  # … and whether it is the item
        self.first: object = None  # the item of the first row
        self.varied = False

    def add(self, block: Block) -> None:
        """Compare the columns of a block."""
        if self.rows == 0:
            self.first = block.names[block.item[0]]
        self.varied |= {block.names[k] for k in np.unique(block.item).tolist()} != {self.first}
        for name, column in block.context.items():
            line = self.lines.get(name, Line())
            if isinstance(column, Numbers) and column.missing is None:
                self.lines[name] = line.through(block.reward, column.values)
            else:
                self.lines[name] = Line(holds=False)
            self.items[name] = self.items.get(name, True) and _is_item(column, block)
        self.rows += len(block)

    def joined(self, other: "Copies") -> "Copies":
        """Of two parts in a row."""
        both = Copies()
        both.rows, both.first = self.rows + other.rows, self.first
        both.varied = self.varied or other.varied or self.first != other.first
        both.items = {name: same and other.items.get(name, False) for name, same in self.items.items()}
        for name, line in self.lines.items():
            both.lines[name] = line.joined(other.lines.get(name, Line(holds=False)))
        return both

    def refuse(self) -> None:
        """Raise if there is one."""
        if self.rows < COPIES_FROM:
            return
        rewards = [name for name, line in self.lines.items() if line.is_copy]
        items = [name for name, same in self.items.items() if same and self.varied]
        for role, copies in (("reward", rewards), ("item", items)):
            if copies:
                raise InvalidValue(
                    f"column {copies[0]!r} tells the {role} in all {self.rows} rows: nobody could have known it when the choice was made; "
                    "leave it out with context=[…] (no row was learned)"
                )


def _is_item(column: Column, block: Block) -> bool:
    if isinstance(column, Categories):
        codes = {value: code for code, value in enumerate(column.values)}
        expected = np.array([codes.get(str(name), -2) for name in block.names])
        return bool((expected[block.item] == column.codes).all())
    if isinstance(column, Numbers) and column.missing is None:
        numbers = np.array([float(name) if isinstance(name, int) else math.nan for name in block.names])
        return bool((numbers[block.item] == column.values).all())
    return False
