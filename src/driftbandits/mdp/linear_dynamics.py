"""The true transitions of a linear mixture: P(s'|s,a) = ψ(s'|s,a)ᵀw (eq:LMDP-model)."""

from itertools import product
from typing import NamedTuple

import numpy as np

from ..linalg import Vector
from .protocol import Cube, transition_row

ENUMERATED = 14  # up to so many successors with features of both signs, L_ψ is found among all V ∈ {0,1}^S'


class LinearDynamics(NamedTuple):
    """Features laid out for rows of P."""

    psi: Cube  # (S·A, d, S')


def linear_dynamics(psi: Cube) -> LinearDynamics:
    """Lay out psi (S, A, S, d)."""
    S, A, _, d = psi.shape
    return LinearDynamics(np.ascontiguousarray(psi.reshape(S * A, S, d).transpose(0, 2, 1)))


@transition_row.register(LinearDynamics)
def _(dynamics: LinearDynamics, pair: int, w: Vector, out: Vector) -> None:
    for s in range(out.shape[0]):
        out[s] = 0.0
    for i in range(w.shape[0]):
        c = w[i]
        if c != 0.0:
            row = dynamics.psi[pair, i]
            for s in range(out.shape[0]):
                out[s] += c * row[s]


def value_feature_bound(psi: Cube) -> float:
    """L_ψ = max ‖ψ_V(s,a)‖ over pairs and V ∈ [0,1]^S.

    The norm is convex in V, so a vertex V ∈ {0,1}^S attains it. For features ≥ 0 that is V = 1. For features of both signs all vertices
    are tried if a pair has at most 14 successors with features; else the (larger) bound that treats the coordinates one by one is used.
    """
    rows = psi.reshape(-1, *psi.shape[2:])
    largest = 0.0
    for row in rows:
        active = row[np.any(row != 0.0, axis=1)]
        if (active >= 0.0).all() or (active <= 0.0).all():
            best = float(np.linalg.norm(active.sum(axis=0)))
        elif len(active) <= ENUMERATED:
            vertices = np.array(list(product((0.0, 1.0), repeat=len(active))))
            best = float(np.linalg.norm(vertices @ active, axis=1).max())
        else:
            best = float(np.linalg.norm(np.maximum(active.clip(0).sum(axis=0), (-active).clip(0).sum(axis=0))))
        largest = max(largest, best)
    return largest
