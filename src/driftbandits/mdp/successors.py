"""Where an action may lead, and the features of each move: successors are stored by pair, so that memory and time follow their number.

A pair (s, a) has number n = s·A + a and `used[n]` places; the state at place u is `successor[n, u]`, the features of the move `psi[n, u]`.
Where the features differ from stage to stage, pair n of stage h has number h·S·A + n: there are H times as many rows.
Dense features (S, A, S, d) are put into this form: of a linear mixture the successors whose features are not all 0, for the others have
probability 0 whatever w is; of a multinomial logit the reachable ones.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..core.checks import as_numbers
from ..core.kernel import kernel
from ..errors import InvalidShape, InvalidValue
from ..protocol import Integers
from .checks import ROUNDING
from .protocol import Cube


class Moves(NamedTuple):
    """Successors of every pair, U places each, the first `used` of them in use, in ascending order of states."""

    successor: Integers  # (S·A, U), or (H·S·A, U), state at a place, 0 where it is not in use
    used: Integers  # (S·A,) places in use
    psi: Cube  # (S·A, U, d) features of the move, 0 where it is not in use


def moves_of(psi: Cube, reachable: NDArray[np.bool_] | None = None) -> Moves:
    """Dense features psi (S, A, S, d) or (H, S, A, S, d); without `reachable` (S, A, S) or (H, S, A, S) those of a linear mixture."""
    S, d = psi.shape[-2:]
    mask = np.any(psi != 0.0, axis=-1) if reachable is None else reachable
    if mask.ndim == 4 and psi.ndim == 4:  # what can follow differs from stage to stage, its features do not
        psi = np.broadcast_to(psi, (len(mask), *psi.shape))
    rows = psi.reshape(-1, S, d)
    pairs, states = np.nonzero(np.broadcast_to(mask, psi.shape[:-1]).reshape(-1, S))
    return _laid_out(pairs, states, rows[pairs, states], len(rows))


def moves_from(successors: ArrayLike, psi: ArrayLike) -> tuple[int, int, Moves]:
    """S, A and the moves of sparse features: successors (S, A, U), −1 where there are fewer, and psi (S, A, U, d); H may lead."""
    given, rows = np.asarray(successors), as_numbers("psi", psi)
    if given.ndim not in (3, 4) or 0 in rows.shape or rows.ndim != given.ndim + 1 or rows.shape[:-1] != given.shape:
        raise InvalidShape(
            f"successors {given.shape} and psi {rows.shape} must be (S, A, U) and (S, A, U, d), or both with one for the stages in front"
        )
    S, A, U = given.shape[-3:]
    if given.dtype.kind not in "iu" or given.min() < -1 or given.max() >= S:
        raise InvalidValue(f"successors must be states 0..{S - 1}, or −1 where a pair has fewer than {U}")
    if not np.isfinite(rows).all():
        raise InvalidValue("psi contains NaN or infinity; every feature must be finite")
    flat = given.reshape(-1, U)
    alone = np.flatnonzero((flat < 0).all(axis=1))
    if len(alone):
        s, a = divmod(int(alone[0]) % (S * A), A)
        raise InvalidValue(f"no state is reachable from state {s} with action {a}; every pair needs a successor")
    order = np.argsort(np.where(flat < 0, S, flat), axis=1, kind="stable")
    flat, sorted_rows = (
        np.take_along_axis(flat, order, 1),
        rows.reshape(*flat.shape, -1)[np.arange(len(flat))[:, None], order],
    )
    twice = (flat[:, 1:] == flat[:, :-1]) & (flat[:, 1:] >= 0)
    if twice.any():
        s, a = divmod(int(np.argwhere(twice)[0, 0]) % (S * A), A)
        raise InvalidValue(f"a successor of state {s} with action {a} is given twice; each may be given once")
    pairs, places = np.nonzero(flat >= 0)
    return S, A, _laid_out(pairs, flat[pairs, places], sorted_rows[pairs, places], len(flat))


def moves_of_models(models: list[list[Any]]) -> tuple[int, int, Moves]:
    """S, A and the moves of a convex mixture of sparse models (S·A, S): place u of a pair has d = len(models) probabilities.

    Each model is a list: one array for all stages, or H of them.
    """
    shapes, stages = {array.shape for model in models for array in model}, {len(model) for model in models}
    rows, S = models[0][0].shape
    if len(shapes) != 1 or len(stages) != 1 or rows % S != 0 or rows == 0:
        raise InvalidShape(f"sparse models have shapes {sorted(shapes)}; each must be (S·A, S), the same for all")
    from scipy.sparse import vstack  # not at the top: who gives sparse arrays has SciPy loaded

    tables = [vstack([array.tocoo() for array in model]).tocoo() for model in models]
    total = rows * stages.pop()
    for i, table in enumerate(tables):
        sums = np.asarray(table.sum(axis=1)).ravel()
        least, worst = float(table.data.min(initial=0.0)), float(np.abs(sums - 1.0).max())
        if not (np.isfinite(table.data).all() and least >= 0.0 and worst <= ROUNDING):
            raise InvalidValue(
                f"models[{i}] is no table of probabilities: its smallest number is {least:.3g}, its rows' sums are off by {worst:.3g}"
            )
    keys = np.concatenate([table.row.astype(np.int64) * S + table.col for table in tables])
    distinct, position = np.unique(keys, return_inverse=True)
    features = np.zeros((len(distinct), len(tables)))
    which = np.repeat(np.arange(len(tables)), [len(table.data) for table in tables])
    np.add.at(features, (position, which), np.concatenate([table.data for table in tables]))
    return S, rows // S, _laid_out(distinct // S, distinct % S, features, total)


def _laid_out(pairs: Integers, states: Integers, features: Cube, count: int) -> Moves:
    """Moves listed by pair, in ascending order of (pair, state), in a table with as many places as the largest pair needs."""
    used = np.bincount(pairs, minlength=count)
    U = max(1, int(used.max()))
    place = np.arange(len(pairs)) - np.repeat(np.cumsum(used) - used, used)
    successor, psi = np.zeros((count, U), np.int64), np.zeros((count, U, features.shape[-1]))
    successor[pairs, place], psi[pairs, place] = states, features
    return Moves(successor, used.astype(np.int64), psi)


def in_use(moves: Moves) -> NDArray[np.bool_]:
    """Which places are in use, (S·A, U)."""
    used: NDArray[np.bool_] = np.arange(moves.successor.shape[1]) < moves.used[:, None]
    return used


@kernel
def place_of(successor: Integers, used: int, pair: int, state: int) -> int:
    """The place of a state among the first `used` successors of a pair; −1 if it is none of them."""
    for u in range(used):
        if successor[pair, u] == state:
            return u
    return -1
