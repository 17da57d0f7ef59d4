"""Sums and estimates memory by memory: for readers outside of compiled code, which keeps four memories in one register (`core.lanes`)."""

from typing import NamedTuple

import numpy as np

from ..core.lanes import LANES, groups_of, symmetric
from ..core.linalg import Matrix
from .sums import State


class Sums(NamedTuple):
    """The sums of M memories, symmetric ones with both triangles, and of N items."""

    V: Matrix  # (M, p, p)
    b: Matrix  # (M, p)
    Q: Matrix  # (M,)
    n: Matrix  # (M,)
    own_M: Matrix  # (N, M, k, k)
    own_S: Matrix  # (N, M, k, p)
    own_t: Matrix  # (N, M, k)


def sums_of(state: State) -> Sums:
    """Copies of the sums."""
    M = len(state.rate)
    shared = (of_memories(a, M) for a in (symmetric(state.V), state.b, state.Q, state.n))
    own = (of_items(a, M) for a in (symmetric(state.own_M), state.own_S, state.own_t))
    return Sums(*shared, *own)


def set_sums(state: State, sums: Sums) -> None:
    """Write sums into the state; estimates are to be renewed by the caller."""
    V, own_M = np.triu(sums.V), np.triu(sums.own_M)
    for to, source in ((state.V, V), (state.b, sums.b), (state.Q, sums.Q), (state.n, sums.n)):
        to[:] = in_lanes(source)
    for to, source in ((state.own_M, own_M), (state.own_S, sums.own_S), (state.own_t, sums.own_t)):
        for i in range(len(to)):
            to[i] = in_lanes(source[i])


def of_memories(array: Matrix, M: int) -> Matrix:
    """(G, …, LANES) as (M, …)."""
    lanes = np.moveaxis(array, -1, 1)
    return np.ascontiguousarray(lanes.reshape(-1, *lanes.shape[2:])[:M])


def of_items(array: Matrix, M: int) -> Matrix:
    """(N, G, …, LANES) as (N, M, …)."""
    lanes = np.moveaxis(array, -1, 2)
    return np.ascontiguousarray(lanes.reshape(len(array), lanes.shape[1] * LANES, *lanes.shape[3:])[:, :M])


def in_lanes(array: Matrix) -> Matrix:
    """(M, …) as (G, …, LANES); lanes after the last memory repeat it."""
    G = groups_of(len(array))
    whole = np.concatenate([array, np.repeat(array[-1:], G * LANES - len(array), axis=0)])
    return np.moveaxis(whole.reshape(G, LANES, *array.shape[1:]), 1, -1)
