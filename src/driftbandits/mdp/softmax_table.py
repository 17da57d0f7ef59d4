r"""The successors of every pair, laid out for softmax models.

    p(s'|s,a; w) = exp(ψ(s'|s,a)ᵀw) / Σ_{s″ reachable} exp(ψ(s″|s,a)ᵀw)                                      eq:MNL-model

The features of a reference successor are subtracted, ψ′(s'|s,a) = ψ(s'|s,a) − ψ(s_ref|s,a): probabilities, likelihood and Hessian stay, and
only then ∇g ⪰ κΣ̄ is true (resolution D5). The reference takes place 0 and has features 0. It is the reachable successor of lowest index,
or the state itself where that is reachable (`STAY`): then L′ = max‖ψ′‖ is smaller on chains. `RAW` subtracts nothing, as the paper
prints it. Pairs with the same list of features behave alike and are counted together: they form a *class*. Counts of classes are
sufficient.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core.kernel import solver
from ..core.linalg import Matrix, Vector
from ..errors import InvalidShape, InvalidValue
from ..protocol import Integers
from .protocol import Cube, mean_next, transition_row
from .successors import Moves, in_use

RAW, LOWEST, STAY = 0, 1, 2  # which successor is the reference


class Choices(NamedTuple):
    """Reachable successors: U places a pair, the first `used` of its class in use."""

    kind: Integers  # (S·A,) class of a pair, or (H·S·A,) where the stages differ
    successor: Integers  # (S·A, U) or (H·S·A, U) state at a place
    used: Integers  # (classes,) places in use
    psi: Cube  # (classes, U, d) features, less those of place 0 unless they are raw


def choices(moves: Moves, actions: int, reference: int = LOWEST, stages: int = 1) -> Choices:
    """Reachable successors with features relative to a reference: the first one, or the state itself where it is reachable."""
    successor, used, features = moves
    if reference == STAY:
        pairs = np.arange(len(used)) % (len(used) // stages)
        successor, features = _staying_first(moves, pairs // actions)
    if reference != RAW:
        features = np.where(in_use(moves)[:, :, None], features - features[:, :1], 0.0)
    keys = np.column_stack([used, features.reshape(len(used), -1)]) + 0.0  # −0 and 0 are the same feature
    _, first, kind = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    return Choices(kind.reshape(-1).astype(np.int64), successor, used[first], np.ascontiguousarray(features[first]))


def _staying_first(moves: Moves, states: Integers) -> tuple[Integers, Cube]:
    """Successors and features in the order in which the state itself, if it is reachable, comes first; `states` are those of the rows."""
    stays = (moves.successor == states[:, None]) & in_use(moves)
    order = np.argsort(~stays, axis=1, kind="stable")
    rows = np.arange(len(order))[:, None]
    return np.ascontiguousarray(moves.successor[rows, order]), moves.psi[rows, order]


def check_reachable(reachable: object, psi: Cube) -> NDArray[np.bool_]:
    """The reachable successors as (S, A, S) of bool, or (H, S, A, S), at least one for each pair."""
    mask = np.ascontiguousarray(reachable)
    staged = mask.ndim == 4 and psi.ndim == 5
    if mask.ndim not in (3, 4) or mask.shape[-3:] != psi.shape[-4:-1] or (staged and len(mask) != len(psi)):
        raise InvalidShape(f"reachable has shape {mask.shape}; it must be (S, A, S) = {psi.shape[-4:-1]}, like psi")
    if not np.isin(mask, (0, 1)).all():
        raise InvalidValue("reachable must hold True and False only: can this successor follow this state and action?")
    mask = mask.astype(bool)
    if not mask.any(axis=-1).all():
        s, a = np.argwhere(~mask.any(axis=-1))[0][-2:]
        raise InvalidValue(f"no state is reachable from state {s} with action {a}; every pair needs a successor")
    return mask


@solver
def softmax(psi: Matrix, count: int, w: Vector, p: Vector) -> None:
    """Write the probabilities of the first `count` places into p."""
    top = -np.inf
    for u in range(count):
        z = 0.0
        for i in range(w.shape[0]):
            z += psi[u, i] * w[i]
        p[u] = z
        top = max(top, z)
    total = 0.0
    for u in range(count):
        p[u] = np.exp(p[u] - top)
        total += p[u]
    for u in range(count):
        p[u] /= total


class SoftmaxDynamics(NamedTuple):
    """The true transitions of a multinomial-logit mixture; a row is a pair, or a pair of a stage where the stages differ."""

    choices: Choices
    p: Vector  # (U,) workspace


@transition_row.register(SoftmaxDynamics)
def _(dynamics: SoftmaxDynamics, row: int, w: Vector, out: Vector) -> None:
    table = dynamics.choices
    kind = table.kind[row]
    softmax(table.psi[kind], table.used[kind], w, dynamics.p)
    for s in range(out.shape[0]):
        out[s] = 0.0
    for u in range(table.used[kind]):
        out[table.successor[row, u]] = dynamics.p[u]


@mean_next.register(SoftmaxDynamics)
def _(dynamics: SoftmaxDynamics, row: int, w: Vector, V: Vector, room: Vector) -> float:
    table = dynamics.choices
    kind = table.kind[row]
    softmax(table.psi[kind], table.used[kind], w, dynamics.p)
    total = 0.0
    for u in range(table.used[kind]):
        total += dynamics.p[u] * V[table.successor[row, u]]
    return total
