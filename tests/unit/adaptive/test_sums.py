"""Sums over other columns and more items: each entry goes where its columns go."""

import numpy as np
import pytest

from driftbandits.adaptive import sums
from driftbandits.core.lanes import LANES, upper


def symmetric_lanes(shape, rng):
    return upper(rng.normal(size=(*shape, LANES)))


@pytest.mark.parametrize(
    ("shared", "own"),
    [
        ([0, 1, 2, -1], [0, 1, -1, -1]),  # more columns at the end
        ([0, -1, 1, -1, 2], [-1, 0, 1]),  # in between
        ([0, 1, 2, 0, -1], [0, 1, 0]),  # a column that continues another one's past
        ([2, 0, 1], [1, 0]),
        ([-1], [-1]),
    ],
)
def test_columns_take_their_sums_with_them(shared, own):
    """Against matrices with both triangles, one entry at a time."""
    rng, N, p, k = np.random.default_rng(0), 3, 3, 2
    old = sums.new_state(sums.default_rates(), N, p, k)
    G = len(old.V)
    old = old._replace(V=symmetric_lanes((G, p, p), rng), own_M=symmetric_lanes((N, G, k, k), rng))
    old = old._replace(**{name: rng.normal(size=getattr(old, name).shape) for name in ("b", "own_S", "own_t")})
    new = sums.grown(old, np.array(shared), np.array(own))
    for a, i in enumerate(shared):
        assert (new.b[:, a] == (old.b[:, i] if i >= 0 else 0.0)).all()
        for b, j in enumerate(shared):
            kept = old.V[:, min(i, j), max(i, j)] if min(i, j) >= 0 and a <= b else 0.0
            assert (new.V[:, a, b] == kept).all()
    for a, i in enumerate(own):
        assert (new.own_t[:, :, a] == (old.own_t[:, :, i] if i >= 0 else 0.0)).all()
        for b, j in enumerate(own):
            kept = old.own_M[:, :, min(i, j), max(i, j)] if min(i, j) >= 0 and a <= b else 0.0
            assert (new.own_M[:, :, a, b] == kept).all()
        for b, j in enumerate(shared):
            assert (new.own_S[:, :, a, b] == (old.own_S[:, :, i, j] if min(i, j) >= 0 else 0.0)).all()


def test_more_items_are_new_ones():
    rng = np.random.default_rng(1)
    old = sums.new_state(sums.default_rates(), 2, 3, 2)
    old = old._replace(**{name: rng.normal(size=getattr(old, name).shape) for name in sums.OF_ITEMS})
    new = sums.with_items(old, 5)
    for name in sums.OF_ITEMS:
        array = getattr(new, name)
        assert (array[:2] == getattr(old, name)).all()
        assert (array[2:] == (sums.NEVER if name == "last" else 0.0)).all()
