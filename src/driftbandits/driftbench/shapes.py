"""How θ_1, …, θ_T moves in a world: one function per kind of drift, (T, d) of norm at most 1."""

import numpy as np

from ..core.linalg import Matrix
from .task import Drift

Rng = np.random.Generator


def units(rng: Rng, *shape: int) -> Matrix:
    """Random vectors of norm 1 along the last axis."""
    x = rng.standard_normal(shape)
    unit: Matrix = x / np.linalg.norm(x, axis=-1, keepdims=True)
    return unit


def shape(kind: Drift, rng: Rng, T: int, d: int) -> Matrix:
    """θ of every round.

    ==========  =====================================================================================
    static      one direction
    slow        a circle in a random plane, once round
    jumps       five directions; the four changes are at random times
    seasons     three times round the circle, so that what was learned in one year is true in the next
    pulses      one direction, and six short excursions (a fortieth of the rounds each) to another
    returning   two directions in turn, eight stretches
    ==========  =====================================================================================
    """
    t = np.arange(T)
    v = units(rng, 5, d)
    if kind == "static":
        return np.tile(v[0], (T, 1))
    if kind in ("slow", "seasons"):
        across = v[1] - (v[1] @ v[0]) * v[0]
        across /= np.linalg.norm(across)
        angle = 2.0 * np.pi * (1.0 if kind == "slow" else 3.0) * t / T
        return np.outer(np.cos(angle), v[0]) + np.outer(np.sin(angle), across)
    if kind == "jumps":
        return np.asarray(v[stretches(rng, T, 5)])
    if kind == "pulses":
        return np.asarray(v[(t % max(T // 6, 2) >= max(T // 6, 2) - max(T // 40, 1)).astype(int)])
    if kind == "returning":
        return np.asarray(v[t * 8 // T % 2])
    raise ValueError(kind)


def stretches(rng: Rng, T: int, count: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """The number 0..count−1 of each round's stretch; boundaries are moved at random by up to half a stretch."""
    even = np.arange(1, count) * T / count
    starts = np.sort(even + (rng.random(count - 1) - 0.5) * T / count)
    found: np.ndarray[tuple[int], np.dtype[np.int64]] = np.searchsorted(starts, np.arange(T), side="right")
    return found
