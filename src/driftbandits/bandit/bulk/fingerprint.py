"""Recognises rows that were learned before.

Each row has a checksum h_t of its item, reward, time and features, modulo 2⁶⁴, and a log of n rows the polynomial

    H = Σ_t h_t B^(n−1−t) ,     H(a then b) = H(a)·B^(n_b) + H(b) ,

which depends on the order of rows, but neither on how they are cut into blocks or files nor on who read them: a log that is learned by
columns, by sums or on Dask has one fingerprint.
"""

import warnings
import zlib
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...core.linalg import Vector
from ...tables.kinds import Categories, Codes, Column, Objects
from .blocks import Block

if TYPE_CHECKING:
    from ..bandit import Bandit

Words = NDArray[np.uint64]
BASE, MASK = 0x9E3779B97F4A7C15, (1 << 64) - 1  # B is odd, so no row is lost
REMEMBERED = 64  # fits whose data are recognised


class Fingerprint:
    """The fingerprint of the rows that were added."""

    def __init__(self, rows: int = 0, value: int = 0) -> None:
        self.rows, self._value = rows, value

    def add(self, block: Block) -> None:
        """Take a block into account."""
        powers = np.full(len(block), BASE, np.uint64)
        powers[-1] = 1
        powers = np.multiply.accumulate(powers[::-1])[::-1]  # B^(n−1), …, B, 1
        value = int(np.add.reduce(_checksums(block) * powers))
        both = self.joined(Fingerprint(len(block), value))
        self.rows, self._value = both.rows, both._value

    def joined(self, other: "Fingerprint") -> "Fingerprint":
        """Of two parts in a row."""
        value = self._value * pow(BASE, other.rows, MASK + 1) + other._value
        return Fingerprint(self.rows + other.rows, value & MASK)

    def text(self) -> str:
        """The fingerprint."""
        return f"{self.rows:x}-{self._value:016x}"


def _checksums(block: Block) -> Words:
    """One for each row."""
    total = _mixed(_of_texts([repr(name) for name in block.names])[block.item], "item")
    total += _mixed(_of_numbers(block.reward), "reward")
    if block.at is not None:
        total += _mixed(_of_numbers(block.at), "time")
    for side, columns in (("item.", block.own), ("context.", block.context)):
        for name, column in columns.items():
            total += np.where(column.present(), _mixed(_of_column(column), side + name), np.uint64(0))
    return _mixed(total, "row")


def _of_column(column: Column) -> Words:
    if isinstance(column, Categories):
        return _of_texts([*column.values, ""])[column.codes]  # code −1 is the last
    if isinstance(column, Objects):
        return _of_texts([repr(value) for value in column.values])
    return _of_numbers(column.values)


def _of_texts(texts: list[str]) -> Words:
    return np.array([zlib.crc32(text.encode("utf-8", "surrogatepass")) for text in texts], np.uint64)


def _of_numbers(values: Vector | Codes) -> Words:
    return (values.astype(np.float64) + 0.0).view(np.uint64)  # −0 is 0


def _mixed(words: Words, role: str) -> Words:
    """Spread over all bits (Steele, Lea and Flood 2014, the finaliser of SplitMix64), differently for each role."""
    z = words + np.uint64(zlib.crc32(role.encode("utf-8", "surrogatepass")) * BASE & MASK)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def note_fit(bandit: "Bandit", mark: Fingerprint, *, repeated: int, exact_from: int) -> None:
    """Keep what `info()` says of a fit; warn if the same data were learned before."""
    before = bandit._fitted
    marks = [] if before is None else before["marks"]
    if mark.text() in marks:
        warnings.warn(
            f"these {mark.rows} rows were learned before: each now counts twice, which is evidence that is not there",
            stacklevel=4,
        )
    total = mark.rows + (0 if before is None else before["rows"])
    dropped = repeated + (0 if before is None else before["repeated"])
    bandit._fitted = {
        "rows": total,
        "repeated": dropped,
        "exact_from": exact_from,
        "marks": [*marks, mark.text()][-REMEMBERED:],
    }
