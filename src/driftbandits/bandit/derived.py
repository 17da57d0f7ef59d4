r"""Columns for curvature: products of two numbers, and random Fourier features.

With z̃ = (x − μ)/s, the numbers of a side standardised as they were when the columns were added,

    pair      z̃_a z̃_b ,  a ≤ b
    wave      cos(wᵀz̃ + c) ,  w ~ N(0, h²I), h ∈ {½, 1, 2} ,  c uniform on [0, 2π)    (Rahimi and Recht 2007)

A derived value is missing where one of its numbers is missing.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..adaptive.sums import Integers
from ..core.linalg import Matrix, Vector
from ..errors import InvalidValue

WAVES = 48
WIDEST = 8  # numbers of which all pairs are looked at; of more only squares
WAVY = 10  # numbers up to which waves are looked at: in more dimensions 48 of them are too few


class Derived(NamedTuple):
    """Formulas over q numbers of one side."""

    sources: Integers  # (q,)  their slots
    mu: Vector  # (q,)
    s: Vector  # (q,)
    pairs: Integers  # (m, 2)  places among the sources
    W: Matrix  # (q, v)
    c: Vector  # (v,)

    @property
    def width(self) -> int:
        """How many columns."""
        return len(self.pairs) + len(self.c)

    def values(self, rows: Matrix) -> Matrix:
        """The columns (n, width) of raw rows (n, J)."""
        z = (rows[:, self.sources] - self.mu) / self.s
        products = z[:, self.pairs[:, 0]] * z[:, self.pairs[:, 1]]
        return np.hstack([products, np.cos(z @ self.W + self.c)])

    def to_json(self) -> dict[str, Any]:
        """As JSON."""
        return {name: value.tolist() for name, value in self._asdict().items()}

    @classmethod
    def from_json(cls, saved: Mapping[str, Any], width: int) -> "Derived":
        """What was saved; raises if it does not fit a table of so many slots."""
        q = len(saved["sources"])
        made = cls(
            np.array(saved["sources"], np.int64),
            np.array(saved["mu"], np.float64),
            np.array(saved["s"], np.float64),
            np.array(saved["pairs"], np.int64).reshape(-1, 2),
            np.array(saved["W"], np.float64).reshape(q, -1),
            np.array(saved["c"], np.float64),
        )
        shapes = made.mu.shape == made.s.shape == (q,) and made.W.shape == (q, len(made.c))
        within = all(0 < j < width for j in made.sources) and all(0 <= a < q for a in made.pairs.flat)
        if not shapes or not within or not all(np.isfinite(x).all() for x in (made.mu, made.s, made.W, made.c)):
            raise InvalidValue("its derived columns do not fit its slots")
        return made


def pairs_of(sources: Sequence[int], mu: Vector, s: Vector) -> Derived:
    """Squares and products of numbers; of more than eight only squares."""
    q = len(sources)
    both = [(a, b) for a in range(q) for b in range(a, q if q <= WIDEST else a + 1)]
    return Derived(
        np.array(sources, np.int64), mu, s, np.array(both, np.int64).reshape(-1, 2), np.empty((q, 0)), np.empty(0)
    )


def waves_of(sources: Sequence[int], mu: Vector, s: Vector) -> Derived:
    """48 random Fourier features, always the same ones for so many numbers."""
    q, rng = len(sources), np.random.default_rng(0)
    W = rng.normal(size=(q, WAVES)) * rng.choice([0.5, 1.0, 2.0], size=WAVES)
    c = rng.uniform(0.0, 2.0 * math.pi, size=WAVES)
    return Derived(np.array(sources, np.int64), mu, s, np.empty((0, 2), np.int64), W, c)
