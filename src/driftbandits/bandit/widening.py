"""Conversion of a learner with a full covariance to one with a variance per column, when there are more than 500 columns.

Kept are the estimates of shared columns and of items' own effects with their marginal variances, the noise, and the evidence of the
memories. The covariances and the static memory are lost.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..adaptive.by_memory import of_memories
from ..adaptive.cells import settle_shares
from ..adaptive.columns import Scale
from ..adaptive.levels import ALL, CONTEXT_SIDE, ITEM_SIDE, LARGEST_MARK
from ..adaptive.regression import noise
from ..adaptive.sums import ADAPTIVE, COUNT, NEVER, NEWEST, NUMBERS, SUM, Integers, State
from ..core.lanes import symmetric
from ..core.linalg import Matrix, Vector
from . import sparse
from .adaptive import Adaptive
from .diagonal import NAME, RIDGE, Diagonal
from .features import MARK, NUMBER, Table
from .learner import Memo
from .sparse import ERRORS, LEVEL, PRIOR, WEIGHT

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
    new.trial.numbers[PRIOR] = RIDGE * max(1.0, float(len(model.columns.pairs)) ** 0.5)
    items, context = _side(new, old.items, model.items), _side(new, old.context, model.context)
    away = model.state.numbers[SUM] / max(model.state.numbers[COUNT], 1.0)
    theta = of_memories(model.state.theta[:, 0] - away * model.state.theta[:, 1], M)
    _keep_shared(new, old, theta, items, context)
    _keep_own(new, old, theta, away, context)
    _keep_levels(new, old)
    new.trial.sums[:, WEIGHT] = of_memories(model.state.n, M)
    rests_on = float(sparse.counted(model.state.numbers[COUNT]))
    new.trial.sums[:, ERRORS] = [rests_on * float(noise(model.state, m)) for m in range(M)]
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
    """The slots of items, or of the context: z = x − a of a number is its value in its bucket, and a constant."""

    bucket: Integers  # −1 for none: the constant, and the slots that say whether a number is there, which is taken for granted
    unit: Vector  # of the bucket
    constant: Vector  # −a of a number, 1 where there is no bucket, 0 of a category


def _side(new: Diagonal, table: Table, scale: Scale) -> _Side:
    bucket, unit = new.buckets_of(table), np.ones(table.width)
    constant = np.where(bucket < 0, 1.0, 0.0)
    for slot in (s for s in table.numbers.values() if s < len(scale.seen)):
        seen = scale.seen[slot]
        new.squares[:, bucket[slot]] = seen, scale.M2[slot] + seen * scale.mean[slot] ** 2
        unit[slot], constant[slot] = new.unit(bucket[slot]), -scale.anchor[slot]
    return _Side(bucket, unit, constant)


def _keep_shared(new: Diagonal, old: Adaptive, theta: Matrix, items: _Side, context: _Side) -> None:
    """Shared columns: z_i z_c = x_i x_c + k_c x_i + k_i x_c + k_i k_c, where k is the constant of a slot."""
    variance, D = _variances(old.model.state, len(new.mean)), new.mean.shape[1]
    for column, (i, c) in enumerate(old.model.columns.pairs):
        own, who, effect = int(items.bucket[i]), int(context.bucket[c]), theta[:, column]
        if own >= 0:
            _know(new, own, context.constant[c] * items.unit[i] * effect)
        if who >= 0:
            _know(new, who, items.constant[i] * context.unit[c] * effect)
        if own >= 0 and who >= 0:
            _know(new, sparse.product(own, who, D), items.unit[i] * context.unit[c] * effect)
        new.trial.sums[:, LEVEL] += items.constant[i] * context.constant[c] * effect
        place = sparse.product(own, who, D) if own >= 0 and who >= 0 else max(own, who)
        _know_width(new, place, variance[:, column] * (items.unit[i] * context.unit[c]) ** 2)


def _keep_own(new: Diagonal, old: Adaptive, theta: Matrix, away: float, context: _Side) -> None:
    """û_i = R_i(t_i − r̄S_i0 − S_iθ̂) of every item that was observed: the bucket of its name, and those of products with it."""
    state, M, own = old.model.state, len(new.mean), old.model.columns.own
    for name, a in old.places.taken():
        if not own or a >= len(state.last) or state.last[a] == NEVER:
            continue
        R, S, t = (of_memories(x[a], M) for x in (state.own_R, state.own_S, state.own_t))
        effect = np.einsum("mkj,mj->mk", R, t - away * S[:, :, 0] - np.einsum("mkp,mp->mk", S, theta))
        bucket = new.bucket("item", NAME, str(name))
        for k, c in enumerate(own):
            who, place = int(context.bucket[c]), bucket
            _know(new, bucket, context.constant[c] * effect[:, k])
            if who >= 0:
                place = sparse.product(bucket, who, new.mean.shape[1])
                _know(new, place, context.unit[c] * effect[:, k])
            if who >= 0 or c == 0:
                _know_width(new, place, R[:, k, k] * context.unit[c] ** 2)


def _keep_levels(new: Diagonal, old: Adaptive) -> None:
    """What levels without columns add: their buckets, and those of products with the names of items."""
    model, D = old.model, new.mean.shape[1]
    if not model.has_levels or LARGEST_MARK % D:
        return
    settle_shares(model.engine)
    names, cells, kappa = {a: name for name, a in old.places.taken()}, model.cells, model.engine.found.kappa
    for at in np.flatnonzero((cells.level > 0) & (cells.last > NEVER)).tolist():
        level, item = int(cells.level[at]), int(cells.item[at])
        if item != ALL and item not in names:
            continue
        precision = cells.n[at] + kappa[ITEM_SIDE if item == ALL else CONTEXT_SIDE]
        place = level % D
        if item != ALL:
            place = sparse.product(new.bucket("item", NAME, str(names[item])), place, D)
        _know(new, place, (cells.t[at] / precision).reshape(-1)[: len(new.mean)])
        _know_width(new, place, (1.0 / precision).reshape(-1)[: len(new.mean)])


def _variances(state: State, M: int) -> Matrix:
    """The diagonal of (V + Λ − E)⁻¹ of each memory: marginal variances of shared columns in units of σ²."""
    left = symmetric(state.V - state.E if state.E.shape[1] else state.V)
    precision: Matrix = of_memories(left, M) + state.Lam[ADAPTIVE]
    try:
        variance: Matrix = np.diagonal(np.linalg.inv(precision), axis1=1, axis2=2)
    except np.linalg.LinAlgError:  # columns of very different sizes, or nearly collinear ones
        return _scaled_variances(precision)
    return variance if (variance > 0.0).all() else _scaled_variances(precision)


def _scaled_variances(precision: Matrix) -> Matrix:
    """The same of a matrix that is singular up to rounding.

    With D = diag(A)^−½ is A⁻¹ = D (DAD)⁻¹ D, and DAD has ones on its diagonal, whatever the sizes of columns are. Eigenvalues that
    are lost to rounding are raised to its size, so a direction that is unknown has a large variance; the prior bounds it.
    """
    D = 1.0 / np.sqrt(np.diagonal(precision, axis1=1, axis2=2))
    values, vectors = np.linalg.eigh(precision * D[:, :, None] * D[:, None, :])
    lost = values.shape[1] * np.finfo(float).eps
    variance: Matrix = D**2 * np.einsum("mij,mj->mi", vectors**2, 1.0 / np.maximum(values, lost))
    return variance


def _know(new: Diagonal, place: int, mean: Vector) -> None:
    """Add an effect to a bucket; two columns may share one."""
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
        if kinds[j] == MARK and row[j] > 0.0 and LARGEST_MARK % new.mean.shape[1] == 0:
            cols.append(int(row[j]) % new.mean.shape[1])
            vals.append(1.0)
        if places[j] < 0 or np.isnan(row[j]) or (kinds[j] != NUMBER and row[j] == 0.0):
            continue
        scale = float(new.unit(places[j])) if kinds[j] == NUMBER else 1.0
        cols.append(int(places[j]))
        vals.append(float(np.clip(row[j] / scale, -6.0, 6.0)) if scale > 0.0 else 0.0)
    return np.array([len(cols), *cols, *vals], np.float64)
