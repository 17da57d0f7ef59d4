"""Blocks add up to the rows, and are few however many rows there are."""

import numpy as np

from driftbandits.replay.sums import MOST, Sums


def test_blocks_add_up_and_stay_few():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(5000, 3))
    sums = Sums(3)
    for first in range(0, 5000, 77):
        part = values[first : first + 77]
        sums.add(np.arange(first, first + len(part)) // 3000, part)
    assert [window.rows for window in sums.windows] == [3000, 2000]
    assert all(MOST // 2 <= len(window.blocks) <= MOST for window in sums.windows)
    for k, window in enumerate(sums.windows):
        own = values[3000 * k : 3000 * (k + 1)]
        parts = [own[i : i + window.length].sum(axis=0) for i in range(0, len(own), window.length)]
        np.testing.assert_allclose(np.array(window.blocks), parts, atol=1e-9)
    np.testing.assert_allclose(sums.blocks().sum(axis=0), values.sum(axis=0), atol=1e-9)
    np.testing.assert_allclose(sums.blocks(1).sum(axis=0), values[3000:].sum(axis=0), atol=1e-9)


def test_many_windows_are_joined_for_the_whole():
    sums = Sums(1)
    sums.add(np.arange(4 * MOST + 301), np.ones((4 * MOST + 301, 1)))
    blocks = sums.blocks()
    assert len(blocks) <= 4 * MOST
    assert blocks.sum() == 4 * MOST + 301


def test_sums_do_not_depend_on_how_rows_are_cut_into_chunks():
    rng = np.random.default_rng(1)
    values, places = rng.normal(size=(3000, 8)), np.sort(rng.integers(3, size=3000))
    one_by_one, chunks = Sums(8), Sums(8)
    for t in range(3000):
        one_by_one.add(places[t : t + 1], values[t : t + 1])
    for first in range(0, 3000, 701):
        chunks.add(places[first : first + 701], values[first : first + 701])
    assert (one_by_one.blocks() == chunks.blocks()).all()  # to the last digit
