"""A scikit-learn transformer or pipeline as `features=`: it makes the columns of an item and a context, of all items on offer at once.

What it is given depends on what it was fitted with:

- named columns (it has `feature_names_in_`): a data frame with these columns, taken from the item's features and the context by name; a
  name that neither has is None, which an imputer can fill;
- else, if features are dicts: a list of dicts, the item's features and the context in one (`DictVectorizer`);
- else, if features are strings: the list of strings (`TfidfVectorizer`, `HashingVectorizer`); an item without features is its own name;
- else, if features are vectors: a matrix, the item's numbers and then those of the context.

What it returns, a matrix (n, d), dense or sparse, is one vector per item: its columns have one prior variance, as the transformer scaled
them.
"""

import contextlib
from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np

from ..core.linalg import Matrix
from ..errors import InvalidShape, InvalidValue, said
from .vectors import Row, as_vector

NAME = "features"  # of the vector that a transformer returns


@runtime_checkable
class Transformer(Protocol):
    """What scikit-learn's transformers and pipelines have."""

    def transform(self, X: Any, /) -> Any:
        """Rows of features as a matrix (n, d)."""


def transformed(transformer: Transformer, names: Sequence[Any], features: Sequence[Any], context: Any) -> Sequence[Row]:
    """The transformer's row for each item, or one line that says why there is none."""
    given = _given(transformer, names, features, context)
    kind = type(transformer).__name__
    try:
        result = transformer.transform(given)
    except Exception as problem:
        hint = "; fit it on past rows first" if type(problem).__name__ == "NotFittedError" else ""
        raise InvalidValue(f"features = {kind} cannot transform what is on offer: {problem}{hint}") from problem
    rows = _dense(result, kind, len(names))
    return [{NAME: row} for row in rows]


def _given(transformer: Transformer, names: Sequence[Any], features: Sequence[Any], context: Any) -> Any:
    """Items and context in the form that the transformer was fitted with."""
    columns = getattr(transformer, "feature_names_in_", None)
    if columns is not None:
        return _frame([_merged(name, row, context) for name, row in zip(names, features, strict=True)], [*columns])
    if all(row is None or isinstance(row, str) for row in features) and context is None:
        return [str(name) if row is None else row for name, row in zip(names, features, strict=True)]
    if isinstance(context, Mapping) or all(row is None or isinstance(row, Mapping) for row in features):
        return [_merged(name, row, context) for name, row in zip(names, features, strict=True)]
    who = [] if context is None else as_vector(context, "features of the context").tolist()
    rows = [[*as_vector(r, f"features of item {said(n)}"), *who] for n, r in zip(names, features, strict=True)]
    if len({*map(len, rows)}) > 1:
        raise InvalidShape("items have vectors of different lengths; the vectors in one offer must have one length")
    return np.array(rows)


def _merged(name: Any, row: Any, context: Any) -> dict[str, Any]:
    """Features of the item and of the context under one roof."""
    for whose, given in ((f"features of item {said(name)}", row), ("features of the context", context)):
        if given is not None and not isinstance(given, Mapping):
            raise InvalidValue(f"{whose} are of type {type(given).__name__}; this transformer needs a dict of features")
    row, context = row or {}, context or {}
    both = next((key for key in row if key in context), None)
    if both is not None:
        raise InvalidValue(
            f"feature {said(both)} is one of item {said(name)} and of the context; a transformer needs one of each name"
        )
    return {**row, **context}


def _frame(rows: list[dict[str, Any]], columns: list[str]) -> Any:
    try:
        import pandas as pd
    except ImportError:
        raise InvalidValue(
            "a transformer that was fitted with named columns needs pandas: pip install pandas"
        ) from None
    return pd.DataFrame({column: [row.get(column) for row in rows] for column in columns})


def _dense(result: Any, kind: str, n: int) -> Matrix:
    if hasattr(result, "toarray"):
        result = result.toarray()
    rows = np.asarray(result)
    if rows.ndim != 2 or len(rows) != n or not rows.shape[1]:
        raise InvalidShape(f"{kind}.transform returned shape {rows.shape}; it must be ({n}, d), a row for each item")
    if rows.dtype.kind == "O":
        with contextlib.suppress(TypeError, ValueError):
            rows = rows.astype(np.float64)
    if rows.dtype.kind not in "fiub":
        raise InvalidValue(f"{kind}.transform returned {rows.dtype}; it must return numbers (OneHotEncoder makes some)")
    dense: Matrix = rows.astype(np.float64)
    if not np.isfinite(dense).all():
        a, j = np.argwhere(~np.isfinite(dense))[0]
        raise InvalidValue(f"{kind}.transform returned {dense[a, j]} in column {j}; it must return finite numbers")
    return dense
