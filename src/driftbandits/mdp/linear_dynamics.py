"""The true transitions of a linear mixture: P(s'|s,a) = ψ(s'|s,a)ᵀw (eq:LMDP-model)."""

from itertools import product
from typing import NamedTuple

import numpy as np

from ..core.linalg import Vector, dot
from ..protocol import Integers
from .protocol import Cube, mean_next, transition_row
from .successors import Moves

ENUMERATED = 14  # up to so many successors with features of both signs, L_ψ is found among all V ∈ {0,1}^S'
VERTICES = 1 << 24  # and up to so many (pair, V) in all


class LinearDynamics(NamedTuple):
    """Features laid out for rows of P."""

    psi: Cube  # (S·A, d, S'), or (H·S·A, d, S') where the stages differ


def linear_dynamics(psi: Cube) -> LinearDynamics:
    """Lay out psi (S, A, S, d) or (H, S, A, S, d)."""
    return LinearDynamics(np.ascontiguousarray(psi.reshape(-1, *psi.shape[-2:]).transpose(0, 2, 1)))


@transition_row.register(LinearDynamics)
def _(dynamics: LinearDynamics, row: int, w: Vector, out: Vector) -> None:
    for s in range(out.shape[0]):
        out[s] = 0.0
    for i in range(w.shape[0]):
        c = w[i]
        if c != 0.0:
            features = dynamics.psi[row, i]
            for s in range(out.shape[0]):
                out[s] += c * features[s]


class SparseDynamics(NamedTuple):
    """The same, stored by successor: a row costs as many operations as states can follow."""

    successor: Integers  # (S·A, U), or (H·S·A, U)
    used: Integers  # (S·A,)
    psi: Cube  # (S·A, U, d)


@transition_row.register(SparseDynamics)
def _(dynamics: SparseDynamics, row: int, w: Vector, out: Vector) -> None:
    for s in range(out.shape[0]):
        out[s] = 0.0
    for u in range(dynamics.used[row]):
        out[dynamics.successor[row, u]] = max(dot(dynamics.psi[row, u], w), 0.0)


@mean_next.register(SparseDynamics)
def _(dynamics: SparseDynamics, row: int, w: Vector, V: Vector, room: Vector) -> float:
    total = 0.0
    for u in range(dynamics.used[row]):
        total += max(dot(dynamics.psi[row, u], w), 0.0) * V[dynamics.successor[row, u]]
    return total


def value_feature_bound(moves: Moves) -> float:
    """L_ψ = max ‖ψ_V(s,a)‖ over pairs and V ∈ [0,1]^S.

    The norm is convex in V, so a vertex V ∈ {0,1}^S attains it. For features ≥ 0 that is V = 1. For features of both signs all vertices
    are tried if a pair has at most 14 successors with features and there are not too many pairs; else the (larger) bound that treats the
    coordinates one by one is used.
    """
    psi, U = moves.psi, moves.psi.shape[1]
    mixed = (psi > 0.0).any(axis=(1, 2)) & (psi < 0.0).any(axis=(1, 2))
    largest = float(np.linalg.norm(psi.sum(axis=1), axis=1)[~mixed].max(initial=0.0))
    rows = psi[mixed]
    if len(rows) == 0:
        return largest
    if U <= ENUMERATED and len(rows) << U <= VERTICES:
        vertices = np.array(list(product((0.0, 1.0), repeat=U)))
        found = [float(np.linalg.norm(vertices @ row, axis=1).max()) for row in rows]
    else:
        signs = np.maximum(rows.clip(0).sum(axis=1), (-rows).clip(0).sum(axis=1))
        found = list(np.linalg.norm(signs, axis=1))
    return max(largest, *found)
