"""A column of features: numbers, categories, or objects that have to be read row by row."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.int64]


class Numbers(NamedTuple):
    """A feature that is a number or a truth value in every row."""

    values: NDArray[Any]
    missing: NDArray[np.bool_] | None  # None: nowhere

    def listed(self) -> list[Any]:
        """None where it is missing."""
        return listed(self.values, self.missing)

    def take(self, kept: NDArray[np.bool_] | slice) -> "Numbers":
        """Of some rows."""
        return Numbers(self.values[kept], None if self.missing is None else self.missing[kept])

    def present(self) -> NDArray[np.bool_]:
        """Where it is there."""
        return np.ones(len(self.values), np.bool_) if self.missing is None else ~self.missing


class Categories(NamedTuple):
    """A feature that is a string: row t has values[codes[t]], none where the code is −1."""

    codes: Codes
    values: list[str]

    def listed(self) -> list[Any]:
        """None where it is missing."""
        values = np.array([*self.values, None], object)  # code −1 is the last
        return values[self.codes].tolist()  # type: ignore[no-any-return]

    def take(self, kept: NDArray[np.bool_] | slice) -> "Categories":
        """Of some rows."""
        return self._replace(codes=self.codes[kept])

    def present(self) -> NDArray[np.bool_]:
        """Where it is there."""
        return self.codes >= 0


class Objects(NamedTuple):
    """Anything else, vectors for instance: one value per row, None where it is missing. It is read row by row."""

    values: list[Any]

    def listed(self) -> list[Any]:
        """None where it is missing."""
        return self.values

    def take(self, kept: NDArray[np.bool_] | slice) -> "Objects":
        """Of some rows."""
        if isinstance(kept, slice):
            return Objects(self.values[kept])
        return Objects([value for value, there in zip(self.values, kept.tolist(), strict=True) if there])

    def present(self) -> NDArray[np.bool_]:
        """Where it is there."""
        return np.array([value is not None for value in self.values], np.bool_)


Plain = Numbers | Categories
Column = Plain | Objects


def listed(values: NDArray[Any], missing: NDArray[np.bool_] | None) -> list[Any]:
    """Python's own values, None where there is none."""
    answer = values.tolist()
    if missing is not None:
        for place in np.flatnonzero(missing).tolist():
            answer[place] = None
    return answer  # type: ignore[no-any-return]


def feature(column: Any) -> Plain | None:
    """An Arrow array as a feature; None if it is neither numbers nor strings. A column of nothing is numbers that are missing."""
    import pyarrow as pa

    from . import arrow_types

    column = arrow_types.plain(column)
    if pa.types.is_null(column.type):
        return Numbers(np.full(len(column), np.nan), np.ones(len(column), np.bool_))
    if arrow_types.is_number(column.type):
        missing = column.is_null(nan_is_null=True).to_numpy(zero_copy_only=False)
        values = column.fill_null(False if pa.types.is_boolean(column.type) else 0) if column.null_count else column
        return Numbers(values.to_numpy(zero_copy_only=False), missing if missing.any() else None)
    if not arrow_types.is_text(column.type) and not pa.types.is_dictionary(column.type):
        return None
    found = arrow_types.coded(column)
    return None if found is None else Categories(*found)
