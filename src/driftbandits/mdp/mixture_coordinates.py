r"""Coordinates of the weights of a linear mixture in which all probabilities sum to 1.

    N(s,a) = Σ_{s'} ψ(s'|s,a),   N(s,a)ᵀw = 1 for every pair,   so that   w = w₀ + Bu
    P(s'|s,a) = p₀(s') + ψ̃(s')ᵀu,   p₀ = ψᵀw₀,   ψ̃ = Bᵀψ,   Σ_{s'} ψ̃(s') = 0

w₀ is the shortest w with Nw = 1, the even mixture of d models; the columns of B are an orthonormal basis of the null space of N. A learner
of w that is not told that probabilities sum to 1 treats the value of an average state, ψ_V ≈ V̄·N, as uncertain: in a mixture of known
models, a bonus of the order of H/√n that says nothing about any action. In u there is no such direction, for ψ̃_V does not change if a
constant is added to V. A normal prior w ~ N(w₀, τ²I), given Nw = 1, is u ~ N(0, τ²I): nothing else has to change.

Where the features do not allow it (no w has Nw = 1), B = I: the ridge still pulls to w₀. Pairs whose ψ sums to 0 say nothing about w and
are left out. The stages share B where they share one estimate; else each has its own, and shorter ones are filled up with columns of 0.
"""

from typing import NamedTuple

import numpy as np

from ..core.linalg import Matrix, Vector
from .protocol import Cube
from .successors import Moves

RANK = 1e-9  # singular values below so much of the largest one are rounding, for probabilities are given with as many digits


class Coordinates(NamedTuple):
    """w = origin + basis·u, once, or for each stage; arrays without elements where u is w itself."""

    origin: Matrix  # (1 or H, d) w₀
    basis: Cube  # (1 or H, d, d') B


def plain() -> Coordinates:
    """w itself: u = w."""
    return Coordinates(np.zeros((1, 0)), np.zeros((1, 0, 0)))


def summing_to_one(moves: Moves, stages: int) -> Coordinates:
    """Coordinates of the w whose probabilities sum to 1, for each of so many estimates; the features may differ between them."""
    total = moves.psi.sum(axis=1)  # N, one row a pair
    parts = [_coordinates(rows) for rows in total.reshape(stages, -1, total.shape[1])]
    width = max(1, *(basis.shape[1] for _, basis in parts))  # kernels read at least one column
    bases = [np.pad(basis, ((0, 0), (0, width - basis.shape[1]))) for _, basis in parts]
    return Coordinates(np.stack([origin for origin, _ in parts]), np.stack(bases))


def _coordinates(total: Matrix) -> tuple[Vector, Matrix]:
    """w₀ (d,) and B (d, d') of totals N (pairs, d)."""
    d = total.shape[1]
    rows = total[np.abs(total).max(axis=1) > RANK * np.abs(total).max()]
    if len(rows) == 0:
        return np.zeros(d), np.eye(d)
    origin: Vector = np.linalg.lstsq(rows, np.ones(len(rows)), rcond=RANK)[0]
    # The features do not describe probabilities that sum to 1 for any w; then nothing is known beyond the ridge's origin.
    if np.abs(rows @ origin - 1.0).max() > 1e3 * RANK:  # no w makes them all distributions
        return origin, np.eye(d)
    _, sizes, directions = np.linalg.svd(np.linalg.qr(rows, mode="r"))
    rank = int((sizes > RANK * sizes[0]).sum())
    return origin, np.ascontiguousarray(directions[rank:].T)


def transformed(psi: Cube, coordinates: Coordinates) -> tuple[Cube, Cube]:
    """ψ̃ (F, pairs, U, d') and p₀ (F, pairs, U) of features (F, pairs, U, d)."""
    origin, basis = coordinates
    if origin.size == 0:
        return psi, np.zeros(psi.shape[:-1])
    F = len(psi)
    known = np.einsum("fnui,fi->fnu", psi, np.broadcast_to(origin, (F, *origin.shape[1:])))
    return np.einsum("fnui,fij->fnuj", psi, np.broadcast_to(basis, (F, *basis.shape[1:]))), known


def weights_of(coordinates: Coordinates, u: Matrix) -> Matrix:
    """ŵ = w₀ + Bû of every group of stages, (groups, d)."""
    origin, basis = coordinates
    if origin.size == 0:
        return u.copy()
    return np.stack([origin[g % len(origin)] + basis[g % len(basis)] @ row for g, row in enumerate(u)])
