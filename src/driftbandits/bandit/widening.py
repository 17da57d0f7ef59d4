"""From a learner with a full covariance to one with a variance per column, when there are more than 500 columns.

What was known is kept, column by column: estimates of shared columns and of items' own effects with their marginal variances, the noise,
and the evidence of memories. Lost are the covariances, and the static memory, which is left behind.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..adaptive.columns import Scale
from ..adaptive.regression import noise
from ..adaptive.sums import ADAPTIVE, COUNT, NEVER, NEWEST, NUMBERS, SUM, Integers, State
from ..core.linalg import Matrix, Vector
from . import sparse
from .adaptive import Adaptive
from .diagonal import NAME, RIDGE, Diagonal
from .features import NUMBER, Table
from .learner import Memo
from .sparse import PRIOR

LEAST = 1e-9  # of the prior variance: nothing is known better


def widened(old: Adaptive) -> Diagonal:
    """A learner of one variance per column that knows what `old` knew."""
    model, M = old.model, max(len(old.rates) - 1, 1)
    new = Diagonal(_mode(old), old.rates[:M], old.items.buckets)
    for name in ("numbers", "strings", "vectors"):
        getattr(new.items, name).update(getattr(old.items, name))
        getattr(new.context, name).update(getattr(old.context, name))
    new.trial.numbers[:NUMBERS] = model.state.numbers
    new.trial.weight[:] = model.state.weight[:M]
    new.trial.numbers[PRIOR] = RIDGE * max(1.0, float(len(model.layout.item)) ** 0.5)
    items, context = _side(new, old.items, model.items), _side(new, old.context, model.context)
    away = model.state.numbers[SUM] / max(model.state.numbers[COUNT], 1.0)
    theta = model.state.theta[:M, 0] - away * model.state.theta[:M, 1]
    _keep_shared(new, old, theta, items, context)
    _keep_own(new, old, theta, away, context)
    new.trial.sums[:, 0] = model.state.n[:M]
    counted = (1.0 - 0.998 ** model.state.numbers[COUNT]) / 0.002  # as in `sparse.noise`
    new.trial.sums[:, 1] = [counted * float(noise(model.state, m)) for m in range(M)]
    return new


def converted(memo: Memo, old: Adaptive, new: Diagonal) -> Memo:
    """A decision that waited for its reward when the learner became too wide."""
    named = [(NAME, str(memo.item))] if new.mode.startswith("named") else []
    row, context = _sparse_row(new, memo.row, old.items, named), _sparse_row(new, memo.context, old.context, [])
    return Memo(memo.item, row, context, memo.seen)


def _mode(old: Adaptive) -> str:
    columns = old.model.columns
    named = "named" if columns.own else "shared"
    return f"{named} products" if columns.slopes or columns.products else f"{named} sums"


class _Side(NamedTuple):
    """The slots of items, or of the context: their buckets (−1 for none), the unit of each, and what was subtracted from it."""

    bucket: Integers
    unit: Vector
    anchor: Vector


def _side(new: Diagonal, table: Table, scale: Scale) -> _Side:
    bucket, unit = new.buckets_of(table), np.ones(table.width)
    for slot in (s for s in table.numbers.values() if s < len(scale.seen)):
        seen, total = scale.seen[slot], scale.M2[slot] + scale.seen[slot] * scale.mean[slot] ** 2
        new.squares[:, bucket[slot]] = seen, total
        unit[slot] = np.sqrt(total / max(seen, 1.0))
    anchor = np.zeros(table.width)
    anchor[: len(scale.anchor)] = np.where(scale.kind == NUMBER, scale.anchor, 0.0)
    return _Side(bucket, unit, anchor)


def _keep_shared(new: Diagonal, old: Adaptive, theta: Matrix, items: _Side, context: _Side) -> None:
    """Shared columns. A number was z = x − a and is x now, so z_i z_c = x_i x_c − a_c x_i − a_i x_c + a_i a_c.

    The constant is left out: it is the same for all items, and the mean of all rewards stands for it.
    """
    variance = _variances(old.model.state, len(new.mean))
    for column, (i, c) in enumerate(old.model.columns.pairs):
        parts = [(i, c, 1.0)] if i or c else []
        if i and c:
            parts += [(i, 0, -context.anchor[c]), (0, c, -items.anchor[i])]
        for j, k, share in parts:
            place = _place(new, int(items.bucket[j]) if j else None, int(context.bucket[k]) if k else None)
            unit = float(items.unit[j] * context.unit[k])
            _know(new, place, share * theta[:, column] * unit)
            if share == 1.0:
                _know_width(new, place, variance[:, column] * unit**2)


def _keep_own(new: Diagonal, old: Adaptive, theta: Matrix, away: float, context: _Side) -> None:
    """û_i = R_i(t_i − r̄S_i0 − S_iθ̂) of every item that was observed: the bucket of its name, and those of products with it."""
    state, M, own = old.model.state, len(new.mean), old.model.columns.own
    for name, a in old.places.taken():
        if not own or a >= len(state.last) or state.last[a] == NEVER:
            continue
        R, S, t = state.own_R[a, :M], state.own_S[a, :M], state.own_t[a, :M]
        effect = np.einsum("mkj,mj->mk", R, t - away * S[:, :, 0] - np.einsum("mkp,mp->mk", S, theta))
        bucket = new.bucket("item", NAME, str(name))
        for k, c in enumerate(own):
            place, unit = (bucket, 1.0) if c == 0 else (_place(new, bucket, int(context.bucket[c])), context.unit[c])
            _know(new, place, effect[:, k] * unit)
            _know_width(new, place, R[:, k, k] * unit**2)
            if place >= 0:
                _know(new, bucket, -context.anchor[c] * effect[:, k])


def _variances(state: State, M: int) -> Matrix:
    """The diagonal of (V + Λ − E)⁻¹ of each memory: marginal variances of shared columns in units of σ²."""
    explained = state.E[:M] if state.E.shape[1] else 0.0
    covariance: Matrix = np.linalg.inv(state.V[:M] + state.Lam[ADAPTIVE] - explained)
    return np.diagonal(covariance, axis1=1, axis2=2)


def _place(new: Diagonal, item: int | None, context: int | None) -> int:
    """The bucket of a column, or of a product of two; −1 if one of them has none."""
    if item is None or context is None:
        found = context if item is None else item
        return -1 if found is None else found
    return -1 if min(item, context) < 0 else int(sparse.product(item, context, new.mean.shape[1]))


def _know(new: Diagonal, place: int, mean: Vector) -> None:
    """Add an effect to a bucket; two columns may share one."""
    if place >= 0:
        new.mean[:, place] += mean
        new.last[place] = new.trial.numbers[NEWEST]


def _know_width(new: Diagonal, place: int, variance: Vector) -> None:
    """The variance of a bucket, in units of σ²."""
    if place >= 0:
        new.ratio[:, place] = np.clip(variance * new.trial.numbers[PRIOR], LEAST, 1.0)


def _sparse_row(new: Diagonal, row: Vector, table: Table, tokens: Sequence[tuple[str, str]]) -> Vector:
    """A dense row as buckets and values; a missing number has none."""
    places, kinds = new.buckets_of(table), table.kinds
    cols = [new.bucket(table.side, *token) for token in tokens]
    vals = [1.0] * len(cols)
    for j in range(1, len(row)):
        if places[j] < 0 or np.isnan(row[j]) or (kinds[j] != NUMBER and row[j] == 0.0):
            continue
        seen, total = new.squares[:, places[j]] if kinds[j] == NUMBER else (1.0, 1.0)
        scale = float(np.sqrt(total / max(seen, 1.0)))
        cols.append(int(places[j]))
        vals.append(float(np.clip(row[j] / scale, -6.0, 6.0)) if scale > 0.0 else 0.0)
    return np.array([len(cols), *cols, *vals], np.float64)
